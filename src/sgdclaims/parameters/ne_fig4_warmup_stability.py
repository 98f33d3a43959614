"""Parameters of NE Figure 4: the Hessian trace during rank-one factorization."""

from sgdclaims.parameters import FigureParameters, inferred, ours, stated


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
    switch_grid: list[int] = stated("warm-up lengths above 1000, the authors' reply", min_length=1)
    eta_min_grid: list[float] = ours("warm-up stepsizes, each ending at eta_min_switch")
    eta_min_switch: int = ours("warm-up length for eta_min_grid", unit="steps", ge=1)
    points: int = ours("recorded steps", ge=20)
