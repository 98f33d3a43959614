"""LS Figure 4: the network's margin becomes positive while each neuron's stays negative.

Two neurons with fixed output weights 1/2 and -1/2 and the leaky softplus (x + softplus(x))/2 are trained by gradient
descent with stepsize 3 on five points in three dimensions, linearly separable with margin .05 along (1, 0, 0). The
network classifies all points, but neither neuron alone does: the margin is a matter of both together.

Stated: the points, the network, the stepsize. Inferred: the stepsize acts on the mean loss, and a neuron's margin is
min_i y_i a_j phi(w_j . x_i) / |w_j|. Ours: initialization and steps. float64, as margins are judged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize
import torch
from torch import Tensor

from sgdclaims.dynamics.loop import Remembers
from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.dynamics.sample_space import SampleSpace, iterate
from sgdclaims.experiments.base import Context, Outcome, by_variant, grid
from sgdclaims.experiments.large_stepsize_task import FALL, Task, starts
from sgdclaims.models.margin_net import ACTIVATIONS, logistic, signs
from sgdclaims.parameters.ls_fig4_neuron_margins import Parameters
from sgdclaims.theory import large_stepsize as theory

PHI = "leaky_softplus_b"
POINTS: list[list[float]] = [[0.05, 1, 2], [0.05, -2, 1], [-1, 0, 2], [0.05, -2, -2], [0.05, 1, -2]]
LABELS = [1, 1, -1, 1, 1]


def five_points() -> Task:
    """The paper's data."""
    return Task(
        torch.tensor(POINTS, dtype=torch.float64), torch.tensor(LABELS, dtype=torch.float64)
    )


def contradicted() -> Task:
    """The first point once more with the opposite label: the margin cannot become positive."""
    task = five_points()
    return Task(torch.cat([task.x, task.x[:1]]), torch.cat([task.y, -task.y[:1]]))


def spread_out(coordinate: float) -> Task:
    """The positive points farther along (1, 0, 0): then single neurons classify them."""
    task = five_points()
    x = task.x.clone()
    x[task.y > 0, 0] = coordinate
    return Task(x, task.y)


class NeuronWatcher(Remembers):
    """Sees every step of one task: crossing of the margin, falls in the stable phase, neurons' signs."""

    remembered = (
        *("crossing", "rises", "falls", "stable_steps", "not_both_negative"),
        *("_loss", "_margin", "series", "steps"),
    )

    def __init__(self, task: Task, runs: int, due: set[int], threshold: float) -> None:
        self._task, self._due, self._threshold = task, due, threshold
        zero = torch.zeros(runs, dtype=torch.float64)
        self.crossing = zero + torch.inf
        self.rises, self.falls, self.stable_steps = zero.clone(), zero.clone(), zero.clone()
        self.not_both_negative = zero.clone()
        self._loss, self._margin = zero + torch.inf, zero - torch.inf
        self.series: dict[str, list[Tensor]] = {"loss": [], "margin": [], "neuron_margin": []}
        self.steps: list[int] = []

    def __call__(self, step: int, space: SampleSpace, margins: Tensor) -> None:
        loss = logistic(margins).mean(dim=1)
        margin = margins.amin(dim=1) / space.norm()
        self.rises += ~(loss <= self._loss * (1 + FALL))  # a NaN counts
        stable = self._loss <= self._threshold
        self.stable_steps += stable
        self.falls += stable & ~(margin >= self._margin - FALL * margin.abs())
        first = (margin > 0) & torch.isinf(self.crossing)
        self.crossing = torch.where(first, float(step), self.crossing)
        self._loss, self._margin = loss, margin
        if step in self._due:
            neurons = self.neuron_margins(space)
            self.not_both_negative += (~(neurons < 0)).any(dim=1)
            for name, value in (("loss", loss), ("margin", margin), ("neuron_margin", neurons)):
                self.series[name].append(value)
            self.steps.append(step)

    def neuron_margins(self, space: SampleSpace) -> Tensor:
        """min_i y_i a_j phi(w_j . x_i) / |w_j|, (R, m)."""
        w = space.weights()
        signed = ACTIVATIONS[PHI].value(w @ self._task.x.mT) * self._task.y
        smallest: Tensor = (signed * signs(2)[:, None]).amin(dim=2)
        return smallest / w.square().sum(dim=2).sqrt()


