"""What one step of SGD sees: a batch `(x, y)` per step, stacked over R runs.

Random numbers are drawn for many steps at once, because a call per step would cost more than the step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from sgdclaims.dynamics.loop import State
from sgdclaims.dynamics.streams import Streams

Batch = tuple[Tensor, ...]
BLOCK_NUMBERS = 1 << 21  # random numbers drawn at once over all runs: 8 MiB in float32


class Batches(Protocol):
    """Yields a batch per step, without end, and can continue where it was interrupted."""

    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


class Sampler:
    """Batches cut from blocks: `draw()` takes a block of random numbers from the streams and yields its batches."""

    def __init__(self, streams: Streams, draw: Callable[[], Iterable[Batch]]) -> None:
        self._streams, self._draw = streams, draw
        self._before = streams.state()  # at the start of the current block
        self._block: Iterator[Batch] = iter(())
        self._place = 0

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        batch = next(self._block, None)
        if batch is None:
            self._before, self._place = self._streams.state(), 0
            self._block = iter(self._draw())
            batch = next(self._block)
        self._place += 1
        return batch

    def state(self) -> State:
        """The streams' state before the current block, and how many of its batches are used."""
        return {"before": self._before, "place": self._place}

    def restore(self, state: State) -> None:
        """Draws the block again and skips what was used."""
        self._before, self._place = state["before"], state["place"]
        self._streams.restore(self._before)
        self._block = iter(())
        if self._place:
            self._block = itertools.islice(self._draw(), self._place, None)


class Constant:
    """The same batch at every step: full-batch gradient descent."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        return self._batch

    def state(self) -> State:
        """There is none."""
        return None

    def restore(self, state: State) -> None:
        """Does nothing."""


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
) -> Batches:
    """Fresh samples x ~ N(0, diag(sigma_x)), y = V x + eps, eps ~ N(0, diag(sigma_eps)).

    `teacher` V is (dy, dx) or, one per run, (R, dy, dx). `sigma_x` (dx,) or (R, dx) and `sigma_eps`
    (dy,) or (R, dy) are variances. Yields x (R, S, dx) and y (R, S, dy).
    """
    dy, dx = teacher.shape[-2:]
    scale_x = sigma_x.sqrt().expand(runs, dx)[None, :, None, :]
    scale_eps = sigma_eps.sqrt().expand(runs, dy)[None, :, None, :]
    teacher_t = teacher.expand(runs, dy, dx).transpose(1, 2)
    length = block_length(runs, batch_size * (dx + dy))

    def draw() -> Iterable[Batch]:
        z = streams.normal(length, batch_size, dx + dy, dtype=teacher.dtype)
        z = z.transpose(0, 1).contiguous()  # (K, R, S, dx + dy)
        x = z[..., :dx] * scale_x
        y = torch.matmul(x, teacher_t).add_(z[..., dx:] * scale_eps)
        return zip(x.unbind(), y.unbind(), strict=True)

    return Sampler(streams, draw)


def minibatches(streams: Streams, runs: int, batch_size: int, x: Tensor, y: Tensor) -> Batches:
    """Batches drawn with replacement from a data set x (N, dx), y (N, dy), shared by all runs.

    Yields x (R, S, dx) and y (R, S, dy).
    """
    length = block_length(runs, batch_size)

    def draw() -> Iterable[Batch]:
        index = streams.integers(len(x), length, batch_size).transpose(0, 1).contiguous()
        return ((x[chosen], y[chosen]) for chosen in index.unbind())

    return Sampler(streams, draw)


def constant(*batch: Tensor) -> Batches:
    """The same batch at every step: full-batch gradient descent."""
    return Constant(batch)
