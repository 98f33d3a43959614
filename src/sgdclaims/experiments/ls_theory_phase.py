"""Our own panels: Theorem 2.2 of the large-stepsize paper, and its lemmas, at every single step.

Two-layer networks (2) learn XOR and linearly separable points by gradient descent at stepsizes from monotone to far
beyond the classical limit, with an activation whose slope is bounded below and one without such a bound. From the
step r at which (4) holds the risk must fall; from the step s at which (5) holds the norm and the modified margin
gamma^c (10) must grow, and the risk must stay between the bounds of Lemma A.14. An inequality counts as violated from
a relative 1e-10 on. The controls tighten a bound, start counting too early, or add weight decay. All float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sgdclaims.dynamics.loop import Remembers, follow
from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.experiments.large_stepsize_task import Task, xor
from sgdclaims.experiments.separable_task import separable
from sgdclaims.models import margin_net
from sgdclaims.parameters.ls_theory_phase import Parameters
from sgdclaims.theory import large_stepsize as theory
from sgdclaims.theory import stable_phase as lemmas

ALLOWANCE = 1e-10
F64 = torch.float64


@dataclass
class Violations(Remembers):
    """Counts over the steps of R runs: how often each statement, and each tightened one, fails."""

    remembered = ("count", "seen")

    runs: int

    def __post_init__(self) -> None:
        self.count: dict[str, Tensor] = {}
        self.seen: dict[str, Tensor] = {}

    def add(
        self, name: str, applies: Tensor, violation: Tensor, allowance: float = ALLOWANCE
    ) -> None:
        """A NaN where the statement applies counts as a violation."""
        zero = torch.zeros(self.runs, dtype=F64)
        bad = applies & ~(violation <= allowance)
        self.count[name] = self.count.get(name, zero) + bad
        self.seen[name] = self.seen.get(name, zero) + applies


class Phase(Remembers):
    """Follows R runs of one task and one activation, and checks every step."""

    remembered = ("w", "checks", "r", "s", "early", "loss_s", "log_margin_s", "series")

    def __init__(
        self, p: Parameters, task: Task, activation: str, runs: list[Run], eta: Tensor
    ) -> None:
        self.p, self.task, self.runs, self.eta = p, task, runs, eta
        self.n, self.due = len(task.y), set(log_grid(p.steps, p.points))
        self.c = theory.constants(activation, p.m, task.radius)
        self.activation = activation
        streams = Streams([run.seed for run in runs], "init")
        self.w = p.init * streams.normal(p.m, task.x.shape[1], dtype=F64)
        self.gradient = margin_net.gradient(activation)
        self.decayed = torch.tensor(
            [p.decay if r.variant.endswith("_decay") else 0.0 for r in runs], dtype=F64
        )
        self.checks = Violations(len(runs))
        infinite = torch.full((len(runs),), torch.inf, dtype=F64)
        self.r, self.s, self.early = infinite.clone(), infinite.clone(), infinite.clone()
        self.loss_s, self.log_margin_s = infinite.clone(), infinite.clone()
        self.series: dict[str, list[Tensor]] = {
            "loss": [],
            "norm": [],
            "margin": [],
            "log_gamma_c": [],
        }

    def look(self) -> tuple[lemmas.State, Tensor]:
        """The state at the current weights, and the gradient."""
        (g,) = self.gradient((self.w,), (self.task.x, self.task.y))
        q = margin_net.forward(self.w, self.task.x, self.activation) * self.task.y
        state = lemmas.State(
            loss=margin_net.logistic(q).mean(dim=1),
            norm=self.w.square().sum(dim=(1, 2)).sqrt(),
            grad_squared=g.square().sum(dim=(1, 2)),
            pull=-(g * self.w).sum(dim=(1, 2)),
            smallest=q.amin(dim=1),
        )
        return state, g

    def enter(self, step: int, now: lemmas.State) -> None:
        """Notes the first steps at which (4) and (5) hold, and at which 1000 times (4) does; records on the grid."""
        c, eta = self.c, self.eta
        four = 1 / (eta * (2 * c.rho**2 + c.beta))
        five = torch.tensor([theory.stable_threshold(c, float(e), self.n) for e in eta], dtype=F64)
        log_c = theory.log_modified_margin(now.loss, now.norm, c, eta, self.n)
        begins = (now.loss <= five) & torch.isinf(self.s)
        self.loss_s = torch.where(begins, now.loss, self.loss_s)
        self.log_margin_s = torch.where(begins, log_c, self.log_margin_s)
        for name, threshold in (("r", four), ("early", 1000 * four), ("s", five)):
            first = getattr(self, name)
            hit = (now.loss <= threshold) & torch.isinf(first)
            setattr(self, name, torch.where(hit, float(step), first))
        if step in self.due:
            values = (now.loss, now.norm, now.smallest / now.norm, log_c)
            for name, value in zip(self.series, values, strict=True):
                self.series[name].append(value)

    def check(self, step: int, now: lemmas.State, after: lemmas.State) -> None:
        """Every statement about the step from `now` to `after`."""
        c, eta, n, add = self.c, self.eta, self.n, self.checks.add
        stable, tight = self.s <= step, self.p.tightened
        rise = after.loss / now.loss - 1
        add("risk_falls", self.r <= step, rise)
        add("risk_falls_too_early", self.early <= step, rise)
        add("norm_grows", stable, now.norm / after.norm - 1)
        fine = now.loss <= 1 / (eta * c.rho**2)
        small = now.loss <= 1 / (2 * n) * torch.exp(torch.tensor(-c.kappa, dtype=F64))
        both = small & (now.loss <= 1 / (eta * (4 * c.rho**2 + 2 * c.beta)))
        half = now.loss <= 1 / (2 * n)
        # The tightened bounds only have to fail somewhere: the recorded steps are enough.
        for ending, slack in (("", 1.0), ("_tight", tight))[: 2 if step in self.due else 1]:
            add(f"a3{ending}", fine, torch.maximum(*lemmas.descent(now, after, eta, c, slack)))
            add(f"a7{ending}", small, lemmas.pull(now, c, n, slack))
            add(f"a8{ending}", both, torch.maximum(*lemmas.growth(now, after, eta, c, n, slack)))
            add(f"a9{ending}", half, torch.maximum(*lemmas.smoothed_margin(now, n, slack)))
            add(f"a13{ending}", stable, lemmas.modified_gain(now, after, c, eta, n, slack))
            since = (step - self.s).clamp_min(1)
            bounds = lemmas.risk_bounds(
                now.loss, since, self.loss_s, self.log_margin_s, eta, c, slack
            )
            add(f"a14{ending}", self.s < step, torch.maximum(*bounds))
        lower, upper = lemmas.margin_order(now, c, eta, n)
        add("a10", stable, torch.maximum(lower, upper))
        add("a10_reversed", stable, torch.maximum(-lower, -upper))

    def follow(self, context: Context, label: str) -> None:
        """All steps."""
        seen: tuple[lemmas.State, Tensor] | None = None
        for step in follow(self.p.steps, context.progress(self.p.steps, label), self, every=10):
            now, g = seen or self.look()
            self.enter(step, now)
            shrink = self.decayed * (self.s <= step)
            self.w = self.w - self.eta[:, None, None] * (g + shrink[:, None, None] * self.w)
            seen = self.look()
            self.check(step, now, seen[0])
        self.enter(self.p.steps, (seen or self.look())[0])


@torch.no_grad()
def run(p: Parameters, context: Context) -> Outcome:
    """Both tasks with both activations; the control with weight decay on XOR."""
    outcome = Outcome()
    total: dict[str, dict[int, float]] = {}
    laws: dict[str, dict[str, dict[int, float]]] = {}
    for task_name, task in (
        ("xor", xor()),
        ("separable", separable(p.samples, p.dimension, p.margin)),
    ):
        for activation in p.activations:
            variants = [f"eta{eta:g}" for eta in p.stepsizes]
            etas = list(p.stepsizes)
            decays = task_name == "xor" and activation == p.activations[0]
            if decays:
                variants, etas = [*variants, "xor_decay"], [*etas, etas[0]]
            runs = [Run(v, seed) for v in variants for seed in range(p.seeds)]
            eta = torch.tensor(etas, dtype=F64).repeat_interleave(p.seeds)
            phase = Phase(p, task, activation, runs, eta)
            phase.follow(context, f"{task_name}, {activation}")
            collect(p, phase, total)
            if activation == p.activations[0]:
                record(p, outcome, phase, task_name)
                growth_laws(p, phase, task_name, laws)
    outcome.quantity(
        "violations",
        total,
        meaning="steps on which a statement fails, both tasks, both activations, all stepsizes",
        unit="steps",
        kind="violations",
    )
    outcome.quantity(
        "norm_law_r2", laws["r2"], meaning="R^2 of |w| on ln t, stable phase, worst stepsize"
    )
    outcome.quantity(
        "norm_law_bend",
        laws["bend"],
        meaning="slope of |w| on ln t, second half of the last decade over first, the stepsize farthest from 1; power: "
        "of t^(1/4) instead of |w|",
    )
    outcome.quantity(
        "norm_law_slope",
        laws["slope"],
        meaning="slope of |w| on ln t times the final margin, last decade, the stepsize farthest from 1",
    )
    return outcome


def collect(p: Parameters, phase: Phase, total: dict[str, dict[int, float]]) -> None:
    """Adds a task's violations; the run with weight decay counts for its own statement only."""
    for place, one in enumerate(phase.runs):
        for name, count in phase.checks.count.items():
            variant = name
            if one.variant == "xor_decay":
                if name != "norm_grows":
                    continue
                variant = "norm_grows_with_decay"
            row = total.setdefault(variant, dict.fromkeys(range(p.seeds), 0.0))
            row[one.seed] += float(count[place])
        if one.variant != "xor_decay":
            # A run that never reaches (5) would satisfy every statement about the stable phase.
            row = total.setdefault("never_stable", dict.fromkeys(range(p.seeds), 0.0))
            row[one.seed] += float(torch.isinf(phase.s[place]))


