"""Our own panels: what balance means when layers differ, and misprints about balance and initial scales.

(a) With isotropic data and dx != dy, SGD balances |W|^2 / dx against |U|^2 / dy. With weight decay the charge settles
where 2 gamma C = sigma^2 Tr[Sigma A]; (9) prints 4 gamma C (erratum E2). (b) With one input and one output W W^T =
U^T U means W = +-U^T: the products U_i W_i share one sign, the U_i need not (E9). (c) A rank-one autoencoder ends at
|u|^2/|w|^2 = (2n - 1)/n, because what it drops stays in the residual; (14) would give 1 (E7). (d) Kaiming's U has
variance 1/d, not 1 (E6), and Xavier's trace starts at max(d, dx)/(d + dx) of its end, half at d = dx: not "slightly"
below (E8).
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_theory_balance import Parameters
from sgdclaims.theory import noether
from sgdclaims.theory import noise_equilibrium as theory

LAST = 0.5  # time averages run over the second half of the recorded steps
SLIGHTLY = 0.8  # "slightly smaller" is read as at least this share


def late(series: Tensor) -> Tensor:
    """Mean over the second half of the recorded steps of (T, R)."""
    return series[len(series) - round(LAST * len(series)) :].mean(dim=0)


def run(p: Parameters, context: Context) -> Outcome:
    """All panels."""
    outcome = Outcome()
    measure_unequal(p, context, outcome)
    measure_signs(p, context, outcome)
    measure_rank_one(p, context, outcome)
    measure_initial(p, outcome)
    return outcome


def measure_unequal(p: Parameters, context: Context, outcome: Outcome) -> None:
    """dx != dy, isotropic: balance under SGD and GD; with weight decay, E2 in both forms."""
    seeds, dx, dy = range(p.seeds), p.input_dimension, p.output_dimension
    frame = Streams(seeds, "teacher").normal(dy, dx)
    teacher = torch.linalg.qr(frame).Q  # V with orthonormal columns
    ones_x, ones_y = torch.ones(dx), torch.ones(dy)
    ratios: dict[str, dict[int, float]] = {}
    points: dict[str, dict[int, float]] = {}

    def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        w, u = weights
        gamma_w, gamma_u = theory.gammas(w, u, teacher, ones_x, ones_y)
        trace_u, trace_w = noether.noise_traces(w, u, gamma_w, gamma_u, p.kappa)
        norms = theory.squared_norm(w) / dx, theory.squared_norm(u) / dy
        return {
            "w": norms[0],
            "u": norms[1],
            "ratio": norms[0] / norms[1],
            "charge": noether.charge(w, u),
            "trace": trace_u - trace_w,
        }

    for variant, gamma in (("sgd", 0.0), ("gd", 0.0), ("sgd_decay", p.decay)):
        noisy = variant != "gd"
        streams = Streams(seeds, "init")
        start = 0.6 * streams.normal(p.width, dx), 0.3 * streams.normal(dy, p.width)
        recorder = Recorder(linear_grid(p.steps, p.points), measure)
        descend(
            start,
            two_layer.gradient("linear", p.kappa)
            if noisy
            else two_layer.population_gradient(teacher, ones_x, p.kappa),
            gaussian_teacher(Streams(seeds, "data"), p.seeds, 1, teacher, ones_x, ones_y)
            if noisy
            else constant(),
            eta=p.eta,
            steps=p.steps,
            recorder=recorder,
            weight_decay=2 * gamma,
            progress=context.progress(p.steps, variant),
        )
        runs = [Run(variant, seed) for seed in seeds]
        series = recorder.series
        for name in ("w", "u"):
            outcome.add_series(f"{name}_norm", recorder.steps, series[name], runs)
        if gamma:
            sigma_squared = p.eta / 2  # batches of one sample
            left, right = gamma * late(series["charge"]), sigma_squared * late(series["trace"])
            for form, factor in (("printed", 4), ("corrected", 2)):
                points |= by_variant(factor * left / right, [Run(form, s) for s in seeds])
        else:
            ratios |= by_variant(late(series["w"]) / late(series["u"]), runs)
    outcome.quantity("balance", ratios, meaning="(|W|^2 / dx) over (|U|^2 / dy), dx != dy")
    outcome.quantity(
        "fixed_point",
        points,
        meaning="4 (printed) or 2 (corrected) gamma C over sigma^2 Tr[Sigma A], time averages",
    )


def measure_signs(p: Parameters, context: Context, outcome: Outcome) -> None:
    """One input, one output: the share of neurons with the majority's sign of U_i W_i, and of U_i."""
    seeds, one = range(p.seeds), torch.ones(1)
    streams = Streams(seeds, "sign init")
    start = streams.normal(p.neurons, 1), streams.normal(1, p.neurons)
    start = tuple(w / p.neurons**0.5 for w in start)

    def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        w, u = weights[0][:, :, 0], weights[1][:, 0]
        return {"w": w, "u": u}

    recorder = Recorder(linear_grid(p.sign_steps, p.points), measure)
    descend(
        start,
        two_layer.gradient("linear", p.kappa),
        gaussian_teacher(Streams(seeds, "sign data"), p.seeds, 1, torch.eye(1), one, one),
        eta=p.sign_eta,
        steps=p.sign_steps,
        recorder=recorder,
        progress=context.progress(p.sign_steps, "signs"),
    )
    w, u = recorder.series["w"][-1], recorder.series["u"][-1]
    outcome.add_series("neuron_w", [p.sign_steps], w[None], grid(["signs"], seeds))
    outcome.add_series("neuron_u", [p.sign_steps], u[None], grid(["signs"], seeds))
    shares: dict[str, dict[int, float]] = {}
    for variant, values in (("corrected", w * u), ("printed", u)):
        positive = (values > 0).double().mean(dim=1)
        majority = torch.maximum(positive, 1 - positive)
        shares |= by_variant(majority, [Run(variant, seed) for seed in seeds])
    outcome.quantity(
        "sign_share",
        shares,
        meaning="share of neurons with the majority's sign: of U_i W_i (corrected), of U_i (printed)",
    )


