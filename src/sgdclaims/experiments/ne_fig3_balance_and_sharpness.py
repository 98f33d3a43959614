"""NE Figure 3: how the data decide where SGD ends, and whether that is flatter or sharper than balanced.

A linear network f(x) = U W x learns y = x + eps, eps ~ N(0, I). Half of the inputs have variance phi, the others 2
- phi. Equation (14) then gives |U|^2 = (n/2) (sqrt(phi) + sqrt(2 - phi)) and |W|^2 = (n/2) (1/sqrt(phi) + 1/sqrt(2
- phi)): the layers are balanced only at phi = 1. Gradient descent with weight decay is balanced for every phi. In
the 1/2 convention the Hessian trace is n^2 (sqrt(phi) + sqrt(2 - phi)), never above the balanced 2 n^2; with the
label noise reversed against the inputs it is n^2 (sqrt(q) + 1/sqrt(q)), q = phi (2 - phi), never below.

Stated: the family of inputs, eta .1, batch 100, weight decay. The caption exists with 10^-4 and with 10^-1; the
small one fits the text. Inferred: kappa 1/2. Ours: width, phi grid, steps, initialization.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_fig3_balance_and_sharpness import Parameters
from sgdclaims.theory import noise_equilibrium as theory

LAST = 0.3  # time averages run over the last third of the recorded steps
CURVES = ("sgd", "sgd_wd", "sgd_large_wd", "sgd_reversed")


def predicted_norms(phi: float, n: int) -> tuple[float, float]:
    """|W|^2 and |U|^2 of the noise equilibrium, from (14) with V = Sigma_eps = I."""
    root, other = phi**0.5, (2 - phi) ** 0.5
    return n / 2 * (1 / root + 1 / other), n / 2 * (root + other)


def variances(phi: float, n: int) -> Tensor:
    """(phi, ..., phi, 2 - phi, ..., 2 - phi)."""
    return torch.cat([torch.full((n // 2,), phi), torch.full((n - n // 2,), 2 - phi)])


def initial(p: Parameters, seeds: Sequence[int]) -> Weights:
    """W (R, d, n) and U (R, n, d)."""
    streams = Streams(seeds, "init")
    w = streams.normal(p.width, p.dimension) * (p.gain_w / p.dimension**0.5)
    u = streams.normal(p.dimension, p.width) * (p.gain_u / p.width**0.5)
    return w, u


def recorder(steps: int, points: int, sigma_x: Tensor) -> Recorder:
    """Squared norms and the Hessian trace; sigma_x (R, n)."""

    def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        w, u = weights
        norm_u = theory.squared_norm(u)
        first = first_layer_part(w, sigma_x) * u.shape[1]
        return {
            "w_norm": theory.squared_norm(w),
            "u_norm": norm_u,
            "trace": first + norm_u * sigma_x.sum(dim=1),
        }

    return Recorder(linear_grid(steps, points), measure)


def first_layer_part(w: Tensor, sigma_x: Tensor) -> Tensor:
    """|W Sigma_x^(1/2)|_F^2 with one sigma_x per run, (R,)."""
    return (w.square() * sigma_x[:, None, :]).sum(dim=(1, 2))


def train(
    p: Parameters,
    context: Context,
    curve: str,
    runs: list[Run],
    phis: Tensor,
    eta: float,
    steps: int,
) -> Recorder:
    """One curve at all phi: SGD or gradient descent, with or without weight decay."""
    n = p.dimension
    sigma_x = torch.stack([variances(float(phi), n) for phi in phis])
    ones = torch.ones(n)
    sigma_eps = sigma_x.flip(1) if curve == "sgd_reversed" else ones.expand(len(runs), n)
    decay = {
        "sgd_wd": p.weight_decay,
        "sgd_large_wd": p.large_weight_decay,
        "gd_wd": p.weight_decay,
    }
    seeds = [run.seed for run in runs]
    found = recorder(steps, p.points, sigma_x)
    sgd = curve not in ("gd", "gd_wd")
    descend(
        initial(p, seeds),
        two_layer.gradient("linear", p.kappa) if sgd else _population(p, sigma_x),
        gaussian_teacher(
            Streams(seeds, "data"), len(runs), p.batch_size, torch.eye(n), sigma_x, sigma_eps
        )
        if sgd
        else constant(),
        eta=eta,
        steps=steps,
        recorder=found,
        weight_decay=2 * decay.get(curve, 0.0),  # the gradient of gamma |theta|^2
        progress=context.progress(steps, f"{curve} eta {eta:g}"),
    )
    return found


def _population(p: Parameters, sigma_x: Tensor) -> two_layer.Gradient:
    return two_layer.population_gradient(torch.eye(p.dimension), sigma_x[:, None, :], p.kappa)


def run(p: Parameters, context: Context) -> Outcome:
    """All curves over phi, then SGD at falling stepsizes."""
    outcome = Outcome()
    runs = [Run(f"phi{phi:g}", seed) for phi in p.phis for seed in range(p.seeds)]
    phis = torch.tensor(p.phis).repeat_interleave(p.seeds)
    ends: dict[str, dict[str, Tensor]] = {}
    for curve in (*CURVES, "gd_wd"):
        gd = curve == "gd_wd"
        eta, steps = (p.gd_eta, p.gd_steps) if gd else (p.eta, p.steps)
        series = train(p, context, curve, runs, phis, eta, steps).series
        count = max(1, round(LAST * p.points))
        ends[curve] = {name: values[-count:].mean(dim=0) for name, values in series.items()}
        for name, values in ends[curve].items():
            named = [Run(f"{curve}_{r.variant}", r.seed) for r in runs]
            outcome.add_series(name, [steps], values[None], named)
    measure(p, outcome, ends, runs)
    measure_stepsizes(p, context, outcome)
    measure_alignment(p, context, outcome)
    return outcome


def measure(
    p: Parameters, outcome: Outcome, ends: dict[str, dict[str, Tensor]], runs: list[Run]
) -> None:
    """Norms over theory, balance, weight decay's effect, and sharpness over the balanced value."""
    n, q = p.dimension, p.judged * (2 - p.judged)

    def at(values: Tensor, phi: float) -> dict[int, float]:
        return by_variant(values, runs)[f"phi{phi:g}"]

    names = ("sgd", "gd_wd", "sgd_reversed")
    ratio = {c: e["u_norm"] / e["w_norm"] for c, e in ends.items()}
    outcome.quantity(
        "norm_ratio",
        {c: at(ratio[c], p.judged) for c in names} | {"sgd_phi1": at(ratio["sgd"], 1.0)},
        meaning=f"|U|^2 / |W|^2 at phi = {p.judged:g}, and at 1",
    )
    outcome.quantity(
        "predicted_norm_ratio",
        {c: dict.fromkeys(range(p.seeds), q**0.5) for c in names},
        meaning="sqrt(phi (2 - phi))",
    )
    theory_w, _ = predicted_norms(p.judged, n)
    outcome.quantity(
        "w_norm_over_theory",
        {c: at(ends[c]["w_norm"] / theory_w, p.judged) for c in names},
        meaning=f"|W|^2 over eq. (14) at phi = {p.judged:g}",
    )
    for place, layer in enumerate("wu"):
        errors: dict[str, dict[int, float]] = {}
        for c in ("sgd", "gd_wd"):
            per_phi = [
                at((ends[c][f"{layer}_norm"] / predicted_norms(phi, n)[place] - 1).abs(), phi)
                for phi in p.phis
            ]
            errors[c] = {seed: max(e[seed] for e in per_phi) for seed in range(p.seeds)}
        outcome.quantity(
            f"{layer}_norm_error",
            errors,
            meaning=f"largest relative error of |{layer.upper()}|^2 against eq. (14) over all phi",
        )
    gaps = {
        c: at((ends[c]["w_norm"] / ends["sgd"]["w_norm"] - 1).abs(), p.judged)
        for c in ("sgd_wd", "sgd_large_wd")
    }
    outcome.quantity("decay_gap", gaps, meaning="relative change of |W|^2 by weight decay")
    balance = {c: at((1 - ratio[c]).abs() / (1 + ratio[c]), p.judged) for c in ("gd_wd", "sgd")}
    outcome.quantity("imbalance", balance, meaning="||U|^2 - |W|^2| over their sum")
    # Close to phi = 1 the effect is smaller than the stepsize's error: the smallest phi shows it best.
    sharp = {c: at(ends[c]["trace"] / (2 * n**2), min(p.phis)) for c in names}
    outcome.quantity(
        "sharpness", sharp, meaning="Hessian trace over the balanced solution's, smallest phi"
    )


