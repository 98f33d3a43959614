"""Theorem 5.4 and Theorem E.1: the noise equilibrium of deep linear networks, printed and corrected (erratum E4).

f(x) = W_D ... W_1 x on y = V x + eps, width d = rank V, V' = Sigma_eps^(1/2) V Sigma_x^(1/2) = L S' R. The
covariances are diagonal and given as variances. At a global minimum the residual is the noise, so with A_i = W_i ..
W_1 Sigma_x (..)^T and B_i = W_{i+1}^T .. W_D^T Sigma_eps (..), Theorem E.1 for layers i, i + 1 reads Tr[A_{i-1}] B_i
= Tr[B_{i+1}] A_i. Its solution: Sigma_eps^(1/2) W_D = k_D L S'^(1/2) F^T, W_i = c times orthogonal, W_1 Sigma_x^(1/2)
= k_1 F S'^(1/2) R. The first pair gives k_1^2 = c^2 Tr Sigma_x / Tr S', the last k_D^2 = c^2 Tr Sigma_eps / Tr S',
and k_1 k_D c^(D-2) = 1 then gives c^D = Tr S' / sqrt(Tr Sigma_x Tr Sigma_eps). The printed scales agree only if Tr
Sigma_x = Tr Sigma_eps = d.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Form = Literal["printed", "corrected"]
Weights = tuple[Tensor, ...]


@dataclass(frozen=True)
class Scales:
    """c of the intermediate layers, and k_1, k_D of the first and the last; (R,) each."""

    middle: Tensor
    first: Tensor
    last: Tensor


def scales(singular: Tensor, depth: int, sigma_x: Tensor, sigma_eps: Tensor, form: Form) -> Scales:
    """The scales of Theorem 5.4 from the singular values S' (R, d) of V'."""
    trace, d = singular.sum(dim=-1), singular.shape[-1]
    if form == "printed":
        end = (d / trace) ** ((depth - 2) / (2 * depth))
        return Scales((trace / d) ** (1 / depth), end, end)
    c = (trace / (sigma_x.sum() * sigma_eps.sum()).sqrt()) ** (1 / depth)
    return Scales(c, c * (sigma_x.sum() / trace).sqrt(), c * (sigma_eps.sum() / trace).sqrt())


def decomposed(
    teacher: Tensor, sigma_x: Tensor, sigma_eps: Tensor, rank: int
) -> tuple[Tensor, Tensor, Tensor]:
    """L (R, dy, d), S' (R, d), R (R, d, dx) of V'."""
    left, s, right = torch.linalg.svd(sigma_eps.sqrt()[:, None] * teacher * sigma_x.sqrt())
    return left[..., :rank], s[..., :rank], right[..., :rank, :]


def solution(
    teacher: Tensor,
    depth: int,
    sigma_x: Tensor,
    sigma_eps: Tensor,
    frames: list[Tensor],
    form: Form,
) -> Weights:
    """Weights of Theorem 5.4; frames: depth - 1 orthogonal matrices (R, d, d) between the layers."""
    left, s, right = decomposed(teacher, sigma_x, sigma_eps, frames[0].shape[-1])
    found = scales(s, depth, sigma_x, sigma_eps, form)
    root = s.sqrt()
    first = frames[0] @ (root[..., :, None] * right) * found.first[:, None, None] / sigma_x.sqrt()
    last = (left * root[..., None, :]) @ frames[-1].mT * found.last[:, None, None]
    middle = [found.middle[:, None, None] * (b @ a.mT) for a, b in itertools.pairwise(frames)]
    return (first, *middle, last / sigma_eps.sqrt()[:, None])


def residuals(weights: Weights, sigma_x: Tensor, sigma_eps: Tensor) -> Tensor:
    """Relative residual of Theorem E.1 at a global minimum for every pair of neighbors, (R, D - 1)."""
    depth = len(weights)
    a = [torch.diag(sigma_x).expand(len(weights[0]), -1, -1)]
    for w in weights:
        a.append(w @ a[-1] @ w.mT)
    b = [torch.diag(sigma_eps).expand(len(weights[0]), -1, -1)]
    for w in reversed(weights):
        b.append(w.mT @ b[-1] @ w)
    b = b[::-1]  # b[i] is B_i: layers i + 1, ..., D
    found = []
    for i in range(1, depth):
        left = _trace(a[i - 1]) * b[i]
        right = _trace(b[i + 1]) * a[i]
        found.append((left - right).norm(dim=(1, 2)) / left.norm(dim=(1, 2)))
    return torch.stack(found, dim=1)


def _trace(matrix: Tensor) -> Tensor:
    return matrix.diagonal(dim1=-2, dim2=-1).sum(-1)[..., None, None]


def layer_sizes(weights: Weights, sigma_x: Tensor, sigma_eps: Tensor) -> Tensor:
    """Tr W_1 Sigma_x W_1^T, |W_i|^2 for 1 < i < D, Tr W_D^T Sigma_eps W_D; (R, D)."""
    first = (weights[0].square() * sigma_x).sum(dim=(1, 2))
    last = (weights[-1].square() * sigma_eps[:, None]).sum(dim=(1, 2))
    middle = [w.square().sum(dim=(1, 2)) for w in weights[1:-1]]
    return torch.stack([first, *middle, last], dim=1)


def predicted_sizes(
    singular: Tensor, depth: int, sigma_x: Tensor, sigma_eps: Tensor, form: Form
) -> Tensor:
    """`layer_sizes` of the solution: k_1^2 Tr S', d c^2, k_D^2 Tr S'; (R, D)."""
    found = scales(singular, depth, sigma_x, sigma_eps, form)
    trace, d = singular.sum(dim=-1), singular.shape[-1]
    middle = [d * found.middle**2] * (depth - 2)
    return torch.stack([found.first**2 * trace, *middle, found.last**2 * trace], dim=1)
