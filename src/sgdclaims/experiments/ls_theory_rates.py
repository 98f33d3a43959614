"""Our own panels: how fast the large-stepsize paper's networks fit, and how long they oscillate.

(a) On the two points of Theorem 4.3 a stepsize proportional to the horizon T reaches a risk of order 1/T^2 (Corollary
4.2), a stepsize small enough for a monotone risk only 1/T. (b) Theorem 4.3: over all stepsizes whose risk is monotone,
t L_t stays above a constant; over the others it does not. (c) Appendix D: scaling the output, f -> b f, keeps 1/T^2.
(d) On such points with a smaller margin the risk rises for the last time after O(eta) steps. The corollary's literal
constants would need a horizon of about 10^8; the stepsize c T with a larger c shows the same rate. All float64.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from sgdclaims.dynamics.loop import Progress, Remembers, follow
from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.experiments.large_stepsize_task import RISE, Task, starts, xor
from sgdclaims.models.margin_net import ACTIVATIONS, logistic, signs
from sgdclaims.parameters.ls_theory_rates import Parameters
from sgdclaims.theory import two_points

PHI = "leaky_softplus_b"
F64 = torch.float64
ZERO = -1  # the "seed" of the start w_0 = 0 in the trajectories
LATE = 0.1  # the floor is read from this share of the steps on
SETTLED = 0.9  # a run that still rises after this share of the steps has not left its first phase
Table = dict[str, dict[int, float]]


def two_point_task(gamma: float) -> Task:
    """The data of Theorem 4.3."""
    return Task(two_points.points(gamma), torch.ones(2, dtype=F64))


class Descent(Remembers):
    """R runs of gradient descent on the risk of b f, each with its start, stepsize and b."""

    remembered = ("w", "rises", "last_rise", "floor", "monotone_at", "_before")

    def __init__(
        self, task: Task, w: Tensor, eta: Tensor, b: float | Tensor = 1.0, *, floor_from: int = 1
    ) -> None:
        self.task, self.w, self.eta, self._floor_from = task, w, eta, floor_from
        # The risk of b f with labels y is the risk of f with labels b y.
        self._y = torch.as_tensor(b, dtype=F64).reshape(-1, 1) * task.y
        self._act = ACTIVATIONS[PHI]
        self._sign = signs(w.shape[1]) / w.shape[1]
        self.rises = torch.zeros(len(w), dtype=F64)
        self.last_rise = self.rises.clone()
        self.floor = self.rises + torch.inf  # the smallest t L_t so far, t >= floor_from
        self.monotone_at: dict[int, Tensor] = {}
        self._before = self.rises + torch.inf

    def step(self, t: int) -> Tensor:
        """The risk (R,) at step t, watched for rises; then one step."""
        z = torch.matmul(self.task.x, self.w.mT)  # (R, n, m)
        q = (self._act.value(z) @ self._sign) * self._y
        loss = logistic(q).mean(dim=1)
        rose = ~(loss <= self._before * (1 + RISE))  # a NaN counts as a rise
        self.rises += rose
        self.last_rise = torch.where(rose, float(t), self.last_rise)
        if t >= self._floor_from:
            self.floor = torch.minimum(self.floor, t * loss)
        self._before = loss
        pull = -torch.sigmoid(-q) * self._y / q.shape[1]
        back = self._act.slope(z) * self._sign * pull[..., None]
        self.w = self.w - self.eta[:, None, None] * torch.matmul(back.mT, self.task.x)
        return loss

    def run(self, steps: int, due: Sequence[int], progress: Progress) -> dict[int, Tensor]:
        """The risks at the steps in `due`, and at the last one."""
        seen: dict[int, Tensor] = {}
        wanted = {*due, steps}
        for t in follow(steps, progress, self, seen, every=200):
            loss = self.step(t)
            if t in wanted:
                seen[t] = loss
                self.monotone_at[t] = self.rises == 0
        seen[steps] = self.step(steps)
        self.monotone_at[steps] = self.rises == 0
        return seen


@torch.no_grad()
def run(p: Parameters, context: Context) -> Outcome:
    """All panels."""
    outcome = Outcome()
    last = p.horizons[-1]
    total = 2 * last + sum(p.horizons) + 3 * p.phase_steps
    progress = context.progress(total, "descent")
    measure_rates(p, outcome, progress)
    measure_floor(p, outcome, progress)
    measure_first_phase(p, outcome, progress)
    return outcome


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of ln y on ln x, by least squares; NaN where a y has no finite logarithm."""
    if not all(0 < value < np.inf for value in y):
        return float("nan")
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def measure_rates(p: Parameters, outcome: Outcome, progress: Progress) -> None:
    """The risk after T steps: with stepsize c T / b^2 for b f, and with a fixed small stepsize for f.

    From w_0 = 0, as Theorem 4.3 asks, and from one random start per seed.
    """
    task = two_point_task(p.gamma)
    random = starts(range(p.seeds), p.m, 2, p.init)
    w = torch.cat([torch.zeros_like(random[:1]), random])
    seeds = [ZERO, *range(p.seeds)]
    small = Descent(task, w, torch.full((len(w),), p.small_stepsize, dtype=F64))
    ends = {("small", t): e for t, e in small.run(p.horizons[-1], p.horizons, progress).items()}
    b = torch.tensor(p.scales, dtype=F64).repeat_interleave(len(w))
    for horizon in p.horizons:
        large = Descent(task, w.repeat(len(p.scales), 1, 1), p.share * horizon / b**2, b)
        loss = large.run(horizon, [], progress)[horizon].view(len(p.scales), -1)
        ends |= {(scale_name(scale), horizon): e for scale, e in zip(p.scales, loss, strict=True)}
    rises = {"small": small.rises, "large": large.rises.view(len(p.scales), -1)[p.scales.index(1)]}
    for (name, horizon), loss in ends.items():
        outcome.add_series("end_risk", [horizon], loss[None], [Run(name, s) for s in seeds])
    rate_quantities(p, outcome, ends)
    outcome.quantity(
        "rises",
        {name: dict(enumerate(count[1:].tolist())) for name, count in rises.items()},
        meaning="steps on which the risk rises: small stepsize, and large stepsize at the last horizon",
        unit="steps",
        kind="violations",
    )


