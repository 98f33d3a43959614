"""What LS Figures 2 and 3 share: the tasks, and a run in sample space that watches every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from sgdclaims.datasets.images import TwoClasses
from sgdclaims.dynamics.loop import Progress, Remembers
from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.dynamics.sample_space import SampleSpace, iterate
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models.margin_net import logistic
from sgdclaims.theory import large_stepsize as theory

RISE = 1e-12  # a relative rise of the loss below this is rounding
FALL = 1e-12  # likewise for a fall of the margin


@dataclass(frozen=True)
class Task:
    """Inputs x (n, d) and labels y (n,), with test data where there are any; float64."""

    x: Tensor
    y: Tensor
    x_test: Tensor | None = None
    y_test: Tensor | None = None

    @property
    def radius(self) -> float:
        """R = max |x_i|."""
        return float(self.x.norm(dim=1).max())


def xor() -> Task:
    """The four corners; +1 where the signs agree."""
    x = torch.tensor([[-1, -1], [1, 1], [1, -1], [-1, 1]], dtype=torch.float64)
    return Task(x, torch.tensor([1, 1, -1, -1], dtype=torch.float64))


def with_contradiction(task: Task, copies: int) -> Task:
    """The first `copies` samples once more with the opposite label: no network fits them."""
    return Task(torch.cat([task.x, task.x[:copies]]), torch.cat([task.y, -task.y[:copies]]))


def cifar(data: TwoClasses, samples: int) -> Task:
    """The first `samples` airplanes and automobiles in the official order.

    Every feature is standardized over them; then all inputs are divided by max |x_i|, which meets |x| <= 1.
    """
    x = data.train_x[:samples]
    center, spread = x.mean(axis=0), x.std(axis=0)
    # A feature that never varies carries nothing; it must not become infinite.
    spread = np.where(spread > 0, spread, 1.0)
    x, x_test = (x - center) / spread, (data.test_x - center) / spread
    radius = np.sqrt((x**2).sum(axis=1).max())
    tensors = (x / radius, data.train_y[:samples], x_test / radius, data.test_y)
    return Task(*(torch.from_numpy(np.ascontiguousarray(t)) for t in tensors))


@dataclass
class Watched(Remembers):
    """What happened in R runs: recorded series (T, R), and per-run counts over every single step."""

    remembered = ("steps", "loss", "margin", "smallest", "accuracy")

    steps: list[int] = field(default_factory=list)
    loss: list[Tensor] = field(default_factory=list)
    margin: list[Tensor] = field(default_factory=list)
    smallest: list[Tensor] = field(default_factory=list)
    accuracy: list[Tensor] = field(default_factory=list)
    last_rise: Tensor = field(default_factory=lambda: torch.zeros(0))
    rises: Tensor = field(default_factory=lambda: torch.zeros(0))
    stable_from: Tensor = field(default_factory=lambda: torch.zeros(0))
    late: dict[str, Tensor] = field(default_factory=dict)

    def series(self, name: str) -> Tensor:
        """(T, R)."""
        return torch.stack(getattr(self, name))


class Watcher(Remembers):
    """Sees every step; keeps counts, and the series on the grid."""

    remembered = (
        *("watched", "_previous", "_previous_margin", "last_rise", "rises", "stable_from"),
        *("falls", "seen", "drop"),
    )

    def __init__(self, runs: int, grid: Sequence[int], thresholds: Tensor) -> None:
        self.watched = Watched()
        self._grid = set(grid)
        self._thresholds = thresholds
        infinite = torch.full((runs,), torch.inf, dtype=torch.float64)
        self._previous, self._previous_margin = infinite, -infinite
        zero = torch.zeros(runs, dtype=torch.float64)
        self.last_rise, self.rises = zero - 1, zero.clone()
        self.stable_from = infinite.clone()
        # Falls of the margin: since (5) holds; since the data are fitted and the loss rose last; before that.
        self.falls = {"stable": zero.clone(), "settled": zero.clone(), "before": zero.clone()}
        self.seen = {"stable": zero.clone(), "settled": zero.clone(), "before": zero.clone()}
        self.drop = {"stable": zero.clone(), "settled": zero.clone(), "before": zero.clone()}

    def __call__(self, step: int, margins: Tensor, scale: Tensor) -> None:
        """margins y_i f(x_i) (R, n); scale (R,) is what the normalized margin divides by."""
        loss = logistic(margins).mean(dim=1)
        smallest = margins.amin(dim=1)
        margin = smallest / scale
        rose = ~(loss <= self._previous * (1 + RISE))  # a NaN counts as a rise
        self.rises += rose
        self.last_rise = torch.where(rose, float(step), self.last_rise)
        stable = self.stable_from < step
        self._count_margin(margin, rose, stable)
        crossed = (loss <= self._thresholds) & torch.isinf(self.stable_from)
        self.stable_from = torch.where(crossed, float(step), self.stable_from)
        self._previous, self._previous_margin = loss, margin
        if step in self._grid:
            for series, value in (("loss", loss), ("margin", margin), ("smallest", smallest)):
                getattr(self.watched, series).append(value)
            self.watched.steps.append(step)

    def _count_margin(self, margin: Tensor, rose: Tensor, stable: Tensor) -> None:
        change = margin - self._previous_margin
        fell = change < -FALL * margin.abs()
        drop = torch.where(fell, -change / margin.abs(), 0.0).nan_to_num(posinf=0.0)
        # Settled: every point is classified correctly and the loss has risen for the last time. A later rise shows
        # that it had not settled: what came before then belongs to "before".
        settled = ~rose & (margin > 0)
        for counter in (self.falls, self.seen):
            counter["before"] += torch.where(rose, counter["settled"], 0.0)
            counter["settled"] = torch.where(rose, 0.0, counter["settled"])
        unsettled = torch.where(rose, self.drop["settled"], 0.0)
        self.drop["before"] = torch.maximum(self.drop["before"], unsettled)
        self.drop["settled"] = torch.where(rose, 0.0, self.drop["settled"])
        for phase, active in (("settled", settled), ("before", rose), ("stable", stable)):
            self.falls[phase] += fell & active
            self.seen[phase] += active
            larger = torch.maximum(self.drop[phase], drop)
            self.drop[phase] = torch.where(active, larger, self.drop[phase])

    def finish(self) -> Watched:
        watched = self.watched
        watched.last_rise, watched.rises = self.last_rise, self.rises
        watched.stable_from = self.stable_from
        for phase, falls in self.falls.items():
            watched.late[f"falling_{phase}"] = falls / self.seen[phase]
        for phase, drop in self.drop.items():
            watched.late[f"drop_{phase}"] = drop
        return watched


def watch(
    task: Task,
    labels: Tensor,
    start: Tensor,
    eta: Tensor,
    activation: str,
    steps: int,
    points: int,
    progress: Progress,
) -> Watched:
    """Runs gradient descent in sample space and watches every step.

    labels (R, n), start (R, m, d), eta (R,). Test accuracy is recorded on the grid where the task has test data.
    """
    space = SampleSpace(task.x, labels, start, eta, activation)
    c = theory.constants(activation, start.shape[1], task.radius)
    n = labels.shape[1]
    thresholds = torch.tensor([theory.stable_threshold(c, float(e), n) for e in eta])
    grid = log_grid(steps, points)
    watcher = Watcher(len(eta), grid, thresholds.double())
    outputs = None if task.x_test is None else space.evaluator(task.x_test)
    due = set(grid)

    def observe(step: int, at: SampleSpace, margins: Tensor) -> None:
        watcher(step, margins, at.norm())
        if outputs is not None and task.y_test is not None and step in due:
            correct = outputs() * task.y_test > 0
            watcher.watched.accuracy.append(correct.double().mean(dim=1))

    iterate(space, steps, observe, progress, watcher)
    return watcher.finish()


def starts(seeds: Sequence[int], m: int, d: int, scale: float) -> Tensor:
    """Gaussian initial weights with standard deviation `scale`, (R, m, d)."""
    return scale * Streams(seeds, "init").normal(m, d, dtype=torch.float64)
