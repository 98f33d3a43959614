"""Parameters of our own panels on deep linear networks."""

from sgdclaims.parameters import FigureParameters, ours


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
