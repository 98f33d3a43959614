"""Parameters of our own panels on how the charge moves."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, ours, require, require_grid


class Parameters(FigureParameters):
    """Conservation under flow, C* and C, broken symmetry, rotation, and what decides SGD's stability."""

    dimension: int = ours("input and output dimension", ge=2)
    width: int = ours("width", ge=2)
    kappa: float = ours("per-sample loss kappa |r|^2", gt=0)
    eta: float = ours("stepsize", gt=0)
    steps: int = ours("steps", unit="steps", ge=100)
    flow_step: float = ours("step of the Runge-Kutta rule", gt=0)
    flow_steps: int = ours("its steps", unit="steps", ge=10)
    lag: int = ours("steps over which a change of C is taken", unit="steps", ge=1)
    zeta: float = ours("strength of the term that breaks the symmetry", gt=0)
    toy_target: float = ours("its minimum u = toy_target, w = 1/toy_target", gt=1)
    toy_etas: list[float] = ours("stepsizes with the broken symmetry", min_length=3)
    toy_time: float = ours("their steps times the stepsize", gt=1)
    problems: int = ours("random networks per seed for the stability limit", ge=5)
    stability_steps: int = ours("steps to decide on stability", unit="steps", ge=20)
    stability_etas: int = ours("stepsizes on the grid", ge=10)
    points: int = ours("recorded steps", unit="points", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require_grid("toy_etas", self.toy_etas)
        long = self.steps >= 8 * self.lag
        require(long, "lag: half of the steps must hold several changes of C")
        require(self.width >= self.dimension, "width: must be at least dimension")
        return self
