"""Parameters of our own panels on the stable phase."""

from sgdclaims.parameters import FigureParameters, ours, stated
from sgdclaims.parameters.values import Distinct


class Parameters(FigureParameters):
    """Theorem 2.2 and its lemmas, checked at every step on XOR and on separable data."""

    activations: list[str] = stated(
        "leaky_softplus_b and softplus, whose slope has no lower bound", min_length=2
    )
    m: int = stated("neurons", ge=2)
    stepsizes: Distinct = ours("stepsizes, from monotone to oscillating", min_length=2)
    steps: int = ours("steps", unit="steps", ge=100)
    init: float = ours("initial std of the weights", gt=0)
    samples: int = ours("samples of the separable data", ge=4)
    dimension: int = ours("dimension of the separable data", ge=2)
    margin: float = ours("margin of the separable data, of norm at most 1", gt=0, lt=1)
    decay: float = ours("weight decay of the control, from the stable phase on", gt=0)
    tightened: float = ours("factor by which the controls tighten a bound", gt=1)
    points: int = ours("recorded steps", unit="points", ge=20)
