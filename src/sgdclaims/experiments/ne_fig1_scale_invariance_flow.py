"""NE Figure 1: under scale invariance the gradient is tangential, so SGD can only move outward.

In the plane, l = -cos(angle(theta) - z) with a random target angle z depends on the angle only. Its gradient is
tangential to the circles around the origin; a step of length eta |g| along the tangent leads outside: |theta|^2
grows by exactly eta^2 |g|^2. Gradient flow stays on its circle. With E|g|^2 = c / |theta|^2 the squared radius
obeys d r^2 = eta^2 c / r^2 per step, so r grows like t^(1/4): the fixed point is at infinity, and attractive.

The paper's figure is a drawing without parameters; ours is drawn from runs, and every parameter is ours. float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.loop import Remembers
from sgdclaims.dynamics.recorder import Recorder, Weights, log_grid
from sgdclaims.dynamics.samplers import Batch, Batches, Sampler, block_length
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import scale_invariant
from sgdclaims.parameters.ne_fig1_scale_invariance_flow import Parameters

ALLOWANCE = 1e-13
F64 = torch.float64
FLOW_STEPS = 2000  # by then the flow has been at the minimum for long


class Radius(Remembers, Recorder):
    """Checks |theta'|^2 = |theta|^2 + eta^2 |g|^2 at every step; records the path on a grid."""

    remembered = ("steps", "_values", "_before", "step_length", "falls", "worst_gap")

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


def targets(streams: Streams, runs: int, noise: float) -> Batches:
    """Random target angles (R,), one per step."""
    length = block_length(runs, 1)

    def draw() -> Iterable[Batch]:
        return ((z,) for z in (noise * streams.normal(length, dtype=F64)).mT.contiguous().unbind())

    return Sampler(streams, draw)


def mean_gradient(weights: Weights, noise: float) -> Weights:
    """Gradient of the mean loss: E cos(a - z) = exp(-noise^2 / 2) cos a for the angle a of theta (R, 2)."""
    aim = torch.zeros(len(weights[0]), dtype=F64)
    return (math.exp(-(noise**2) / 2) * scale_invariant.angle_gradient(weights[0], aim),)


def flow_increment(weights: Weights, noise: float, eta: float) -> Weights:
    """What a step of length eta must subtract to follow gradient flow: four Runge-Kutta steps of fourth order."""
    h = eta / 4
    theta = weights[0]
    for _ in range(4):
        k1 = mean_gradient((theta,), noise)[0]
        k2 = mean_gradient((theta - h / 2 * k1,), noise)[0]
        k3 = mean_gradient((theta - h / 2 * k2,), noise)[0]
        k4 = mean_gradient((theta - h * k3,), noise)[0]
        theta = theta - h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return ((weights[0] - theta) / eta,)


def follow(p: Parameters, context: Context, variant: str) -> Radius:
    """SGD with or without weight decay, gradient descent on the mean loss, or its gradient flow."""
    seeds = range(p.seeds)
    steps = min(p.steps, FLOW_STEPS) if variant == "flow" else p.steps
    recorder = Radius(log_grid(steps, p.points), p.eta)

    def gradient(weights: Weights, batch: Batch) -> Weights:
        if variant == "flow":
            (g,) = flow_increment(weights, p.noise, p.eta)
        elif variant == "gd":
            (g,) = mean_gradient(weights, p.noise)
        else:
            g = scale_invariant.angle_gradient(weights[0], batch[0])
        recorder.step_length = g.norm(dim=1)
        return (g,)

    angle = torch.tensor(p.start_angle, dtype=F64)
    start = p.start_radius * torch.stack([angle.cos(), angle.sin()])
    descend(
        (start.expand(p.seeds, 2).clone(),),
        gradient,
        targets(Streams(seeds, "target"), p.seeds, p.noise),
        eta=p.eta,
        steps=steps,
        recorder=recorder,
        weight_decay=2 * p.weight_decay if variant == "sgd_wd" else 0.0,
        progress=context.progress(steps, variant),
    )
    return recorder


def run(p: Parameters, context: Context) -> Outcome:
    """SGD, gradient flow, GD, and SGD with weight decay, from one starting point."""
    outcome = Outcome()
    falls: dict[str, dict[int, float]] = {}
    gaps: dict[str, dict[int, float]] = {}
    slopes: dict[str, dict[int, float]] = {}
    drifts: dict[str, dict[int, float]] = {}
    for variant in ("sgd", "flow", "gd", "sgd_wd"):
        recorder = follow(p, context, variant)
        runs = [Run(variant, seed) for seed in range(p.seeds)]
        outcome.record(recorder, runs)
        falls |= by_variant(recorder.falls, runs)
        gaps |= by_variant(recorder.worst_gap, runs)
        radius = recorder.series["radius"]
        first = next(i for i, s in enumerate(recorder.steps) if s >= recorder.steps[-1] / 10)
        decades = math.log(recorder.steps[-1] / recorder.steps[first])
        slopes |= by_variant((radius[-1] / radius[first]).log() / decades, runs)
        drifts |= by_variant((radius / radius[0] - 1).abs().amax(dim=0), runs)
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
    outcome.quantity(
        "radius_drift", drifts, meaning="largest relative change of |theta| from the start"
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
