"""Linearly separable points, as Assumption 3 of the large-stepsize paper asks for them."""

from __future__ import annotations

import torch

from sgdclaims.dynamics.streams import generator
from sgdclaims.errors import UserError
from sgdclaims.experiments.large_stepsize_task import Task

TRIES = 1_000_000  # points drawn before we say that there are none


def separable(samples: int, dimension: int, margin: float) -> Task:
    """Points of norm at most 1 whose margin along a unit vector is at least `margin`; labels alternate.

    The same points for every run: the seed of a run decides its initialization only. Raises UserError when random
    points of such a margin are too rare to be found.
    """
    rng = generator(0, "separable")
    direction = rng.standard_normal(dimension)
    direction /= (direction**2).sum() ** 0.5
    x: list[torch.Tensor] = []
    labels: list[int] = []
    for _ in range(TRIES):
        if len(x) == samples:
            break
        point = rng.uniform(-1, 1, dimension)
        label = 1 if len(x) % 2 == 0 else -1
        if (point**2).sum() <= 1 and label * (point @ direction) >= margin:
            x.append(torch.from_numpy(point))
            labels.append(label)
    if len(x) < samples:
        raise UserError(
            f"only {len(x)} of {samples} points with margin {margin:g} in {dimension} dimensions "
            f"among {TRIES:,} random ones",
            "Choose a smaller margin, dimension or number of samples.",
        )
    return Task(torch.stack(x), torch.tensor(labels, dtype=torch.float64))
