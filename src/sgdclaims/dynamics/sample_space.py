"""Full-batch gradient descent of a network with a fixed second layer, in the space of samples.

For f(x) = (1/m) sum_j a_j phi(w_j . x) the gradient with respect to w_j is a combination of the inputs, so with the
pre-activations H = W X^T (m, n) and D = dL/dH (m, n) one step is

    W <- W - eta D X    and therefore    H <- H - eta D K,   K = X X^T (n, n).

The iteration never touches the d input features, which pays when n <= d; and K is read once for all runs: seeds,
stepsizes and labels are rows of one matrix product. W itself is W_0 - A X with A, the accumulated eta D, which gives
test pre-activations and the exact norm without forming W:

    W X_test^T = W_0 X_test^T - A (X X_test^T),    |W|^2 = |W_0|^2 - <A, H_0> - <A, H>.

The last equation uses W_0 X^T = H_0 and A K = H_0 - H.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from sgdclaims.dynamics.loop import Part, Progress, Remembers, follow
from sgdclaims.models.margin_net import ACTIVATIONS, signs

Observer = Callable[[int, "SampleSpace", Tensor], None]


class SampleSpace(Remembers):
    """R runs on the same inputs x (n, d), each with its labels y (R, n), stepsize (R,) and start w (R, m, d)."""

    remembered = ("hidden", "moved")

    def __init__(self, x: Tensor, y: Tensor, w: Tensor, eta: Tensor, activation: str) -> None:
        self._runs, self._m = w.shape[:2]
        self._x = x
        self._kernel = x @ x.mT
        self._flat_start = w.reshape(-1, w.shape[2])
        self._start = self._flat_start @ x.mT  # H_0, (R m, n): run by run, neuron by neuron
        self._start_norm = w.square().sum(dim=(1, 2))
        self.hidden = self._start.clone()
        self.moved = torch.zeros_like(self.hidden)  # A
        self._act = ACTIVATIONS[activation]
        self._y = y
        self._sign = signs(self._m) / self._m
        self._eta = (eta / len(x))[:, None]

    def margins(self) -> Tensor:
        """y_i f(x_i), (R, n)."""
        return self._output(self.hidden) * self._y

    def _by_run(self, rows: Tensor) -> Tensor:
        return rows.reshape(self._runs, self._m, -1)

    def _output(self, hidden: Tensor) -> Tensor:
        return torch.matmul(self._sign, self._by_run(self._act.value(hidden)))

    def step(self, margins: Tensor) -> None:
        """One step of gradient descent on the mean logistic loss, given the current margins."""
        pull = torch.sigmoid(-margins).mul_(self._y).mul_(self._eta)  # -eta dL/df, (R, n)
        change = self._by_run(self._act.slope(self.hidden))
        change = change * pull[:, None, :] * self._sign[:, None]
        rows = change.reshape(self.hidden.shape)
        self.moved.sub_(rows)
        self.hidden.addmm_(rows, self._kernel)

    def norm(self) -> Tensor:
        """|W|_F, (R,)."""
        cross = self.moved * (self._start + self.hidden)
        return (self._start_norm - self._by_run(cross).sum(dim=(1, 2))).sqrt()

    def evaluator(self, x_test: Tensor) -> Callable[[], Tensor]:
        """f on other inputs, (R, n_test), whenever called."""
        start = self._flat_start @ x_test.mT
        kernel = self._x @ x_test.mT

        def outputs() -> Tensor:
            return self._output(start - self.moved @ kernel)

        return outputs

    def weights(self) -> Tensor:
        """W (R, m, d), formed explicitly."""
        return self._by_run(self._flat_start - self.moved @ self._x)


@torch.no_grad()
def iterate(
    space: SampleSpace,
    steps: int,
    observe: Observer,
    progress: Progress | None = None,
    seen: Part | None = None,
) -> None:
    """Advances `steps` steps; `observe(step, space, margins)` sees every step, the last included.

    seen: what `observe` changes, for a loop that can be interrupted.
    """
    for step in follow(steps, progress, space, *([] if seen is None else [seen])):
        margins = space.margins()
        observe(step, space, margins)
        space.step(margins)
    observe(steps, space, space.margins())
