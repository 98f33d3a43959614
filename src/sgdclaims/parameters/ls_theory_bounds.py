"""Parameters of our own panels on the bounds and constants."""

from sgdclaims.parameters import FigureParameters, ours
from sgdclaims.parameters.values import Distinct


class Parameters(FigureParameters):
    """Theorems 3.2 and 4.1 on separable data; the table of activations; a sigmoid network."""

    m: int = ours("neurons", ge=2)
    stepsizes: Distinct = ours("the paper's eta: stepsize of gradient descent over m", min_length=1)
    inits: Distinct = ours("initial std of the weights", min_length=1)
    samples: int = ours("samples of the separable data", ge=4)
    dimension: int = ours("dimension of the separable data", ge=2)
    margin: float = ours("margin of the separable data, of norm at most 1", gt=0, lt=1)
    steps: int = ours("steps", unit="steps", ge=100)
    tightened: float = ours("factor by which the controls tighten a bound", gt=1)
    points: int = ours("recorded steps", unit="points", ge=20)
