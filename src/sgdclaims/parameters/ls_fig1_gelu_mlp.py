"""Parameters of LS Figure 1."""

from typing import Self

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, stated


class Parameters(FigureParameters):
    """A four-layer GELU network on airplanes and automobiles, full-batch gradient descent."""

    small_stepsize: float = stated("the small stepsize", gt=0)
    large_stepsize: float = stated("the large stepsize", gt=0)
    samples: int = stated("training images, randomly sampled", unit="images", ge=20)
    width: int = stated("neurons per hidden layer", ge=1)
    hidden_layers: int = inferred("hidden layers: three make four layers of weights", ge=1)
    control_stepsize: float = ours("a stepsize close to the small one, for the control", gt=0)
    control_seeds: int = ours("seeds of the control", ge=2)
    sample_seed: int = ours("seed of the random sample, the same for every run", ge=0)
    init_gain: float = ours("initial std of a weight times sqrt(fan-in)", gt=0)
    steps: int = ours("steps", unit="steps", ge=20)
    points: int = ours("recorded steps", unit="points", ge=20)

    @model_validator(mode="after")
    def _large_is_larger(self) -> Self:
        if self.large_stepsize <= max(self.small_stepsize, self.control_stepsize):
            raise ValueError("large_stepsize: must exceed small_stepsize and control_stepsize")
        return self
