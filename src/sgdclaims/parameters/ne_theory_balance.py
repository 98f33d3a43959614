"""Parameters of our own panels on balance."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, ours, require


class Parameters(FigureParameters):
    """Unequal dimensions, weight decay, signs of neurons, rank-one factorization, initial scales."""

    kappa: float = ours("per-sample loss kappa |r|^2", gt=0)
    input_dimension: int = ours("input dimension, isotropic", ge=2)
    output_dimension: int = ours("output dimension, isotropic noise", ge=2)
    width: int = ours("width, at least the input dimension", ge=2)
    eta: float = ours("stepsize", gt=0)
    steps: int = ours("steps", unit="steps", ge=100)
    decay: float = ours("weight decay gamma of the runs for E2", gt=0)
    neurons: int = ours("neurons of the network with one input and one output", ge=4)
    sign_eta: float = ours("its stepsize", gt=0)
    sign_steps: int = ours("its steps", unit="steps", ge=100)
    factor_dimension: int = ours("dimension of the rank-one autoencoder", ge=2)
    factor_etas: list[float] = ours(
        "its stepsizes, the second half the first", min_length=2, max_length=2
    )
    factor_steps: int = ours(
        "its steps at the first stepsize; four times as many at the second", ge=100
    )
    init_width: int = ours("width at which initial scales are compared", ge=2)
    init_dimension: int = ours("input and output dimension of the same", ge=2)
    draws: int = ours("initial networks drawn", ge=10)
    points: int = ours("recorded steps", unit="points", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        first, second = self.factor_etas
        halved = abs(second - first / 2) <= 1e-9 * first
        require(
            halved and first > 0,
            "factor_etas: the second must be half the first, for the extrapolation",
        )
        require(self.width >= self.input_dimension, "width: must be at least input_dimension")
        tall = self.output_dimension > self.input_dimension
        require(tall, "output_dimension: must exceed input_dimension, so that dimensions differ")
        return self
