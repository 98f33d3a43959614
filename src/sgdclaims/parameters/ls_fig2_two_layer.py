"""Parameters of LS Figure 2: risk, rate and margin of two-layer networks."""

from typing import Literal, Self

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, stated
from sgdclaims.parameters.values import DistinctCounts, Rising


class Parameters(FigureParameters):
    """XOR and the two-class CIFAR-10 task, two widths, several stepsizes."""

    widths: DistinctCounts = stated("hidden neurons m", min_length=1)
    activation: Literal["softplus", "leaky_softplus_a", "leaky_softplus_b"] = inferred(
        "the caption's leaky softplus, (x + softplus(x)) / 2"
    )
    xor_stepsizes: Rising = ours("stepsizes on XOR, rising; the last oscillates", min_length=3)
    xor_steps: int = ours("gradient descent steps on XOR", unit="steps", ge=100)
    xor_init: float = ours("standard deviation of the initial weights on XOR", gt=0)
    cifar_seeds: int = ours("judged seeds of the CIFAR task", ge=1)
    cifar_samples: int = stated("training images, the first of classes 0 and 1", ge=10)
    cifar_stepsizes: Rising = ours("stepsizes on CIFAR, rising; the last oscillate", min_length=3)
    cifar_stable_stepsizes: Rising = ours("those on which the rate is judged", min_length=2)
    cifar_steps: int = ours("gradient descent steps on CIFAR", unit="steps", ge=100)
    cifar_init: float = ours("initial weights are N(0, cifar_init^2 / 3072)", gt=0)
    flipped: float = ours(
        "share of images copied with the opposite label in the control", gt=0, lt=1
    )
    points: int = ours("recorded steps, evenly spaced in the logarithm", ge=10)

    @model_validator(mode="after")
    def _judged_stepsizes_are_run(self) -> Self:
        missing = sorted(set(self.cifar_stable_stepsizes) - set(self.cifar_stepsizes))
        if missing:
            raise ValueError(f"cifar_stable_stepsizes: {missing[0]:g} is not in cifar_stepsizes")
        return self
