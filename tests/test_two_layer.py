"""Two-layer networks against autograd and the plain loop; the theory against Monte Carlo and the exact Hessian."""

from __future__ import annotations

import itertools

import pytest
import torch

from oracle import autograd, plain_descent
from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.samplers import gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import two_layer
from sgdclaims.theory import noise_equilibrium as theory

R, DX, D, DY, S = 3, 5, 7, 4, 6
KAPPA = 0.7
F64 = torch.float64


def make(seeds):
    init = Streams(seeds, "init")
    return init.normal(D, DX, dtype=F64) / 2, init.normal(DY, D, dtype=F64) / 2


def batches(seeds):
    return gaussian_teacher(
        Streams(seeds, "data"),
        len(seeds),
        S,
        torch.randn(DY, DX, dtype=F64, generator=torch.Generator().manual_seed(0)),
        torch.linspace(0.5, 2, DX, dtype=F64),
        torch.linspace(1, 3, DY, dtype=F64),
    )


def loss(activation):
    def of_one_run(weights, batch):
        x, y = batch
        output = two_layer.forward(tuple(weights), x, activation)
        return KAPPA * (output - y).square().sum(-1).mean()

    return of_one_run


@pytest.mark.parametrize("activation", two_layer.ACTIVATIONS)
def test_gradients_are_autograds(activation):
    weights = make(range(R))
    x, y = next(batches(range(R)))
    ours = two_layer.gradient(activation, KAPPA)(weights, (x, y))
    for run in range(R):
        expected = autograd([w[run] for w in weights], loss(activation), (x[run], y[run]))
        for mine, theirs in zip(ours, expected, strict=True):
            torch.testing.assert_close(mine[run], theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("activation", two_layer.ACTIVATIONS)
def test_the_engine_equals_the_plain_loop_alone_and_in_a_stack(activation):
    steps, eta, seeds = 120, 0.01, [4, 0, 9]
    step = two_layer.gradient(activation, KAPPA)
    nothing = Recorder([], lambda w, t: {})
    stacked = descend(make(seeds), step, batches(seeds), eta=eta, steps=steps, recorder=nothing)
    for place, seed in enumerate(seeds):
        data = ((x[0], y[0]) for x, y in itertools.islice(batches([seed]), steps))
        plain = plain_descent([w[0] for w in make([seed])], loss(activation), data, eta)
        alone = descend(make([seed]), step, batches([seed]), eta=eta, steps=steps, recorder=nothing)
        for w, p, a in zip(stacked, plain, alone, strict=True):
            torch.testing.assert_close(w[place], p, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(w[place], a[0], rtol=1e-9, atol=1e-11)


def test_the_population_gradient_is_the_mean_of_sampled_ones():
    w, u = make([0])
    teacher = torch.randn(DY, DX, dtype=F64)
    sigma_x = torch.linspace(0.5, 2, DX, dtype=F64)
    ones = torch.ones(DY, dtype=F64)
    exact = two_layer.population_gradient(teacher, sigma_x, KAPPA)((w, u), ())
    batch = next(gaussian_teacher(Streams([0], "data"), 1, 400_000, teacher, sigma_x, ones))
    sampled = two_layer.gradient("linear", KAPPA)((w, u), batch)
    for a, b in zip(exact, sampled, strict=True):
        torch.testing.assert_close(a, b, rtol=0.05, atol=0.1)


def test_the_hessian_trace_is_the_exact_one():
    """Proposition 5.3 against autograd, for both conventions of the loss."""
    w, u = (m[0] for m in make([1]))
    sigma_x = torch.linspace(0.5, 2, DX, dtype=F64)
    teacher = torch.randn(DY, DX, dtype=F64)
    for kappa in (0.5, 1.0):

        def population_loss(flat, kappa=kappa):
            w_, u_ = flat[: D * DX].view(D, DX), flat[D * DX :].view(DY, D)
            error = u_ @ w_ - teacher
            return kappa * (error * sigma_x * error).sum()

        flat = torch.cat([w.flatten(), u.flatten()])
        exact = torch.autograd.functional.hessian(population_loss, flat).trace()
        ours = theory.hessian_trace(w[None], u[None], sigma_x, kappa)[0]
        torch.testing.assert_close(ours, exact, rtol=1e-9, atol=1e-9)


def test_gammas_agree_with_monte_carlo():
    w, u = make([2])
    teacher = torch.randn(DY, DX, dtype=F64, generator=torch.Generator().manual_seed(1))
    sigma_x = torch.linspace(0.5, 2, DX, dtype=F64)
    sigma_eps = torch.linspace(1, 3, DY, dtype=F64)
    x, y = next(gaussian_teacher(Streams([0], "mc"), 1, 400_000, teacher, sigma_x, sigma_eps))
    residual = (two_layer.forward((w, u), x) - y)[0]
    x = x[0]
    gamma_w, gamma_u = theory.gammas(w, u, teacher, sigma_x, sigma_eps)
    sampled_w = (x * residual.square().sum(1, keepdim=True)).T @ x / len(x)
    sampled_u = (residual * x.square().sum(1, keepdim=True)).T @ residual / len(x)
    for exact, sampled in ((gamma_w[0], sampled_w), (gamma_u[0], sampled_u)):
        assert (exact - sampled).norm() < 0.02 * exact.norm()


def test_gammas_take_one_label_noise_per_run():
    w, u = make([0, 1])
    teacher = torch.randn(DY, DX, dtype=F64)
    sigma_x = torch.linspace(0.5, 2, DX, dtype=F64)
    noises = torch.stack([torch.ones(DY, dtype=F64), torch.linspace(1, 3, DY, dtype=F64)])
    together = theory.gammas(w, u, teacher, sigma_x, noises)
    for run in range(2):
        alone = theory.gammas(w[run : run + 1], u[run : run + 1], teacher, sigma_x, noises[run])
        for both, one in zip(together, alone, strict=True):
            torch.testing.assert_close(both[run], one[0])


def test_the_autoencoder_equilibrium_solves_equation_14():
    sigma_x = torch.tensor([0.5, 1.5, 3.0], dtype=F64)
    sigma_eps = torch.tensor([2.0, 1.0, 0.2], dtype=F64)
    squared = theory.autoencoder_singular_values(sigma_x, sigma_eps)
    u, w = torch.diag(squared.sqrt())[None], torch.diag(squared.rsqrt())[None]
    left, right = theory.normalized_sides(w, u, sigma_x, sigma_eps)
    torch.testing.assert_close(left, right)


def test_the_rank_one_end_solves_theorem_5_2():
    """At |u||w| = 1 along one direction, (13) balances only for |u|^2/|w|^2 = (2n-1)/n."""
    n = 30
    k = ((2 * n - 1) / n) ** 0.5
    direction = torch.zeros(n, dtype=F64)
    direction[0] = 1
    u = (k**0.5 * direction)[None, :, None]
    w = (k**-0.5 * direction)[None, None, :]
    ones = torch.ones(n, dtype=F64)
    sides = theory.equilibrium_sides(
        w, u, *theory.gammas(w, u, torch.eye(n, dtype=F64), ones, ones)
    )
    torch.testing.assert_close(*sides)
    assert theory.rank_one_end_trace(n) == pytest.approx(
        theory.hessian_trace(w, u, ones).item(), rel=1e-12
    )
    assert theory.rank_one_end_trace(n) == pytest.approx(63.46, abs=0.01)
