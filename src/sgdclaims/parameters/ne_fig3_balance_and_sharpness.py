"""Parameters of NE Figure 3: norms and sharpness over the data's anisotropy."""

from __future__ import annotations

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, require, require_grid, stated


class Parameters(FigureParameters):
    """A two-layer linear network whose inputs have variance phi in one half and 2 - phi in the other."""

    dimension: int = stated("input and output dimension", ge=2)
    batch_size: int = stated("fresh samples per SGD step", ge=1)
    eta: float = stated("stepsize of SGD", gt=0)
    weight_decay: float = stated("gamma of the penalty gamma |theta|^2", ge=0)
    kappa: float = inferred(
        "per-sample loss kappa |r|^2; with 1 the stated stepsize diverges", gt=0
    )
    width: int = ours("hidden neurons", ge=1)
    phis: list[float] = ours("values of phi, rising from near 0 to near 2", min_length=3)
    judged: float = ours("the phi at which single claims are judged, one of phis", gt=0, lt=2)
    large_weight_decay: float = ours("control of the claim on small weight decay", gt=0)
    gain_w: float = ours("first layer starts at N(0, gain^2 / fan-in)", gt=0)
    gain_u: float = ours("second layer likewise", gt=0)
    steps: int = ours("SGD steps", unit="steps", ge=100)
    gd_eta: float = ours("stepsize of gradient descent with weight decay", gt=0)
    gd_steps: int = ours("its steps: at least 3 / (4 gd_eta weight_decay)", unit="steps", ge=1)
    points: int = ours("recorded steps", ge=20)

    @model_validator(mode="after")
    def _fit_together(self) -> Parameters:
        require_grid("phis", self.phis, self.judged)
        require(1.0 in self.phis, "phis: balance is judged at 1, which is not among them")
        require(
            max(self.phis) < 2,
            "phis: half of the inputs have variance 2 - phi, which must be positive",
        )
        require(
            self.width >= self.dimension, "width: an exact minimum needs at least dimension neurons"
        )
        larger = self.large_weight_decay > self.weight_decay
        require(larger, "large_weight_decay: the control must exceed weight_decay")
        return self
