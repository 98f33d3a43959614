"""Parameters of LS Figure 3: test accuracy of two-layer networks."""

from typing import Literal

from sgdclaims.parameters import FigureParameters, inferred, ours, stated
from sgdclaims.parameters.values import Rising


class Parameters(FigureParameters):
    """The two-class CIFAR-10 task of Figure 2, several stepsizes."""

    m: int = stated("hidden neurons", ge=2)
    activation: Literal["softplus", "leaky_softplus_a", "leaky_softplus_b"] = inferred(
        "the caption's leaky softplus, (x + softplus(x)) / 2"
    )
    samples: int = stated("training images, the first of classes 0 and 1", ge=10)
    stepsizes: Rising = ours("stepsizes, rising", min_length=2)
    nearby: float = ours("factor of the control: the smallest stepsize times this", gt=1)
    steps: int = ours("gradient descent steps", unit="steps", ge=100)
    init: float = ours("initial weights are N(0, init^2 / 3072)", gt=0)
    points: int = ours("recorded steps, evenly spaced in the logarithm", ge=20)
    last: float = ours("share of the steps that counts as the end", gt=0, lt=1)
