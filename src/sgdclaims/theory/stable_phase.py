"""Lemmas A.3 to A.14 of the large-stepsize paper: what one step may do once the risk is small.

Every function returns the amount by which an inequality is violated, relative to the size of its terms: positive means
violated. `slack` multiplies the right-hand side's freedom, to show that a bound can fail: 1 is the lemma. Notation:
L the risk, R = |w|, g the gradient, v = <-g, w>, q the smallest margin y_i f(x_i), n samples; all (R,) per run.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sgdclaims.theory.large_stepsize import Constants, log_modified_margin


@dataclass(frozen=True)
class State:
    """What the lemmas need to know of a step."""

    loss: Tensor
    norm: Tensor
    grad_squared: Tensor
    pull: Tensor  # v
    smallest: Tensor  # min_i y_i f(x_i)


def log_argument(loss: Tensor, c: Constants, n: int) -> Tensor:
    """ln(2 n e^kappa L)."""
    return torch.log(2 * n * loss) + c.kappa


def descent(
    now: State, after: State, eta: Tensor, c: Constants, slack: float = 1
) -> tuple[Tensor, Tensor]:
    """Lemma A.3, both sides; it applies where L <= 1 / (eta rho^2).

    -eta (1 + beta eta L) |g|^2 <= L+ - L <= -eta (1 - (2 rho^2 + beta) eta L) |g|^2.
    """
    change = after.loss - now.loss
    size = now.loss + eta * now.grad_squared
    upper = -eta * (1 - (2 * c.rho**2 + c.beta) * eta * now.loss) * now.grad_squared
    lower = -eta * (1 + c.beta * eta * now.loss) * now.grad_squared
    return (change - slack * upper) / size, (lower / slack - change) / size


def pull(now: State, c: Constants, n: int, slack: float = 1) -> Tensor:
    """Lemma A.7: v >= -L ln(2 n e^kappa L); it applies where L <= 1 / (2 n e^kappa)."""
    bound = -now.loss * log_argument(now.loss, c, n)
    return (slack * bound - now.pull) / now.pull.abs()


def growth(
    now: State, after: State, eta: Tensor, c: Constants, n: int, slack: float = 1
) -> tuple[Tensor, Tensor]:
    """Lemma A.8: 2 eta v <= R+^2 - R^2 <= 2 eta v (1 - 1 / (2 ln(2 n e^kappa L)))."""
    change = after.norm**2 - now.norm**2
    size = now.norm**2  # both squares carry rounding of this size
    low = 2 * eta * now.pull
    high = low * (1 - 1 / (2 * log_argument(now.loss, c, n)))
    return (slack * low - change) / size, (change - high / slack) / size


def smoothed_margin(now: State, n: int, slack: float = 1) -> tuple[Tensor, Tensor]:
    """Lemma A.9: g <= gamma^a = -ln L / R <= g + ln(2 n) / R; it applies where L <= 1 / (2 n)."""
    gap = -now.loss.log() - now.smallest  # R (gamma^a - g)
    size = now.loss.log().abs()
    logarithm = torch.log(torch.tensor(2.0 * n, dtype=now.loss.dtype))
    return -gap / size, (gap - logarithm / slack) / size


def margin_order(now: State, c: Constants, eta: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Lemma A.10 with (9) and (10): ln gamma^c <= ln gamma^b, and gamma^b <= g."""
    inner = -log_argument(now.loss, c, n)
    log_c = log_modified_margin(now.loss, now.norm, c, eta, n)
    log_b = inner.log() - now.norm.log()
    return log_c - log_b, (inner - now.smallest) / inner.abs()


def modified_gain(
    now: State, after: State, c: Constants, eta: Tensor, n: int, slack: float = 1
) -> Tensor:
    """Lemma A.13: ln gamma^c(w+) - ln gamma^c(w) >= (R^2 / v^2) |mu|^2 ln(R+ / R).

    mu is the part of -g orthogonal to w, so |mu|^2 = |g|^2 - v^2 / R^2.
    """
    gain = log_modified_margin(after.loss, after.norm, c, eta, n) - log_modified_margin(
        now.loss, now.norm, c, eta, n
    )
    orthogonal = (now.grad_squared - now.pull**2 / now.norm**2).clamp_min(0)
    bound = now.norm**2 / now.pull**2 * orthogonal * (after.norm / now.norm).log()
    size = 1 + log_modified_margin(now.loss, now.norm, c, eta, n).abs()
    return (slack * bound - gain) / size


def risk_bounds(
    loss: Tensor,
    since: Tensor,
    loss_s: Tensor,
    log_margin_s: Tensor,
    eta: Tensor,
    c: Constants,
    slack: float = 1,
) -> tuple[Tensor, Tensor]:
    """Lemma A.14 for t - s = `since`: 1 / (1/L_s + 3 eta rho^2 (t-s)) <= L_t <= 2 / ((t-s) eta gamma^c(w_s)^2).

    In logarithms, because gamma^c underflows for large eta.
    """
    low = -(1 / loss_s + 3 * eta * c.rho**2 * since).log()
    high = torch.log(torch.tensor(2.0, dtype=loss.dtype)) - (since * eta).log() - 2 * log_margin_s
    shift = torch.log(torch.tensor(slack, dtype=loss.dtype))
    return low + shift - loss.log(), loss.log() - high + shift
