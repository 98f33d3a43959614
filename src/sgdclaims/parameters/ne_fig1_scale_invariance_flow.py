"""Parameters of NE Figure 1: a scale-invariant loss in the plane."""

from sgdclaims.parameters import FigureParameters, ours


class Parameters(FigureParameters):
    """SGD and GD on l = -cos(angle(theta) - z), z ~ N(0, noise^2)."""

    noise: float = ours("standard deviation of the target angle z", unit="rad", gt=0)
    eta: float = ours("stepsize", gt=0)
    steps: int = ours("steps of SGD and GD", unit="steps", ge=1000)
    start_angle: float = ours("initial angle; the mean loss is smallest at 0", unit="rad")
    start_radius: float = ours("initial |theta|", gt=0)
    weight_decay: float = ours("control: gamma in gamma |theta|^2", gt=0)
    probes: int = ours("random points at which the gradient's direction is measured", ge=10)
    points: int = ours("recorded steps, evenly spaced in the logarithm", ge=20)
