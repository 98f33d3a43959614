"""LS-S1: with a small stepsize the test accuracy peaks early and then falls; with a large one it ends higher.

The submission trained a network of about 30,000 parameters on 1,979 CIFAR-10 images by full-batch gradient
descent. The authors' reply to a reviewer says that the small stepsize .02 is best early, after about 20,000
iterations, that the cause of the later fall is mild overfitting, and concedes that small is ahead at first and
large later.

Stated: .02, the number of images and of parameters. Inferred: the images are the airplanes and automobiles of
data_batch_1 (1,005 + 974), the network 3072-10-10-10-1 without biases, GELU, mean logistic loss, test on the 2,000
images of test_batch. Ours: the large stepsize, steps, initialization, and the input's scale: the training mean is
subtracted, and everything is divided so that the mean |x|^2 is one. float32: accuracies and losses are judged, not
margins or monotonicity.
"""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import Tensor

from sgdclaims.datasets.images import TwoClasses, two_classes
from sgdclaims.dynamics.first_layer import FirstLayer, iterate
from sgdclaims.dynamics.recorder import linear_grid
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import mlp
from sgdclaims.parameters.ls_figS1_cifar_accuracy import Parameters

CIFAR = "cifar10"
LAST = 0.1  # "at the end": the last tenth of the recorded steps


