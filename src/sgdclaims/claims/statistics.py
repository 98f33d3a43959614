"""Intervals over seeds.

* Means: the bias-corrected and accelerated (BCa) bootstrap of Efron (1987). With three or four seeds it
  under-covers: read such an interval as a lower bound of the uncertainty.
* Proportions: Clopper and Pearson's exact interval, so that 16 of 16 is not "certain".
* Comparisons of several variants: seeds are resampled jointly, because variants share seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Statistic = Callable[[Array], Array]
RESAMPLES = 9_999
CONFIDENCE = 0.95
OVERFLOWS = 1e100
_NORMAL = NormalDist()


def bca(samples: Array, statistic: Statistic) -> tuple[float, float, float]:
    """Estimate and 95% BCa interval of a statistic over seeds.

    samples: (n, ...), one row per seed. statistic: maps (B, n, ...) to (B,). One seed gives an infinite
    interval, identical seeds a point.
    """
    n = len(samples)
    estimate = float(statistic(samples[None])[0])
    if n < 2:
        return estimate, -np.inf, np.inf
    random = np.random.default_rng(0)  # the same data give the same interval
    draws = statistic(samples[random.integers(0, n, size=(RESAMPLES, n))])
    if np.ptp(draws) == 0:
        return estimate, estimate, estimate
    # Half of the ties count, so that a discrete distribution is not taken for a biased one.
    below = np.mean(draws < estimate) + np.mean(draws == estimate) / 2
    edge = 1 / (RESAMPLES + 1)
    bias = _NORMAL.inv_cdf(min(max(float(below), edge), 1 - edge))
    left_out = statistic(np.stack([np.delete(samples, i, axis=0) for i in range(n)]))
    deviation = left_out.mean() - left_out
    spread = float(np.sum(deviation**2)) ** 1.5
    acceleration = float(np.sum(deviation**3)) / (6 * spread) if spread else 0.0
    bounds = []
    for tail in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
        z = bias + _NORMAL.inv_cdf(tail)
        level = _NORMAL.cdf(bias + z / (1 - acceleration * z))
        bounds.append(float(np.quantile(draws, level)))
    return estimate, bounds[0], bounds[1]


def mean_over_seeds(samples: Array) -> Array:
    """(B, n) -> (B,)."""
    return np.asarray(samples.mean(axis=1))


def smallest_step(samples: Array) -> Array:
    """(B, n, variants) -> (B,): the smallest mean difference between neighboring variants."""
    return np.asarray(np.diff(samples, axis=2).mean(axis=1).min(axis=1))


def mean_interval(values: Array) -> tuple[float, float, float]:
    """Estimate and interval of the mean of (n,) values; infinite values give an infinite interval."""
    if np.isnan(values).any():
        return np.nan, np.nan, np.nan
    # What would overflow in a sum or a square is as good as infinite.
    values = np.where(np.abs(values) > OVERFLOWS, np.copysign(np.inf, values), values)
    if not np.isfinite(values).all():
        if np.ptp(np.sign(values)) == 0 and np.isinf(values).all():
            return float(values[0]), float(values[0]), float(values[0])
        with np.errstate(invalid="ignore"):
            center = float(values.mean())
        low = -np.inf if (values == -np.inf).any() else float(values.min())
        high = np.inf if (values == np.inf).any() else float(values.max())
        return center, low, high
    return bca(values, mean_over_seeds)


def proportion_interval(values: Array) -> tuple[float, float, float]:
    """Share of ones among (n,) zeros and ones, with Clopper and Pearson's interval."""
    from scipy.special import betaincinv

    n, k = len(values), int(values.sum())
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k == n else float(betaincinv(k + 1, n - k, 1 - tail))
    return k / n, low, high


def slopes(positions: Array, values: Array, *, log: bool) -> Array:
    """Least-squares slope per seed: positions (v,), values (n, v) -> (n,).

    With `log`, of the logarithm on the logarithm; a value that is not positive gives NaN.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y = (np.log(positions), np.log(values)) if log else (positions, values)
        centered = x - x.mean()
        fitted = (y - y.mean(axis=1, keepdims=True)) @ centered / np.sum(centered**2)
    return np.where(np.isfinite(y).all(axis=1), fitted, np.nan)
