"""Charges of the rescaling symmetry and their laws, printed and corrected.

For the symmetry U -> e^lam U, W -> e^-lam W of a two-layer network the generator is A = diag(I_U, -I_W) and the charge
C = theta^T A theta = |U|^2 - |W|^2, eq. (6). sigma^2 = eta / (2 S) and Sigma is the per-sample gradient covariance.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Form = Literal["printed", "corrected"]


def charge(w: Tensor, u: Tensor) -> Tensor:
    """C = |U|^2 - |W|^2, (R,)."""
    return u.square().sum(dim=(1, 2)) - w.square().sum(dim=(1, 2))


def exact_step(grad_w: Tensor, grad_u: Tensor, eta: float) -> Tensor:
    """C(t+1) - C(t) = eta^2 g^T A g (Appendix D): exact for any batch and stepsize without weight decay, (R,)."""
    return eta**2 * charge(grad_w, grad_u)


def noise_traces(
    w: Tensor, u: Tensor, gamma_w: Tensor, gamma_u: Tensor, kappa: float
) -> tuple[Tensor, Tensor]:
    """Tr Sigma_U and Tr Sigma_W at a minimum, where the mean gradient vanishes, (R,) each.

    The gradients of kappa |r|^2 are 2 kappa r (W x)^T and 2 kappa U^T r x^T, so the traces are
    4 kappa^2 Tr[W Gamma_W W^T] and 4 kappa^2 Tr[U^T Gamma_U U].
    """
    left = (w @ gamma_w @ w.mT).diagonal(dim1=1, dim2=2).sum(-1)
    right = (u.mT @ gamma_u @ u).diagonal(dim1=1, dim2=2).sum(-1)
    return 4 * kappa**2 * left, 4 * kappa**2 * right


def mean_step(trace: Tensor, eta: float, batch_size: int, form: Form) -> Tensor:
    """Mean change of C in one step, from Tr[Sigma A]; eqs. (5)-(7) and erratum E1.

    Printed: C' = sigma^2 Tr[Sigma A], which fits C = theta^T A theta / 2. Corrected: 2 sigma^2 Tr[Sigma A], since
    Hess C = 2 A. A step is a time eta.
    """
    factor = 1.0 if form == "printed" else 2.0
    return factor * eta * (eta / (2 * batch_size)) * trace


def drift(trace_u: Tensor, trace_w: Tensor, lam: Tensor) -> Tensor:
    """G(lam) = Tr[Sigma(theta_lam) A] = e^(-2 lam) Tr Sigma_U - e^(2 lam) Tr Sigma_W, Lemma B.1."""
    return torch.exp(-2 * lam) * trace_u - torch.exp(2 * lam) * trace_w


def balance_point(trace_u: Tensor, trace_w: Tensor) -> Tensor:
    """The unique zero of G, Theorem 4.3: lam* = ln(Tr Sigma_U / Tr Sigma_W) / 4."""
    return (trace_u / trace_w).log() / 4


def weight_decay_shifts(
    gamma: float, eta: float, batch_size: int, kappa: float
) -> dict[str, float]:
    """What weight decay gamma |theta|^2 adds to both Gammas in (13): every form, erratum E3.

    The mean step of C_B with the decay's -4 eta gamma C_B vanishes only for gamma S / (kappa^2 eta).
    """
    return {
        "none": 0.0,
        "printed": 2 * gamma,
        "appendix": gamma / eta,
        "corrected": gamma * batch_size / (kappa**2 * eta),
    }
