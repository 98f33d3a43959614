"""What one step of SGD sees. A sampler yields a batch `(x, y)` per step, stacked over R runs.

Random numbers are drawn for many steps at once, because a call per step would cost more than the step.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from sgdclaims.dynamics.streams import Streams

Batch = tuple[Tensor, ...]
BLOCK_NUMBERS = 1 << 21  # random numbers drawn at once over all runs: 8 MiB in float32


def block_length(runs: int, numbers_per_step: int) -> int:
    """How many steps are drawn at once."""
    return max(1, min(1024, BLOCK_NUMBERS // max(1, runs * numbers_per_step)))


def gaussian_teacher(
    streams: Streams,
    runs: int,
    batch_size: int,
    teacher: Tensor,
    sigma_x: Tensor,
    sigma_eps: Tensor,
) -> Iterator[Batch]:
    """Fresh samples x ~ N(0, diag(sigma_x)), y = V x + eps, eps ~ N(0, diag(sigma_eps)).

    `teacher` V is (dy, dx) or, one per run, (R, dy, dx). `sigma_x` (dx,) or (R, dx) and `sigma_eps`
    (dy,) or (R, dy) are variances. Yields x (R, S, dx) and y (R, S, dy).
    """
    dy, dx = teacher.shape[-2:]
    scale_x = sigma_x.sqrt().expand(runs, dx)[None, :, None, :]
    scale_eps = sigma_eps.sqrt().expand(runs, dy)[None, :, None, :]
    teacher_t = teacher.expand(runs, dy, dx).transpose(1, 2)
    length = block_length(runs, batch_size * (dx + dy))
    while True:
        z = streams.normal(length, batch_size, dx + dy, dtype=teacher.dtype)
        z = z.transpose(0, 1).contiguous()  # (K, R, S, dx + dy)
        x = z[..., :dx] * scale_x
        y = torch.matmul(x, teacher_t).add_(z[..., dx:] * scale_eps)
        yield from zip(x.unbind(), y.unbind(), strict=True)


def minibatches(
    streams: Streams, runs: int, batch_size: int, x: Tensor, y: Tensor
) -> Iterator[Batch]:
    """Batches drawn with replacement from a data set x (N, dx), y (N, dy), shared by all runs.

    Yields x (R, S, dx) and y (R, S, dy).
    """
    length = block_length(runs, batch_size)
    while True:
        index = streams.integers(len(x), length, batch_size).transpose(0, 1).contiguous()
        for chosen in index.unbind():
            yield x[chosen], y[chosen]


def constant(*batch: Tensor) -> Iterator[Batch]:
    """The same batch at every step: full-batch gradient descent."""
    while True:
        yield batch