def measure_stepsizes(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Relative error of |W|^2 against (14) at eta, eta/2, eta/4 and equal eta^2 steps; SGD and GD."""
    predicted, _ = predicted_norms(p.judged, p.dimension)
    errors: dict[str, dict[int, float]] = {}
    axis = {}
    for curve in ("sgd", "gd"):
        for divisor in (1, 2, 4):
            name = f"{'' if curve == 'sgd' else 'gd_'}eta_over_{divisor}"
            runs = [Run(name, seed) for seed in range(p.seeds)]
            phis = torch.full((p.seeds,), p.judged)
            steps = p.steps * divisor**2
            found = train(p, context, curve, runs, phis, p.eta / divisor, steps)
            end = found.series["w_norm"][-max(1, round(LAST * p.points)) :].mean(dim=0)
            errors |= by_variant((end / predicted - 1).abs(), runs)
            axis[name] = p.eta / divisor
    outcome.quantity(
        "prediction_error",
        errors,
        meaning="relative error of |W|^2 against eq. (14)",
        axis_name="stepsize",
        axis=axis,
    )


def random_teacher(n: int, seeds: Sequence[int]) -> Tensor:
    """V = Q_1 D Q_2 with random orthogonal factors and D from 1/2 to 3/2, one per seed, (R, n, n)."""
    streams = Streams(seeds, "teacher")
    first, second = (torch.linalg.qr(streams.normal(n, n)).Q for _ in range(2))
    product: Tensor = first * torch.linspace(0.5, 1.5, n) @ second
    return product


def commutator(w: Tensor, u: Tensor) -> Tensor:
    """|[U^T U, W W^T]|_F / (|U^T U|_F |W W^T|_F), (R,): zero when the layers' singular vectors align."""
    a, b = u.mT @ u, w @ w.mT
    size = theory.squared_norm(a).sqrt() * theory.squared_norm(b).sqrt()
    return theory.squared_norm(a @ b - b @ a).sqrt() / size


def equilibrium(teacher: Tensor, sigma_x: Tensor) -> Weights:
    """W and U of formula (14)'s solution in Appendix C for Sigma_eps = I, up to a common rotation.

    With V Sigma_x^(1/2) = L S R: U = sqrt(c) L S^(1/2), W = S^(1/2) R Sigma_x^(-1/2) / sqrt(c), and (14) fixes c:
    c S / n = S / (c Tr Sigma_x), so c = sqrt(n / Tr Sigma_x). The commutator does not depend on c.
    """
    left, s, right = torch.linalg.svd(teacher * sigma_x.sqrt())
    root = s.sqrt()
    return root[:, :, None] * right / sigma_x.sqrt(), left * root[:, None, :]


def measure_alignment(p: Parameters, context: Context, outcome: Outcome) -> None:
    """With a random V the layers' singular vectors do not align under SGD, even with weight decay."""
    # At eta / 4, as the commutator is small and its error of first order in eta.
    n, seeds, eta, sgd_steps = p.dimension, range(p.seeds), p.eta / 4, 16 * p.steps
    teacher, sigma_x = random_teacher(n, seeds), variances(p.judged, n)
    found: dict[str, dict[int, float]] = {}
    for curve in ("sgd_wd", "gd_wd"):
        sgd = curve == "sgd_wd"
        steps = sgd_steps if sgd else p.gd_steps
        recorded = Recorder(
            linear_grid(steps, p.points),
            lambda weights, step: {"c": commutator(*weights)},  # noqa: ARG005
        )
        descend(
            initial(p, seeds),
            two_layer.gradient("linear", p.kappa)
            if sgd
            else two_layer.population_gradient(teacher, sigma_x, p.kappa),
            gaussian_teacher(
                Streams(seeds, "alignment"), p.seeds, p.batch_size, teacher, sigma_x, torch.ones(n)
            )
            if sgd
            else constant(),
            eta=eta if sgd else p.gd_eta,
            steps=steps,
            recorder=recorded,
            weight_decay=2 * p.weight_decay,
            progress=context.progress(steps, f"{curve}, random teacher"),
        )
        count = max(1, round(LAST * p.points))
        end = recorded.series["c"][-count:].mean(dim=0)
        found |= by_variant(end, [Run(curve, seed) for seed in seeds])
    predicted = by_variant(
        commutator(*equilibrium(teacher, sigma_x)), [Run("sgd_wd", seed) for seed in seeds]
    )
    outcome.quantity(
        "commutator", found, meaning="|[U^T U, W W^T]|_F over the product of the norms, random V"
    )
    outcome.quantity(
        "predicted_commutator",
        predicted | {"gd_wd": predicted["sgd_wd"]},
        meaning="the same for the solution of (14)",
    )
