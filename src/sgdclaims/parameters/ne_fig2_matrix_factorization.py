"""Parameters of NE Figure 2: matrix factorization."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, require, require_grid, stated


class Parameters(FigureParameters):
    """A 30-40-30 linear network on y = x + eps, SGD and GD, several label noises."""

    dimension: int = stated("input and output dimension", ge=2)
    width: int = stated("hidden neurons", ge=2)
    eta: float = stated("stepsize", gt=0)
    batch_size: int = stated("fresh samples per SGD step", ge=1)
    kappa_times_dimension: float = inferred("loss kappa |r|^2 with kappa = 1/dy, the mean", gt=0)
    noises: int = ours("number of label noise covariances Sigma_eps", ge=8)
    noise_spread: float = ours("ln of each variance of Sigma_eps is N(0, spread^2)", ge=0)
    gain_w: float = ours("first layer starts at N(0, gain^2 / fan-in)", gt=0)
    gain_u: float = ours("second layer likewise; unequal: GD must not be balanced by luck", gt=0)
    other_gains: list[list[float]] = ours("further (gain_w, gain_u), for the independence claim")
    steps: int = ours("steps of SGD and GD", unit="steps", ge=100)
    grid_etas: list[float] = ours("stepsizes of the robustness grid")
    grid_batches: list[int] = ours("batch sizes of the robustness grid")
    grid_seeds: int = ours("seeds per cell of the grid", ge=1)
    imbalance: float = ours("decay run: U = imbalance * (I 0), W = (I 0)^T / imbalance", gt=1)
    points: int = ours("recorded steps", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require(
            self.width >= self.dimension, "width: an exact minimum needs at least dimension neurons"
        )
        require_grid("grid_etas", self.grid_etas)
        require_grid("grid_batches", self.grid_batches)
        pairs = all(len(pair) == 2 and min(pair) > 0 for pair in self.other_gains)
        require(pairs, "other_gains: every entry is a pair of positive gains")
        require(len(self.other_gains) > 0, "other_gains: one initialization has no spread")
        return self
