"""The largest stepsizes at which SGD and gradient descent are stable at a random minimum."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights
from sgdclaims.dynamics.samplers import Batches, constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import two_layer
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64
KICK = 1e-6  # size of each entry's perturbation
GROWN = (
    10.0  # a perturbation of the function that was ever this many times its first size is unstable
)
RANGE = (1 / 30, 2.0)  # stepsizes over the limit of gradient descent, 2 / lambda_max


class Peak:
    """Measures the largest distance |U W - V|_F of each run so far; a run that is lost is infinitely far."""

    def __init__(self, teacher: Tensor) -> None:
        self._teacher = teacher
        self.largest: Tensor | None = None

    def __call__(self, weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG002
        w, u = weights
        distance = (u @ w - self._teacher).norm(dim=(1, 2)).nan_to_num(nan=math.inf)
        self.largest = distance if self.largest is None else self.largest.maximum(distance)
        return {}


def first_unstable(eta: Tensor, stable: Tensor) -> float:
    """The smallest stepsize that is unstable; of rising stepsizes (E,) and whether each is stable (E,).

    NaN when the grid does not contain the boundary: all are stable, or already the first is not.
    """
    if bool(stable.all()) or not bool(stable[0]):
        return math.nan
    return float(eta[int((~stable).nonzero()[0])])


def minimum(seed: int, number: int) -> Weights:
    """W (1, d, n) and U (1, n, d) with random shapes and scales; a minimum of its own teacher V = U W."""
    streams = Streams([seed], f"problem {number}")
    shape = streams.uniform(4, dtype=F64)[0].tolist()
    n, d = 2 + int(shape[0] * 18), 2 + int(shape[1] * 6)
    w = math.exp(2 * shape[2] - 1) * streams.normal(d, n, dtype=F64) / n**0.5
    u = math.exp(2 * shape[3] - 1) * streams.normal(n, d, dtype=F64) / n**0.5
    return w, u


def top_eigenvalue(w: Tensor, u: Tensor, kappa: float) -> float:
    """lambda_max at a minimum with Sigma_x = I: the Hessian is 2 kappa J^T J with J = d(U W)."""
    eye = torch.eye(w.shape[2], dtype=F64)
    jacobian = torch.cat(
        [torch.kron(u[0].contiguous(), eye), torch.kron(eye, w[0].mT.contiguous())], dim=1
    )
    return 2 * kappa * float(torch.linalg.matrix_norm(jacobian, 2) ** 2)


def critical(
    seed: int, number: int, kappa: float, steps: int, grid: int
) -> tuple[float, float, float, float]:
    """Tr Hess L, lambda_max, and the critical stepsizes of SGD (batch 1) and GD of one random minimum.

    There is no label noise, so that the minimum itself does not move. A stepsize is stable when a small perturbation
    was at no step ten times its first size: a run that leaves the minimum and settles in a flatter one, as after a
    catapult, is unstable. A critical stepsize that the grid does not contain is NaN.
    """
    w, u = minimum(seed, number)
    n, d = w.shape[2], w.shape[1]
    teacher, ones = (u @ w)[0], torch.ones(n, dtype=F64)
    top = top_eigenvalue(w, u, kappa)
    low, high = (math.log10(share) for share in RANGE)
    eta = 2 / top * torch.logspace(low, high, grid, dtype=F64)
    kick = Streams([seed], f"kick {number}")
    start = (
        w.repeat(grid, 1, 1) + KICK * kick.normal(d, n, dtype=F64),
        u.repeat(grid, 1, 1) + KICK * kick.normal(n, d, dtype=F64),
    )
    first = (start[1] @ start[0] - teacher).norm(dim=(1, 2))
    samples = gaussian_teacher(
        Streams([seed] * grid, f"stability {number}"), grid, 1, teacher, ones, 0 * ones
    )
    rules: tuple[tuple[two_layer.Gradient, Batches], ...] = (
        (two_layer.gradient("linear", kappa), samples),
        (two_layer.population_gradient(teacher, ones, kappa), constant()),
    )
    limits = []
    for gradient, batches in rules:
        peak = Peak(teacher)
        recorder = Recorder(range(steps + 1), peak)
        descend(start, gradient, batches, eta=eta, steps=steps, recorder=recorder)
        assert peak.largest is not None
        limits.append(first_unstable(eta, peak.largest <= GROWN * first))
    trace = float(theory.hessian_trace(w, u, ones, kappa)[0])
    return trace, top, limits[0], limits[1]
