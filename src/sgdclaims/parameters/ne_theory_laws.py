"""Parameters of our own panels on the noise-equilibrium paper's laws."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, ours, require, require_grid


class Parameters(FigureParameters):
    """Charge law, Theorem 4.3, the flow's factor, weight decay, the Hessian trace."""

    dimension: int = ours("input and output dimension", ge=2)
    width: int = ours("hidden neurons, at least the dimension", ge=2)
    kappa: float = ours("per-sample loss kappa |r|^2", gt=0)
    eta: float = ours("stepsize of the single-step laws", gt=0)
    law_steps: int = ours("SGD steps on which the exact law is checked", unit="steps", ge=10)
    draws: int = ours("independent batches for the mean step", ge=1000)
    batch_size: int = ours("samples per batch of the mean step", ge=1)
    lambdas: int = ours("points along the symmetry's orbit", ge=11)
    orbit_samples: int = ours("samples on which the noise is measured along the orbit", ge=10)
    decay_eta: float = ours("stepsize of the runs with weight decay", gt=0)
    decay_batches: list[int] = ours("batch sizes of the runs with weight decay", min_length=1)
    decay_shift: float = ours("weight decay, as the shift it should cause in (13)", gt=0)
    decay_steps: int = ours("steps at batch size 1; times S otherwise", unit="steps", ge=100)
    decay_longer: int = ours(
        "factor on the steps of a second run at batch size 1, to tell averaging from a floor", ge=1
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require(self.width >= self.dimension, "width: must be at least dimension")
        require_grid("decay_batches", self.decay_batches, 1)
        return self
