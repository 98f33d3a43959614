"""LS Figure 3: larger stepsizes end with a better test accuracy. Bias, or speed?

The caption says that "large stepsizes lead to stronger implicit biases". The setting is that of Figure 2 (d-f).
After a given number of steps a larger stepsize has also optimized further, so the comparison at equal steps mixes
the two; we therefore also compare at equal training loss: the large run is read where its loss last crosses the
loss with which the small run ends.

Stated: task, m, 6,000 images (reduced at standard scale). Ours: stepsizes, steps, preprocessing as in Figure 2,
and what counts as the end: the last fifth of the steps, because the last decade would include the oscillating
phase. float64, as in Figure 2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sgdclaims.datasets.images import two_classes
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.experiments.large_stepsize_task import cifar, starts, watch
from sgdclaims.parameters.ls_fig3_test_accuracy import Parameters

CIFAR = "cifar10"


def run(p: Parameters, context: Context) -> Outcome:
    """Trains every stepsize, and the control just above the smallest."""
    task = cifar(two_classes(context.dataset(CIFAR)), p.samples)
    stepsizes = {f"eta{eta:g}": eta for eta in p.stepsizes}
    stepsizes["nearby"] = p.nearby * p.stepsizes[0]
    runs = grid(list(stepsizes), range(p.seeds))
    scale = p.init / math.sqrt(task.x.shape[1])
    watched = watch(
        task,
        task.y.expand(len(runs), -1),
        starts([r.seed for r in runs], p.m, task.x.shape[1], scale),
        torch.tensor([stepsizes[r.variant] for r in runs], dtype=torch.float64),
        p.activation,
        p.steps,
        p.points,
        context.progress(p.steps, "descent"),
    )
    outcome = Outcome()
    for name in ("loss", "accuracy"):
        outcome.add_series(name, watched.steps, watched.series(name), runs)
    measure(p, outcome, watched.steps, watched.series("loss"), watched.series("accuracy"), runs)
    return outcome


def measure(
    p: Parameters,
    outcome: Outcome,
    steps: list[int],
    loss: Tensor,
    accuracy: Tensor,
    runs: list[Run],
) -> None:
    """Accuracy at the end, and the gaps to the smallest stepsize."""
    first = next(i for i, step in enumerate(steps) if step >= (1 - p.last) * p.steps)
    end = accuracy[first:].mean(dim=0)
    table = by_variant(end, runs)
    axis = {f"eta{eta:g}": eta for eta in p.stepsizes}
    outcome.quantity(
        "test_accuracy",
        table,
        meaning="test accuracy, mean over the last fifth of the steps",
        dataset=CIFAR,
        axis_name="stepsize",
        axis=axis,
    )
    small, large = f"eta{p.stepsizes[0]:g}", f"eta{p.stepsizes[-1]:g}"
    gaps = {
        name: {seed: table[variant][seed] - table[small][seed] for seed in table[small]}
        for name, variant in (("large", large), ("nearby", "nearby"))
    }
    outcome.quantity(
        "accuracy_gap",
        gaps,
        meaning="test accuracy minus the smallest stepsize's, at the end",
        dataset=CIFAR,
    )
    place = {(r.variant, r.seed): i for i, r in enumerate(runs)}
    equal = {
        name: {
            seed: _at_loss(
                loss, accuracy, place[variant, seed], float(loss[-1, place[small, seed]])
            )
            - float(accuracy[-1, place[small, seed]])
            for seed in table[small]
        }
        for name, variant in (("large", large), ("nearby", "nearby"))
    }
    outcome.quantity(
        "accuracy_gap_at_equal_loss",
        equal,
        meaning="test accuracy where the loss last crosses the smallest stepsize's final loss, minus its accuracy",
        dataset=CIFAR,
    )


def _at_loss(loss: Tensor, accuracy: Tensor, run: int, level: float) -> float:
    """Accuracy of a run after its loss has crossed `level` for the last time."""
    above = (loss[:, run] > level).nonzero()
    after = min(int(above[-1]) + 1 if len(above) else 0, len(loss) - 1)
    return float(accuracy[after, run])
