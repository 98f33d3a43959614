"""Parameters of LS-S1: CIFAR-10 test accuracy, the submission's experiment."""

from typing import Self

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, inferred, ours, stated


class Parameters(FigureParameters):
    """A small GELU network on the 1,979 airplanes and automobiles of data_batch_1."""

    small_stepsize: float = stated("the small stepsize", gt=0)
    hidden: list[int] = inferred("hidden widths; with them the network has 30,930 parameters")
    data_part: int = inferred(
        "official training file whose airplanes and automobiles are used", ge=1
    )
    large_stepsize: float = ours("the large stepsize", gt=0)
    control_stepsize: float = ours("a second small stepsize, the control of the crossing", gt=0)
    control_seeds: int = ours("seeds of the control stepsize, at most `seeds`", ge=1)
    steps: int = ours("gradient descent steps", unit="steps", ge=100)
    init_gain: float = ours("weights start at N(0, gain^2 / fan-in)", gt=0)
    peak_window: list[float] = stated(
        "steps between which small's accuracy peaks ('about 20000')", min_length=2, max_length=2
    )
    points: int = ours("recorded steps", ge=20)
    smoothing: int = ours("recorded points of the moving average before the peak is read", ge=1)

    @model_validator(mode="after")
    def _values_fit_one_another(self) -> Self:
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError("hidden: needs at least one width, all of them positive")
        if not 0 <= self.peak_window[0] < self.peak_window[1]:
            raise ValueError("peak_window: the first step must come before the last")
        if self.large_stepsize <= max(self.small_stepsize, self.control_stepsize):
            raise ValueError("large_stepsize: must exceed small_stepsize and control_stepsize")
        return self
