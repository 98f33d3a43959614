"""Example 3.1 and Appendix F.1 of the large-stepsize paper: activations and their constants, printed and sharp.

kappa = sup|phi - x phi'|, lipschitz = sup|phi'|, smoothness = sup|phi''|. `printed` is what the paper states as a
valid bound (m beta, sqrt(m) rho); `sharp` is the supremum in closed form. Derivatives in the tests and experiments
come from automatic differentiation, so that nothing here is checked against itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Function = Callable[[Tensor], Tensor]
ROOT2, ROOT2PI = math.sqrt(2), math.sqrt(2 * math.pi)
C = 0.5  # the leaky activations' share of the identity
WIDTH = 1.0  # h of the Huberized ReLU


@dataclass(frozen=True)
class Entry:
    """An activation with (kappa, lipschitz, smoothness), printed and sharp."""

    value: Function
    printed: tuple[float, float, float]
    sharp: tuple[float, float, float]


def gelu(x: Tensor) -> Tensor:
    """x F(x) with the normal distribution function F: (x/2)(1 + erf(x / sqrt 2))."""
    return x / 2 * (1 + torch.erf(x / ROOT2))


def gelu_printed(x: Tensor) -> Tensor:
    """As printed in Example 3.1: (x/2) erf(1 + x / sqrt 2) (erratum E1)."""
    return x / 2 * torch.erf(1 + x / ROOT2)


def huberized_relu(x: Tensor) -> Tensor:
    """0, x^2 / (2h), x - h/2 below 0, up to h, above h."""
    return torch.where(x < 0, 0 * x, torch.where(x > WIDTH, x - WIDTH / 2, x**2 / (2 * WIDTH)))


def tanh_second(x: Tensor, form: str) -> Tensor:
    """tanh'' = 2 phi^3 - 2 phi; printed 2 phi^3 - phi (erratum E5)."""
    phi = torch.tanh(x)
    return 2 * phi**3 - (1 if form == "printed" else 2) * phi


def silu_second(x: Tensor, form: str) -> Tensor:
    """SiLU'' with s = 1/(1+e^-x): 2 s' + x s'', and s'' = -e^-x / (1+e^-x)^2 + 2 e^-2x / (1+e^-x)^3.

    The last term is printed as x e^-2x / (1+e^-x)^3, without the 2 (erratum E5).
    """
    e = torch.exp(-x)
    last = (1 if form == "printed" else 2) * x * e**2 / (1 + e) ** 3
    return 2 * e / (1 + e) ** 2 - x * e / (1 + e) ** 2 + last


def _fixed_point() -> float:
    """The positive x with x tanh(x/2) = 2, where SiLU's slope and x phi' - phi are largest."""
    x = 2.4
    for _ in range(60):
        x = 2 / math.tanh(x / 2)
    return x


def _silu() -> tuple[float, float, float]:
    x = _fixed_point()
    s = 1 / (1 + math.exp(-x))
    return x**2 * s * (1 - s), s + x * s * (1 - s), 0.5


_PEAK = math.exp(-1) / ROOT2PI  # the normal density at sqrt 2
_CDF = (1 + math.erf(1.0)) / 2  # the normal distribution function at sqrt 2

TABLE = {
    "gelu": Entry(
        gelu,
        (math.exp(-0.5) / ROOT2PI, 1 + math.exp(-0.5) / ROOT2PI, 2.0),
        (2 * _PEAK, _CDF + ROOT2 * _PEAK, 2 / ROOT2PI),
    ),
    "softplus": Entry(
        torch.nn.functional.softplus, (math.log(2), 1.0, 1.0), (math.log(2), 1.0, 0.25)
    ),
    "silu": Entry(lambda x: x * torch.sigmoid(x), (1.0, 2.0, 4.0), _silu()),
    "huberized_relu": Entry(
        huberized_relu, (WIDTH / 2, 1.0, 1 / WIDTH), (WIDTH / 2, 1.0, 1 / WIDTH)
    ),
    "leaky_softplus_a": Entry(
        lambda x: C * x + (1 - C) / 4 * torch.nn.functional.softplus(x),
        (1.0, 1.0, 1.0),
        (math.log(2) / 8, 0.625, 1 / 32),
    ),
    "leaky_tanh": Entry(
        lambda x: C * x + (1 - C) * torch.tanh(x),
        (1.0, 1.0, 1.0),
        (1 - C, 1.0, (1 - C) * 4 / (3 * math.sqrt(3))),
    ),
    "leaky_sigmoid": Entry(
        lambda x: C * x + (1 - C) * torch.sigmoid(x),
        (1.0, 1.0, 1.0),
        (1 - C, 0.625, (1 - C) / (6 * math.sqrt(3))),
    ),
}


def suprema(
    value: Function, reach: float = 30.0, points: int = 1_200_001
) -> tuple[float, float, float]:
    """(kappa, lipschitz, smoothness) on a grid, by automatic differentiation in float64."""
    x = torch.linspace(-reach, reach, points, dtype=torch.float64, requires_grad=True)
    phi = value(x)
    (slope,) = torch.autograd.grad(phi.sum(), x, create_graph=True)
    (curve,) = torch.autograd.grad(slope.sum(), x)
    kappa = (phi - x * slope).abs().max()
    return kappa.item(), slope.abs().max().item(), curve.abs().max().item()
