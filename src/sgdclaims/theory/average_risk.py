"""Theorems 3.2 and 4.1 of the large-stepsize paper on linearly separable data.

Assumptions 2 and 3: alpha <= |phi'| <= 1, |phi - z phi'| <= kappa, a unit direction separates the data with margin
gamma, and |x| <= 1. eta is the paper's eta, the stepsize of gradient descent over the width m. All return (R,).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def mean_risk(
    t: int, eta: Tensor, start_norm: Tensor, m: int, gamma: float, alpha: float, kappa: float
) -> Tensor:
    """Theorem 3.2: the bound on the mean of L(w_k) over k < t.

    [1 + 8 ln^2(gamma^2 eta t) / alpha^2 + 8 kappa^2 / alpha^2 + eta^2] / (gamma^2 eta t) + |w_0|^2 / (m eta t).
    """
    time = gamma**2 * eta * t
    bracket = 1 + 8 * (time.log() ** 2 + kappa**2) / alpha**2 + eta**2
    return bracket / time + start_norm**2 / (m * eta * t)


def _bracket(time: Tensor, eta: Tensor, alpha: float, kappa: float) -> Tensor:
    return 2 + 8 * (time.log() + kappa) / alpha + 4 * eta


def norm(
    t: int, eta: Tensor, start_norm: Tensor, m: int, gamma: float, alpha: float, kappa: float
) -> Tensor:
    """Lemma C.2: sqrt(m) (2 + 8 ln(gamma^2 eta t) / alpha + 8 kappa / alpha + 4 eta) / gamma + 2 |w_0|."""
    time = gamma**2 * eta * t
    return math.sqrt(m) * _bracket(time, eta, alpha, kappa) / gamma + 2 * start_norm


def mean_potential(
    t: int, eta: Tensor, start_norm: Tensor, m: int, gamma: float, alpha: float, kappa: float
) -> Tensor:
    """The bound on the mean over k < t of G(w_k) = mean 1 / (1 + e^q), in the proof of Theorem 4.1."""
    time = gamma**2 * eta * t
    offset = 3 * start_norm / (math.sqrt(m) * alpha * gamma * eta * t)
    return _bracket(time, eta, alpha, kappa) / (alpha * time) + offset


def phase_transition(
    eta: Tensor,
    start_norm: Tensor,
    m: int,
    n: int,
    gamma: float,
    alpha: float,
    kappa: float,
    b: float,
) -> Tensor:
    """tau of Theorem 4.1 as its proof gives it (erratum E3): the stable phase starts by then.

    128 (1 + 4 kappa) / (alpha^2 gamma^2) max{c2 eta, c1 n, e, K ln K, K |w_0| / sqrt(m)} with c1 = 4 e^(kappa + 2),
    c2 = 8 + 4 b and K = (c2 eta + c1 n) / eta. The body prints c1 eta and c2 n, without gamma^2.
    """
    c1, c2 = 4 * math.exp(kappa + 2), 8 + 4 * b
    k = (c2 * eta + c1 * n) / eta
    terms = [c2 * eta, torch.full_like(eta, max(c1 * n, math.e)), k * k.log()]
    terms.append(k * start_norm / math.sqrt(m))
    return 128 * (1 + 4 * kappa) / (alpha**2 * gamma**2) * torch.stack(terms).amax(dim=0)


def late_risk(
    since: Tensor, eta: Tensor, gamma: float, alpha: float, constant: float = 2
) -> Tensor:
    """Theorem 4.1: L_t <= 2 / (alpha^2 gamma^2 eta (t - s)) for `since` = t - s.

    The constant 2 needs the gradient potential G in place of L in Lemma C.1; 2.15 is safe (erratum E4).
    """
    return constant / (alpha**2 * gamma**2 * eta * since)