def task(data: TwoClasses, part: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x, y, x_test, y_test in float32: mean subtracted, mean |x|^2 = 1 on the training images."""
    chosen = data.train_part == part
    x = data.train_x[chosen]
    center = x.mean(axis=0)
    scale = np.sqrt(((x - center) ** 2).sum(axis=1).mean())
    arrays = (
        (x - center) / scale,
        data.train_y[chosen],
        (data.test_x - center) / scale,
        data.test_y,
    )
    x, y, x_test, y_test = (torch.from_numpy(a).float() for a in arrays)
    return x, y, x_test, y_test


def initial(p: Parameters, runs: list[Run], inputs: int) -> tuple[Tensor, ...]:
    """Gaussian weights with standard deviation gain / sqrt(fan-in)."""
    streams = Streams([run.seed for run in runs], "init")
    sizes = [inputs, *p.hidden, 1]
    return tuple(
        streams.normal(after, before) * (p.init_gain / before**0.5)
        for before, after in itertools.pairwise(sizes)
    )


def run(p: Parameters, context: Context) -> Outcome:
    """Trains all seeds at the small, the large and the control stepsize."""
    data = two_classes(context.dataset(CIFAR))
    x, y, x_test, y_test = task(data, p.data_part)
    stepsizes = {
        "small": p.small_stepsize,
        "large": p.large_stepsize,
        "control": p.control_stepsize,
    }
    # The control only shows that two small stepsizes do not cross: fewer seeds do.
    runs = grid(["small", "large"], range(p.seeds))
    runs += grid(["control"], range(min(p.control_seeds, p.seeds)))
    eta = torch.tensor([stepsizes[r.variant] for r in runs])
    weights = initial(p, runs, x.shape[1])
    net = FirstLayer(x, y.expand(len(runs), -1), weights, eta)
    outputs = net.evaluator(x_test)
    schedule = linear_grid(p.steps, p.points)
    series: dict[str, list[Tensor]] = {
        name: [] for name in ("train_accuracy", "train_loss", "test_accuracy", "test_loss")
    }

    def observe(step: int, at: FirstLayer, margins: Tensor) -> None:  # noqa: ARG001
        for split, q in (("train", margins), ("test", outputs() * y_test)):
            series[f"{split}_accuracy"].append((q > 0).double().mean(dim=1))
            series[f"{split}_loss"].append(torch.nn.functional.softplus(-q).double().mean(dim=1))

    progress = context.progress(p.steps, "descent")
    iterate(net, p.steps, set(schedule), observe, progress, series)
    outcome = Outcome()
    stacked = {name: torch.stack(values) for name, values in series.items()}
    for name, values in stacked.items():
        outcome.add_series(name, schedule, values, runs)
    measure_peak(p, outcome, torch.tensor(schedule), stacked, runs)
    measure_crossing(p, outcome, torch.tensor(schedule), stacked, runs)
    count_data(p, outcome, data)
    return outcome


def smooth(series: Tensor, window: int) -> Tensor:
    """Centered moving average over `window` recorded points, (T, R); shorter at both ends."""
    total = torch.nn.functional.pad(series.cumsum(0), (0, 0, 1, 0))
    index = torch.arange(len(series))
    low = (index - window // 2).clamp_min(0)
    high = (index + window // 2 + 1).clamp_max(len(series))
    return (total[high] - total[low]) / (high - low)[:, None]


def measure_peak(
    p: Parameters, outcome: Outcome, steps: Tensor, series: dict[str, Tensor], runs: list[Run]
) -> None:
    """Where accuracy peaks, how far it falls, and whether the test loss rises."""
    last = steps >= (1 - LAST) * p.steps
    peaks: dict[str, dict[int, float]] = {}
    falls: dict[str, dict[int, float]] = {}
    rises: dict[str, dict[int, float]] = {}
    for split in ("test", "train"):
        accuracy = smooth(series[f"{split}_accuracy"], p.smoothing)
        loss = smooth(series[f"{split}_loss"], p.smoothing)
        best, where = accuracy.max(dim=0)
        suffix = "" if split == "test" else "_train"

        def named(values: Tensor, ending: str = suffix) -> dict[str, dict[int, float]]:
            return {f"{v}{ending}": row for v, row in by_variant(values, runs).items()}

        peaks |= named(steps[where].double())
        falls |= named(best - accuracy[last].mean(dim=0))
        rises |= named(loss[last].mean(dim=0) - loss.amin(dim=0))
    low, high = p.peak_window
    early = {
        v: {s: float(low <= step <= min(high, p.steps / 2)) for s, step in row.items()}
        for v, row in peaks.items()
    }
    outcome.quantity(
        "peak_step", peaks, meaning="step of the best accuracy", unit="steps", dataset=CIFAR
    )
    outcome.quantity(
        "early_peak",
        early,
        meaning="the best accuracy falls into the stated window and the first half",
        kind="proportion",
        dataset=CIFAR,
    )
    outcome.quantity("accuracy_fall", falls, meaning="best minus final accuracy", dataset=CIFAR)
    outcome.quantity("loss_rise", rises, meaning="final minus smallest loss", dataset=CIFAR)


def measure_crossing(
    p: Parameters, outcome: Outcome, steps: Tensor, series: dict[str, Tensor], runs: list[Run]
) -> None:
    """Accuracy differences, large minus small and control minus small, paired by seed."""
    accuracy = smooth(series["test_accuracy"], p.smoothing)
    table = {
        v: accuracy[:, [i for i, r in enumerate(runs) if r.variant == v]]
        for v in ("small", "large", "control")
    }
    last = steps >= (1 - LAST) * p.steps
    # "At the beginning": while small climbs to its own best accuracy, the mean over seeds.
    until = steps <= steps[table["small"].mean(dim=1).argmax()]
    early: dict[str, dict[int, float]] = {}
    late: dict[str, dict[int, float]] = {}
    for other in ("large", "control"):
        count = table[other].shape[1]
        gap = table[other] - table["small"][:, :count]
        single = grid([other], range(count))
        late |= by_variant(gap[last].mean(dim=0), single)
        early |= by_variant(gap[until][-p.smoothing :].mean(dim=0), single)
    outcome.quantity(
        "gap_at_small_peak",
        early,
        meaning="test accuracy minus small's, where small is best",
        dataset=CIFAR,
    )
    outcome.quantity(
        "gap_at_end", late, meaning="test accuracy minus small's, last tenth", dataset=CIFAR
    )


def count_data(p: Parameters, outcome: Outcome, data: TwoClasses) -> None:
    """The stated counts: images and parameters."""
    counts = {part: int((data.train_part == part).sum()) for part in (p.data_part, p.data_part + 1)}
    outcome.quantity(
        "images",
        {f"part_{part}": {0: float(count)} for part, count in counts.items()},
        meaning="airplanes and automobiles in an official training file",
        kind="exact",
        dataset=CIFAR,
    )
    sizes = [data.train_x.shape[1], *p.hidden, 1]
    wide = [data.train_x.shape[1], *[2 * h for h in p.hidden], 1]
    outcome.quantity(
        "parameters",
        {
            "network": {0: float(mlp.parameter_count(sizes))},
            "twice_as_wide": {0: float(mlp.parameter_count(wide))},
        },
        meaning="weights of the network",
        kind="exact",
    )
