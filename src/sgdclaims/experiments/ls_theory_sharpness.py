"""Our own panels: the Hessian's largest eigenvalue before and after the oscillation, and during small steps.

The authors' reply says that gradient descent oscillates in a sharp valley and then moves to a flat region, and that
"progressive sharpening also happens under logistic loss". (a) On XOR the exact Hessian's largest eigenvalue times
half the stepsize exceeds one, the limit of a quadratic, at some step of every oscillation, though not in the mean: on
a high plateau of the risk the logistic loss is almost linear. Afterwards it stays below one. (b) On
CIFAR-10 with a small stepsize it first rises in the four-layer GELU network of Figure 1; in the paper's own two-layer
network on |x| <= 1 it only falls. A linear predictor from w = 0 cannot sharpen: the logistic loss is most curved
there. float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from sgdclaims.datasets.images import two_classes
from sgdclaims.dynamics.curvature import top_eigenvalue
from sgdclaims.dynamics.loop import Remembers, follow
from sgdclaims.dynamics.recorder import linear_grid, log_grid
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.experiments.large_stepsize_task import RISE, cifar, starts, xor
from sgdclaims.experiments.ls_fig1_gelu_mlp import standardized
from sgdclaims.models import margin_net, mlp
from sgdclaims.parameters.ls_theory_sharpness import Parameters

PHI = "leaky_softplus_b"
CIFAR = "cifar10"
F64 = torch.float64
Weights = tuple[Tensor, ...]
Risk = Callable[[Weights], Tensor]


def run(p: Parameters, context: Context) -> Outcome:
    """Both panels."""
    outcome = Outcome()
    measure_xor(p, context, outcome)
    measure_cifar(p, context, outcome)
    return outcome


@torch.no_grad()
def measure_xor(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Exact Hessians of all runs, at every step of the first hundred and on a logarithmic grid after that."""
    task = xor()
    variants = [f"eta{eta:g}" for eta in p.xor_stepsizes]
    runs = grid(variants, range(p.seeds))
    eta = torch.tensor(p.xor_stepsizes, dtype=F64).repeat_interleave(p.seeds)
    w = starts([r.seed for r in runs], p.m, 2, p.init)
    schedule = sorted({*range(100), *log_grid(p.xor_steps, 100)})
    due, progress = set(schedule), context.progress(p.xor_steps, "XOR")
    gradient = margin_net.gradient(PHI)

    def risk(flat: Tensor) -> Tensor:
        f = margin_net.forward(flat.reshape(1, p.m, 2), task.x, PHI)[0]
        return margin_net.logistic(f * task.y).mean()

    hessian = torch.func.vmap(torch.func.hessian(risk))
    before = torch.full((len(runs),), torch.inf, dtype=F64)
    last_rise = torch.full_like(before, -1)
    sharpness: list[Tensor] = []

    def look(step: int) -> None:
        loss = margin_net.logistic(margin_net.forward(w, task.x, PHI) * task.y).mean(dim=1)
        last_rise[~(loss <= before * (1 + RISE))] = step
        before.copy_(loss)
        if step in due:
            top = torch.linalg.eigvalsh(hessian(w.reshape(len(runs), -1)))[:, -1]
            sharpness.append(top * eta / 2)

    for step in follow(p.xor_steps, progress, w, before, last_rise, sharpness, every=10):
        look(step)
        (g,) = gradient((w,), (task.x, task.y))
        w.sub_(eta[:, None, None] * g)
    look(p.xor_steps)
    series = torch.stack(sharpness)
    outcome.add_series("relative_sharpness", schedule, series, runs)
    outcome.add_series("last_rise", [0], last_rise[None], runs)
    phases = sharpness_by_phase(torch.tensor(schedule), series, last_rise, p.seeds)
    found = {
        f"{variant}_{phase}": row
        for phase, values in phases.items()
        for variant, row in by_variant(values, runs).items()
    }
    outcome.quantity(
        "relative_sharpness",
        found,
        meaning="stepsize times half the Hessian's largest eigenvalue, from step 1 to the last rise of the risk, or "
        "after twice that step: mean, and largest (peak); the first stepsize over the last one's steps",
    )


