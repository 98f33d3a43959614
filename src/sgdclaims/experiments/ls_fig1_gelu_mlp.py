"""LS Figure 1: risk, normalized margin and test accuracy of a four-layer GELU network on CIFAR-10.

Full-batch gradient descent with a large and a small stepsize. The large one oscillates in a first phase and then
decreases the risk monotonically; the small one is monotone throughout. In the stable phases the normalized margin
min_i y_i f(x_i) / |w|^4 increases and settles, and the large stepsize ends with a better test accuracy. The theory
covers nearly homogeneous networks of degree one, not this one.

Stated: 6,000 random images of airplanes and automobiles (fewer at standard scale), width 200, stepsizes .2 and .005,
the margin's normalization. Inferred: 3072-200-200-200-1 without biases, images from the 10,000 training images, test
on all 2,000. Ours: inputs standardized per feature, as in studies of the edge of stability, Gaussian weights with
variance 1/fan-in, steps. float64: monotonicity and margins are judged.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from sgdclaims.datasets.images import TwoClasses, two_classes
from sgdclaims.dynamics.first_layer import FirstLayer, iterate
from sgdclaims.dynamics.recorder import log_grid
from sgdclaims.dynamics.streams import Streams, generator
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.experiments.large_stepsize_task import Watched, Watcher
from sgdclaims.parameters.ls_fig1_gelu_mlp import Parameters

CIFAR = "cifar10"
LAYERS = 4  # the margin divides by |w|^4, as stated
SETTLED = 0.9  # the first phase must be over before this share of the steps


def standardized(
    data: TwoClasses, samples: int, seed: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x, y, x_test, y_test in float64 of a random sample; features with mean 0 and variance 1 on its images."""
    chosen = generator(seed, "sample").permutation(len(data.train_x))[:samples]
    x = data.train_x[chosen]
    center, scale = x.mean(axis=0), x.std(axis=0)
    scale[scale == 0] = 1  # a constant feature stays zero
    arrays = (
        (x - center) / scale,
        data.train_y[chosen],
        (data.test_x - center) / scale,
        data.test_y,
    )
    tensors = [torch.from_numpy(np.ascontiguousarray(a)).double() for a in arrays]
    return tensors[0], tensors[1], tensors[2], tensors[3]


def initial(p: Parameters, runs: list[Run], inputs: int) -> tuple[Tensor, ...]:
    """Gaussian weights with standard deviation gain / sqrt(fan-in)."""
    streams = Streams([run.seed for run in runs], "init")
    sizes = [inputs, *[p.width] * p.hidden_layers, 1]
    return tuple(
        streams.normal(after, before, dtype=torch.float64) * (p.init_gain / before**0.5)
        for before, after in itertools.pairwise(sizes)
    )


def run(p: Parameters, context: Context) -> Outcome:
    """Trains all seeds with the large, the small and the control stepsize, and watches every step."""
    x, y, x_test, y_test = standardized(
        two_classes(context.dataset(CIFAR)), p.samples, p.sample_seed
    )
    stepsizes = {
        "large": p.large_stepsize,
        "small": p.small_stepsize,
        "control": p.control_stepsize,
    }
    runs = grid(["large", "small"], range(p.seeds))
    # The control only shows that two small stepsizes do not differ: fewer seeds do.
    runs += grid(["control"], range(min(p.control_seeds, p.seeds)))
    eta = torch.tensor([stepsizes[r.variant] for r in runs], dtype=torch.float64)
    net = FirstLayer(x, y.expand(len(runs), -1), initial(p, runs, x.shape[1]), eta)
    outputs = net.evaluator(x_test)
    schedule = log_grid(p.steps, p.points)
    due = set(schedule)
    watcher = Watcher(len(runs), schedule, torch.full((len(runs),), -torch.inf))

    def observe(step: int, at: FirstLayer, margins: Tensor) -> None:
        watcher(step, margins, at.norm() ** LAYERS)
        if step in due:
            watcher.watched.accuracy.append((outputs() * y_test > 0).double().mean(dim=1))

    iterate(net, p.steps, None, observe, context.progress(p.steps, "descent"), watcher)
    watched = watcher.finish()
    outcome = Outcome()
    for name in ("loss", "margin", "accuracy"):
        outcome.add_series(name, watched.steps, watched.series(name), runs)
    measure_phases(p, outcome, watched, runs)
    measure_margin(outcome, watched, runs)
    measure_accuracy(outcome, watched, runs)
    return outcome


