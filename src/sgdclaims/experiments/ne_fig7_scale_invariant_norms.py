"""NE Figure 7: scale symmetry makes norms grow under SGD.

The gradient of a scale-invariant loss is orthogonal to the weights, so a step changes the squared norm by exactly
eta^2 |g|^2: never down, by an amount that noise makes large and that gradient flow makes zero. Net-A is invariant
when both layers are scaled together: only the total norm must grow, single layers may shrink. Net-B is invariant
in each layer, so each must grow.

Stated: the two networks, simple linear Gaussian data, three panels. Ours: everything else. The data are y = x +
eps; gradient descent has a fixed sample. float64, because monotonicity is judged at every single step, with an
allowance of a relative 1e-13 for rounding.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.loop import Remembers
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, by_variant, grid
from sgdclaims.models import scale_invariant
from sgdclaims.parameters.ne_fig7_scale_invariant_norms import Parameters

ALLOWANCE = 1e-13
F64 = torch.float64


class EveryStep(Remembers, Recorder):
    """Counts the steps on which a squared norm falls, at every step; records on the grid."""

    remembered = ("steps", "_values", "_previous", "falls")

    def __init__(self, schedule: list[int]) -> None:
        super().__init__(schedule, lambda weights, step: self.norms(weights))  # noqa: ARG005
        self._previous: dict[str, Tensor] = {}
        self.falls: dict[str, Tensor] = {}

    @staticmethod
    def norms(weights: Weights) -> dict[str, Tensor]:
        """Squared norms of both layers and their sum."""
        w, u = (matrix.square().sum(dim=(1, 2)) for matrix in weights)
        return {"total": w + u, "first": w, "second": u}

    def due(self, step: int) -> bool:  # noqa: ARG002
        return True

    def record(self, step: int, weights: Weights) -> None:
        now = self.norms(weights)
        for name, value in now.items():
            before = self._previous.get(name, value)
            fell = (~(value >= before * (1 - ALLOWANCE))).double()  # a NaN counts
            self.falls[name] = self.falls.get(name, torch.zeros_like(fell)) + fell
        self._previous = now
        if super().due(step):
            super().record(step, weights)


def run(p: Parameters, context: Context) -> Outcome:
    """Trains Net-A, Net-B and the plain network with SGD and GD."""
    outcome = Outcome()
    seeds = range(p.seeds)
    ones, eye = torch.ones(p.dimension, dtype=F64), torch.eye(p.dimension, dtype=F64)
    falls: dict[str, dict[str, dict[int, float]]] = {n: {} for n in ("total", "first", "second")}
    change: dict[str, dict[str, Tensor]] = {}
    nets: tuple[scale_invariant.Net, ...] = ("a", "b", "plain")
    for net, method in itertools.product(nets, ("sgd", "gd")):
        streams = Streams(seeds, "init")
        w = streams.normal(p.width, p.dimension, dtype=F64)
        u = streams.normal(p.dimension, p.width, dtype=F64)
        w = w * (p.init_norm_w / w.flatten(1).norm(dim=1))[:, None, None]
        u = u * (p.init_norm_u / u.flatten(1).norm(dim=1))[:, None, None]
        size = p.batch_size if method == "sgd" else p.gd_samples
        data = gaussian_teacher(
            Streams(seeds, method), p.seeds, size, eye, ones, p.noise_variance * ones
        )
        recorder = EveryStep(linear_grid(p.steps, p.points))
        descend(
            (w, u),
            scale_invariant.gradient(net, p.kappa),
            data if method == "sgd" else constant(*next(data)),
            eta=p.eta,
            steps=p.steps,
            recorder=recorder,
            progress=context.progress(p.steps, f"net {net} {method}"),
        )
        variant = f"net_{net}_{method}"
        runs = grid([variant], seeds)
        outcome.record(recorder, runs)
        for name, count in recorder.falls.items():
            falls[name] |= by_variant(count, runs)
        series = recorder.series
        change[variant] = {name: values[-1] - values[0] for name, values in series.items()}
    measure(p, outcome, falls, change)
    return outcome


def measure(
    p: Parameters,
    outcome: Outcome,
    falls: dict[str, dict[str, dict[int, float]]],
    change: dict[str, dict[str, Tensor]],
) -> None:
    """Falls of the norms, growth under GD over growth under SGD, and the smallest change of a layer."""
    outcome.quantity(
        "total_falls",
        falls["total"],
        meaning="steps on which the total squared norm falls",
        unit="steps",
        kind="violations",
    )
    layers = {
        variant: {
            seed: falls["first"][variant][seed] + falls["second"][variant][seed] for seed in row
        }
        for variant, row in falls["first"].items()
    }
    outcome.quantity(
        "layer_falls",
        layers,
        meaning="steps on which a layer's squared norm falls",
        unit="steps",
        kind="violations",
    )
    growth: dict[str, dict[int, float]] = {}
    smallest: dict[str, dict[int, float]] = {}
    for net in ("a", "b"):
        sgd, gd = change[f"net_{net}_sgd"], change[f"net_{net}_gd"]
        growth |= by_variant(gd["total"] / sgd["total"], grid([f"net_{net}"], range(p.seeds)))
        again = sgd["total"].roll(1) / sgd["total"]
        growth |= by_variant(again, grid([f"net_{net}_sgd_over_sgd"], range(p.seeds)))
        least = torch.minimum(sgd["first"], sgd["second"])
        smallest |= by_variant(least, grid([f"net_{net}"], range(p.seeds)))
    outcome.quantity(
        "gd_growth", growth, meaning="growth of the total squared norm, GD over SGD at equal steps"
    )
    outcome.quantity(
        "smallest_layer_change",
        smallest,
        meaning="the smaller net change of a layer's squared norm under SGD",
    )
