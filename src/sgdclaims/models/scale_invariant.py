"""Scale-invariant losses: two normalized tanh networks, and a loss of the angle in the plane. Stacked over runs.

Net-A: f(x) = sum_j u_j / |w| tanh(w_j . x / |u|), invariant when both layers are scaled together.
Net-B: f(x) = sum_j u_j / |u| tanh(w_j . x / |w|), invariant when either layer is scaled.
W (R, d, dx), U (R, dy, d); norms are Frobenius norms. Without the normalizers ("plain") nothing is invariant.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from sgdclaims.models.two_layer import Batch, Gradient, Weights
from sgdclaims.models.two_layer import gradient as plain_gradient

Net = Literal["a", "b", "plain"]


def _norm(matrix: Tensor) -> Tensor:
    return matrix.square().sum(dim=(1, 2), keepdim=True).sqrt()


def _inner(a: Tensor, b: Tensor) -> Tensor:
    return (a * b).sum(dim=(1, 2), keepdim=True)


def effective(weights: Weights, net: Net) -> Weights:
    """The matrices (W', U') of the plain network U' tanh(W' x) that computes the same function."""
    w, u = weights
    if net == "a":
        return w / _norm(u), u / _norm(w)
    if net == "b":
        return w / _norm(w), u / _norm(u)
    return w, u


def gradient(net: Net, kappa: float) -> Gradient:
    """The gradient of the batch mean of kappa |f(x) - y|^2 with respect to (W, U), by the chain rule.

    With G' the gradient with respect to W' = W / s: the direct part is G'_W / s, and a normalizer s = |V| adds
    -<G'_W, W'> V / |V|^2 to the gradient of V.
    """
    plain = plain_gradient("tanh", kappa)

    def closed_form(weights: Weights, batch: Batch) -> Weights:
        w, u = weights
        inner_w, inner_u = effective(weights, net)
        grad_w, grad_u = plain((inner_w, inner_u), batch)
        if net == "plain":
            return grad_w, grad_u
        size_w, size_u = _norm(w), _norm(u)
        pull_w, pull_u = _inner(grad_w, inner_w), _inner(grad_u, inner_u)
        if net == "a":
            return (
                grad_w / size_u - pull_u * w / size_w**2,
                grad_u / size_w - pull_w * u / size_u**2,
            )
        return grad_w / size_w - pull_w * w / size_w**2, grad_u / size_u - pull_u * u / size_u**2

    return closed_form


def angle_gradient(theta: Tensor, target: Tensor) -> Tensor:
    """Gradient of l = -cos(angle(theta) - z) in the plane: sin(angle - z) / |theta|, tangential.

    theta (R, 2), target z (R,), in radians; (R, 2).
    """
    x, y = theta.unbind(dim=-1)
    radius_squared = x.square() + y.square()
    sine = torch.sin(torch.atan2(y, x) - target)
    return torch.stack([-y, x], dim=-1) * (sine / radius_squared)[..., None]
