"""NE Figure 9: the two sides of Theorem 5.2 agree for ReLU, leaky ReLU and swish as well.

The setting is Figure 6's. Shown are W Gamma_W W^T and U^T Gamma_U U, eq. (13), with Gamma_W = E[|r|^2 x x^T] and
Gamma_U = E[|x|^2 r r^T], not divided by traces. For a linear network the Gammas are closed forms; with an activation
the residual is not Gaussian, so they are averages over many fresh samples of the trained network.

Stated: activations, data, iterations. Inferred: the summed loss. Ours: as in Figure 6, and the number of samples.
The controls are the same matrices at initialization, and the second layer of another seed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments import tanh_family as shared
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_fig9_activations import Parameters

SHOWN_SEED = 0


def run(p: Parameters, context: Context) -> Outcome:
    """Trains every activation with SGD and compares the two sides."""
    noise = shared.isotropic_but_one(p.first_noise_variance, p.noise_variance, p.dimension)
    seeds = range(p.seeds)
    outcome = Outcome()
    pairs: dict[str, tuple[Tensor, Tensor]] = {}
    for activation in p.activations:
        recorder = Recorder(
            linear_grid(p.steps, p.points),
            lambda weights, step: {  # noqa: ARG005
                "w_norm": weights[0].square().sum(dim=(1, 2)),
                "u_norm": weights[1].square().sum(dim=(1, 2)),
            },
        )
        start = shared.initial(seeds, p.width, p.dimension, p.gain_w, p.gain_u)
        trained = descend(
            start,
            two_layer.gradient(activation, p.kappa),
            shared.fresh_samples(seeds, p.batch_size, noise),
            eta=p.eta,
            steps=p.steps,
            recorder=recorder,
            progress=context.progress(p.steps, activation),
        )
        outcome.record(recorder, grid([activation], seeds))
        pairs[activation] = sides(p, trained, noise, activation)
        pairs[f"{activation}_at_start"] = sides(p, start, noise, activation)
        left, right = pairs[activation]
        pairs[f"{activation}_other_seed"] = (left, right.roll(1, dims=0))
        keep_heat_maps(p, outcome, activation, left[SHOWN_SEED], right[SHOWN_SEED])
    measure(p, outcome, pairs)
    return outcome


def sides(p: Parameters, weights: Weights, noise: Tensor, activation: str) -> tuple[Tensor, Tensor]:
    """W Gamma_W W^T and U^T Gamma_U U of every run, (R, width, width), from fresh samples."""
    w, u = weights
    ones, eye = torch.ones(p.dimension), torch.eye(p.dimension)
    streams = Streams(range(p.seeds), "moments")
    x, y = next(gaussian_teacher(streams, p.seeds, p.moment_samples, eye, ones, noise))
    residual = two_layer.forward(weights, x, activation) - y
    gamma_w = (x * residual.square().sum(-1, keepdim=True)).mT @ x / p.moment_samples
    gamma_u = (residual * x.square().sum(-1, keepdim=True)).mT @ residual / p.moment_samples
    return w @ gamma_w @ w.mT, u.mT @ gamma_u @ u


def keep_heat_maps(
    p: Parameters, outcome: Outcome, activation: str, left: Tensor, right: Tensor
) -> None:
    """One seed's two matrices, neurons ordered by the left diagonal."""
    order = left.diagonal().argsort(descending=True)
    for name, matrix in (("left", left), ("right", right)):
        shown = matrix[order][:, order][None, None].double()
        outcome.add_series(name, [p.steps], shown, [Run(activation, SHOWN_SEED)])


def measure(p: Parameters, outcome: Outcome, pairs: dict[str, tuple[Tensor, Tensor]]) -> None:
    """Cosine of the two sides, whole and off the diagonal, and the ratio of their traces."""
    cosines: dict[str, dict[int, float]] = {}
    off: dict[str, dict[int, float]] = {}
    traces: dict[str, dict[int, float]] = {}
    for variant, (left, right) in pairs.items():
        runs = grid([variant], range(p.seeds))
        cosines |= by_variant(shared.cosine(left, right), runs)
        without = shared.off_diagonal(left), shared.off_diagonal(right)
        off |= by_variant(shared.cosine(*without), runs)
        traces |= by_variant(shared.trace(left) / shared.trace(right), runs)
    outcome.quantity(
        "cosine", cosines, meaning="Frobenius cosine of W Gamma_W W^T and U^T Gamma_U U"
    )
    outcome.quantity("off_diagonal_cosine", off, meaning="the same, off the diagonals")
    outcome.quantity("trace_ratio", traces, meaning="trace of the left side over the right")