def scale_name(b: float) -> str:
    """The variant's name of f -> b f."""
    return f"b{b:g}".replace(".", "_")


def rate_quantities(p: Parameters, outcome: Outcome, ends: dict[tuple[str, int], Tensor]) -> None:
    """Slope of the risk on T, per seed and from w_0 = 0; T^2 L relative to b = 1."""
    names = ["small", *(scale_name(b) for b in p.scales)]
    zero_slopes, slopes, worst = {}, {}, {}
    for name in names:
        risks = torch.stack([ends[name, horizon] for horizon in p.horizons])  # (T, 1 + seeds)
        zero_slopes[name], *random = (slope(p.horizons, row) for row in risks.T.tolist())
        slopes[name] = dict(enumerate(random))
        squared = torch.tensor(p.horizons, dtype=F64)[:, None] ** 2 * risks[:, 1:]
        worst[name] = squared.amax(dim=0)
    meaning = "slope of ln L_T on ln T; stepsize c T / b^2 for b f, or fixed and small"
    outcome.quantity("rate_slope", slopes, meaning=meaning)
    outcome.quantity(
        "zero_slope",
        {name: {0: value} for name, value in zero_slopes.items()},
        meaning=f"{meaning}, from w_0 = 0",
        kind="exact",
    )
    factors = {"small": 1.0, **{scale_name(b): min(b, 1.0) ** 3 for b in p.scales}}
    outcome.quantity(
        "constant_over_b1",
        {
            name: dict(enumerate((factors[name] * worst[name] / worst["b1"]).tolist()))
            for name in names
        },
        meaning="largest T^2 L_T min(b, 1)^3 over the horizons, relative to b = 1",
    )


def smallest(values: Tensor) -> float:
    """The minimum; NaN of nothing."""
    return float(values.min()) if len(values) else float("nan")


