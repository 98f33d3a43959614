"""Our own panels: the large-stepsize paper's bounds on separable data, and its table of activations.

(a) Theorem 3.2 bounds the mean risk, (b) Lemma C.2 the norm, and the proof of Theorem 4.1 the gradient potential, at
every step, for any stepsize and initialization. (c) From the step s of (5) on, L_t (t - s) alpha^2 gamma^2 eta stays
below 2 (or 2.15, erratum E4), and s comes before tau. (d) The constants of Example 3.1 against automatic
differentiation, with the misprints E1, E2, E5. A sigmoid network cannot fit any data: |f| <= 1/2 keeps the risk above
ln(1 + e^(-1/2)). The bounds hold where gamma^2 eta t >= 1: below, ln(gamma^2 eta t) is negative and the printed form
says nothing. float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sgdclaims.dynamics.loop import Remembers, follow
from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.experiments.large_stepsize_task import Task
from sgdclaims.experiments.separable_task import separable
from sgdclaims.models import margin_net
from sgdclaims.parameters.ls_theory_bounds import Parameters
from sgdclaims.theory import activation_table as table
from sgdclaims.theory import average_risk as bounds
from sgdclaims.theory import large_stepsize as theory

PHI = "leaky_softplus_b"
ALPHA = 0.5  # its smallest slope
CURVATURE = 1 / 8  # its largest second derivative
F64 = torch.float64
CONSTANTS = {"printed": 2.0, "corrected": 2.15}
FIT_STEPS = 2000  # of the sigmoid network and its control
FIT_ETA = 50.0


class Descent(Remembers):
    """All stepsizes, initializations and seeds in one stack on one task, with running means."""

    remembered = (
        *("w", "risk_sum", "potential_sum", "s", "worst_constant", "violations", "series"),
    )

    def __init__(self, p: Parameters, task: Task) -> None:
        self.p, self.task, self.seeds = p, task, range(p.seeds)
        self.runs = [
            Run(f"eta{eta:g}_init{init:g}", seed)
            for eta in p.stepsizes
            for init in p.inits
            for seed in self.seeds
        ]
        self.eta = torch.tensor(
            [eta for eta in p.stepsizes for _ in p.inits for _ in self.seeds], dtype=F64
        )
        scale = torch.tensor(
            [i for _ in p.stepsizes for i in p.inits for _ in self.seeds], dtype=F64
        )
        noise = Streams([r.seed for r in self.runs], "init").normal(p.m, p.dimension, dtype=F64)
        self.w = scale[:, None, None] * noise
        self.start_norm = self.w.square().sum(dim=(1, 2)).sqrt()
        self.gamma = p.margin
        self.c = theory.constants(PHI, p.m, 1.0)
        zero = torch.zeros(len(self.runs), dtype=F64)
        self.risk_sum, self.potential_sum = zero.clone(), zero.clone()
        self.s = zero + torch.inf
        self.worst_constant = zero.clone()
        self.violations: dict[str, Tensor] = {}
        self.series: dict[str, list[Tensor]] = {}

    def bound(
        self, name: str, value: Tensor, limit: Tensor, applies: Tensor, *, shown: bool
    ) -> None:
        """Counts where value > limit, and where it exceeds the tightened limit."""
        for ending, factor in (("", 1.0), ("_tight", self.p.tightened)):
            key = name + ending
            old = self.violations.get(key, torch.zeros_like(value))
            self.violations[key] = old + (applies & ~(value <= limit / factor * (1 + 1e-10)))
        if shown:
            self.series.setdefault(name, []).append(value)
            self.series.setdefault(f"{name}_bound", []).append(limit)

    def look(self, t: int, *, shown: bool) -> None:
        """Everything that is stated about step t."""
        q = margin_net.forward(self.w, self.task.x, PHI) * self.task.y
        loss, potential = margin_net.logistic(q).mean(dim=1), torch.sigmoid(-q).mean(dim=1)
        if t > 0:
            applies = self.gamma**2 * self.eta * t >= 1
            known = (self.gamma, ALPHA, self.c.kappa)
            start = (t, self.eta, self.start_norm, self.p.m)
            norm = self.w.square().sum(dim=(1, 2)).sqrt()
            for name, value, limit in (
                ("mean_risk", self.risk_sum / t, bounds.mean_risk(*start, *known)),
                ("norm", norm, bounds.norm(*start, *known)),
                ("potential", self.potential_sum / t, bounds.mean_potential(*start, *known)),
            ):
                self.bound(name, value, limit, applies, shown=shown)
            since = (t - self.s).clamp_min(1)
            scaled = loss * since * ALPHA**2 * self.gamma**2 * self.eta
            after = self.s < t
            self.worst_constant = torch.maximum(
                self.worst_constant, torch.where(after, scaled, 0.0)
            )
            if shown:
                self.series.setdefault("constant", []).append(torch.where(after, scaled, torch.nan))
        self.risk_sum += loss
        self.potential_sum += potential
        n, m = len(self.task.y), self.p.m
        five = torch.tensor([theory.stable_threshold(self.c, float(e) * m, n) for e in self.eta])
        self.s = torch.where((loss <= five) & torch.isinf(self.s), float(t), self.s)

    def follow(self, context: Context) -> list[int]:
        """All steps; returns the recorded ones."""
        grid = [t for t in log_grid(self.p.steps, self.p.points) if t > 0]
        due, progress = set(grid), context.progress(self.p.steps, "bounds")
        gradient = margin_net.gradient(PHI)
        rate = (self.eta * self.p.m)[:, None, None]
        for t in follow(self.p.steps, progress, self, every=10):
            self.look(t, shown=t in due)
            (g,) = gradient((self.w,), (self.task.x, self.task.y))
            self.w = self.w - rate * g
        self.look(self.p.steps, shown=self.p.steps in due)
        return grid


@torch.no_grad()
def run(p: Parameters, context: Context) -> Outcome:
    """All panels."""
    outcome = Outcome()
    task = separable(p.samples, p.dimension, p.margin)
    descent = Descent(p, task)
    grid = descent.follow(context)
    for name, values in descent.series.items():
        outcome.add_series(name, grid, torch.stack(values), descent.runs)
    measure_bounds(p, outcome, descent)
    measure_table(outcome)
    measure_sigmoid(p, outcome, task)
    return outcome


def measure_bounds(p: Parameters, outcome: Outcome, descent: Descent) -> None:
    """Violations per seed over all settings; the constant of Theorem 4.1; s over tau."""
    shape = (len(p.stepsizes) * len(p.inits), p.seeds)

    def rows(variant: str, values: Tensor) -> dict[str, dict[int, float]]:
        return by_variant(values, [Run(variant, seed) for seed in descent.seeds])

    counts: dict[str, dict[int, float]] = {}
    for name, violated in descent.violations.items():
        counts |= rows(name, violated.reshape(shape).sum(dim=0))
    worst = descent.worst_constant.reshape(shape).amax(dim=0)
    for form, constant in CONSTANTS.items():
        # A NaN counts as a violation.
        counts |= rows(f"late_risk_{form}", (~(worst <= constant)).double())
        counts |= rows(f"late_risk_{form}_tight", (~(worst <= constant / p.tightened)).double())
    outcome.quantity(
        "violations",
        counts,
        meaning="steps on which a bound fails, all stepsizes and initializations (late risk: seeds)",
        unit="steps",
        kind="violations",
    )
    outcome.quantity(
        "late_constant",
        rows("worst", worst),
        meaning="largest L_t (t - s) alpha^2 gamma^2 eta over all stepsizes, initializations, steps",
    )
    tau = bounds.phase_transition(
        descent.eta, descent.start_norm, p.m, p.samples, p.margin, ALPHA, descent.c.kappa, CURVATURE
    )
    reached = torch.isfinite(descent.s)
    share = torch.where(reached, descent.s / tau, 0.0).reshape(shape).amax(dim=0)
    waiting = torch.where(reached, 0.0, p.steps / tau).reshape(shape).amax(dim=0)
    outcome.quantity(
        "transition",
        rows("s_over_tau", share) | rows("horizon_over_tau", waiting),
        meaning="largest s over tau of Theorem 4.1; largest steps over tau where (5) is not reached",
    )


def measure_table(outcome: Outcome) -> None:
    """The constants of every activation, and the misprinted formulas, against automatic differentiation."""
    excess: dict[str, dict[int, float]] = {}
    sharp: dict[str, dict[int, float]] = {}
    for name, entry in table.TABLE.items():
        with torch.enable_grad():
            measured = table.suprema(entry.value)
        pairs = list(zip(measured, entry.printed, entry.sharp, strict=True))
        excess[name] = {0: max(m / printed for m, printed, _ in pairs)}
        sharp[name] = {0: max(abs(m / best - 1) for m, _, best in pairs)}
        excess[f"{name}_sharp"] = {0: max(m / best for m, _, best in pairs)}
        sharp[f"{name}_printed"] = {0: max(abs(m / printed - 1) for m, printed, _ in pairs)}
    others = [v for v in table.TABLE if v != "gelu"]
    excess["all_but_gelu"] = {0: max(excess[v][0] for v in others)}
    sharp["all"] = {0: max(sharp[v][0] for v in table.TABLE)}
    sharp["all_printed"] = {0: max(sharp[f"{v}_printed"][0] for v in table.TABLE)}
    outcome.quantity(
        "bound_excess",
        excess,
        meaning="largest of the suprema kappa, |phi'|, |phi''| over its bound; above 1: no bound",
        kind="exact",
    )
    outcome.quantity(
        "sharp_gap",
        sharp,
        meaning="largest relative gap of a supremum on a grid to its closed form",
        kind="exact",
    )
    outcome.quantity(
        "formula_gap",
        {variant: {0: gap} for variant, gap in formula_gaps().items()},
        meaning="largest gap of a printed or corrected formula to the function it stands for",
        kind="exact",
    )


def formula_gaps() -> dict[str, float]:
    """E1 and E5 in both forms, and phi - x phi' = 0 for ReLU against softplus."""
    x = torch.linspace(-6, 6, 2001, dtype=F64, requires_grad=True)
    gaps = {}
    normal = x * (1 + torch.erf(x / math.sqrt(2))) / 2
    reference = torch.nn.functional.gelu(x)
    gaps["gelu_printed"] = (table.gelu_printed(x) - reference).abs().max().item()
    gaps["gelu_corrected"] = (normal - reference).abs().max().item()
    with torch.enable_grad():
        for name, value, second in (
            ("tanh", torch.tanh, table.tanh_second),
            ("silu", torch.nn.functional.silu, table.silu_second),
        ):
            (slope,) = torch.autograd.grad(value(x).sum(), x, create_graph=True)
            (curve,) = torch.autograd.grad(slope.sum(), x)
            for form in ("printed", "corrected"):
                gaps[f"{name}_{form}"] = (second(x, form) - curve).abs().max().item()
        for name, function in (("relu", torch.relu), ("softplus", torch.nn.functional.softplus)):
            phi = function(x)
            (slope,) = torch.autograd.grad(phi.sum(), x)
            gaps[f"{name}_homogeneity"] = (phi - x * slope).abs().max().item()
    gaps["second_printed"] = min(gaps["tanh_printed"], gaps["silu_printed"])
    gaps["second_corrected"] = max(gaps["tanh_corrected"], gaps["silu_corrected"])
    return gaps


def measure_sigmoid(p: Parameters, outcome: Outcome, task: Task) -> None:
    """The lowest risk that training reaches with a sigmoid, and with the activation above."""
    seeds = range(p.seeds)
    start = Streams(seeds, "sigmoid").normal(p.m, p.dimension, dtype=F64)
    lowest: dict[str, dict[int, float]] = {}
    for name, activation in (("sigmoid", "sigmoid"), ("leaky_softplus", PHI)):
        gradient, w = margin_net.gradient(activation), start
        best = torch.full((p.seeds,), torch.inf, dtype=F64)
        for _ in range(FIT_STEPS):
            q = margin_net.forward(w, task.x, activation) * task.y
            best = torch.minimum(best, margin_net.logistic(q).mean(dim=1))
            (g,) = gradient((w,), (task.x, task.y))
            w = w - FIT_ETA * g
        lowest |= by_variant(best, [Run(name, seed) for seed in seeds])
    outcome.quantity("lowest_risk", lowest, meaning="lowest risk over 2,000 steps")
