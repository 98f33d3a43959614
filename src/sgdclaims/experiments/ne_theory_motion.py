"""Our own panels: how the charge C = |U|^2 - |W|^2 moves, and what decides whether SGD is stable.

(a) Remark 4.4: only gradient flow conserves C; GD drifts with its stepsize, SGD with its noise. (b) The authors'
reply says that C* moves and that C "chases it": C* is the charge at the zero of G on the current orbit (Theorem 4.3),
and C must move towards it. (c) Section 5.4: a term zeta l2 breaks the symmetry u w -> (e^lam u)(e^-lam w); then C =
C* + 2 sigma^2 Tr[Sigma A] / zeta (23), linear in sigma^2. (d) The reply says that SGD's stability follows Tr Hess L
"rather than" the top eigenvalue: over random networks at a minimum, which of the two predicts the critical stepsize?
A rotation-symmetric loss in the plane keeps ln u - ln v under flow. float64 except in (b).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_theory_motion import Parameters
from sgdclaims.theory import noether
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64
Field = Callable[[Weights], Weights]


def runge_kutta(weights: Weights, slope: Field, h: float) -> Weights:
    """One step of length h along d theta / dt = -slope(theta), of fourth order."""

    def moved(by: Weights, share: float) -> Weights:
        return tuple(w - share * h * k for w, k in zip(weights, by, strict=True))

    k1 = slope(weights)
    k2 = slope(moved(k1, 0.5))
    k3 = slope(moved(k2, 0.5))
    k4 = slope(moved(k3, 1.0))
    mean = tuple((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
    return moved(mean, 1.0)


def run(p: Parameters, context: Context) -> Outcome:
    """All panels."""
    outcome = Outcome()
    measure_conservation(p, outcome)
    measure_rotation(p, outcome)
    measure_chase(p, context, outcome)
    measure_broken_symmetry(p, context, outcome)
    measure_stability(p, context, outcome)
    return outcome


def problem(p: Parameters, dtype: torch.dtype) -> tuple[Weights, Tensor, Tensor]:
    """A random start, and anisotropic variances of x and eps; the teacher is the identity."""
    streams = Streams(range(p.seeds), "init")
    w = streams.normal(p.width, p.dimension, dtype=dtype) / p.width**0.5
    u = 1.5 * streams.normal(p.dimension, p.width, dtype=dtype) / p.width**0.5
    sigma_x = torch.linspace(0.5, 1.5, p.dimension, dtype=dtype)
    return (w, u), sigma_x, torch.linspace(2.0, 0.5, p.dimension, dtype=dtype)


def measure_conservation(p: Parameters, outcome: Outcome) -> None:
    """Largest relative drift of C over the same time: flow, GD, SGD."""
    start, sigma_x, sigma_eps = problem(p, F64)
    eye = torch.eye(p.dimension, dtype=F64)
    population = two_layer.population_gradient(eye, sigma_x, p.kappa)
    sampled = two_layer.gradient("linear", p.kappa)
    batches = gaussian_teacher(Streams(range(p.seeds), "flow"), p.seeds, 1, eye, sigma_x, sigma_eps)

    def flow(w: Weights) -> Weights:
        for _ in range(4):  # quarter steps keep the rule's own error below what is judged
            w = runge_kutta(w, lambda at: population(at, ()), p.flow_step / 4)
        return w

    def step(w: Weights, g: Weights) -> Weights:
        return tuple(a - p.flow_step * b for a, b in zip(w, g, strict=True))

    rules: dict[str, Field] = {
        "flow": flow,
        "gd": lambda w: step(w, population(w, ())),
        "sgd": lambda w: step(w, sampled(w, next(batches))),
    }
    drifts: dict[str, dict[int, float]] = {}
    before = noether.charge(*start)
    schedule = linear_grid(p.flow_steps, 100)
    due = set(schedule)
    for variant, rule in rules.items():
        w, series = start, []
        for t in range(p.flow_steps + 1):
            if t in due:
                series.append((noether.charge(*w) - before).abs() / before.abs())
            w = rule(w)
        runs = [Run(variant, seed) for seed in range(p.seeds)]
        drift = torch.stack(series)
        outcome.add_series("charge_drift", schedule, drift, runs)
        drifts |= by_variant(drift.amax(dim=0), runs)
    outcome.quantity("charge_drift", drifts, meaning="largest |C(t) - C(0)| / |C(0)|")


def measure_rotation(p: Parameters, outcome: Outcome) -> None:
    """ln u - ln v under the flow of a loss of u^2 + v^2, and of an elliptic loss."""
    start = 0.5 + Streams(range(p.seeds), "rotation").uniform(2, dtype=F64)
    drifts: dict[str, dict[int, float]] = {}
    for variant, weight in (("circular", 1.0), ("elliptic", 2.0)):
        scale = torch.tensor([1.0, weight], dtype=F64)

        def slope(at: Weights, s: Tensor = scale) -> Weights:
            (theta,) = at
            level = (s * theta.square()).sum(dim=1, keepdim=True) - 1  # the loss is level^2 / 4
            return (level * s * theta,)

        w: Weights = (start,)
        for _ in range(p.flow_steps):
            w = runge_kutta(w, slope, p.flow_step)
        end = w[0].log() - start.log()
        drift = (end[:, 0] - end[:, 1]).abs()
        drifts |= by_variant(drift, [Run(variant, seed) for seed in range(p.seeds)])
    outcome.quantity("rotation_drift", drifts, meaning="change of ln u - ln v along the flow")


def measure_chase(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Correlation of C(t + lag) - C(t) with C*(t) - C(t), and with the distances of another time."""
    start, sigma_x, sigma_eps = problem(p, torch.float32)
    eye, seeds = torch.eye(p.dimension), range(p.seeds)

    def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        w, u = weights
        gamma_w, gamma_u = theory.gammas(w, u, eye, sigma_x, sigma_eps)
        lam = noether.balance_point(*noether.noise_traces(w, u, gamma_w, gamma_u, p.kappa))
        goal = torch.exp(2 * lam) * theory.squared_norm(u) - torch.exp(
            -2 * lam
        ) * theory.squared_norm(w)
        return {"charge": noether.charge(w, u), "goal": goal}

    recorder = Recorder(range(0, p.steps + 1, p.lag), measure)
    descend(
        start,
        two_layer.gradient("linear", p.kappa),
        gaussian_teacher(Streams(seeds, "chase"), p.seeds, 1, eye, sigma_x, sigma_eps),
        eta=p.eta,
        steps=p.steps,
        recorder=recorder,
        progress=context.progress(p.steps, "chase"),
    )
    charge, goal = recorder.series["charge"], recorder.series["goal"]
    for name, values in (("charge", charge), ("goal", goal)):
        outcome.add_series(name, recorder.steps, values, [Run("chase", s) for s in seeds])
    change, distance = charge[1:] - charge[:-1], (goal - charge)[:-1]
    order = Streams(seeds, "shuffle").permutation(len(distance)).mT
    found = {
        "sgd": correlation(change, distance),
        "shuffled": correlation(change, distance.gather(0, order)),
    }
    merged: dict[str, dict[int, float]] = {}
    for variant, values in found.items():
        merged |= by_variant(values, [Run(variant, seed) for seed in seeds])
    outcome.quantity(
        "chase", merged, meaning="correlation over time of C(t + lag) - C(t) with C*(t) - C(t)"
    )


