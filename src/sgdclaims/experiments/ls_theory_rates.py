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
from dataclasses import dataclass

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
    """R runs of gradient descent on the risk of b f, one stepsize, one start and one b each."""

    def __init__(self, task: Task, w: Tensor, eta: Tensor, b: Tensor | None = None) -> None:
        self.task, self.w, self.eta = task, w, eta
        self.b = (torch.ones_like(eta) if b is None else b)[:, None]
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
        pull = -torch.sigmoid(-q) * y * self.b / len(y)
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
    progress = context.progress(4, "panels")
    families = follow_horizons(p)
    progress.advance(1)
    measure_rates(p, outcome, families)
    measure_scales(p, outcome, families)
    progress.advance(1)
    measure_floor(p, outcome)
    progress.advance(1)
    measure_first_phase(p, outcome)
    progress.advance(1)
    return outcome


@dataclass(frozen=True)
class Family:
    """Runs with one rule for the stepsize and one b: risks (horizons, 1 + seeds) after T steps, and their rises."""

    name: str
    b: float
    eta: list[float]  # by horizon
    risks: Tensor
    rises: Tensor


def follow_horizons(p: Parameters) -> dict[str, Family]:
    """Every family, horizon and start in one stack; a run is read at its own horizon.

    The starts are w_0 = 0, as Theorem 4.3 asks, then one random start per seed.
    """
    task = two_points(p.gamma)
    noise = Streams(range(p.seeds), "init").normal(p.m, 2, dtype=F64)
    w = torch.cat([torch.zeros_like(noise[:1]), p.init * noise])
    rules: list[tuple[str, float, list[float]]] = [
        ("large", 1.0, [p.share * t for t in p.horizons]),
        ("small", 1.0, [p.small_stepsize] * len(p.horizons)),
    ]
    for b in p.scales:
        for share in p.scale_shares:
            etas = [share * t / min(b, 1) ** 2 for t in p.horizons]
            rules.append((f"b{b:g}_share{share:g}", b, etas))
    starts, count = len(w), len(rules) * len(p.horizons)
    eta = torch.tensor([e for _, _, etas in rules for e in etas], dtype=F64)
    scale = torch.tensor([b for _, b, etas in rules for _ in etas], dtype=F64)
    descent = Descent(
        task,
        w.repeat(count, 1, 1),
        eta.repeat_interleave(starts),
        scale.repeat_interleave(starts),
    )
    seen = descent.run(max(p.horizons), set(p.horizons))
    shape = (len(rules), len(p.horizons), starts)
    table = torch.stack([seen[t].reshape(shape)[:, i] for i, t in enumerate(p.horizons)], dim=1)
    rises = descent.rises.reshape(shape)
    return {
        name: Family(name, b, etas, table[i], rises[i]) for i, (name, b, etas) in enumerate(rules)
    }


def by_horizon(p: Parameters, risks: Tensor) -> Table:
    """Risks (horizons, seeds) as `[variant][seed]`."""
    return {
        f"T{t}": dict(zip(range(p.seeds), row.tolist(), strict=True))
        for t, row in zip(p.horizons, risks, strict=True)
    }


def measure_rates(p: Parameters, outcome: Outcome, families: dict[str, Family]) -> None:
    """The risk after T steps with stepsize c T, and with a fixed small one."""
    axis = {f"T{horizon}": float(horizon) for horizon in p.horizons}
    rules = {"large": f"stepsize {p.share:g} T", "small": "the fixed small stepsize"}
    runs = range(p.seeds)
    for name, rule in rules.items():
        risks = families[name].risks
        outcome.quantity(
            f"risk_{name}",
            by_horizon(p, risks[:, 1:]),
            meaning=f"risk after T steps with {rule}",
            axis_name="T",
            axis=axis,
        )
        outcome.quantity(
            f"risk_zero_{name}",
            {v: {0: float(x)} for v, x in zip(axis, risks[:, 0], strict=True)},
            meaning=f"risk after T steps with {rule}, from w_0 = 0",
            kind="exact",
            axis_name="T",
            axis=axis,
        )
        outcome.add_series("end_risk", p.horizons, risks[:, 1:], [Run(name, s) for s in runs])
    outcome.quantity(
        "small_rises",
        {"small": dict(zip(runs, families["small"].rises[-1, 1:].tolist(), strict=True))},
        meaning="steps on which the small stepsize's risk rises",
        unit="steps",
        kind="violations",
    )


def measure_scales(p: Parameters, outcome: Outcome, families: dict[str, Family]) -> None:
    """The best risk over large stepsizes for b f, per horizon."""
    axis = {f"T{horizon}": float(horizon) for horizon in p.horizons}
    for b in p.scales:
        chosen = [families[f"b{b:g}_share{share:g}"].risks for share in p.scale_shares]
        lowest = torch.stack(chosen).amin(dim=0)[:, 1:]
        shown = [Run(f"b{b:g}", seed) for seed in range(p.seeds)]
        outcome.add_series("best_risk", p.horizons, lowest, shown)
        outcome.quantity(
            f"best_risk_b{b:g}".replace(".", "_"),
            by_horizon(p, lowest),
            meaning=f"lowest risk after T steps over the large stepsizes, output scaled by {b:g}",
            axis_name="T",
            axis=axis,
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