def measure_floor(p: Parameters, outcome: Outcome, progress: Progress) -> None:
    """t L_t over a grid of stepsizes from w_0 = 0: the smallest among monotone runs and among the others."""
    eta = torch.logspace(0, p.grid_decades, 1 + p.per_decade * p.grid_decades, dtype=F64)
    start = torch.zeros(len(eta), p.m, 2, dtype=F64)
    steps = p.horizons[-1]
    late_from = max(1, round(LATE * steps))
    descent = Descent(two_point_task(p.gamma), start, eta, floor_from=late_from)
    seen = descent.run(steps, p.horizons, progress)
    reach = {t: eta <= 10 * t * (1 + 1e-9) for t in p.horizons}
    by_horizon, floors = {}, {}
    for name in ("monotone", "rising"):
        at = {t: m if name == "monotone" else ~m for t, m in descent.monotone_at.items()}
        floors[name] = {0: smallest(descent.floor[at[steps]])}
        late = [smallest((t * seen[t])[reach[t] & at[t]]) for t in p.horizons]
        by_horizon[name] = {0: slope(p.horizons, late)}
    outcome.quantity(
        "floor_slope_horizon",
        by_horizon,
        meaning="log-log slope of the smallest T L_T on T, stepsizes up to 10 T",
        kind="exact",
    )
    outcome.quantity(
        "floor",
        floors,
        meaning="smallest t L_t over the grid of stepsizes and the last nine tenths of the steps",
        kind="exact",
    )
    monotone = eta[descent.monotone_at[steps]]
    limits = {
        "first_step": two_points.first_step_limit(p.gamma, p.m, PHI),
        "measured": float(monotone.max()) if len(monotone) else float("nan"),
    }
    outcome.quantity(
        "monotone_limit",
        {name: {0: value} for name, value in limits.items()},
        meaning="largest stepsize with a monotone risk: of the first step in closed form, on the grid",
        kind="exact",
    )
    shown = [Run(f"grid_{float(e):.6g}", 0) for e in eta]
    outcome.add_series("grid_scaled_risk", [steps], steps * seen[steps][None], shown)
    outcome.add_series("grid_rises", [steps], descent.rises[None], shown)


def measure_first_phase(p: Parameters, outcome: Outcome, progress: Progress) -> None:
    """The last rise of the risk against the stepsize: small margin, Theorem 4.3's margin, and XOR."""
    tasks = {
        "last_rise": (two_point_task(p.phase_gamma), "two separable points of a small margin"),
        "last_rise_wide": (two_point_task(p.gamma), "Theorem 4.3's two points"),
        "last_rise_xor": (xor(), "XOR, which the theorem does not cover"),
    }
    variants = [f"eta{eta:.0f}" for eta in p.phase_stepsizes]
    axis = dict(zip(variants, p.phase_stepsizes, strict=True))
    runs = [Run(v, seed) for v in variants for seed in range(p.seeds)]
    eta = torch.tensor(p.phase_stepsizes, dtype=F64).repeat_interleave(p.seeds)
    start = starts(range(p.seeds), p.m, 2, p.phase_init)
    for name, (task, words) in tasks.items():
        descent = Descent(task, start.repeat(len(variants), 1, 1), eta)
        grid = log_grid(p.phase_steps, 200)
        seen = descent.run(p.phase_steps, grid, progress)
        # What still rises near the end has no last rise yet: undefined, never a short phase.
        last = torch.where(
            descent.last_rise > SETTLED * p.phase_steps, torch.nan, descent.last_rise
        )
        table = by_variant(last, runs)
        if name == "last_rise":
            outcome.add_series("phase_risk", grid, torch.stack([seen[t] for t in grid]), runs)
            phase_growth(outcome, p.phase_stepsizes, last.view(len(variants), -1))
        _last_rise(outcome, name, table, words, axis)


def phase_growth(outcome: Outcome, stepsizes: Sequence[float], last: Tensor) -> None:
    """Whether t* is O(eta): its largest ratio to the stepsize over the last decade, relative to the first.

    last: (stepsizes, seeds). The control asks the same of t* itself, which is O(1) only if the phase does not lengthen.
    """
    eta = torch.tensor(stepsizes, dtype=F64)
    lower, upper = eta <= eta[0] * 10 * (1 + 1e-9), eta >= eta[-1] / 10 * (1 - 1e-9)
    found: Table = {}
    for name, values in (("over_stepsize", last / eta[:, None]), ("itself", last)):
        growth = values[upper].amax(dim=0) / values[lower].amax(dim=0)
        found[name] = dict(enumerate(growth.tolist()))
    outcome.quantity(
        "phase_growth",
        found,
        meaning="largest t*/eta, or t* itself, over the last decade of stepsizes, relative to the first decade",
    )


def _last_rise(
    outcome: Outcome, name: str, table: Table, words: str, axis: dict[str, float]
) -> None:
    outcome.quantity(
        name,
        table,
        meaning=f"last step on which the risk rises, {words}",
        unit="steps",
        axis_name="stepsize",
        axis=axis,
    )
