"""Full-batch gradient descent of a deep network whose first layer moves in the space of samples.

The gradient of the first layer is dL/dW_1 = delta X with delta = dL/dZ, Z = W_1 X^T (d_1, n), so

    W_1 <- W_1 - eta delta X    and therefore    Z <- Z - eta delta K,   K = X X^T (n, n).

W_1 (d_1 x 3072 for CIFAR-10) is never touched: with n < d this saves both passes over the features, and K is read once
for all runs, whose rows lie one below the other. Test pre-activations are W_1(0) X_test^T - A (X X_test^T) with A
the accumulated eta delta. The other layers are small and move as usual. The norm needs no W_1 either: as in
`sample_space`, |W_1|^2 = |W_1(0)|^2 - <A, Z(0)> - <A, Z>.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import shaped
from sgdclaims.dynamics.loop import Part, Progress, State, follow
from sgdclaims.models import mlp

Weights = tuple[Tensor, ...]
Observer = Callable[[int, "FirstLayer", Tensor], None]


class FirstLayer:
    """R networks with one output on the same inputs x (n, d); labels y (R, n), stepsizes (R,), weights stacked."""

    def __init__(self, x: Tensor, y: Tensor, weights: Weights, eta: Tensor) -> None:
        first = weights[0]
        self._runs, self._width = first.shape[:2]
        self._x, self._y = x, y
        self._flat = first.reshape(-1, first.shape[2])
        self._kernel = x @ x.mT
        self._start = self._flat @ x.mT  # Z(0), (R d_1, n): run by run, neuron by neuron
        self._start_norm = first.square().sum(dim=(1, 2))
        self._z = self._start.clone()
        self._moved = torch.zeros_like(self._z)  # A
        self.upper = tuple(w.clone() for w in weights[1:])
        self._rates = [shaped(eta, w) for w in self.upper]
        self._eta = eta[:, None, None]
        self._seen: tuple[list[Tensor], list[Tensor]] | None = (
            None  # the forward pass at these weights
        )

    def _by_run(self, rows: Tensor) -> Tensor:
        return rows.reshape(self._runs, self._width, -1)

    def _forward(self) -> tuple[list[Tensor], list[Tensor]]:
        if self._seen is None:
            self._seen = mlp.remember(self.upper, self._by_run(self._z))
        return self._seen

    def margins(self) -> Tensor:
        """y_i f(x_i), (R, n)."""
        return self._forward()[0][-1][:, 0] * self._y

    def step(self) -> Tensor:
        """One step of gradient descent on the mean logistic loss; returns the margins (R, n) before it."""
        margins = self.margins()
        pre, active = self._forward()
        self._seen = None
        pull = torch.sigmoid(-margins).mul_(self._y).mul_(-1 / self._y.shape[1])
        delta, gradients = mlp.upper_gradients(self.upper, pre, active, pull)
        change = delta.mul_(self._eta).reshape(self._z.shape)
        self._moved.add_(change)
        self._z.addmm_(change, self._kernel, alpha=-1)
        for w, g, rate in zip(self.upper, gradients, self._rates, strict=True):
            w.addcmul_(g, rate, value=-1)
        return margins

    def norm(self) -> Tensor:
        """|w| over all weights of all layers, (R,)."""
        cross = self._by_run(self._moved * (self._start + self._z)).sum(dim=(1, 2))
        upper = sum(w.square().sum(dim=(1, 2)) for w in self.upper)
        return (self._start_norm - cross + upper).sqrt()

    def evaluator(self, x_test: Tensor) -> Callable[[], Tensor]:
        """f on other inputs, (R, n_test), whenever called."""
        start, kernel = self._flat @ x_test.mT, self._x @ x_test.mT

        def outputs() -> Tensor:
            return mlp.upper(self.upper, self._by_run(start - self._moved @ kernel))

        return outputs

    def state(self) -> State:
        """Z, A and the other layers."""
        return {"z": self._z, "moved": self._moved, "upper": list(self.upper)}

    def restore(self, state: State) -> None:
        """Continues where `state()` was taken."""
        self._z.copy_(state["z"])
        self._moved.copy_(state["moved"])
        for w, saved in zip(self.upper, state["upper"], strict=True):
            w.copy_(saved)
        self._seen = None

    def weights(self) -> Weights:
        """All weights, the first layer formed explicitly."""
        return (self._by_run(self._flat - self._moved @ self._x), *self.upper)


@torch.no_grad()
def iterate(
    net: FirstLayer,
    steps: int,
    due: set[int] | None,
    observe: Observer,
    progress: Progress | None = None,
    seen: Part | None = None,
) -> None:
    """Advances `steps` steps; `observe(step, net, margins)` sees the steps in `due`, or every step.

    seen: what `observe` changes, for a loop that can be interrupted.
    """
    for step in follow(steps, progress, net, *([] if seen is None else [seen])):
        if due is None or step in due:
            observe(step, net, net.margins())
        net.step()
    if due is None or steps in due:
        observe(steps, net, net.margins())
