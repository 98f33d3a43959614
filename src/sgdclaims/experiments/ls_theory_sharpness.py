"""Our own panels: the Hessian's largest eigenvalue before and after the oscillation, and during small steps.

The authors' reply says that gradient descent oscillates in a sharp valley and then moves to a flat region, and that
"progressive sharpening also happens under logistic loss". (a) On XOR the exact Hessian's largest eigenvalue times
half the stepsize is above one, the limit of a quadratic, while the risk oscillates, and below one afterwards. (b) On
CIFAR-10 with a small stepsize it first rises in the four-layer GELU network of Figure 1; in the paper's own two-layer
network on |x| <= 1 it only falls. A linear predictor from w = 0 cannot sharpen: the logistic loss is most curved
there. float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from sgdclaims.datasets.images import two_classes
from sgdclaims.dynamics.curvature import top_eigenvalue
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
    for step in range(p.xor_steps + 1):
        loss = margin_net.logistic(margin_net.forward(w, task.x, PHI) * task.y).mean(dim=1)
        last_rise = torch.where(~(loss <= before * (1 + RISE)), float(step), last_rise)
        before = loss
        if step in due:
            top = torch.linalg.eigvalsh(hessian(w.reshape(len(runs), -1)))[:, -1]
            sharpness.append(top * eta / 2)
        (g,) = gradient((w,), (task.x, task.y))
        w = w - eta[:, None, None] * g
        progress.advance(1)
    series = torch.stack(sharpness)
    outcome.add_series("relative_sharpness", schedule, series, runs)
    outcome.add_series("last_rise", [0], last_rise[None], runs)
    steps = torch.tensor(schedule)[:, None]
    early, late = steps <= last_rise.clamp_min(0), steps > 2 * last_rise.clamp_min(10)
    found = {
        f"{variant}_{phase}": row
        for phase, inside in (("oscillating", early), ("settled", late))
        for variant, row in by_variant((series * inside).sum(0) / inside.sum(0), runs).items()
    }
    outcome.quantity(
        "relative_sharpness",
        found,
        meaning="stepsize times half the Hessian's largest eigenvalue: mean up to the last rise of the risk, "
        "and after twice that step",
    )


def mlp_path(p: Parameters, x: Tensor, y: Tensor, seed: int) -> tuple[Risk, Iterator[Weights]]:
    """The GELU network's risk and its weights step by step."""
    streams = Streams([seed], "init")
    sizes = [x.shape[1], *[p.width] * p.hidden_layers, 1]
    weights = tuple(
        streams.normal(after, before, dtype=F64) / before**0.5
        for before, after in itertools.pairwise(sizes)
    )

    def risk(w: Weights) -> Tensor:
        return margin_net.logistic(mlp.forward(w, x)[0] * y).mean()

    return risk, descend(risk, weights, p.mlp_stepsize)


def shallow_path(
    p: Parameters, x: Tensor, y: Tensor, seed: int, *, linear: bool
) -> tuple[Risk, Iterator[Weights]]:
    """The two-layer network, or a linear predictor from w = 0."""

    def risk(w: Weights) -> Tensor:
        f = x @ w[0] if linear else margin_net.forward(w[0][None], x, PHI)[0]
        return margin_net.logistic(f * y).mean()

    start = starts([seed], p.m, x.shape[1], x.shape[1] ** -0.5)[0]
    first = torch.zeros(x.shape[1], dtype=F64) if linear else start
    return risk, descend(risk, (first,), p.two_layer_stepsize)


def descend(risk: Risk, weights: Weights, eta: float) -> Iterator[Weights]:
    """Gradient descent; yields the weights before every step."""
    slope = torch.func.grad(risk)
    while True:
        yield weights
        weights = tuple(w - eta * g for w, g in zip(weights, slope(weights), strict=True))


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
        for variant, (risk, path) in paths.items():
            values, worst, vector = [], 0.0, None
            for step, weights in zip(range(p.cifar_steps + 1), path, strict=False):
                if step in due:
                    if vector is None:
                        noise = Streams([seed], "power")
                        vector = tuple(noise.normal(*w.shape, dtype=F64)[0] for w in weights)
                    top, vector, residual = top_eigenvalue(risk, weights, vector, p.iterations)
                    values.append(top)
                    worst = max(worst, residual)
                progress.advance(1 if step else 0)
            series = torch.tensor(values, dtype=F64)
            outcome.add_series("sharpness", schedule, series[:, None], [Run(variant, seed)])
            # A linear predictor starts at its maximum, up to the power iteration's residual.
            ratios.setdefault(variant, {})[seed] = float(series.max() / series[0])
            residuals.setdefault(variant, {})[seed] = worst
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