def correlation(a: Tensor, b: Tensor) -> Tensor:
    """Pearson's correlation over the first dimension of (T, R), (R,)."""
    a, b = a - a.mean(dim=0), b - b.mean(dim=0)
    return (a * b).sum(0) / (a.square().sum(0) * b.square().sum(0)).sqrt()


def measure_broken_symmetry(p: Parameters, context: Context, outcome: Outcome) -> None:
    """u w fits y = x + eps, plus zeta ((u - a)^2 + (w - 1/a)^2) / 2: the mean deviation of C over (23)'s."""
    seeds, a = range(p.seeds), p.toy_target
    ratios: dict[str, dict[int, float]] = {}
    kept: dict[str, dict[int, float]] = {}
    axis = {}
    goal = a**2 - a**-2
    one = torch.ones(1, dtype=F64)

    def gradient(weights: Weights, batch: Weights) -> Weights:
        g = two_layer.gradient("linear", p.kappa)(weights, batch)
        w, u = weights
        return g[0] + p.zeta * (w - 1 / a), g[1] + p.zeta * (u - a)

    for variant, noise in (("sgd", 1.0), ("gd", 0.0)):
        for eta in p.toy_etas if noise else p.toy_etas[:1]:
            steps = round(p.toy_time / eta)
            start = (
                torch.full((p.seeds, 1, 1), 1 / a, dtype=F64),
                torch.full((p.seeds, 1, 1), a, dtype=F64),
            )
            recorder = Recorder(
                range(steps // 5, steps + 1, 5),
                lambda w, step: {"charge": noether.charge(*w)},  # noqa: ARG005
            )
            batches = gaussian_teacher(
                Streams(seeds, "toy"), p.seeds, 1, torch.eye(1, dtype=F64), one, noise * one
            )
            descend(
                start,
                gradient,
                batches,
                eta=eta,
                steps=steps,
                recorder=recorder,
                progress=context.progress(steps, f"broken symmetry, eta {eta:g}"),
            )
            deviation = goal - recorder.series["charge"].mean(dim=0)
            # Tr[Sigma A] = 4 kappa^2 (w^2 - u^2) = -4 kappa^2 C* at the minimum, sigma^2 = eta / 2
            predicted = 2 * (eta / 2) * 4 * p.kappa**2 * goal / p.zeta
            name = variant if variant == "gd" else f"sgd_eta{eta:g}"
            runs = [Run(name, seed) for seed in seeds]
            ratios |= by_variant(deviation / predicted, runs)
            if noise:
                kept |= by_variant(deviation, runs)
                axis[name] = eta / 2
    smallest = f"sgd_eta{min(p.toy_etas):g}"
    ratios["sgd"] = ratios[smallest]
    outcome.quantity("broken_symmetry", ratios, meaning="mean C* - C over the prediction of (23)")
    outcome.quantity(
        "deviation",
        kept,
        meaning="mean C* - C",
        axis_name="sigma^2",
        axis=axis,
    )


def measure_stability(p: Parameters, context: Context, outcome: Outcome) -> None:
    """R^2 of the log critical stepsize on ln Tr Hess L and on ln lambda_max, over random minima."""
    gains: dict[str, dict[int, float]] = {}
    r2: dict[str, dict[int, float]] = {}
    progress = context.progress(p.seeds * p.problems, "critical stepsizes")
    for seed in range(p.seeds):
        found = [critical(p, seed, number) for number in range(p.problems)]
        progress.advance(p.problems)
        trace, top, *limits = torch.tensor(found, dtype=F64).log().mT
        for variant, limit in zip(("sgd", "gd"), limits, strict=True):
            fits = {
                name: float(correlation(x[:, None], limit[:, None])[0] ** 2)
                for name, x in (("trace", trace), ("top", top))
            }
            gains.setdefault(variant, {})[seed] = fits["trace"] - fits["top"]
            for name, value in fits.items():
                r2.setdefault(f"{variant}_{name}", {})[seed] = value
            shown = [Run(f"{variant}_{number}", seed) for number in range(p.problems)]
            for name, x in (("trace", trace), ("top", top), ("limit", limit)):
                outcome.add_series(f"log_{name}", [0], x[None], shown)
    outcome.quantity(
        "stability_r2",
        r2,
        meaning="R^2 of the log of the critical stepsize on the log of Tr Hess L, of lambda_max",
    )
    outcome.quantity(
        "stability_gain", gains, meaning="R^2 with the trace minus R^2 with the top eigenvalue"
    )


def critical(p: Parameters, seed: int, number: int) -> tuple[float, float, float, float]:
    """Tr Hess L, lambda_max, and the critical stepsizes of SGD (batch 1) and GD of one random minimum.

    The shapes and scales are random; there is no label noise, so that the minimum itself does not move. A stepsize is
    stable when a perturbation of relative size 1e-6 has not grown tenfold at the end. Stepsizes run from a thirtieth of
    the limit 2 / lambda_max to twice that.
    """
    streams = Streams([seed], f"problem {number}")
    shape = streams.uniform(4, dtype=F64)[0].tolist()
    n, d = 2 + int(shape[0] * 18), 2 + int(shape[1] * 6)
    w = math.exp(2 * shape[2] - 1) * streams.normal(d, n, dtype=F64) / n**0.5
    u = math.exp(2 * shape[3] - 1) * streams.normal(n, d, dtype=F64) / n**0.5
    teacher, ones = (u @ w)[0], torch.ones(n, dtype=F64)
    # Sigma_x = I: the Hessian is that of kappa |U W - V|^2, with J = d(U W)
    jacobian = torch.cat(
        [
            torch.kron(u[0].contiguous(), torch.eye(n, dtype=F64)),
            torch.kron(torch.eye(n, dtype=F64), w[0].mT.contiguous()),
        ],
        dim=1,
    )
    top = 2 * p.kappa * float(torch.linalg.matrix_norm(jacobian, 2) ** 2)
    trace = float(theory.hessian_trace(w, u, ones, p.kappa)[0])
    eta = 2 / top * torch.logspace(math.log10(1 / 30), math.log10(2), p.stability_etas, dtype=F64)
    count = len(eta)
    kick = Streams([seed], f"kick {number}")
    size = 1e-6
    start = (
        w.repeat(count, 1, 1) + size * kick.normal(d, n, dtype=F64),
        u.repeat(count, 1, 1) + size * kick.normal(n, d, dtype=F64),
    )
    first = (start[1] @ start[0] - teacher).norm(dim=(1, 2))
    limits = []
    for noisy in (True, False):
        batches = (
            gaussian_teacher(
                Streams([seed] * count, f"stability {number}"), count, 1, teacher, ones, 0 * ones
            )
            if noisy
            else constant()
        )
        end = descend(
            start,
            two_layer.gradient("linear", p.kappa)
            if noisy
            else two_layer.population_gradient(teacher, ones, p.kappa),
            batches,
            eta=eta,
            steps=p.stability_steps,
            recorder=Recorder([], lambda w, step: {}),  # noqa: ARG005
        )
        last = (end[1] @ end[0] - teacher).norm(dim=(1, 2))
        stable = last <= 10 * first  # a NaN is not stable
        unstable = (~stable).nonzero()
        limits.append(float(eta[int(unstable[0])]) if len(unstable) else float(eta[-1]))
    return trace, top, limits[0], limits[1]