def sharpness_by_phase(
    schedule: Tensor, series: Tensor, last_rise: Tensor, seeds: int
) -> dict[str, Tensor]:
    """Mean and largest relative sharpness (R,) while the risk oscillates and afterwards.

    schedule: (T,) recorded steps. series: (T, R), stepsize by stepsize, `seeds` runs each. last_rise: (R,), below 1
    where the risk never rose: such a run has neither phase, so its values are NaN. Step 0 is left out, because
    there the value is a matter of initialization and stepsize, not of the path. The first stepsize does not
    oscillate; as a control it is read over the steps of the last one with the same seed.
    """
    end = last_rise.reshape(-1, seeds).clone()
    end[0] = end[-1]
    end = torch.where(end >= 1, end, torch.nan).reshape(-1)
    steps = schedule[:, None]
    # A comparison with NaN is false: no step is inside.
    phases = {
        "oscillating": (steps >= 1) & (steps <= end),
        "settled": steps > 2 * end.clamp_min(10),
    }
    found: dict[str, Tensor] = {}
    for name, inside in phases.items():
        found[name] = torch.where(inside, series, 0.0).sum(0) / inside.sum(0)
        peak = torch.where(inside, series, -torch.inf).amax(0)
        found[f"{name}_peak"] = torch.where(inside.any(0), peak, torch.nan)
    return found


class Path(Remembers):
    """Gradient descent on a risk, and the largest eigenvalue of its Hessian along the way."""

    remembered = ("weights", "vector", "worst", "values")

    def __init__(self, risk: Risk, weights: Weights, eta: float) -> None:
        self._risk, self._slope, self._eta = risk, torch.func.grad(risk), eta
        self.weights, self.vector = weights, weights
        self.worst = 0.0  # residual of the power iteration
        self.values: list[float] = []

    def look(self, iterations: int) -> None:
        """Measures now, from the last measurement's vector."""
        top, self.vector, residual = top_eigenvalue(
            self._risk, self.weights, self.vector, iterations
        )
        self.values.append(top)
        self.worst = max(self.worst, residual)

    def step(self) -> None:
        """One step of gradient descent."""
        slopes = self._slope(self.weights)
        self.weights = tuple(w - self._eta * g for w, g in zip(self.weights, slopes, strict=True))


def mlp_path(p: Parameters, x: Tensor, y: Tensor, seed: int) -> Path:
    """The GELU network, four layers deep."""
    streams = Streams([seed], "init")
    sizes = [x.shape[1], *[p.width] * p.hidden_layers, 1]
    weights = tuple(
        streams.normal(after, before, dtype=F64) / before**0.5
        for before, after in itertools.pairwise(sizes)
    )

    def risk(w: Weights) -> Tensor:
        return margin_net.logistic(mlp.forward(w, x)[0] * y).mean()

    return Path(risk, weights, p.mlp_stepsize)


def shallow_path(p: Parameters, x: Tensor, y: Tensor, seed: int, *, linear: bool) -> Path:
    """The two-layer network, or a linear predictor from w = 0."""

    def risk(w: Weights) -> Tensor:
        f = x @ w[0] if linear else margin_net.forward(w[0][None], x, PHI)[0]
        return margin_net.logistic(f * y).mean()

    start = starts([seed], p.m, x.shape[1], x.shape[1] ** -0.5)[0]
    first = torch.zeros(x.shape[1], dtype=F64) if linear else start
    return Path(risk, (first,), p.two_layer_stepsize)


def measure_cifar(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Largest eigenvalue along small steps over its initial value; the largest ratio."""
    data = two_classes(context.dataset(CIFAR))
    x, y, _, _ = standardized(data, p.samples, 0)
    bounded = cifar(data, p.samples)
    schedule = linear_grid(p.cifar_steps, p.cifar_points)
    due = set(schedule)
    progress = context.progress(3 * p.cifar_seeds * p.cifar_steps, "sharpness on CIFAR-10")
    ratios: dict[str, dict[int, float]] = {}
    residuals: dict[str, dict[int, float]] = {}
    for seed in range(p.cifar_seeds):
        paths = {
            "mlp": mlp_path(p, x, y, seed),
            "two_layer": shallow_path(p, bounded.x, bounded.y, seed, linear=False),
            "linear": shallow_path(p, bounded.x, bounded.y, seed, linear=True),
        }
        for variant, path in paths.items():
            noise = Streams([seed], "power")
            path.vector = tuple(noise.normal(*w.shape, dtype=F64)[0] for w in path.weights)
            for step in follow(p.cifar_steps, progress, path):
                if step in due:
                    path.look(p.iterations)
                path.step()
            path.look(p.iterations)
            series = torch.tensor(path.values, dtype=F64)
            outcome.add_series("sharpness", schedule, series[:, None], [Run(variant, seed)])
            # A linear predictor starts at its maximum, up to the power iteration's residual.
            ratios.setdefault(variant, {})[seed] = float(series.max() / series[0])
            residuals.setdefault(variant, {})[seed] = path.worst
    outcome.quantity(
        "sharpening",
        ratios,
        meaning="largest over initial top eigenvalue of the Hessian, small stepsize",
        dataset=CIFAR,
    )
    outcome.quantity(
        "residual",
        residuals,
        meaning="largest |H v - lambda v| / lambda of the power iteration",
        dataset=CIFAR,
    )
