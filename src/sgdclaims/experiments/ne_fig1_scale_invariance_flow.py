"""NE Figure 1: under scale invariance the gradient is tangential, so SGD can only move outward.

In the plane, l = -cos(angle(theta) - z) with a random target angle z depends on the angle only. Its gradient is
tangential to the circles around the origin; a step of length eta |g| along the tangent leads outside: |theta|^2
grows by exactly eta^2 |g|^2. Gradient flow stays on its circle. With E|g|^2 = c / |theta|^2 the squared radius
obeys d r^2 = eta^2 c / r^2 per step, so r grows like t^(1/4): the fixed point is at infinity, and attractive.

The paper's figure is a drawing without parameters; ours is drawn from runs, and every parameter is ours. float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, log_grid
from sgdclaims.dynamics.samplers import Batch, block_length
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import scale_invariant
from sgdclaims.parameters.ne_fig1_scale_invariance_flow import Parameters

ALLOWANCE = 1e-13
F64 = torch.float64


class Radius(Recorder):
    """Checks |theta'|^2 = |theta|^2 + eta^2 |g|^2 at every step; records the path on a grid."""

    def __init__(self, schedule: list[int], eta: float) -> None:
        super().__init__(schedule, lambda w, step: {"theta": w[0], "radius": w[0].norm(dim=1)})  # noqa: ARG005
        self._eta = eta
        self._before: Tensor | None = None
        self.step_length = torch.zeros(())  # |g|, told by the gradient
        self.falls = torch.zeros(())
        self.worst_gap = torch.zeros(())

    def due(self, step: int) -> bool:  # noqa: ARG002
        return True

    def record(self, step: int, weights: Weights) -> None:
        squared = weights[0].square().sum(dim=1)
        if self._before is not None:
            self.falls = (
                self.falls
                + (
                    ~(squared >= self._before * (1 - ALLOWANCE))  # a NaN counts
                ).double()
            )
            predicted = self._before + (self._eta * self.step_length).square()
            self.worst_gap = torch.maximum(self.worst_gap, (squared / predicted - 1).abs())
        self._before = squared
        if super().due(step):
            super().record(step, weights)


def targets(streams: Streams, runs: int, noise: float) -> Iterator[Batch]:
    """Random target angles (R,), one per step."""
    length = block_length(runs, 1)
    while True:
        for z in (noise * streams.normal(length, dtype=F64)).mT.contiguous().unbind():
            yield (z,)


def run(p: Parameters, context: Context) -> Outcome:
    """SGD, GD (the mean loss), and SGD with weight decay, from one starting point."""
    seeds = range(p.seeds)
    start = p.start_radius * torch.tensor(
        [math.cos(p.start_angle), math.sin(p.start_angle)], dtype=F64
    )
    mean_cosine = math.exp(-(p.noise**2) / 2)  # E cos(a - z) = exp(-noise^2 / 2) cos a
    outcome = Outcome()
    falls: dict[str, dict[int, float]] = {}
    gaps: dict[str, dict[int, float]] = {}
    slopes: dict[str, dict[int, float]] = {}
    for variant in ("sgd", "gd", "sgd_wd"):
        recorder = Radius(log_grid(p.steps, p.points), p.eta)

        def gradient(
            weights: Weights, batch: Batch, told: Radius = recorder, noisy: bool = variant != "gd"
        ) -> Weights:
            (z,) = batch
            g = scale_invariant.angle_gradient(weights[0], z if noisy else torch.zeros_like(z))
            g = g if noisy else mean_cosine * g
            told.step_length = g.norm(dim=1)
            return (g,)

        descend(
            (start.expand(p.seeds, 2).clone(),),
            gradient,
            targets(Streams(seeds, "target"), p.seeds, p.noise),
            eta=p.eta,
            steps=p.steps,
            recorder=recorder,
            weight_decay=2 * p.weight_decay if variant == "sgd_wd" else 0.0,
            progress=context.progress(p.steps, variant),
        )
        runs = [Run(variant, seed) for seed in seeds]
        outcome.record(recorder, runs)
        falls |= by_variant(recorder.falls, runs)
        gaps |= by_variant(recorder.worst_gap, runs)
        radius = recorder.series["radius"]
        first = next(i for i, s in enumerate(recorder.steps) if s >= p.steps / 10)
        decades = math.log(p.steps / recorder.steps[first])
        slopes |= by_variant((radius[-1] / radius[first]).log() / decades, runs)
    outcome.quantity(
        "radius_falls",
        falls,
        meaning="steps on which |theta|^2 falls",
        unit="steps",
        kind="violations",
    )
    outcome.quantity(
        "radius_gap", gaps, meaning="largest relative gap of |theta'|^2 to |theta|^2 + eta^2 |g|^2"
    )
    outcome.quantity(
        "radius_slope", slopes, meaning="log-log slope of |theta| against the step, last decade"
    )
    measure_direction(p, outcome)
    return outcome


def measure_direction(p: Parameters, outcome: Outcome) -> None:
    """|g . theta| / (|g| |theta|) at random points, for the loss and for the loss with a penalty."""
    streams = Streams(range(p.seeds), "probes")
    theta = streams.normal(p.probes, 2, dtype=F64)
    target = streams.normal(p.probes, dtype=F64)
    bare = scale_invariant.angle_gradient(theta, target)
    table: dict[str, dict[int, float]] = {}
    for variant, g in (("bare", bare), ("with_penalty", bare + 2 * p.weight_decay * theta)):
        cosine = (g * theta).sum(-1).abs() / (g.norm(dim=-1) * theta.norm(dim=-1))
        table |= by_variant(cosine.amax(dim=1), grid([variant], range(p.seeds)))
    outcome.quantity(
        "radial_share",
        table,
        meaning="largest |cosine| between the gradient and theta over the probes",
    )
