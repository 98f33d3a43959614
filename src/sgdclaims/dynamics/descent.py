"""The engine: many runs of (stochastic) gradient descent advance in lock-step.

The experiments are thousands to millions of tiny steps, so the cost is overhead, not arithmetic. Runs that
share shapes (seeds, step sizes, data variants) are stacked along the first dimension and advance together.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from sgdclaims.dynamics.loop import Part, Progress, follow
from sgdclaims.dynamics.recorder import Recorder, Weights
from sgdclaims.dynamics.samplers import Batch, Batches

Gradient = Callable[[Weights, Batch], Weights]
Schedule = Callable[[int], Tensor]
Stepsize = float | Tensor | Schedule


def shaped(eta: Tensor, weight: Tensor) -> Tensor:
    """Stepsizes (R,) shaped to multiply a stacked weight (R, ...)."""
    return eta.to(weight.dtype).reshape(-1, *([1] * (weight.dim() - 1)))


@torch.no_grad()
def descend(
    weights: Weights,
    gradient: Gradient,
    batches: Batches,
    *,
    eta: Stepsize,
    steps: int,
    recorder: Recorder,
    weight_decay: float = 0.0,
    progress: Progress | None = None,
    report_every: int = 200,
) -> Weights:
    """Theta <- theta - eta (gradient + weight_decay theta), `steps` times, in place on a copy.

    weights: stacked tensors, each (R, ...). gradient(weights, batch): the gradient of each run's mean
    loss over its batch, same shapes. eta: one number, one per run (R,), or a function of the step that
    returns (R,) (a warm-up). The recorder measures before the step it is due at, and at the end.
    A run that diverges becomes NaN and disturbs no other. The loop can be interrupted: the gradient and the stepsize
    must be functions of their arguments alone; all other state is in the weights, the batches or the recorder.
    """
    weights = tuple(w.clone() for w in weights)
    varying = callable(eta)
    scaled: list[Tensor | float] = []
    current: Tensor | None = None
    parts: tuple[Part, ...] = (*weights, batches, recorder)
    for step in follow(steps, progress, *parts, every=report_every):
        if recorder.due(step):
            recorder.record(step, weights)
        if varying or not scaled:
            now = eta(step) if callable(eta) else eta
            if now is not current or not scaled:  # a schedule may return the same tensor again
                current = now if isinstance(now, Tensor) else None
                scaled = [shaped(now, w) if isinstance(now, Tensor) else now for w in weights]
        grads = gradient(weights, next(batches))
        for w, g, rate in zip(weights, grads, scaled, strict=True):
            slope = g.add(w, alpha=weight_decay) if weight_decay else g
            if isinstance(rate, Tensor):
                w.addcmul_(slope, rate, value=-1)
            else:
                w.sub_(slope, alpha=rate)
    if recorder.due(steps):
        recorder.record(steps, weights)
    return weights
