"""Full-batch gradient descent of a deep network whose first layer moves in the space of samples.

The gradient of the first layer is dL/dW_1 = delta^T X with delta = dL/dZ, Z = X W_1^T, so

    W_1 <- W_1 - eta delta^T X    and therefore    Z <- Z - eta K delta,   K = X X^T (n, n).

W_1 (d_1 x 3072 for CIFAR-10) is never touched: with n < d this saves both passes over the features, and K is read once
for all runs, whose columns lie side by side. Test pre-activations are X_test W_1(0)^T - (X_test X^T) A with A the
accumulated eta delta. The other layers are small and move as usual.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import Progress, Silent, shaped
from sgdclaims.models import mlp

Weights = tuple[Tensor, ...]
Observer = Callable[[int, "FirstLayer", Tensor], None]


class FirstLayer:
    """R networks with one output on the same inputs x (n, d); labels y (R, n), stepsizes (R,), weights stacked."""

    def __init__(self, x: Tensor, y: Tensor, weights: Weights, eta: Tensor) -> None:
        first = weights[0]
        self._runs, self._width = first.shape[:2]
        self._x, self._y, self._eta = x, y, eta
        self._flat = first.reshape(-1, first.shape[2])
        self._kernel = x @ x.mT
        self._z = x @ self._flat.mT  # (n, R d_1): run by run, neuron by neuron
        self._moved = torch.zeros_like(self._z)  # A
        self.upper = tuple(w.clone() for w in weights[1:])
        self._rates = [shaped(eta, w) for w in self.upper]

    def _split(self, z: Tensor) -> Tensor:
        return z.reshape(len(z), self._runs, self._width).transpose(0, 1).contiguous()

    def step(self) -> Tensor:
        """One step of gradient descent on the mean logistic loss; returns the margins (R, n) before it."""
        pre, active = mlp.remember(self.upper, self._split(self._z))
        margins = pre[-1][..., 0] * self._y
        pull = torch.sigmoid(-margins).mul_(self._y).mul_(-1 / self._y.shape[1])
        delta, gradients = mlp.upper_gradients(self.upper, pre, active, pull)
        change = delta.mul_(self._eta[:, None, None]).transpose(0, 1).reshape(len(self._z), -1)
        self._moved.add_(change)
        self._z.addmm_(self._kernel, change, alpha=-1)
        for w, g, rate in zip(self.upper, gradients, self._rates, strict=True):
            w.addcmul_(g, rate, value=-1)
        return margins

    def margins(self) -> Tensor:
        """y_i f(x_i), (R, n)."""
        return mlp.upper(self.upper, self._split(self._z)) * self._y

    def evaluator(self, x_test: Tensor) -> Callable[[], Tensor]:
        """f on other inputs, (R, n_test), whenever called."""
        start, kernel = x_test @ self._flat.mT, x_test @ self._x.mT

        def outputs() -> Tensor:
            return mlp.upper(self.upper, self._split(start - kernel @ self._moved))

        return outputs

    def weights(self) -> Weights:
        """All weights, the first layer formed explicitly."""
        flat = self._flat - self._moved.mT @ self._x
        return (flat.reshape(self._runs, self._width, -1), *self.upper)


@torch.no_grad()
def iterate(
    net: FirstLayer, steps: int, due: set[int], observe: Observer, progress: Progress | None = None
) -> None:
    """Advances `steps` steps; `observe(step, net, margins)` sees the steps in `due`."""
    told = progress or Silent()
    for step in range(steps):
        if step in due:
            observe(step, net, net.margins())
        net.step()
        told.advance(1)
    if steps in due:
        observe(steps, net, net.margins())
