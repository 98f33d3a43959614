"""Gradient flow, integrated by the classical Runge-Kutta rule."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

Weights = tuple[Tensor, ...]
Field = Callable[[Weights], Weights]


def runge_kutta(weights: Weights, slope: Field, h: float) -> Weights:
    """One step of length h along d theta / dt = -slope(theta), of fourth order."""

    def moved(by: Weights, share: float) -> Weights:
        return tuple(w - share * h * k for w, k in zip(weights, by, strict=True))

    k1 = slope(weights)
    k2 = slope(moved(k1, 0.5))
    k3 = slope(moved(k2, 0.5))
    k4 = slope(moved(k3, 1.0))
    mean = tuple((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return moved(mean, 1.0)
