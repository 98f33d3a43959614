"""Parameters of NE Figure 7: norms of scale-invariant networks."""

from sgdclaims.parameters import FigureParameters, inferred, ours


class Parameters(FigureParameters):
    """Net-A and Net-B on linear Gaussian data, SGD and GD."""

    dimension: int = ours("input and output dimension", ge=1)
    width: int = ours("hidden neurons", ge=1)
    noise_variance: float = ours("variance of each component of the label noise", ge=0)
    kappa: float = inferred("per-sample loss kappa |r|^2", gt=0)
    eta: float = ours("stepsize of SGD and GD", gt=0)
    batch_size: int = ours("fresh samples per SGD step", ge=1)
    gd_samples: int = ours("fixed samples of full-batch gradient descent", ge=1)
    init_norm_w: float = ours("initial |W|_F", gt=0)
    init_norm_u: float = ours("initial |U|_F", gt=0)
    steps: int = ours("steps of SGD and GD", unit="steps", ge=10)
    points: int = ours("recorded steps", ge=10)