def run(p: Parameters, context: Context) -> Outcome:
    """Trains all seeds on the paper's points and on both controls."""
    tasks = {
        "paper": five_points(),
        "contradicted": contradicted(),
        "spread_out": spread_out(p.far_coordinate),
    }
    outcome = Outcome()
    seeds = range(p.seeds)
    eta = torch.full((p.seeds,), p.eta, dtype=torch.float64)
    watchers: dict[str, NeuronWatcher] = {}
    for name, task in tasks.items():
        constants = theory.constants(PHI, 2, task.radius)
        threshold = theory.stable_threshold(constants, p.eta, len(task.y))
        space = SampleSpace(
            task.x, task.y.expand(p.seeds, -1), starts(seeds, 2, 3, p.init), eta, PHI
        )
        watcher = NeuronWatcher(task, p.seeds, set(log_grid(p.steps, p.points)), threshold)
        iterate(space, p.steps, watcher, context.progress(p.steps, name), watcher)
        watchers[name] = watcher
        for series, values in watcher.series.items():
            outcome.add_series(series, watcher.steps, torch.stack(values), grid([name], seeds))
    measure(p, outcome, watchers)
    measure_support_vectors(outcome)
    return outcome


def measure(p: Parameters, outcome: Outcome, watchers: dict[str, NeuronWatcher]) -> None:
    """Crossing, falls of the margin, signs of the neurons' margins, rises of the loss."""
    seeds = range(p.seeds)

    def table(values: dict[str, Tensor]) -> dict[str, dict[int, float]]:
        merged: dict[str, dict[int, float]] = {}
        for variant, value in values.items():
            merged |= by_variant(value, grid([variant], seeds))
        return merged

    outcome.quantity(
        "becomes_positive",
        table({n: torch.isfinite(w.crossing).double() for n, w in watchers.items()}),
        meaning="the network's margin is positive at some step",
        kind="proportion",
    )
    outcome.quantity(
        "crossing_step",
        table({n: w.crossing for n, w in watchers.items()}),
        meaning="first step with a positive margin",
        unit="steps",
    )
    # A run that never meets (5) says nothing about the stable phase.
    paper = watchers["paper"]
    falls = torch.where(paper.stable_steps > 0, paper.falls, torch.nan)
    outcome.quantity(
        "margin_falls",
        table({"paper": falls, "loss_rises": watchers["paper"].rises}),
        meaning="steps of the stable phase (5) on which the normalized margin falls; rises of the loss",
        unit="steps",
        kind="violations",
    )
    outcome.quantity(
        "stable_steps",
        table({"paper": watchers["paper"].stable_steps}),
        meaning="steps since (5) holds",
        unit="steps",
    )
    outcome.quantity(
        "not_both_negative",
        table({n: w.not_both_negative for n, w in watchers.items()}),
        meaning="recorded steps at which a neuron's margin is not negative",
        unit="steps",
        kind="violations",
    )


def max_margin(points: list[list[float]], labels: list[int]) -> tuple[float, np.ndarray[Any, Any]]:
    """The hard-margin support vector machine without a bias: value and direction.

    Its dual is the point of least norm in the convex hull of y_i x_i.
    """
    signed = np.array(points) * np.array(labels)[:, None]
    count = len(signed)
    best = scipy.optimize.minimize(
        lambda share: 0.5 * np.sum((share @ signed) ** 2),
        np.full(count, 1 / count),
        jac=lambda share: signed @ (share @ signed),
        bounds=[(0, 1)] * count,
        constraints={"type": "eq", "fun": lambda s: s.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    nearest = best.x @ signed
    direction = nearest / np.linalg.norm(nearest)
    return float((signed @ direction).min()), direction


def measure_support_vectors(outcome: Outcome) -> None:
    """Largest margin of a linear classifier on the five points, and without the first and the last."""
    value, direction = max_margin(POINTS, LABELS)
    fewer, _ = max_margin(POINTS[1:4], LABELS[1:4])
    outcome.quantity(
        "max_margin",
        {"paper": {0: value}, "without_1_and_5": {0: fewer}},
        meaning="hard-margin value of a linear classifier",
        kind="exact",
    )
    error = float(np.linalg.norm(direction - np.array([1.0, 0, 0])))
    outcome.quantity(
        "direction_error",
        {"paper": {0: error}},
        meaning="distance of the max-margin direction from (1, 0, 0)",
        kind="exact",
    )
