"""The largest eigenvalue of a risk's Hessian, by power iteration on Hessian-vector products."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Weights = tuple[Tensor, ...]


def _size(vector: Weights) -> Tensor:
    return torch.stack([part.square().sum() for part in vector]).sum().sqrt()


def top_eigenvalue(
    risk: Callable[[Weights], Tensor], weights: Weights, start: Weights, iterations: int
) -> tuple[float, Weights, float]:
    """The Hessian's eigenvalue of largest magnitude at `weights`, its vector, and the relative residual.

    `start` has the shapes of `weights`; a nearby point's vector is a good one. The residual |H v - lambda v| / |lambda|
    says how far the iteration is from an eigenvector. Costs `iterations` forward-over-reverse products.
    """
    slope = torch.func.grad(risk)
    v, eigenvalue, residual = start, torch.zeros(()), torch.zeros(())
    for _ in range(iterations):
        size = _size(v)
        v = tuple(part / size for part in v)
        image = torch.func.jvp(slope, (weights,), (v,))[1]
        eigenvalue = torch.stack([(a * b).sum() for a, b in zip(v, image, strict=True)]).sum()
        rest = tuple(a - eigenvalue * b for a, b in zip(image, v, strict=True))
        residual = _size(rest) / eigenvalue.abs()
        v = image
    return float(eigenvalue), v, float(residual)
