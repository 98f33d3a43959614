"""Parameters of our own panels on the rates."""

from typing import Self

from pydantic import model_validator

from sgdclaims.parameters import FigureParameters, ours, stated
from sgdclaims.parameters.values import Distinct, Rising, RisingCounts


class Parameters(FigureParameters):
    """1/T^2 against 1/T, the lower bound of Theorem 4.3, scaled outputs, the length of the first phase."""

    gamma: float = stated("margin of Theorem 4.3's two points", gt=0, lt=0.1)
    m: int = ours("neurons", ge=2)
    horizons: RisingCounts = ours("numbers of steps T", min_length=3)
    share: float = ours("large stepsize over T, for b = 1", gt=0)
    small_stepsize: float = ours("fixed stepsize whose risk is monotone", gt=0)
    init: float = ours("initial std of the weights", gt=0)
    grid_decades: int = ours("decades of the grid of stepsizes, from 1 on", ge=3, le=12)
    per_decade: int = ours("stepsizes per decade of the grid", ge=1)
    scales: Distinct = ours("b in f -> b f, one of them 1", min_length=1)
    phase_stepsizes: Rising = ours("stepsizes of the runs that time the first phase", min_length=3)
    phase_steps: int = ours("their steps", unit="steps", ge=100)
    phase_gamma: float = ours("margin of their two points", gt=0, lt=0.1)
    phase_init: float = ours("their initial std of the weights", gt=0)

    @model_validator(mode="after")
    def _comparisons_are_possible(self) -> Self:
        if 1 not in self.scales:
            raise ValueError("scales: lacks 1, to which the others are compared")
        if self.phase_stepsizes[-1] <= 100 * self.phase_stepsizes[0]:
            raise ValueError("phase_stepsizes: the first and the last decade must not touch")
        return self
