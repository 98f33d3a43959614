"""Parameters of NE Figure 2: matrix factorization."""

from sgdclaims.parameters import FigureParameters, inferred, ours, stated


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
