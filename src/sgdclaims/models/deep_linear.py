"""Deep linear networks f(x) = W_D ... W_1 x, stacked over runs, with closed-form gradients.

weights[i] is W_{i+1}, (R, d_{i+1}, d_i). The per-sample loss is kappa |f(x) - y|^2; a batch's loss is its mean.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Batch = tuple[Tensor, ...]
Weights = tuple[Tensor, ...]


def forward(weights: Weights, x: Tensor) -> Tensor:
    """f(x): x (R, S, d_0) or (S, d_0) -> (R, S, d_D)."""
    for w in weights:
        x = torch.matmul(x, w.mT)
    return x


def gradient(kappa: float) -> Callable[[Weights, Batch], Weights]:
    """Backpropagation on a batch x (R, S, d_0), y (R, S, d_D)."""

    def backpropagation(weights: Weights, batch: Batch) -> Weights:
        x, y = batch
        inputs = [x]
        for w in weights:
            inputs.append(torch.bmm(inputs[-1], w.mT))
        back = (inputs.pop() - y).mul_(2 * kappa / x.shape[1])
        gradients: list[Tensor] = []
        for w, layer_input in zip(reversed(weights), reversed(inputs), strict=True):
            gradients.append(torch.bmm(back.mT, layer_input))
            if len(gradients) < len(weights):  # the input's own gradient is not needed
                back = torch.bmm(back, w)
        return tuple(reversed(gradients))

    return backpropagation


class Moments:
    """The full data set of a squared loss, seen through its second moments in their own eigenbasis.

    With P = W_D ... W_1, the full-batch gradient of the mean loss with respect to P is
    2 kappa (P Sigma_xx - Sigma_yx). In the eigenbasis Q of Sigma_xx the product with Sigma_xx is a scaling of
    columns, so a step costs no pass over the data. Rotating the input, x -> Q^T x and W_1 -> W_1 Q, is exact: outputs,
    norms and gradient descent's path are the same.
    """

    def __init__(self, x: Tensor, y: Tensor, kappa: float) -> None:
        """x (N, d_0), y (N, d_D); the moments are summed in float64."""
        sigma_xx = x.double().mT @ x.double() / len(x)
        values, basis = torch.linalg.eigh(sigma_xx)
        self.basis = basis.to(x.dtype)
        self._scale = values.clamp_min(0).to(x.dtype)
        self._target = (y.double().mT @ x.double() / len(x) @ basis).to(x.dtype)
        self._factor = 2 * kappa

    def rotate(self, weights: Weights) -> Weights:
        """The same network on rotated inputs."""
        return (weights[0] @ self.basis, *weights[1:])

    def gradient(self, weights: Weights, batch: Batch) -> Weights:  # noqa: ARG002
        """The full-batch gradient for weights on rotated inputs."""
        products = [weights[0]]  # W_i ... W_1
        for w in weights[1:]:
            products.append(torch.bmm(w, products[-1]))
        back = (products.pop() * self._scale).sub_(self._target).mul_(self._factor)
        gradients: list[Tensor] = []
        for w, below in zip(reversed(weights[1:]), reversed(products), strict=True):
            gradients.append(torch.bmm(back, below.mT))
            back = torch.bmm(w.mT, back)
        return tuple(reversed([*gradients, back]))