Table = dict[str, dict[int, float]]


def measure_phases(p: Parameters, outcome: Outcome, watched: Watched, runs: list[Run]) -> None:
    """Rises of the risk, and when the last one comes."""
    outcome.quantity(
        "rises",
        by_variant(watched.rises, runs),
        meaning="steps on which the risk rises (relative 1e-12)",
        unit="steps",
        kind="violations",
        dataset=CIFAR,
    )
    oscillates = (watched.rises >= 1) & (watched.last_rise < SETTLED * p.steps)
    outcome.quantity(
        "oscillates_then_descends",
        by_variant(oscillates.double(), runs),
        meaning="the risk rises at least once, and never in the last tenth of the steps (1: yes)",
        kind="proportion",
        dataset=CIFAR,
    )
    outcome.quantity(
        "last_rise",
        by_variant(watched.last_rise, runs),
        meaning="last step on which the risk rises; -1: never",
        unit="steps",
        dataset=CIFAR,
    )


def measure_margin(outcome: Outcome, watched: Watched, runs: list[Run]) -> None:
    """Falls of the normalized margin once settled, and whether it converges where the raw one grows."""
    falls = by_variant(watched.late["falling_settled"], runs)
    falls["large_before"] = by_variant(watched.late["falling_before"], runs)["large"]
    outcome.quantity(
        "margin_falls",
        falls,
        meaning="share of steps on which the normalized margin falls, once all is fitted and the risk rose last",
        dataset=CIFAR,
    )
    drops = by_variant(watched.late["drop_settled"], runs)
    drops["large_before"] = by_variant(watched.late["drop_before"], runs)["large"]
    outcome.quantity(
        "margin_drop",
        drops,
        meaning="largest relative fall of the normalized margin in one step, in the same phase",
        dataset=CIFAR,
    )
    growth: Table = {}
    first = _last_decade(watched.steps)
    for ending, name in (("", "margin"), ("_unnormalized", "smallest")):
        series = watched.series(name)
        # A margin that is not positive yet has no logarithm: undefined.
        value = (series[-1] / series[first]).log() / math.log(
            watched.steps[-1] / watched.steps[first]
        )
        growth |= {f"{v}{ending}": row for v, row in by_variant(value, runs).items()}
    outcome.quantity(
        "margin_growth",
        growth,
        meaning="slope of the log of the margin on the log of the step, last decade",
        dataset=CIFAR,
    )
    large = by_variant(watched.series("margin")[-1], runs)
    gap = {seed: large["large"][seed] - large["small"][seed] for seed in large["large"]}
    outcome.quantity(
        "margin_gap",
        {"large": gap},
        meaning="final normalized margin, large minus small",
        dataset=CIFAR,
    )


def measure_accuracy(outcome: Outcome, watched: Watched, runs: list[Run]) -> None:
    """Mean test accuracy over the last decade of steps, minus the small stepsize's of the same seed."""
    table = by_variant(watched.series("accuracy")[_last_decade(watched.steps) :].mean(dim=0), runs)
    outcome.quantity(
        "test_accuracy",
        table,
        meaning="test accuracy, mean over the last decade of steps",
        dataset=CIFAR,
    )
    gaps = {
        variant: {seed: value - table["small"][seed] for seed, value in table[variant].items()}
        for variant in ("large", "control")
    }
    outcome.quantity(
        "accuracy_gap", gaps, meaning="test accuracy minus the small stepsize's", dataset=CIFAR
    )


def _last_decade(steps: list[int]) -> int:
    """Place of the first recorded step of the last decade."""
    return next(i for i, step in enumerate(steps) if step >= steps[-1] / 10)
