"""Multi-layer perceptrons without biases, f(x) = W_D phi(... phi(W_1 x)), GELU, one output; stacked over runs.

weights[i] is W_{i+1}, (R, d_{i+1}, d_i). GELU is the exact x F(x) with the normal distribution function F.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

Weights = tuple[Tensor, ...]
gelu = torch.nn.functional.gelu


def parameter_count(sizes: list[int]) -> int:
    """Number of weights of a network with these layer sizes."""
    return sum(a * b for a, b in itertools.pairwise(sizes))


def forward(weights: Weights, x: Tensor) -> Tensor:
    """f(x): x (R, n, d_0) or (n, d_0) -> (R, n)."""
    return upper(weights[1:], torch.matmul(weights[0], x.mT))


def upper(weights: Weights, z: Tensor) -> Tensor:
    """f (R, n) from the first layer's pre-activations z (R, d_1, n); weights are W_2, ..., W_D.

    Samples are columns here, so that neither the products nor the first layer need a transposed copy.
    """
    for w in weights:
        z = torch.matmul(w, gelu(z))
    return z[:, 0]


def remember(weights: Weights, z: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """The forward pass of `upper` with all pre-activations (the last is f) and activations."""
    pre, active = [z], []
    for w in weights:
        active.append(gelu(pre[-1]))
        pre.append(torch.bmm(w, active[-1]))
    return pre, active


def upper_gradients(
    weights: Weights, pre: list[Tensor], active: list[Tensor], pull: Tensor
) -> tuple[Tensor, Weights]:
    """Gradients from dL/df, after `remember`.

    weights: W_2, ..., W_D; pull (R, n): dL/df. Returns dL/dz (R, d_1, n) and the gradients of W_2, ..., W_D.
    """
    back = pull[:, None, :]
    gradients: list[Tensor] = []
    for w, h, before in zip(reversed(weights), reversed(active), reversed(pre[:-1]), strict=True):
        gradients.append(torch.bmm(back, h.mT))
        # one fused kernel for the exact GELU's derivative
        back = torch.ops.aten.gelu_backward(torch.bmm(w.mT, back), before, approximate="none")
    return back, tuple(reversed(gradients))
