"""Full-batch gradient descent of a network with a fixed second layer, in the space of samples.

For f(x) = (1/m) sum_j a_j phi(w_j . x) the gradient with respect to w_j is a combination of the inputs, so with the
pre-activations H = X W^T (n, m) and D = dL/dH (n, m) one step is

    W <- W - eta D^T X    and therefore    H <- H - eta K D,   K = X X^T (n, n).

The iteration never touches the d input features, which pays when n <= d; and K is read once for all runs: seeds,
stepsizes and labels are columns of one matrix product. W itself is W_0 - A^T X with A, the accumulated eta D, which
gives test pre-activations and the exact norm without forming W:

    X_test W^T = X_test W_0^T - (X_test X^T) A,    |W|^2 = |W_0|^2 - <A, H_0> - <A, H>.

The last line uses X W_0^T = H_0 and K A = H_0 - H.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import Progress, Silent
from sgdclaims.models.margin_net import ACTIVATIONS, signs

Observer = Callable[[int, "SampleSpace", Tensor], None]


class SampleSpace:
    """R runs on the same inputs x (n, d), each with its labels y (R, n), stepsize (R,) and start w (R, m, d)."""

    def __init__(self, x: Tensor, y: Tensor, w: Tensor, eta: Tensor, activation: str) -> None:
        self._runs, self._m = w.shape[0], w.shape[1]
        self._n = len(x)
        self._x = x
        self._kernel = x @ x.mT
        self._flat_start = w.reshape(-1, w.shape[2])
        self._start = x @ self._flat_start.mT  # H_0, (n, R m): run by run, neuron by neuron
        self._start_norm = w.square().sum(dim=(1, 2))
        self.hidden = self._start.clone()
        self.moved = torch.zeros_like(self.hidden)  # A
        self._act = ACTIVATIONS[activation]
        self._y = y.mT.contiguous()  # (n, R)
        self._sign = signs(self._m) / self._m
        self._eta = eta / self._n

    def margins(self) -> Tensor:
        """y_i f(x_i), (n, R)."""
        return self._output(self.hidden) * self._y

    def _output(self, hidden: Tensor) -> Tensor:
        value = self._act.value(hidden).reshape(len(hidden), self._runs, self._m)
        return value @ self._sign

    def step(self, margins: Tensor) -> None:
        """One step of gradient descent on the mean logistic loss, given the current margins."""
        pull = torch.sigmoid(-margins).mul_(self._y).mul_(self._eta)  # -eta dL/df, (n, R)
        slope = self._act.slope(self.hidden).reshape(self._n, self._runs, self._m)
        change = (slope * pull[:, :, None]).mul_(self._sign).reshape(self._n, -1)
        self.moved.sub_(change)
        self.hidden.addmm_(self._kernel, change)

    def norm(self) -> Tensor:
        """|W|_F, (R,)."""
        cross = self.moved * (self._start + self.hidden)
        return (self._start_norm - cross.reshape(self._n, self._runs, -1).sum(dim=(0, 2))).sqrt()

    def evaluator(self, x_test: Tensor) -> Callable[[], Tensor]:
        """f on other inputs (n_test, R) whenever called."""
        start = x_test @ self._flat_start.mT
        kernel = x_test @ self._x.mT

        def outputs() -> Tensor:
            return self._output(start - kernel @ self.moved)

        return outputs

    def weights(self) -> Tensor:
        """W (R, m, d), formed explicitly."""
        flat = self._flat_start - self.moved.mT @ self._x
        return flat.reshape(self._runs, self._m, -1)

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs."""
        return {"hidden": self.hidden, "moved": self.moved}


@torch.no_grad()
def iterate(
    space: SampleSpace, steps: int, observe: Observer, progress: Progress | None = None
) -> None:
    """Advances `steps` steps; `observe(step, space, margins)` sees every step, the last included."""
    told = progress or Silent()
    for step in range(steps + 1):
        margins = space.margins()
        observe(step, space, margins)
        if step < steps:
            space.step(margins)
            told.advance(1)
