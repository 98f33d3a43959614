"""NE Figure 4: SGD noise improves the stability of training, so warm-up works.

The paper factorizes a rank-one matrix: f(x) = U W x with one hidden neuron, x ~ N(0, I_30), y = x + eps, eps ~ N(0, I).
The Hessian trace S (Proposition 5.3, the 1/2 convention) says how large a stepsize is stable. From Kaiming's
initialization S is large, and the stepsize eta diverges at once. During a warm-up at eta_min the noise drives the
two layers to the noise equilibrium, where S is small; then the same eta is stable. Gradient descent conserves
|u|^2 - |w|^2 instead, so it stays where S is large.

Stated: dimension, noise, batch 1, eta, eta_min, switch, both initializations. Inferred: the per-sample loss |r|^2
(with the mean over components .008 does not diverge), one neuron, an autoencoder. Ours: horizon, the stepsize
eta of the Xavier and GD curves, and gradient descent on the population loss (an infinite batch has no noise at all).
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import Schedule, descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid, log_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_fig4_warmup_stability import Parameters
from sgdclaims.theory import noise_equilibrium as theory

LAST = 0.2  # "at the end": the last fifth of the steps


@dataclass(frozen=True)
class Curve:
    """An initialization and a warm-up: eta_min before the switch, eta from then on."""

    kaiming: bool
    eta_min: float
    switch: int


def sgd_curves(p: Parameters) -> dict[str, Curve]:
    """The paper's SGD curves, and the grids of the authors' reply."""
    curves = {
        "constant": Curve(True, p.eta, 0),
        "warmup": Curve(True, p.eta_min, p.switch),
        "xavier": Curve(False, p.eta, 0),
    }
    curves |= {f"switch_{s}": Curve(True, p.eta_min, s) for s in p.switch_grid}
    curves |= {f"eta_min_{e:g}": Curve(True, e, p.eta_min_switch) for e in p.eta_min_grid}
    return curves


def initial(p: Parameters, runs: list[Run], kaiming: Mapping[str, bool]) -> Weights:
    """W (R, 1, n) and U (R, n, 1). Kaiming: variances 1/n and 1 (fan-in); Xavier: 2/(fan-in + fan-out) halved.

    The paper's Xavier is variance 1/(fan-in + fan-out) = 1/(n + 1) for both layers.
    """
    n = p.dimension
    z = Streams([run.seed for run in runs], "init").normal(2 * n)
    is_kaiming = torch.tensor([kaiming[run.variant] for run in runs])
    xavier = torch.tensor(1 / (n + 1))
    var_w = torch.where(is_kaiming, 1 / n, xavier)
    var_u = torch.where(is_kaiming, 1.0, xavier)
    w, u = z[:, :n] * var_w.sqrt()[:, None], z[:, n:] * var_u.sqrt()[:, None]
    return w[:, None, :], u[:, :, None]


def warm_up(curves: list[Curve], eta: float) -> Schedule:
    """The stepsizes (R,) at a step; the same tensor as long as nothing changes."""
    switch = torch.tensor([curve.switch for curve in curves])
    low = torch.tensor([curve.eta_min for curve in curves])
    changes = sorted({0, *switch.tolist()})
    phases = {step: torch.where(step >= switch, eta, low) for step in changes}

    def at(step: int) -> Tensor:
        return phases[changes[bisect.bisect_right(changes, step) - 1]]

    return at


def run(p: Parameters, context: Context) -> Outcome:
    """Trains all curves: SGD in one stack, gradient descent in another."""
    ones = torch.ones(p.dimension)
    # Divergence is a matter of the first steps, the equilibrium of all: record densely on both scales.
    schedule = sorted({*linear_grid(p.steps, p.points), *log_grid(p.steps, p.points), p.switch})

    def hessian_trace(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        w, u = weights
        return {"hessian_trace": theory.hessian_trace(w, u, ones)}

    curves = sgd_curves(p)
    sgd_runs = grid(list(curves), range(p.seeds))
    sgd = Recorder(schedule, hessian_trace)
    descend(
        initial(p, sgd_runs, {name: curve.kaiming for name, curve in curves.items()}),
        two_layer.gradient("linear", p.kappa),
        gaussian_teacher(
            Streams([r.seed for r in sgd_runs], "data"),
            len(sgd_runs),
            p.batch_size,
            torch.eye(p.dimension),
            ones,
            p.noise_variance * ones,
        ),
        eta=warm_up([curves[r.variant] for r in sgd_runs], p.eta),
        steps=p.steps,
        recorder=sgd,
        progress=context.progress(p.steps, "SGD"),
    )
    gd_runs = grid(["gd_kaiming", "gd_xavier"], range(p.seeds))
    gd = Recorder(schedule, hessian_trace)
    start = initial(p, gd_runs, {"gd_kaiming": True, "gd_xavier": False})
    descend(
        start,
        two_layer.population_gradient(torch.eye(p.dimension), ones, p.kappa),
        constant(),
        eta=p.eta,
        steps=p.steps,
        recorder=gd,
        progress=context.progress(p.steps, "GD"),
    )
    outcome = Outcome()
    outcome.record(sgd, sgd_runs)
    outcome.record(gd, gd_runs)
    trace = torch.cat([sgd.series["hessian_trace"], gd.series["hessian_trace"]], dim=1)
    measure(p, outcome, torch.tensor(sgd.steps), trace, sgd_runs + gd_runs)
    predict(p, outcome, start, gd_runs)
    return outcome


def measure(p: Parameters, outcome: Outcome, steps: Tensor, trace: Tensor, runs: list[Run]) -> None:
    """Everything that the claims speak of, from the Hessian trace S (T, R)."""
    finite = torch.isfinite(trace)
    trace = torch.where(finite, trace, torch.inf)
    at_switch = steps.tolist().index(p.switch)
    last = trace[steps >= (1 - LAST) * p.steps]
    evenly = torch.tensor([s in set(linear_grid(p.steps, p.points)) for s in steps.tolist()])
    first = trace[evenly & (steps <= LAST * p.steps)]
    end = last.mean(dim=0)
    outcome.quantity(
        "diverged",
        by_variant((~finite[at_switch]).double(), runs),
        meaning=f"non-finite at step {p.switch}",
        kind="proportion",
    )
    outcome.quantity(
        "finite_at_end",
        by_variant(finite[-1].double(), runs),
        meaning="finite at the last step",
        kind="proportion",
    )
    outcome.quantity(
        "trace_at_switch",
        by_variant(trace[at_switch] / trace[0], runs),
        meaning=f"S at step {p.switch} over S at the start",
    )
    outcome.quantity(
        "end_over_start",
        by_variant(end / trace[0], runs),
        meaning="mean S over the last fifth of the steps, over S at the start",
    )
    outcome.quantity(
        "end_trace", by_variant(end, runs), meaning="mean S over the last fifth of the steps"
    )
    table = by_variant(end, runs)
    pairs = {"sgd": ("warmup", "xavier"), "gd": ("gd_kaiming", "gd_xavier")}
    outcome.quantity(
        "end_trace_ratio",
        {n: {s: table[k][s] / table[x][s] for s in table[k]} for n, (k, x) in pairs.items()},
        meaning="end S from Kaiming's over end S from Xavier's initialization",
    )
    fluctuation = {
        "last_fifth": _spread(last, runs),
        "first_fifth": _spread(first, runs),
    }
    outcome.quantity(
        "fluctuation", fluctuation, meaning="standard deviation of S in time over its mean, warm-up"
    )
    stable = by_variant(finite[-1].double(), runs)
    grids = {
        "switches": [f"switch_{s}" for s in p.switch_grid],
        "longer_switches": [f"switch_{s}" for s in sorted(p.switch_grid)[1:]],
        "eta_mins": [f"eta_min_{e:g}" for e in p.eta_min_grid],
        "no_warmup": ["constant"],
    }
    outcome.quantity(
        "stable_everywhere",
        {
            n: {s: min(stable[c][s] for c in cells) for s in range(p.seeds)}
            for n, cells in grids.items()
        },
        meaning="finite at the last step in every cell of the grid",
        kind="proportion",
    )


def _spread(trace: Tensor, runs: list[Run]) -> dict[int, float]:
    relative = trace.std(dim=0) / trace.mean(dim=0)
    return by_variant(relative, runs)["warmup"]


def predict(p: Parameters, outcome: Outcome, start: Weights, runs: list[Run]) -> None:
    """Where gradient flow ends (formula for D conserved), and where SGD ends (erratum E7)."""
    w, u = start
    imbalance = theory.squared_norm(u) - theory.squared_norm(w)
    flow = by_variant(theory.gradient_flow_end_trace(p.dimension, imbalance), runs)
    # SGD starts where GD does: what gradient flow would have made of its Kaiming start.
    outcome.quantity(
        "flow_end_trace",
        flow | {"warmup": flow["gd_kaiming"]},
        meaning="n sqrt(D^2 + 4) with D = |u|^2 - |w|^2 at the start",
    )
    outcome.quantity(
        "equilibrium_trace",
        {"theory": {0: theory.rank_one_end_trace(p.dimension)}},
        meaning="S at the noise equilibrium, stepsize to zero",
    )
