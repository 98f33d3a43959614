"""Two-layer networks f(x) = U act(W x), stacked over runs, with closed-form gradients.

Shapes: W (R, d, dx), U (R, dy, d), x (R, S, dx), y (R, S, dy). The per-sample loss is kappa |r|^2 with r = f(x) - y;
a batch's loss is its mean over the S samples. No biases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Batch = tuple[Tensor, ...]
Weights = tuple[Tensor, ...]
Gradient = Callable[[Weights, Batch], Weights]


@dataclass(frozen=True)
class Activation:
    """An activation and its derivative, both functions of the pre-activation z."""

    value: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor, Tensor], Tensor]  # of (z, value(z))


def _swish_slope(z: Tensor, h: Tensor) -> Tensor:
    s = torch.sigmoid(z)
    return s + h * (1 - s)


LEAK = 0.01

ACTIVATIONS = {
    "linear": Activation(lambda z: z, lambda z, h: torch.ones_like(z)),  # noqa: ARG005
    "tanh": Activation(torch.tanh, lambda z, h: 1 - h * h),  # noqa: ARG005
    "relu": Activation(torch.relu, lambda z, h: (z > 0).to(z.dtype)),  # noqa: ARG005
    "leaky_relu": Activation(
        lambda z: torch.where(z > 0, z, LEAK * z),
        lambda z, h: torch.where(z > 0, torch.ones_like(z), LEAK),  # noqa: ARG005
    ),
    "swish": Activation(lambda z: z * torch.sigmoid(z), _swish_slope),
}


def forward(weights: Weights, x: Tensor, activation: str = "linear") -> Tensor:
    """f(x), (R, S, dy)."""
    w, u = weights
    return torch.matmul(ACTIVATIONS[activation].value(torch.matmul(x, w.mT)), u.mT)


def gradient(activation: str, kappa: float) -> Gradient:
    """The gradient of the batch mean of kappa |r|^2 with respect to (W, U)."""
    act = ACTIVATIONS[activation]
    linear = activation == "linear"

    def closed_form(weights: Weights, batch: Batch) -> Weights:
        (w, u), (x, y) = weights, batch
        z = torch.bmm(x, w.mT)
        h = z if linear else act.value(z)
        residual = torch.bmm(h, u.mT).sub_(y).mul_(2 * kappa / x.shape[1])
        back = torch.bmm(residual, u)
        if not linear:
            back.mul_(act.slope(z, h))
        return torch.bmm(back.mT, x), torch.bmm(residual.mT, h)

    return closed_form


def population_gradient(teacher: Tensor, sigma_x: Tensor, kappa: float) -> Gradient:
    """The expected gradient of a linear network on y = V x + eps, x ~ N(0, diag(sigma_x)).

    Infinite-batch gradient descent: with E = U W - V, the gradient is 2 kappa U^T E Sigma_x with respect to W and
    2 kappa E Sigma_x W^T with respect to U. teacher V (dy, dx); the variances sigma_x are (dx,) or (R, 1, dx).
    """

    scaled = 2 * kappa * sigma_x

    def closed_form(weights: Weights, batch: Batch) -> Weights:  # noqa: ARG001
        w, u = weights
        error = torch.matmul(u, w).sub_(teacher).mul_(scaled)
        return torch.matmul(u.mT, error), torch.matmul(error, w.mT)

    return closed_form
