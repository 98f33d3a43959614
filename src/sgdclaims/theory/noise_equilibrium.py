"""Formulas of "Parameter Symmetry and Noise Equilibrium of SGD" (numbering of the camera-ready paper).

Two-layer linear networks f(x) = U W x on y = V x + eps, stacked over runs: W (R, d, dx), U (R, dy, d). Covariances are
diagonal and given as variances: sigma_x (dx,), sigma_eps (dy,).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def squared_norm(matrix: Tensor) -> Tensor:
    """|A|_F^2 over the last two dimensions."""
    return matrix.square().sum(dim=(-2, -1))


def hessian_trace(w: Tensor, u: Tensor, sigma_x: Tensor, kappa: float = 0.5) -> Tensor:
    """S = Tr Hess L of the two-layer linear network, Proposition 5.3, (R,).

    dy |W Sigma_x^(1/2)|^2 + |U|^2 Tr Sigma_x is printed for the loss kappa |r|^2 with kappa = 1/2 in effect;
    in general it is multiplied by 2 kappa (erratum E5).
    """
    dy = u.shape[-2]
    first = dy * (w.square() * sigma_x).sum(dim=(-2, -1))
    return 2 * kappa * (first + squared_norm(u) * sigma_x.sum())


def gammas(
    w: Tensor, u: Tensor, teacher: Tensor, sigma_x: Tensor, sigma_eps: Tensor
) -> tuple[Tensor, Tensor]:
    """Gamma_W = E[|r|^2 x x^T] (R, dx, dx) and Gamma_U = E[|x|^2 r r^T] (R, dy, dy), eq. (13).

    sigma_eps is (dy,), or one per run (R, dy). Closed form by Isserlis' theorem with E = U W - V, Q = E Sigma_x E^T:
    Gamma_W = Tr(Q + Sigma_eps) Sigma_x + 2 Sigma_x E^T E Sigma_x,
    Gamma_U = Tr(Sigma_x) (Q + Sigma_eps) + 2 E Sigma_x^2 E^T.
    """
    error = u @ w - teacher
    scaled = error * sigma_x
    noise = scaled @ error.mT + torch.diag_embed(sigma_eps)
    trace = noise.diagonal(dim1=-2, dim2=-1).sum(-1)
    gamma_w = trace[..., None, None] * torch.diag(sigma_x) + 2 * scaled.mT @ scaled
    gamma_u = sigma_x.sum() * noise + 2 * scaled @ scaled.mT
    return gamma_w, gamma_u


def equilibrium_sides(
    w: Tensor, u: Tensor, gamma_w: Tensor, gamma_u: Tensor
) -> tuple[Tensor, Tensor]:
    """W Gamma_W W^T and U^T Gamma_U U, which Theorem 5.2 (13) says are equal; (R, d, d) each."""
    return w @ gamma_w @ w.mT, u.mT @ gamma_u @ u


def misalignment(
    w: Tensor, u: Tensor, teacher: Tensor, sigma_x: Tensor, sigma_eps: Tensor
) -> tuple[Tensor, Tensor]:
    """|W Gamma_W W^T|_F and |U^T Gamma_U U - W Gamma_W W^T|_F of Theorem 5.2, (R,) each.

    Formed from (dx, dx) and (dy, dy) products only, so that the cost does not grow with the square of the width: with
    P = U U^T, Q = W^T W and M = U W, |U^T A U - W B W^T|^2 = Tr[A P A P] - 2 Tr[A M B M^T] + Tr[B Q B Q].
    """
    gamma_w, gamma_u = gammas(w, u, teacher, sigma_x, sigma_eps)
    product = u @ w
    left, right = gamma_u @ u @ u.mT, gamma_w @ w.mT @ w
    cross = gamma_u @ product @ gamma_w @ product.mT
    own, other, both = (
        (a @ b).diagonal(dim1=-2, dim2=-1).sum(-1)
        for a, b in ((right, right), (left, left), (cross, torch.eye(cross.shape[-1]).to(cross)))
    )
    return own.sqrt(), (other - 2 * both + own).clamp_min(0).sqrt()


def imbalance(w: Tensor, u: Tensor) -> Tensor:
    """U^T U - W W^T, which gradient flow conserves, eq. (11); (R, d, d)."""
    return u.mT @ u - w @ w.mT


def imbalance_decay_rate(
    eta: float, kappa: float, n: int, noise_variance: float, batch_size: int
) -> float:
    """Rate per step at which U^T U - W W^T decays at a global minimum, dx = dy = n, isotropic.

    From Proposition 5.1 with Gamma_W = Gamma_U = n s^2 I: exp(-4 eta^2 kappa^2 n s^2 step / S).
    """
    return 4 * eta**2 * kappa**2 * n * noise_variance / batch_size


def normalized_sides(
    w: Tensor, u: Tensor, sigma_x: Tensor, sigma_eps: Tensor
) -> tuple[Tensor, Tensor]:
    """W bar(Sigma_x) W^T and U^T bar(Sigma_eps) U, eq. (14), bar = divided by the trace; (R, d, d)."""
    left = (w * (sigma_x / sigma_x.sum())) @ w.mT
    right = u.mT @ (u * (sigma_eps / sigma_eps.sum())[:, None])
    return left, right


def autoencoder_singular_values(sigma_x: Tensor, sigma_eps: Tensor) -> Tensor:
    """u_i^2 of the noise equilibrium with V = I and U W = I, from eq. (14); w_i = 1 / u_i; (d,).

    u_i^2 = sqrt(l_i Tr Sigma_eps / (Tr Sigma_x e_i)) for the spectra l of Sigma_x and e of Sigma_eps.
    """
    return torch.sqrt(sigma_x * sigma_eps.sum() / (sigma_x.sum() * sigma_eps))


def rank_one_end_trace(n: int) -> float:
    """S at the noise equilibrium of a rank-one autoencoder of N(0, I_n) with unit label noise.

    With d = 1 the dropped part of x stays in the residual, so (13) gives |u|^2/|w|^2 = (2n-1)/n at |u||w| = 1
    (erratum E7): S = n (k + 1/k) with k^2 = (2n-1)/n. The printed form uses (14) and gives 2n.
    """
    k = math.sqrt((2 * n - 1) / n)
    return n * (k + 1 / k)


def gradient_flow_end_trace(n: int, imbalance: Tensor) -> Tensor:
    """S that gradient flow reaches from the conserved D = |u|^2 - |w|^2, rank one, Sigma_x = I.

    |u||w| = 1 at the minimum, so |u|^2 + |w|^2 = sqrt(D^2 + 4) and S = n sqrt(D^2 + 4).
    """
    return n * torch.sqrt(imbalance.square() + 4)
