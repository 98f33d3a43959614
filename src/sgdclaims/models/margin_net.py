"""The networks of the large-stepsize paper: f(w; x) = (1/m) sum_j a_j phi(w_j . x), a_j = +-1 fixed, eq. (2).

Stacked over runs: W (R, m, d), x (n, d), labels y = +-1 (n,). Only W is trained, on the mean logistic loss (1). float64
throughout: margins and monotonicity are judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Batch = tuple[Tensor, ...]
Weights = tuple[Tensor, ...]
Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Activation:
    """phi, phi', and the sharp constants of Assumptions 1 and 2.

    alpha = inf phi', lipschitz = sup |phi'|, smoothness = sup |phi''|, kappa = sup |phi(x) - x phi'(x)|.
    """

    value: Function
    slope: Function
    alpha: float
    lipschitz: float
    smoothness: float
    kappa: float


def _gaussian(x: Tensor) -> Tensor:
    return torch.exp(-x.square() / 2) / math.sqrt(2 * math.pi)


def _cdf(x: Tensor) -> Tensor:
    return (1 + torch.erf(x / math.sqrt(2))) / 2


def _cdf_at(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


ROOT2 = math.sqrt(2)
PEAK = math.exp(-1) / math.sqrt(2 * math.pi)  # the normal density at sqrt 2

ACTIVATIONS = {
    "softplus": Activation(
        torch.nn.functional.softplus, torch.sigmoid, 0.0, 1.0, 0.25, math.log(2)
    ),
    # Two definitions of the leaky softplus with c = 1/2: A as in Example 3.1, B as in Figure 4's caption.
    "leaky_softplus_a": Activation(
        lambda x: 0.5 * x + 0.125 * torch.nn.functional.softplus(x),
        lambda x: 0.5 + 0.125 * torch.sigmoid(x),
        0.5,
        0.625,
        1 / 32,
        math.log(2) / 8,
    ),
    "leaky_softplus_b": Activation(
        lambda x: (x + torch.nn.functional.softplus(x)) / 2,
        lambda x: (1 + torch.sigmoid(x)) / 2,
        0.5,
        1.0,
        1 / 8,
        math.log(2) / 2,
    ),
    "gelu": Activation(
        lambda x: x * _cdf(x),
        lambda x: _cdf(x) + x * _gaussian(x),
        0.0,  # GELU's slope is negative somewhere: Assumption 2.A does not hold
        _cdf_at(ROOT2) + ROOT2 * PEAK,
        2 / math.sqrt(2 * math.pi),
        2 * PEAK,
    ),
    "sigmoid": Activation(
        torch.sigmoid,
        lambda x: torch.sigmoid(x) * torch.sigmoid(-x),
        0.0,
        0.25,
        1 / (6 * math.sqrt(3)),
        1.0,
    ),
    "linear": Activation(lambda x: x, torch.ones_like, 1.0, 1.0, 0.0, 0.0),
}


def signs(m: int) -> Tensor:
    """a: the first half +1, the second -1; (m,) float64."""
    a = torch.ones(m, dtype=torch.float64)
    a[m // 2 :] = -1
    return a


def forward(w: Tensor, x: Tensor, activation: str) -> Tensor:
    """f (R, n)."""
    hidden = ACTIVATIONS[activation].value(torch.matmul(x, w.mT))  # (R, n, m)
    return hidden @ signs(w.shape[1]) / w.shape[1]


def logistic(margins: Tensor) -> Tensor:
    """ln(1 + exp(-q)), without overflow."""
    return torch.logaddexp(torch.zeros((), dtype=margins.dtype), -margins)


def gradient(activation: str) -> Callable[[Weights, Batch], Weights]:
    """The gradient of the mean logistic loss; batch x (n, d), y (n,) or (R, n)."""
    act = ACTIVATIONS[activation]

    def closed_form(weights: Weights, batch: Batch) -> Weights:
        (w,), (x, y) = weights, batch
        z = torch.matmul(x, w.mT)
        m, n = w.shape[1], len(x)
        a = signs(m)
        margins = (act.value(z) @ a / m) * y
        pull = -torch.sigmoid(-margins) * y / n
        back = act.slope(z) * (a / m) * pull[..., None]
        return (torch.matmul(back.mT, x),)

    return closed_form
