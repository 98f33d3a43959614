"""Random streams that belong to a run and a purpose.

A stream is seeded by `(seed, purpose)`, never by a run's place in the stack: a seed's trajectory is the
same alone and in a stack of hundreds, and two variants with the same seed see the same draws.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor


def generator(seed: int, purpose: str) -> np.random.Generator:
    """The stream of one run for one purpose ("data", "init", ...)."""
    entropy = [seed, zlib.crc32(purpose.encode())]
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(entropy)))


def _plain(state: Any) -> Any:
    """A generator's state without arrays."""
    if isinstance(state, dict):
        return {key: _plain(value) for key, value in state.items()}
    return [int(word) for word in state] if isinstance(state, np.ndarray) else state


def _arrays(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _arrays(value) for key, value in state.items()}
    return np.array(state, dtype=np.uint64) if isinstance(state, list) else state


class Streams:
    """The streams of R runs for one purpose; draws are stacked as (R, ...).

    Runs that share a seed share one stream, drawn once. Draws do not depend on how they are grouped into
    calls: 2 x 3 numbers are the same as 6, so a block size is free to change.
    """

    def __init__(self, seeds: Sequence[int], purpose: str) -> None:
        distinct = sorted(set(seeds))
        self._generators = [generator(seed, purpose) for seed in distinct]
        place = {seed: i for i, seed in enumerate(distinct)}
        index = [place[seed] for seed in seeds]
        self._index = None if index == list(range(len(distinct))) else torch.tensor(index)

    def _stack(self, draw: Callable[[np.random.Generator], np.ndarray[Any, Any]]) -> Tensor:
        stacked = torch.from_numpy(np.stack([draw(g) for g in self._generators]))
        return stacked if self._index is None else stacked[self._index]

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Standard normal numbers, (R, *shape)."""
        kind = np.float32 if dtype == torch.float32 else np.float64
        return self._stack(lambda g: g.standard_normal(shape, dtype=kind)).to(dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Uniform numbers in [0, 1), (R, *shape)."""
        kind = np.float32 if dtype == torch.float32 else np.float64
        return self._stack(lambda g: g.random(shape, dtype=kind)).to(dtype)

    def integers(self, high: int, *shape: int) -> Tensor:
        """Integers in [0, high), int64, (R, *shape)."""
        return self._stack(lambda g: g.integers(0, high, size=shape, dtype=np.int64))

    def permutation(self, n: int) -> Tensor:
        """A permutation of 0, ..., n - 1 per run, int64, (R, n)."""
        return self._stack(lambda g: g.permutation(n))

    def state(self) -> list[Any]:
        """The generators' states in plain integers, to be restored with `restore`."""
        return [_plain(g.bit_generator.state) for g in self._generators]

    def restore(self, state: list[Any]) -> None:
        """Continues exactly where `state()` was taken."""
        for g, saved in zip(self._generators, state, strict=True):
            g.bit_generator.state = _arrays(saved)
