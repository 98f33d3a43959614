"""NE Figure 6: what linear theory predicts holds for tanh, after SGD and not after GD.

A two-layer network f(x) = U tanh(W x) learns y = x + eps, x ~ N(0, I_40), Var eps_1 = 5, the others 1. For a linear
network the noise equilibrium (14) is W bar(Sigma_x) W^T = U^T bar(Sigma_eps) U, where bar divides by the trace. The
paper shows both sides as heat maps over pairs of neurons: alike after 10^4 steps of SGD, unlike after GD.

Stated: dimension, noise, iterations, activation, loss up to a factor. Inferred: the summed loss. Ours: width (clearly
above 40, or both sides are nearly isotropic and any pair looks alike), stepsize, batch, initialization, and a fixed
sample for GD.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.experiments import tanh_family as shared
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_fig6_tanh_representation import Parameters
from sgdclaims.theory import noise_equilibrium as theory

SHOWN_SEED = 0  # whose matrices the figure shows


def run(p: Parameters, context: Context) -> Outcome:
    """Trains SGD, GD, and SGD with isotropic noise (the control of the spectrum)."""
    anisotropic = shared.isotropic_but_one(p.first_noise_variance, p.noise_variance, p.dimension)
    isotropic = torch.full((p.dimension,), p.noise_variance)
    seeds = range(p.seeds)
    data = {
        "sgd": (anisotropic, shared.fresh_samples(seeds, p.batch_size, anisotropic)),
        "gd": (anisotropic, shared.fixed_samples(seeds, p.gd_samples, anisotropic)),
        "sgd_isotropic": (isotropic, shared.fresh_samples(seeds, p.batch_size, isotropic)),
    }
    ones = torch.ones(p.dimension)
    outcome = Outcome()
    sides: dict[str, tuple[Tensor, Tensor]] = {}
    for variant, (sigma_eps, batches) in data.items():

        def similarity(
            weights: Weights,
            step: int,  # noqa: ARG001
            noise: Tensor = sigma_eps,
        ) -> dict[str, Tensor]:
            first, second = weights
            left, right = theory.normalized_sides(first, second, ones, noise)
            return {"cosine": shared.cosine(left, right)}

        recorder = Recorder(linear_grid(p.steps, p.points), similarity)
        w, u = descend(
            shared.initial(seeds, p.width, p.dimension, p.gain_w, p.gain_u),
            two_layer.gradient("tanh", p.kappa),
            batches,
            eta=p.eta,
            steps=p.steps,
            recorder=recorder,
            progress=context.progress(p.steps, variant),
        )
        sides[variant] = theory.normalized_sides(w, u, ones, sigma_eps)
        outcome.record(recorder, grid([variant], seeds))
    keep_heat_maps(p, outcome, sides)
    measure(p, outcome, sides)
    return outcome


def keep_heat_maps(
    p: Parameters, outcome: Outcome, sides: dict[str, tuple[Tensor, Tensor]]
) -> None:
    """The four matrices of the figure, of one seed. Neurons are ordered by the left diagonal of each pair."""
    for variant in ("sgd", "gd"):
        left, right = (side[SHOWN_SEED] for side in sides[variant])
        order = left.diagonal().argsort(descending=True)
        for name, matrix in (("left", left), ("right", right)):
            ordered = matrix[order][:, order]
            shown = [Run(variant, SHOWN_SEED)]
            outcome.add_series(name, [p.steps], ordered[None, None].double(), shown)


def measure(p: Parameters, outcome: Outcome, sides: dict[str, tuple[Tensor, Tensor]]) -> None:
    """Similarity of the two sides, and the spectrum that linear theory predicts."""
    seeds = range(p.seeds)

    def per_seed(values: dict[str, Tensor]) -> dict[str, dict[int, float]]:
        table: dict[str, dict[int, float]] = {}
        for variant, value in values.items():
            table |= by_variant(value, grid([variant], seeds))
        return table

    # The control of every similarity: the other side taken from the next seed.
    pairs = {v: s for v, s in sides.items() if v != "sgd_isotropic"}
    pairs["sgd_other_seed"] = (sides["sgd"][0], sides["sgd"][1].roll(1, dims=0))
    outcome.quantity(
        "representation_cosine",
        per_seed({v: shared.cosine(left, right) for v, (left, right) in pairs.items()}),
        meaning="Frobenius cosine of W bar(Sigma_x) W^T and U^T bar(Sigma_eps) U",
    )
    off = {v: tuple(map(shared.off_diagonal, pair)) for v, pair in pairs.items()}
    outcome.quantity(
        "off_diagonal_cosine",
        per_seed({v: shared.cosine(left, right) for v, (left, right) in off.items()}),
        meaning="the same, off the diagonals",
    )
    outcome.quantity(
        "trace_ratio",
        per_seed(
            {v: shared.trace(left) / shared.trace(right) for v, (left, right) in pairs.items()}
        ),
        meaning="trace of the left side over that of the right",
    )
    outcome.quantity(
        "top_eigenvalue",
        per_seed({v: spectrum_ratio(left, p.dimension) for v, (left, _) in sides.items()}),
        meaning="largest over median nonzero eigenvalue of W bar(Sigma_x) W^T",
    )
    outcome.quantity(
        "top_eigenvalue_right",
        per_seed({v: spectrum_ratio(right, p.dimension) for v, (_, right) in sides.items()}),
        meaning="largest over median nonzero eigenvalue of U^T bar(Sigma_eps) U",
    )
    noise = shared.isotropic_but_one(p.first_noise_variance, p.noise_variance, p.dimension).double()
    squared = theory.autoencoder_singular_values(torch.ones_like(noise), noise)
    # W Sigma_x W^T has the eigenvalues 1 / u_i^2 up to a factor: the noisy component has the largest.
    predicted = ((1 / squared).max() / (1 / squared).median()).item()
    outcome.quantity(
        "predicted_top_eigenvalue",
        {v: dict.fromkeys(seeds, predicted) for v in ("sgd", "sgd_isotropic", "gd")},
        meaning="the same from linear theory, eq. (14)",
    )


def spectrum_ratio(matrix: Tensor, rank: int) -> Tensor:
    """Largest over median of the `rank` largest eigenvalues of symmetric matrices (R, d, d), (R,)."""
    values: Tensor = torch.linalg.eigvalsh(matrix.double())[:, -rank:]
    median: Tensor = values.median(dim=1).values
    return values[:, -1] / median
