"""Parameters of our own panels on the Hessian's largest eigenvalue."""

from sgdclaims.parameters import FigureParameters, ours
from sgdclaims.parameters.values import Rising


class Parameters(FigureParameters):
    """Sharpness before and after the oscillation on XOR, and progressive sharpening on CIFAR-10."""

    m: int = ours("neurons of the two-layer networks", ge=2)
    xor_stepsizes: Rising = ours(
        "stepsizes on XOR: a monotone one, then oscillating ones", min_length=2
    )
    xor_steps: int = ours("steps on XOR", unit="steps", ge=100)
    init: float = ours("initial std of the two-layer weights on XOR", gt=0)
    cifar_seeds: int = ours("seeds on CIFAR-10", ge=2)
    samples: int = ours("images", unit="images", ge=20)
    width: int = ours("neurons per hidden layer of the GELU network", ge=2)
    hidden_layers: int = ours("its hidden layers", ge=1)
    mlp_stepsize: float = ours("its small stepsize", gt=0)
    two_layer_stepsize: float = ours(
        "small stepsize of the two-layer network and the linear predictor", gt=0
    )
    cifar_steps: int = ours("steps on CIFAR-10", unit="steps", ge=20)
    cifar_points: int = ours("points at which the eigenvalue is measured", unit="points", ge=5)
    iterations: int = ours("power iterations per point", ge=5)
