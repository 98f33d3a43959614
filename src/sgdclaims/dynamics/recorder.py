"""Sampling of trajectories: on a linear or logarithmic grid, without keeping every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from sgdclaims.dynamics.loop import State, Stateful

Weights = tuple[Tensor, ...]
Measure = Callable[[Weights, int], dict[str, Tensor]]


def linear_grid(steps: int, points: int) -> list[int]:
    """About `points` steps from 0 to `steps`, both included, evenly spaced."""
    return sorted({round(s) for s in np.linspace(0, steps, max(2, points))})


def log_grid(steps: int, points: int) -> list[int]:
    """0 and about `points` steps from 1 to `steps`, both included, evenly spaced in the logarithm."""
    if steps < 1:
        return [0]
    return sorted({0, *(round(s) for s in np.geomspace(1, steps, max(2, points)))})


class Recorder:
    """Measures at the scheduled steps.

    `measure(weights, step)` returns tensors of shape (R,), (R, I) or (R, I, J) by name; they are kept as
    float64. `series[name]` is (T, R, ...) after the run and `steps` are the T recorded steps.
    """

    def __init__(self, schedule: Sequence[int], measure: Measure) -> None:
        self._due = set(schedule)
        self._measure = measure
        self.steps: list[int] = []
        self._values: dict[str, list[Tensor]] = {}

    def due(self, step: int) -> bool:
        """Whether `step` is on the grid."""
        return step in self._due

    @torch.no_grad()
    def record(self, step: int, weights: Weights) -> None:
        """Measures now. The measured tensors are copied."""
        self.steps.append(step)
        for name, value in self._measure(weights, step).items():
            self._values.setdefault(name, []).append(value.detach().to(torch.float64, copy=True))

    def state(self) -> State:
        """What is measured so far; with the state of `measure`, if it has one."""
        own = self._measure.state() if isinstance(self._measure, Stateful) else None
        return {"steps": self.steps, "values": self._values, "measure": own}

    def restore(self, state: State) -> None:
        """Continues where `state()` was taken."""
        self.steps, self._values = state["steps"], state["values"]
        if isinstance(self._measure, Stateful):
            self._measure.restore(state["measure"])

    @property
    def series(self) -> dict[str, Tensor]:
        """Measured values by name, each (T, R, ...)."""
        return {name: torch.stack(values) for name, values in self._values.items()}
