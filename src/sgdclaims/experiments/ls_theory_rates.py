"""Our own panels: how fast the large-stepsize paper's networks fit, and how long they oscillate.

(a) On the two points of Theorem 4.3 a stepsize proportional to the horizon T reaches a risk of order 1/T^2 (Corollary
4.2), a stepsize small enough for a monotone risk only 1/T. (b) Theorem 4.3: over all stepsizes whose risk is
monotone, t L_t stays above a constant; over all stepsizes it does not. (c) Appendix D: scaling the output, f -> b f,
keeps 1/T^2. (d) On such points with a smaller margin the risk rises for the last time after O(eta) steps. The
corollary's literal constants would need a horizon of about 10^8; the stepsize c T with a larger c shows the same
rate. All float64.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.experiments.large_stepsize_task import RISE, Task
from sgdclaims.models.margin_net import ACTIVATIONS, logistic, signs
from sgdclaims.parameters.ls_theory_rates import Parameters

PHI = "leaky_softplus_b"
F64 = torch.float64
Table = dict[str, dict[int, float]]


def two_points(gamma: float) -> Task:
    """Theorem 4.3: x_1 = (gamma, sqrt(1 - gamma^2)), x_2 = (gamma, -sqrt(1 - gamma^2)/2), both labels 1."""
    far = math.sqrt(1 - gamma**2)
    return Task(
        torch.tensor([[gamma, far], [gamma, -far / 2]], dtype=F64), torch.ones(2, dtype=F64)
    )


class Descent:
    """R runs of gradient descent on the risk of b f, one stepsize and one start each."""

    def __init__(self, task: Task, w: Tensor, eta: Tensor, b: float = 1.0) -> None:
        self.task, self.w, self.eta, self.b = task, w, eta, b
        self.act = ACTIVATIONS[PHI]
        self.sign = signs(w.shape[1]) / w.shape[1]
        self.rises = torch.zeros(len(w), dtype=F64)
        self.last_rise = self.rises.clone()
        self._before = self.rises + torch.inf

    def step(self, t: int) -> Tensor:
        """The risk (R,) at step t, watched for rises; then one step."""
        x, y = self.task.x, self.task.y
        z = torch.matmul(x, self.w.mT)  # (R, n, m)
        q = self.b * (self.act.value(z) @ self.sign) * y
        loss = logistic(q).mean(dim=1)
        rose = ~(loss <= self._before * (1 + RISE))  # a NaN counts as a rise
        self.rises += rose
        self.last_rise = torch.where(rose, float(t), self.last_rise)
        self._before = loss
        pull = -torch.sigmoid(-q) * y * (self.b / len(y))
        back = self.act.slope(z) * self.sign * pull[..., None]
        self.w = self.w - self.eta[:, None, None] * torch.matmul(back.mT, x)
        return loss

    def run(self, steps: int, due: set[int]) -> dict[int, Tensor]:
        """The risks at the steps in `due`, the last step included."""
        seen = {}
        for t in range(steps + 1):
            loss = self.step(t)
            if t in due or t == steps:
                seen[t] = loss
        return seen


@torch.no_grad()
def run(p: Parameters, context: Context) -> Outcome:
    """All panels."""
    outcome = Outcome()
    total = len(p.horizons) * (1 + len(p.scales) * len(p.scale_shares)) + 3
    progress = context.progress(total, "runs")
    measure_rates(p, outcome)
    progress.advance(len(p.horizons))
    measure_floor(p, outcome)
    progress.advance(1)
    measure_scales(p, outcome)
    progress.advance(len(p.horizons) * len(p.scales) * len(p.scale_shares))
    measure_first_phase(p, outcome)
    progress.advance(2)
    return outcome


def starts(p: Parameters, task: Task) -> tuple[Tensor, list[int]]:
    """w_0 = 0, as the theorem asks, then one random start per seed; (1 + seeds, m, d). Seed -1 is the zero."""
    noise = Streams(range(p.seeds), "init").normal(p.m, task.x.shape[1], dtype=F64)
    return torch.cat([torch.zeros_like(noise[:1]), p.init * noise]), [-1, *range(p.seeds)]


def measure_rates(p: Parameters, outcome: Outcome) -> None:
    """The risk after T steps with stepsize c T, and with a fixed small one."""
    task = two_points(p.gamma)
    w, seeds = starts(p, task)
    ones = torch.ones(len(w), dtype=F64)
    axis = {f"T{horizon}": float(horizon) for horizon in p.horizons}
    small = Descent(task, w, p.small_stepsize * ones)
    seen = small.run(p.horizons[-1], set(p.horizons))
    found: dict[str, Table] = {"large": {}, "small": {}, "zero_large": {}, "zero_small": {}}
    for horizon in p.horizons:
        large = Descent(task, w, p.share * horizon * ones)
        ends = {"large": large.run(horizon, set())[horizon], "small": seen[horizon]}
        for name, loss in ends.items():
            by_seed = dict(zip(seeds, loss.log().tolist(), strict=True))
            found[f"zero_{name}"][f"T{horizon}"] = {0: by_seed.pop(-1)}
            found[name][f"T{horizon}"] = by_seed
            runs = [Run(name, seed) for seed in seeds]
            outcome.add_series("end_risk", [horizon], loss[None], runs)
    meanings = {"large": f"stepsize {p.share:g} T", "small": "the fixed small stepsize"}
    for name, values in found.items():
        kind = "from w_0 = 0, " if name.startswith("zero") else ""
        outcome.quantity(
            f"log_risk_{name}",
            {v: {s: math.exp(x) for s, x in row.items()} for v, row in values.items()},
            meaning=f"risk after T steps, {kind}{meanings[name.removeprefix('zero_')]}",
            kind="exact" if kind else "mean",
            axis_name="T",
            axis=axis,
        )
    outcome.quantity(
        "small_rises",
        {"small": dict(zip(seeds[1:], small.rises[1:].tolist(), strict=True))},
        meaning="steps on which the small stepsize's risk rises",
        unit="steps",
        kind="violations",
    )


def measure_floor(p: Parameters, outcome: Outcome) -> None:
    """The smallest t L_t over a stepsize grid from w_0 = 0: among monotone runs, and among all."""
    task = two_points(p.gamma)
    count = 1 + p.per_decade * p.grid_decades[-1]
    eta = torch.logspace(0, p.grid_decades[-1], count, dtype=F64)
    descent = Descent(task, torch.zeros(count, p.m, 2, dtype=F64), eta)
    loss = descent.run(p.grid_steps, set())[p.grid_steps]
    scaled = p.grid_steps * loss
    monotone = descent.rises == 0
    floors: dict[str, Table] = {"monotone": {}, "all": {}}
    axis = {}
    for end in p.grid_decades:
        inside = eta <= 10.0**end * (1 + 1e-9)
        variant = f"to_1e{end}"
        axis[variant] = 10.0**end
        floors["monotone"][variant] = {0: float(scaled[inside & monotone].min())}
        floors["all"][variant] = {0: float(scaled[inside].min())}
    for name, table in floors.items():
        outcome.quantity(
            f"floor_{name}",
            table,
            meaning=f"smallest t L_t over the stepsizes up to the grid's end, {name} runs",
            kind="exact",
            axis_name="largest stepsize of the grid",
            axis=axis,
        )
    shown = [Run(f"grid_{float(e):.6g}", 0) for e in eta]
    outcome.add_series("grid_scaled_risk", [p.grid_steps], scaled[None], shown)
    outcome.add_series("grid_rises", [p.grid_steps], descent.rises[None], shown)


def measure_scales(p: Parameters, outcome: Outcome) -> None:
    """The best risk over large stepsizes for b f, per horizon."""
    task = two_points(p.gamma)
    axis = {f"T{horizon}": float(horizon) for horizon in p.horizons}
    w, _ = starts(p, task)
    w = w[1:]
    for b in p.scales:
        best: Table = {}
        for horizon in p.horizons:
            losses = []
            for share in p.scale_shares:
                eta = torch.full((p.seeds,), share * horizon / min(b, 1) ** 2, dtype=F64)
                losses.append(Descent(task, w, eta, b).run(horizon, set())[horizon])
            runs = [Run(f"T{horizon}", seed) for seed in range(p.seeds)]
            lowest = torch.stack(losses).amin(dim=0)
            best |= by_variant(lowest, runs)
            shown = [Run(f"b{b:g}", seed) for seed in range(p.seeds)]
            outcome.add_series("best_risk", [horizon], lowest[None], shown)
        outcome.quantity(
            f"best_risk_b{b:g}".replace(".", "_"),
            best,
            meaning=f"lowest risk after T steps over the large stepsizes, output scaled by {b:g}",
            axis_name="T",
            axis=axis,
        )


def measure_first_phase(p: Parameters, outcome: Outcome) -> None:
    """The last rise of the risk against the stepsize, on the two points with a smaller margin."""
    task = two_points(p.phase_gamma)
    noise = Streams(range(p.seeds), "init").normal(p.m, 2, dtype=F64)
    variants = [f"eta{eta:g}" for eta in p.phase_stepsizes]
    runs = [Run(v, seed) for v in variants for seed in range(p.seeds)]
    eta = torch.tensor(p.phase_stepsizes, dtype=F64).repeat_interleave(p.seeds)
    descent = Descent(task, p.phase_init * noise.repeat(len(variants), 1, 1), eta)
    grid = log_grid(p.phase_steps, 200)
    seen = descent.run(p.phase_steps, set(grid))
    outcome.add_series("phase_risk", grid, torch.stack([seen[t] for t in grid]), runs)
    table = by_variant(descent.last_rise, runs)
    axis = dict(zip(variants, p.phase_stepsizes, strict=True))
    outcome.quantity(
        "last_rise",
        table,
        meaning="last step on which the risk rises, two separable points",
        unit="steps",
        axis_name="stepsize",
        axis=axis,
    )
    outcome.quantity(
        "last_rise_share",
        by_variant(descent.last_rise / p.phase_steps, runs),
        meaning="the same over the number of steps",
    )
