"""The experiment that NE Figures 6 and 9 share: one activation, SGD against GD, which matrices agree."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from sgdclaims.dynamics.recorder import Weights
from sgdclaims.dynamics.samplers import Batches, constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams


def isotropic_but_one(first: float, others: float, dimension: int) -> Tensor:
    """Variances (first, others, ..., others)."""
    sigma = torch.full((dimension,), others)
    sigma[0] = first
    return sigma


def initial(
    seeds: Sequence[int], width: int, dimension: int, gain_w: float, gain_u: float
) -> Weights:
    """W (R, width, dimension) and U (R, dimension, width) from N(0, gain^2 / fan-in)."""
    streams = Streams(seeds, "init")
    w = streams.normal(width, dimension) * (gain_w / dimension**0.5)
    u = streams.normal(dimension, width) * (gain_u / width**0.5)
    return w, u


def fresh_samples(seeds: Sequence[int], batch_size: int, sigma_eps: Tensor) -> Batches:
    """x ~ N(0, I), y = x + eps, new at every step."""
    ones = torch.ones(len(sigma_eps))
    streams = Streams(seeds, "data")
    return gaussian_teacher(
        streams, len(seeds), batch_size, torch.eye(len(sigma_eps)), ones, sigma_eps
    )


def fixed_samples(seeds: Sequence[int], samples: int, sigma_eps: Tensor) -> Batches:
    """One sample per run, the same at every step: full-batch gradient descent."""
    ones = torch.ones(len(sigma_eps))
    eye = torch.eye(len(sigma_eps))
    batch = next(
        gaussian_teacher(Streams(seeds, "fixed data"), len(seeds), samples, eye, ones, sigma_eps)
    )
    return constant(*batch)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Frobenius cosine of matrices (R, d, d), (R,)."""
    inner: Tensor = (a * b).sum(dim=(-2, -1))
    size_a: Tensor = torch.linalg.matrix_norm(a)
    size_b: Tensor = torch.linalg.matrix_norm(b)
    return inner / (size_a * size_b)


def off_diagonal(matrix: Tensor) -> Tensor:
    """The matrix with its diagonal set to zero."""
    return matrix - torch.diag_embed(matrix.diagonal(dim1=-2, dim2=-1))


def trace(matrix: Tensor) -> Tensor:
    """Tr over the last two dimensions."""
    return matrix.diagonal(dim1=-2, dim2=-1).sum(-1)
