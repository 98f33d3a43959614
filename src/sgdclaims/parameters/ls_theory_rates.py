"""Parameters of our own panels on the rates."""

from sgdclaims.parameters import FigureParameters, ours, stated


class Parameters(FigureParameters):
    """1/T^2 against 1/T, the lower bound of Theorem 4.3, scaled outputs, the length of the first phase."""

    gamma: float = stated("margin of Theorem 4.3's two points", gt=0, lt=0.1)
    m: int = ours("neurons", ge=2)
    horizons: list[int] = ours("numbers of steps T", min_length=3)
    share: float = ours("large stepsize over T, for b = 1", gt=0)
    small_stepsize: float = ours("fixed stepsize whose risk is monotone", gt=0)
    init: float = ours("initial std of the weights", gt=0)
    grid_decades: tuple[int, int] = ours(
        "the grid's largest stepsize goes through the powers of ten with exponents from, to"
    )
    per_decade: int = ours("stepsizes per decade of the grid", ge=1)
    scales: list[float] = ours("b in f -> b f, one of them 1", min_length=1)
    phase_stepsizes: list[float] = ours(
        "stepsizes of the runs that time the first phase", min_length=3
    )
    phase_steps: int = ours("their steps", unit="steps", ge=100)
    phase_gamma: float = ours("margin of their two points", gt=0, lt=0.1)
    phase_init: float = ours("their initial std of the weights", gt=0)
