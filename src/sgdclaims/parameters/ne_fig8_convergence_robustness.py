"""Parameters of NE Figure 8."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, require, require_grid, stated


class Parameters(FigureParameters):
    """Convergence to the noise equilibrium over stepsize, width, data dimension and batch size."""

    dimension: int = stated("input and output dimension", ge=4)
    eta: float = stated("default stepsize", gt=0)
    batch_size: int = stated("default batch size S", ge=1)
    width: int = stated("default width d", ge=4)
    kappa: float = inferred("per-sample loss kappa |r|^2", gt=0)
    phi: float = ours(
        "variance of the first half of the inputs; the others have 2 - phi", gt=0, lt=2
    )
    etas: list[float] = ours("stepsizes of panel (a)", min_length=2)
    widths: list[int] = ours("widths of panel (b)", min_length=2)
    dimensions: list[int] = ours("data dimensions of panel (c)", min_length=2)
    batch_sizes: list[int] = ours("batch sizes of panel (d)", min_length=2)
    gain_w: float = ours("initial std of W times sqrt(width)", gt=0)
    gain_u: float = ours("initial std of U times sqrt(width)", gt=0)
    steps: int = ours(
        "steps at the default setting; eta^2 dimension steps / S is equal in all cells", ge=20
    )
    rate_etas: list[float] = ours("stepsizes of the runs that time the decay", min_length=1)
    rate_batch_sizes: list[int] = ours("batch sizes of the runs that time the decay", min_length=2)
    rate_width: int = ours("width of the runs that time the decay", ge=4)
    rate_imbalance: float = ours("U over W in the unbalanced minimum that they leave", gt=1)
    points: int = ours("recorded steps", unit="points", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require_grid("etas", self.etas, self.eta)
        require_grid("widths", self.widths, self.width)
        require_grid("dimensions", self.dimensions, self.dimension)
        require_grid("batch_sizes", self.batch_sizes, self.batch_size)
        require_grid("rate_etas", self.rate_etas, self.eta)
        require_grid("rate_batch_sizes", self.rate_batch_sizes, self.batch_size)
        wide = self.rate_width >= self.dimension
        require(wide, "rate_width: an exact minimum needs at least dimension neurons")
        return self
