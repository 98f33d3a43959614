"""Theorem 4.3 of the large-stepsize paper: two points that a large first step throws apart.

x_1 = (gamma, sqrt(1 - gamma^2)) and x_2 = (gamma, -sqrt(1 - gamma^2)/2), both with label 1. Their second coordinates
disagree: the first step from w_0 = 0 follows the larger one and pushes x_2 to the wrong side, so that the risk can fall
only if that step is small.
"""

from __future__ import annotations

import math

import scipy.optimize
import torch
from torch import Tensor

from sgdclaims.models.margin_net import ACTIVATIONS


def points(gamma: float) -> Tensor:
    """The two inputs, (2, 2) float64."""
    far = math.sqrt(1 - gamma**2)
    return torch.tensor([[gamma, far], [gamma, -far / 2]], dtype=torch.float64)


def first_step_limit(gamma: float, m: int, activation: str) -> float:
    """The stepsize (eta tilde) above which the first step from w_0 = 0 raises the risk. Half of a_j are +1, half -1.

    For activations whose odd part is linear, phi(z) - phi(-z) = 2 phi'(0) z, such as the leaky softplus: the first step
    gives w_j = a_j phi'(0) eta/(4m) (x_1 + x_2), hence y_i f(x_i) = phi'(0)^2 eta/(4m) (x_1 + x_2) . x_i. The risk is
    convex in eta, falls at first, and is back at ln 2 at the limit.
    """
    slope = float(ACTIVATIONS[activation].slope(torch.zeros((), dtype=torch.float64)))
    x = points(gamma)
    up, down = (slope**2 / (4 * m) * (x @ x.sum(dim=0))).tolist()

    def change(eta: float) -> float:
        return math.log1p(math.exp(-eta * up)) + math.log1p(math.exp(-eta * down)) - 2 * math.log(2)

    # The second term alone exceeds 2 ln 2 at the upper end; near zero the risk falls.
    return float(scipy.optimize.brentq(change, 1e-3 / up, 2 / -down))