def record(p: Parameters, outcome: Outcome, phase: Phase, task_name: str) -> None:
    """The series of the plot, of the runs without weight decay, and the first step of the stable phase."""
    keep = len(p.stepsizes) * p.seeds
    shown = [Run(f"{task_name}_{one.variant}", one.seed) for one in phase.runs[:keep]]
    steps = log_grid(p.steps, p.points)
    for name, values in phase.series.items():
        outcome.add_series(name, steps, torch.stack(values)[:, :keep], shown)
    outcome.add_series("stable_from", [0], phase.s[None, :keep], shown)


def growth_laws(
    p: Parameters, phase: Phase, task_name: str, laws: dict[str, dict[str, dict[int, float]]]
) -> None:
    """|w| against ln t over the last decade: how straight, its slope times the margin, and whether it bends."""
    steps = torch.tensor(log_grid(p.steps, p.points), dtype=F64)
    late = steps >= p.steps / 10
    t, norm, margin = (
        steps[late],
        torch.stack(phase.series["norm"])[late],
        phase.series["margin"][-1],
    )
    found: dict[str, dict[str, Tensor]] = {}
    for ending, axis in (("", t.log()), ("_on_t", t)):
        slope, r2 = regress(axis, norm)
        found[f"{task_name}{ending}"] = {"r2": r2, "slope": slope * margin}
    found[task_name]["bend"] = bend(t, norm)
    found[f"{task_name}_power"] = {"bend": bend(t, (t**0.25)[:, None].expand_as(norm))}
    keep, seeds = len(p.stepsizes), range(p.seeds)
    for variant, values in found.items():
        for name, value in values.items():
            by_stepsize = value[: keep * p.seeds].reshape(keep, p.seeds)
            if name == "r2":
                worst = by_stepsize.amin(dim=0)
            else:
                farthest = (by_stepsize - 1).abs().argmax(dim=0)
                worst = by_stepsize.gather(0, farthest[None])[0]
            runs = [Run(variant, seed) for seed in seeds]
            laws.setdefault(name, {}).update(by_variant(worst, runs))


def bend(t: Tensor, y: Tensor) -> Tensor:
    """Slope of y (T, R) on ln t in the second half of ln t over that in the first: (R,).

    One for a + b ln t; s^(p/2) for t^p when t spans a factor s.
    """
    middle = (t[0] * t[-1]).sqrt()
    (first, _), (second, _) = (
        regress(t[half].log(), y[half]) for half in (t <= middle, t >= middle)
    )
    return second / first


def regress(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Least-squares slope and R^2 of y (T, R) on x (T,)."""
    x, y = x - x.mean(), y - y.mean(dim=0)
    slope = (x[:, None] * y).sum(dim=0) / x.square().sum()
    return slope, slope.square() * x.square().sum() / y.square().sum(dim=0)