def measure_rank_one(p: Parameters, context: Context, outcome: Outcome) -> None:
    """|u|^2 / |w|^2 of the rank-one autoencoder at two stepsizes, extrapolated to zero."""
    seeds, n = range(p.seeds), p.factor_dimension
    eye, ones = torch.eye(n), torch.ones(n)
    found = []
    for eta, factor in zip(p.factor_etas, (1, 4), strict=True):
        steps = factor * p.factor_steps
        streams = Streams(seeds, "factor init")
        start = streams.normal(1, n) / n**0.5, streams.normal(n, 1) / n**0.5

        def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
            w, u = weights
            return {"u": theory.squared_norm(u), "w": theory.squared_norm(w)}

        recorder = Recorder(linear_grid(steps, p.points), measure)
        descend(
            start,
            two_layer.gradient("linear", 1.0),
            gaussian_teacher(Streams(seeds, "factor data"), p.seeds, 1, eye, ones, ones),
            eta=eta,
            steps=steps,
            recorder=recorder,
            progress=context.progress(steps, f"rank one, eta {eta:g}"),
        )
        series = recorder.series
        found.append(late(series["u"]) / late(series["w"]))
    # The error is of first order in eta, and the second stepsize is half the first.
    limit = 2 * found[1] - found[0]
    k_squared = (2 * n - 1) / n
    outcome.quantity(
        "rank_one_ratio",
        by_variant(limit / k_squared, grid(["corrected"], seeds))
        | by_variant(limit, grid(["printed"], seeds)),
        meaning="|u|^2 / |w|^2 for a vanishing stepsize over (2n - 1)/n (corrected), over 1 (printed)",
    )


def measure_initial(p: Parameters, outcome: Outcome) -> None:
    """The variance of torch's Kaiming initializer, and the Hessian trace at the paper's Xavier initialization."""
    n, d, seeds = p.init_dimension, p.init_width, range(p.seeds)
    variances: dict[str, dict[int, float]] = {"printed": {}, "corrected": {}}
    shares: dict[str, dict[int, float]] = {"printed": {}, "corrected": {}}
    init = torch.nn.init
    for seed in seeds:
        noise = torch.Generator().manual_seed(seed)
        kaiming = torch.stack(
            [
                init.kaiming_normal_(torch.empty(n, d), nonlinearity="linear", generator=noise)
                for _ in range(p.draws)
            ]
        )
        variance = float(kaiming.square().mean())
        variances["printed"][seed], variances["corrected"][seed] = variance, variance * d
        # d = dx, where "slightly smaller" is farthest off. The paper's Xavier variance is 1 / (fan-in + fan-out);
        # torch's is twice that.
        w, u = (
            torch.randn(p.draws // 10, n, n, generator=noise) / (2 * n) ** 0.5 for _ in range(2)
        )
        start = float(theory.hessian_trace(w, u, torch.ones(n)).mean())
        share = start / (2 * n * n)  # S_end = 2 min(d, dx) Tr Sigma_x
        shares["printed"][seed], shares["corrected"][seed] = share, share / 0.5
    outcome.quantity(
        "kaiming_variance",
        variances,
        meaning="variance of Kaiming's U over 1 (printed), over 1/d (corrected)",
    )
    outcome.quantity(
        "xavier_share",
        shares,
        meaning="Xavier's initial over final Hessian trace, d = dx; corrected: over max(d, dx)/(d + dx)",
    )
