"""Parameters of our own panels on deep linear networks."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, ours, require


class Parameters(FigureParameters):
    """Theorem 5.4 for a deep linear network with anisotropic inputs and label noise."""

    dimension: int = ours("input and output dimension", ge=2)
    rank: int = ours("rank of the teacher, and width", ge=2)
    depth: int = ours("layers D", ge=3)
    kappa: float = ours("per-sample loss kappa |r|^2", gt=0)
    eta: float = ours("stepsize", gt=0)
    batch_size: int = ours("samples per batch", ge=1)
    imbalance: float = ours(
        "largest singular value of what unbalances two layers at the start", gt=1
    )
    steps: int = ours("steps", unit="steps", ge=50)
    points: int = ours("recorded steps", unit="points", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require(self.rank <= self.dimension, "rank: a teacher's rank is at most its dimension")
        return self
