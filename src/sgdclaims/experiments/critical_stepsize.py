"""The largest stepsizes at which SGD and gradient descent are stable at a random minimum."""

from __future__ import annotations

import math

import torch

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import two_layer
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64


def critical(
    seed: int, number: int, kappa: float, steps: int, grid: int
) -> tuple[float, float, float, float]:
    """Tr Hess L, lambda_max, and the critical stepsizes of SGD (batch 1) and GD of one random minimum.

    The shapes and scales are random; there is no label noise, so that the minimum itself does not move. A stepsize is
    stable when a perturbation of relative size 1e-6 has not grown tenfold at the end. Stepsizes run from a thirtieth of
    the limit 2 / lambda_max to twice that.
    """
    streams = Streams([seed], f"problem {number}")
    shape = streams.uniform(4, dtype=F64)[0].tolist()
    n, d = 2 + int(shape[0] * 18), 2 + int(shape[1] * 6)
    w = math.exp(2 * shape[2] - 1) * streams.normal(d, n, dtype=F64) / n**0.5
    u = math.exp(2 * shape[3] - 1) * streams.normal(n, d, dtype=F64) / n**0.5
    teacher, ones = (u @ w)[0], torch.ones(n, dtype=F64)
    # Sigma_x = I: the Hessian is that of kappa |U W - V|^2, with J = d(U W)
    jacobian = torch.cat(
        [
            torch.kron(u[0].contiguous(), torch.eye(n, dtype=F64)),
            torch.kron(torch.eye(n, dtype=F64), w[0].mT.contiguous()),
        ],
        dim=1,
    )
    top = 2 * kappa * float(torch.linalg.matrix_norm(jacobian, 2) ** 2)
    trace = float(theory.hessian_trace(w, u, ones, kappa)[0])
    eta = 2 / top * torch.logspace(math.log10(1 / 30), math.log10(2), grid, dtype=F64)
    count = len(eta)
    kick = Streams([seed], f"kick {number}")
    size = 1e-6
    start = (
        w.repeat(count, 1, 1) + size * kick.normal(d, n, dtype=F64),
        u.repeat(count, 1, 1) + size * kick.normal(n, d, dtype=F64),
    )
    first = (start[1] @ start[0] - teacher).norm(dim=(1, 2))
    limits = []
    for noisy in (True, False):
        batches = (
            gaussian_teacher(
                Streams([seed] * count, f"stability {number}"), count, 1, teacher, ones, 0 * ones
            )
            if noisy
            else constant()
        )
        end = descend(
            start,
            two_layer.gradient("linear", kappa)
            if noisy
            else two_layer.population_gradient(teacher, ones, kappa),
            batches,
            eta=eta,
            steps=steps,
            recorder=Recorder([], lambda w, step: {}),  # noqa: ARG005
        )
        last = (end[1] @ end[0] - teacher).norm(dim=(1, 2))
        stable = last <= 10 * first  # a NaN is not stable
        unstable = (~stable).nonzero()
        limits.append(float(eta[int(unstable[0])]) if len(unstable) else float(eta[-1]))
    return trace, top, limits[0], limits[1]
