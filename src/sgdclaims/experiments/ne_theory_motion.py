"""Our own panels: how the charge C = |U|^2 - |W|^2 moves, and what decides whether SGD is stable.

(a) Remark 4.4: only gradient flow conserves C; GD drifts with its stepsize, SGD with its noise. (b) The authors'
reply says that C* moves and that C "chases it": C* is the charge at the zero of G on the current orbit (Theorem 4.3),
and at equal C, C must move towards it. (c) Section 5.4: a term zeta l2 breaks the symmetry u w -> (e^lam u)(e^-lam
w); then C = C* + 2 sigma^2 Tr[Sigma A] / zeta (23), linear in sigma^2. (d) The reply says that SGD's stability
follows Tr Hess L "rather than" the top eigenvalue: over random networks at a minimum, which of the two predicts the
critical stepsize? A rotation-symmetric loss in the plane keeps ln u - ln v under flow. float64 except in (b).
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.flow import Field, runge_kutta
from sgdclaims.dynamics.loop import follow
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.experiments.critical_stepsize import critical
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_theory_motion import Parameters
from sgdclaims.theory import noether
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64


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
    """Whether, at equal C, the change C(t + lag) - C(t) follows C*(t); against the C* of another seed.

    The plain correlation with C* - C cannot tell: C returns to its own mean, so the term -C alone makes it large, and
    with the goals in any order it hardly falls. The partial correlation leaves out what C explains, and the second
    half of the run leaves out the approach from the start.
    """
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
    late = slice(len(charge) // 2, None)
    own = charge[late][:-1]
    change = charge[late].diff(dim=0)
    goals = {"sgd": goal[late][:-1], "other_goal": goal[late][:-1].roll(1, dims=1)}
    merged: dict[str, dict[int, float]] = {}
    for variant, theirs in goals.items():
        runs = [Run(variant, seed) for seed in seeds]
        merged |= by_variant(partial_correlation(change, theirs, own), runs)
    outcome.quantity(
        "chase",
        merged,
        meaning="partial correlation of C(t + lag) - C(t) with C*(t), given C(t); second half",
    )


def correlation(a: Tensor, b: Tensor) -> Tensor:
    """Pearson's correlation over the first dimension of (T, R), (R,)."""
    a, b = a - a.mean(dim=0), b - b.mean(dim=0)
    return (a * b).sum(0) / (a.square().sum(0) * b.square().sum(0)).sqrt()


def partial_correlation(a: Tensor, b: Tensor, given: Tensor) -> Tensor:
    """Pearson's correlation of what a linear fit on `given` leaves of a and b; all (T, R), (R,)."""
    z = given - given.mean(dim=0)

    def left(x: Tensor) -> Tensor:
        x = x - x.mean(dim=0)
        rest: Tensor = x - z * (x * z).sum(0) / z.square().sum(0)
        return rest

    return correlation(left(a), left(b))


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
    found: dict[int, list[tuple[float, ...]]] = {}
    for seed in follow(p.seeds, context.progress(p.seeds, "critical stepsizes, seeds"), found):
        found[seed] = [
            critical(seed, number, p.kappa, p.stability_steps, p.stability_etas)
            for number in range(p.problems)
        ]
    for seed, problems in found.items():
        trace, top, *limits = torch.tensor(problems, dtype=F64).log().mT
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
