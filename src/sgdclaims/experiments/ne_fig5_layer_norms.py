"""NE Figure 5: in a deep linear network, SGD makes the norms of the intermediate layers equal.

The rescaling symmetry between neighboring layers makes C_i = |W_{i+1}|_F^2 - |W_i|_F^2 a conserved quantity of gradient
flow. SGD noise drives every C_i between intermediate layers to zero (Theorem 5.4: the intermediate matrices become
rescaled orthogonal matrices of one common norm), while the first and last layer settle elsewhere, because they see the
input's and the noise's covariance. Left panel: all layers start at one norm; right panel: at random norms.

Stated: MNIST, five hidden layers, the two initializations. Inferred: D = 6 matrices, so the intermediate ones are
W_2..W_5; squared loss on one-hot labels. Ours: width, stepsize, batch, steps and norms. float32: norms and their
ratios are judged, not monotonicity. Pixels are divided by 255.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, minibatches
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import deep_linear
from sgdclaims.parameters.ne_fig5_layer_norms import Parameters

CLASSES = 10
MNIST = "mnist"


def initial(p: Parameters, runs: list[Run], inputs: int) -> Weights:
    """Gaussian directions with prescribed norms: equal, or log-uniformly spread over the layers."""
    sizes = [inputs, *[p.width] * p.hidden_layers, CLASSES]
    streams = Streams([run.seed for run in runs], "init")
    is_random = torch.tensor([run.variant.endswith("random") for run in runs])
    weights = []
    for before, after in itertools.pairwise(sizes):
        w = streams.normal(after, before)
        exponent = p.log_range * (2 * streams.uniform(1)[:, 0] - 1) * is_random
        norm = (p.initial_norm * exponent.exp()).sqrt()
        weights.append(w * (norm / w.flatten(1).norm(dim=1))[:, None, None])
    return tuple(weights)


def squared_norms(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
    """|W_i|_F^2 of every layer, (R, D)."""
    norms = torch.stack([w.square().sum(dim=(1, 2)) for w in weights], dim=1)
    return {"squared_norm": norms}


def run(p: Parameters, context: Context) -> Outcome:
    """Trains SGD and GD from the same starting points."""
    images = context.dataset(MNIST)
    x = torch.from_numpy(images.train_x.copy()).float() / 255
    y = torch.nn.functional.one_hot(torch.from_numpy(images.train_y), CLASSES).float()
    schedule = linear_grid(p.steps, p.points)
    outcome = Outcome()

    sgd_runs = grid(["sgd_equal", "sgd_random"], range(p.seeds))
    seeds = [r.seed for r in sgd_runs]
    sgd = Recorder(schedule, squared_norms)
    start = initial(p, sgd_runs, x.shape[1])
    end = descend(
        start,
        deep_linear.gradient(p.kappa),
        minibatches(Streams(seeds, "data"), len(sgd_runs), p.batch_size, x, y),
        eta=p.eta,
        steps=p.steps,
        recorder=sgd,
        progress=context.progress(p.steps, "SGD"),
    )
    gd_runs = [Run(r.variant.replace("sgd", "gd"), r.seed) for r in sgd_runs]
    moments = deep_linear.Moments(x, y, p.kappa)
    gd = Recorder(schedule, squared_norms)
    gd_end = descend(
        moments.rotate(start),
        moments.gradient,
        constant(),
        eta=p.eta,
        steps=p.steps,
        recorder=gd,
        progress=context.progress(p.steps, "GD"),
    )
    for recorder, runs in ((sgd, sgd_runs), (gd, gd_runs)):
        outcome.record(recorder, runs)
    norms = torch.cat([sgd.series["squared_norm"], gd.series["squared_norm"]], dim=1)
    measure(outcome, norms, sgd_runs + gd_runs)
    conditions = [condition_numbers(w) for w in (end, gd_end, start)]
    measure_conditions(outcome, conditions, sgd_runs, gd_runs)
    return outcome


def condition_numbers(weights: Weights) -> Tensor:
    """Mean logarithm of the intermediate matrices' condition number, (R,)."""
    logs = []
    for w in weights[1:-1]:
        values = torch.linalg.svdvals(w.double())
        logs.append((values[:, 0] / values[:, -1]).log())
    return torch.stack(logs).mean(dim=0)


def measure(outcome: Outcome, norms: Tensor, runs: list[Run]) -> None:
    """Spread of the intermediate norms and distance of the outer ones; norms (T, R, D)."""
    middle = norms[:, :, 1:-1]
    spread = middle.amax(2) - middle.amin(2)
    log_spread = (middle.amax(2) / middle.amin(2)).log()
    unequal = [place for place, r in enumerate(runs) if r.variant.endswith("random")]
    those = [runs[place] for place in unequal]  # from equal norms the spread starts at zero
    outcome.quantity(
        "norm_spread_ratio",
        by_variant((spread[-1] / spread[0])[unequal], those),
        meaning="(largest - smallest squared norm of the intermediate layers), end over start",
        dataset=MNIST,
    )
    outcome.quantity(
        "log_spread_ratio",
        by_variant((log_spread[-1] / log_spread[0])[unequal], those),
        meaning="ln(largest / smallest squared norm of the intermediate layers), end over start",
        dataset=MNIST,
    )
    center = middle[-1].log().mean(dim=1)
    ends = norms[-1][:, [0, -1]].log() - center[:, None]
    outcome.quantity(
        "outer_distance",
        by_variant(ends.abs().amin(1) - log_spread[-1], runs),
        meaning="|ln(norm of an outer layer / geometric mean of the intermediate)|, the smaller, minus the "
        "intermediate layers' ln(largest / smallest), at the end",
        dataset=MNIST,
    )
    logs = middle[-1].log()
    place = {(r.variant, r.seed): i for i, r in enumerate(runs)}
    seeds = sorted({r.seed for r in runs})
    outcome.quantity(
        "disagreement",
        {
            method: {
                s: float(
                    (logs[place[f"{method}_random", s]] - logs[place[f"{method}_equal", s]])
                    .abs()
                    .max()
                )
                for s in seeds
            }
            for method in ("sgd", "gd")
        },
        meaning="largest |ln(squared norm from random start / from equal start)| of an intermediate layer",
        dataset=MNIST,
    )


def measure_conditions(
    outcome: Outcome, logs: list[Tensor], sgd_runs: list[Run], gd_runs: list[Run]
) -> None:
    """How close the intermediate matrices are to rescaled orthogonal ones."""
    sgd, gd, start = logs
    table = by_variant(sgd - start, sgd_runs) | by_variant(gd - start, gd_runs)
    outcome.quantity(
        "condition_change",
        table,
        meaning="mean ln(condition number) of the intermediate matrices, end minus start",
        dataset=MNIST,
    )
