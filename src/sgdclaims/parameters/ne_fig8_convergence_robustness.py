"""Parameters of NE Figure 8."""

from sgdclaims.parameters import FigureParameters, inferred, ours, stated


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
