"""Our own panels: the noise equilibrium of a deep linear network, Theorem 5.4, printed and corrected (E4).

The theorem's solution is put into the condition of Theorem E.1 with both scales: only the corrected one leaves no
residual unless Tr Sigma_x = Tr Sigma_eps = d. SGD from an unbalanced global minimum on anisotropic data then ends
with the corrected norms: all intermediate layers share one size and become rescaled orthogonal matrices. Gradient
descent stays where it starts. The misalignment has a floor of order eta, so the stepsize is small. Residuals in
float64.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.models import deep_linear
from sgdclaims.parameters.ne_theory_depth import Parameters
from sgdclaims.theory import deep_linear as theory

LAST = 0.25  # time averages run over the last quarter of the recorded steps
FORMS: tuple[theory.Form, ...] = ("printed", "corrected")


def problem(p: Parameters, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """A random teacher of the given rank per seed (R, n, n), and the variances of x and eps."""
    streams = Streams(range(p.seeds), "teacher")
    left, right = (
        torch.linalg.qr(streams.normal(p.dimension, p.rank, dtype=torch.float64)).Q
        for _ in range(2)
    )
    singular = torch.linspace(1.5, 0.7, p.rank, dtype=torch.float64)
    teacher = (left * singular) @ right.mT
    sigma_x = torch.linspace(0.5, 1.5, p.dimension, dtype=torch.float64)
    sigma_eps = torch.linspace(2.0, 0.5, p.dimension, dtype=torch.float64)
    return teacher.to(dtype), sigma_x.to(dtype), sigma_eps.to(dtype)


def frames(p: Parameters, purpose: str) -> list[Tensor]:
    """Random orthogonal matrices between the layers, (R, d, d) each; float64."""
    streams = Streams(range(p.seeds), purpose)
    return [
        torch.linalg.qr(streams.normal(p.rank, p.rank, dtype=torch.float64)).Q
        for _ in range(p.depth - 1)
    ]


def unbalanced_minimum(p: Parameters) -> Weights:
    """A global minimum far from the equilibrium: W_i -> M_i W_i, W_{i+1} -> W_{i+1} M_i^-1 keep the product.

    M_i has random singular vectors and singular values from 1/imbalance to imbalance.
    """
    teacher, sigma_x, sigma_eps = problem(p, torch.float64)
    layers = list(
        theory.solution(teacher, p.depth, sigma_x, sigma_eps, frames(p, "start"), "corrected")
    )
    stretch = torch.logspace(-1, 1, p.rank, base=p.imbalance, dtype=torch.float64)
    for i, (left, right) in enumerate(zip(frames(p, "left"), frames(p, "right"), strict=True)):
        layers[i] = (left * stretch) @ right.mT @ layers[i]
        layers[i + 1] = layers[i + 1] @ (right / stretch) @ left.mT
    return tuple(w.float() for w in layers)


def run(p: Parameters, context: Context) -> Outcome:
    """Residuals of both forms; SGD and gradient descent from the same start."""
    outcome = Outcome()
    measure_residuals(p, outcome)
    ends = {variant: train(p, context, outcome, variant) for variant in ("sgd", "gd")}
    measure_sizes(p, outcome, ends)
    return outcome


def measure_residuals(p: Parameters, outcome: Outcome) -> None:
    """Theorem 5.4 in Theorem E.1, and the product of the layers against V."""
    teacher, sigma_x, sigma_eps = problem(p, torch.float64)
    between = frames(p, "frames")
    worst: dict[str, dict[int, float]] = {}
    product: dict[str, dict[int, float]] = {}
    for form in FORMS:
        weights = theory.solution(teacher, p.depth, sigma_x, sigma_eps, between, form)
        found = theory.residuals(weights, sigma_x, sigma_eps)
        runs = [Run(form, seed) for seed in range(p.seeds)]
        outcome.add_series("residual", [0], found[None], runs)
        worst |= by_variant(found.amax(dim=1), runs)
        whole = weights[0]
        for w in weights[1:]:
            whole = w @ whole
        gap = (whole - teacher).norm(dim=(1, 2)) / teacher.norm(dim=(1, 2))
        product |= by_variant(gap, runs)
    outcome.quantity(
        "equation_residual",
        worst,
        meaning="largest relative residual of Theorem E.1 over neighboring layers, Theorem 5.4's solution",
    )
    outcome.quantity(
        "product_gap", product, meaning="relative distance of the solution's product from V"
    )


def train(p: Parameters, context: Context, outcome: Outcome, variant: str) -> dict[str, Tensor]:
    """Layer sizes and condition numbers, averaged over the last quarter of the recorded steps."""
    teacher, sigma_x, sigma_eps = problem(p, torch.float32)
    sgd = variant == "sgd"
    # Full batch: one sample per axis, scaled to the second moment Sigma_x.
    axes = torch.diag((p.dimension * sigma_x).sqrt()).expand(p.seeds, -1, -1)
    batches = constant(axes, axes @ teacher.mT)
    if sgd:
        streams = Streams(range(p.seeds), "data")
        batches = gaussian_teacher(streams, p.seeds, p.batch_size, teacher, sigma_x, sigma_eps)

    def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        middle = torch.stack([torch.linalg.svdvals(w) for w in weights[1:-1]], dim=1)
        return {
            "size": theory.layer_sizes(weights, sigma_x, sigma_eps),
            "condition": (middle[..., 0] / middle[..., -1]).mean(dim=1),
        }

    recorder = Recorder(linear_grid(p.steps, p.points), measure)
    descend(
        unbalanced_minimum(p),
        deep_linear.gradient(p.kappa),
        batches,
        eta=p.eta,
        steps=p.steps,
        recorder=recorder,
        progress=context.progress(p.steps, variant),
    )
    outcome.record(recorder, [Run(variant, seed) for seed in range(p.seeds)])
    late = len(recorder.steps) - round(LAST * len(recorder.steps))
    return {name: values[late:].mean(dim=0) for name, values in recorder.series.items()}


def measure_sizes(p: Parameters, outcome: Outcome, ends: dict[str, dict[str, Tensor]]) -> None:
    """The layers' sizes against both forms, their equality, and how orthogonal they are."""
    teacher, sigma_x, sigma_eps = problem(p, torch.float64)
    _, singular, _ = theory.decomposed(teacher, sigma_x, sigma_eps, p.rank)
    errors: dict[str, dict[int, float]] = {}
    spread: dict[str, dict[int, float]] = {}
    condition: dict[str, dict[int, float]] = {}
    for variant, end in ends.items():
        runs = [Run(variant, seed) for seed in range(p.seeds)]
        for form in FORMS:
            predicted = theory.predicted_sizes(singular, p.depth, sigma_x, sigma_eps, form)
            worst = (end["size"] / predicted - 1).abs().amax(dim=1)
            errors |= by_variant(worst, [Run(f"{variant}_{form}", r.seed) for r in runs])
            if variant == "sgd":
                shown = [Run(form, r.seed) for r in runs]
                outcome.add_series("predicted_size", [0], predicted[None], shown)
        middle = end["size"][:, 1:-1]
        spread |= by_variant(middle.amax(dim=1) / middle.amin(dim=1), runs)
        condition |= by_variant(end["condition"], runs)
    outcome.quantity(
        "size_error",
        errors,
        meaning="largest relative error of a layer's size against Theorem 5.4, last quarter of the steps",
    )
    outcome.quantity(
        "middle_spread", spread, meaning="largest over smallest |W_i|^2 of the intermediate layers"
    )
    outcome.quantity(
        "condition", condition, meaning="mean condition number of the intermediate layers"
    )
