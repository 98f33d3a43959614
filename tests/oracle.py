"""The plain way: one run at a time, autograd and torch.optim.SGD. The engine is tested against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

Loss = Callable[[Sequence[Tensor], Sequence[Tensor]], Tensor]


def plain_descent(
    weights: Sequence[Tensor], loss: Loss, batches: Iterable[Sequence[Tensor]], eta: float
) -> list[Tensor]:
    """Trains one run (no stacking dimension) on the given batches, one step per batch."""
    trained = [torch.nn.Parameter(w.clone()) for w in weights]
    optimizer = torch.optim.SGD(trained, lr=eta)
    for batch in batches:
        optimizer.zero_grad()
        loss(trained, batch).backward()
        optimizer.step()
    return [w.detach() for w in trained]


def autograd(weights: Sequence[Tensor], loss: Loss, batch: Sequence[Tensor]) -> list[Tensor]:
    """The gradient of one run's loss by autograd."""
    leaves = [w.clone().requires_grad_() for w in weights]
    return list(torch.autograd.grad(loss(leaves, batch), leaves))
