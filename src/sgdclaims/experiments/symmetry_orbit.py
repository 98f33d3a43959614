"""Noise along the orbit of the rescaling symmetry, from gradients of single samples by automatic differentiation.

Nothing here uses that the network is homogeneous, so the laws of the symmetry can fail: they do for tanh.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sgdclaims.dynamics.recorder import Weights
from sgdclaims.dynamics.samplers import Batch
from sgdclaims.models import two_layer


def moved(weights: Weights, lam: Tensor) -> Weights:
    """theta_lam = (e^-lam W, e^lam U); lam is one number or one per run (R,)."""
    w, u = weights
    factor = torch.exp(lam).reshape(-1, 1, 1)
    return w / factor, u * factor


def sampled_traces(
    weights: Weights, batch: Batch, activation: str, kappa: float
) -> tuple[Tensor, Tensor]:
    """Tr Sigma_U and Tr Sigma_W of a batch (R, S, .), Sigma = E[g g^T] - E[g] E[g]^T over its samples; (R,) each."""

    def loss(w: Tensor, u: Tensor, x: Tensor, y: Tensor) -> Tensor:
        (output,) = two_layer.forward((w[None], u[None]), x[None, None], activation)[0]
        value: Tensor = kappa * (output - y).square().sum()
        return value

    single = torch.func.grad(loss, argnums=(0, 1))
    over_samples = torch.func.vmap(single, in_dims=(None, None, 0, 0))
    grad_w, grad_u = torch.func.vmap(over_samples)(*weights, *batch)  # (R, S, d, dx), (R, S, dy, d)
    trace_w, trace_u = (
        (g - g.mean(dim=1, keepdim=True)).square().sum(dim=(2, 3)).mean(dim=1)
        for g in (grad_w, grad_u)
    )
    return trace_u, trace_w
