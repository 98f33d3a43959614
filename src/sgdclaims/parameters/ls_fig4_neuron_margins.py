"""Parameters of LS Figure 4: network margin and neuron margins on five points."""

from sgdclaims.parameters import FigureParameters, ours, stated


class Parameters(FigureParameters):
    """Two neurons of opposite sign on the paper's five points."""

    eta: float = stated("stepsize on the mean loss", gt=0)
    steps: int = ours("gradient descent steps", unit="steps", ge=100)
    init: float = ours("standard deviation of the initial weights", gt=0)
    far_coordinate: float = ours(
        "control: the first coordinate of the four positive points, .05 in the paper", gt=0
    )
    points: int = ours("recorded steps, evenly spaced in the logarithm", ge=20)
