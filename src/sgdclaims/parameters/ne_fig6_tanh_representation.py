"""Parameters of NE Figure 6: representations of a two-layer tanh network."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, require, stated


class Parameters(FigureParameters):
    """A two-layer tanh network on y = x + eps with one noisier output."""

    dimension: int = stated("input and output dimension", ge=2)
    first_noise_variance: float = stated("variance of the label noise's first component", gt=0)
    noise_variance: float = stated("variance of the other components", gt=0)
    steps: int = stated("SGD or GD iterations", unit="steps", ge=1)
    kappa: float = inferred("per-sample loss kappa |r|^2 (the sum)", gt=0)
    width: int = ours("hidden neurons; must clearly exceed the dimension", ge=1)
    eta: float = ours("stepsize", gt=0)
    batch_size: int = ours("fresh samples per SGD step", ge=1)
    gd_samples: int = ours("fixed samples of full-batch gradient descent", ge=1)
    gain_w: float = ours("first layer starts at N(0, gain^2 / fan-in)", gt=0)
    gain_u: float = ours("second layer likewise; unequal, so that balance is not a gift", gt=0)
    points: int = ours("recorded steps", ge=2)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require(self.width > self.dimension, "width: must exceed dimension")
        return self
