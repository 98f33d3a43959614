"""Parameters of NE Figure 4: the Hessian trace during rank-one factorization."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, require, require_grid, stated


class Parameters(FigureParameters):
    """Warm-up, initialization and noise in a 30-1-30 linear network."""

    dimension: int = stated("input and output dimension dx = dy", ge=2)
    noise_variance: float = stated("variance of each component of the label noise", ge=0)
    batch_size: int = stated("samples per SGD step", ge=1)
    kappa: float = inferred("per-sample loss kappa |r|^2; only the sum diverges at eta", gt=0)
    eta: float = stated("stepsize of the constant run, and after the warm-up", gt=0)
    eta_min: float = stated("stepsize during the warm-up", gt=0)
    switch: int = stated("step at which the warm-up ends", unit="steps", ge=1)
    steps: int = ours("horizon, three times the warm-up", unit="steps", ge=10)
    switch_grid: list[int] = stated("warm-up lengths above 1000, the authors' reply", min_length=2)
    eta_min_grid: list[float] = ours("warm-up stepsizes, each ending at eta_min_switch")
    eta_min_switch: int = ours("warm-up length for eta_min_grid", unit="steps", ge=1)
    points: int = ours("recorded steps", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require_grid("switch_grid", self.switch_grid)
        require_grid("eta_min_grid", self.eta_min_grid)
        last = max(self.switch, self.eta_min_switch, *self.switch_grid)
        require(
            last < self.steps, f"steps: the warm-up of {last} steps does not end within the horizon"
        )
        warm = max(self.eta_min, *self.eta_min_grid) < self.eta
        require(warm, "eta: a warm-up starts at a smaller stepsize")
        return self
