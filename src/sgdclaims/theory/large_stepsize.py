"""Formulas of "Large Stepsize Gradient Descent for Non-Homogeneous Two-Layer Networks".

Constants of Assumption 1 for the two-layer net (2) on inputs of norm at most R (the paper takes R = 1): rho = R
sup|phi'| / sqrt(m), beta = R^2 sup|phi''| / m, kappa = sup|phi - x phi'|. eta is the stepsize of gradient descent
(the paper's eta tilde).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from sgdclaims.models.margin_net import ACTIVATIONS


@dataclass(frozen=True)
class Constants:
    """rho, beta, kappa of Assumption 1."""

    rho: float
    beta: float
    kappa: float


def constants(activation: str, m: int, radius: float) -> Constants:
    """The sharp constants of an activation, width m, inputs of norm at most `radius`."""
    act = ACTIVATIONS[activation]
    return Constants(
        radius * act.lipschitz / math.sqrt(m), radius**2 * act.smoothness / m, act.kappa
    )


def cannot_oscillate_below(c: Constants) -> float:
    """2 / (rho^2/4 + beta): below this stepsize the loss cannot rise, since |Hess L| <= rho^2/4 + beta."""
    return 2 / (c.rho**2 / 4 + c.beta)


def descent_threshold(c: Constants, eta: float) -> float:
    """Theorem 2.2 (4): once L <= 1/(eta (2 rho^2 + beta)), L decreases for good."""
    return 1 / (eta * (2 * c.rho**2 + c.beta))


def stable_threshold(c: Constants, eta: float, n: int) -> float:
    """Theorem 2.2 (5): from L <= min{1/(2 n e^(kappa+2)), 1/(eta (4 rho^2 + 2 beta))} on, the stable phase."""
    return min(1 / (2 * n * math.exp(c.kappa + 2)), 1 / (eta * (4 * c.rho**2 + 2 * c.beta)))


def log_modified_margin(
    loss: Tensor, norm: Tensor, c: Constants, eta: float | Tensor, n: int
) -> Tensor:
    """ln gamma^c, eq. (10): Phi(L) - ln|w|.

    Phi(L) = ln(-ln(2 n e^kappa L)) + (1 + (4 rho^2 + 2 beta) eta) / ln(2 n e^kappa L). Only in logarithms: gamma^c
    itself underflows where eta is large. NaN where L >= 1/(2 n e^kappa).
    """
    inner = torch.log(2 * n * loss) + c.kappa
    slack = 1 + (4 * c.rho**2 + 2 * c.beta) * eta
    return torch.log(-inner) + slack / inner - torch.log(norm)
