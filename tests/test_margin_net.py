"""The large-stepsize networks: gradients, constants, sample space against the direct loop."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from oracle import autograd, plain_descent
from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.sample_space import SampleSpace, iterate
from sgdclaims.dynamics.samplers import constant
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import margin_net
from sgdclaims.theory import large_stepsize as theory

F64 = torch.float64
N, D, M = 12, 20, 6
X = torch.randn(N, D, dtype=F64, generator=torch.Generator().manual_seed(0))
Y = torch.sign(torch.randn(N, dtype=F64, generator=torch.Generator().manual_seed(1)))


def make(seeds):
    return Streams(seeds, "init").normal(M, D, dtype=F64) / 2


def loss(activation):
    def of_one_run(weights, batch):
        x, y = batch
        output = margin_net.forward(weights[0][None], x, activation)[0]
        return torch.nn.functional.softplus(-output * y).mean()

    return of_one_run


@pytest.mark.parametrize("activation", margin_net.ACTIVATIONS)
def test_gradients_are_autograds(activation):
    w = make([0, 1])
    (ours,) = margin_net.gradient(activation)((w,), (X, Y))
    for run in range(2):
        (expected,) = autograd([w[run]], loss(activation), (X, Y))
        torch.testing.assert_close(ours[run], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("activation", margin_net.ACTIVATIONS)
def test_the_constants_are_the_suprema(activation):
    act = margin_net.ACTIVATIONS[activation]
    x = torch.linspace(-60, 60, 600_001, dtype=F64)
    slope = act.slope(x)
    second = torch.diff(slope) / torch.diff(x)
    gap = (act.value(x) - x * slope).abs()
    assert slope.abs().max().item() == pytest.approx(act.lipschitz, abs=1e-6)
    assert second.abs().max().item() == pytest.approx(act.smoothness, abs=1e-5)
    assert gap.max().item() == pytest.approx(act.kappa, abs=1e-6)
    if activation != "gelu":
        assert slope.min().item() == pytest.approx(act.alpha, abs=1e-6)


@pytest.mark.parametrize("eta", [0.5, 50.0])
def test_sample_space_is_the_direct_loop(eta):
    """Both the engine's direct gradient and torch.optim, for several runs with their own labels and stepsizes."""
    seeds, steps = [0, 1, 5], 60
    w = make(seeds)
    y = torch.stack([Y, -Y, Y])
    etas = torch.tensor([eta, eta, eta / 7], dtype=F64)
    space = SampleSpace(X, y, w, etas, "leaky_softplus_b")
    seen = []
    iterate(space, steps, lambda step, s, q: seen.append(margin_net.logistic(q).mean(1)))
    direct = descend(
        (w,),
        margin_net.gradient("leaky_softplus_b"),
        constant(X, y),
        eta=etas,
        steps=steps,
        recorder=Recorder([], lambda a, b: {}),
    )[0]
    torch.testing.assert_close(space.weights(), direct, rtol=1e-9, atol=1e-10)
    torch.testing.assert_close(space.norm(), direct.flatten(1).norm(dim=1), rtol=1e-9, atol=0)
    assert len(seen) == steps + 1
    for run in range(3):
        batches = itertools.repeat((X, y[run]), steps)
        (plain,) = plain_descent([w[run]], loss("leaky_softplus_b"), batches, float(etas[run]))
        torch.testing.assert_close(direct[run], plain, rtol=1e-8, atol=1e-9)


def test_sample_space_evaluates_other_inputs():
    w = make([2])
    space = SampleSpace(X, Y[None], w, torch.tensor([3.0], dtype=F64), "softplus")
    other = torch.randn(5, D, dtype=F64)
    outputs = space.evaluator(other)
    iterate(space, 30, lambda *_: None)
    expected = margin_net.forward(space.weights(), other, "softplus")[0]
    torch.testing.assert_close(outputs()[0], expected, rtol=1e-9, atol=1e-11)


def test_below_the_threshold_the_loss_never_rises():
    radius = X.norm(dim=1).max().item()
    c = theory.constants("leaky_softplus_b", M, radius)
    eta = 0.99 * theory.cannot_oscillate_below(c)
    space = SampleSpace(X, Y[None], make([0]), torch.tensor([eta], dtype=F64), "leaky_softplus_b")
    losses = []
    iterate(space, 300, lambda step, s, q: losses.append(margin_net.logistic(q).mean().item()))
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(losses))


def test_the_hessian_bound_behind_the_threshold():
    """|Hess L| <= rho^2/4 + beta at random points."""
    radius = X.norm(dim=1).max().item()
    for activation in ("softplus", "leaky_softplus_a", "leaky_softplus_b"):
        c = theory.constants(activation, M, radius)
        for seed in range(3):
            flat = make([seed]).flatten()
            hessian = torch.autograd.functional.hessian(
                lambda v, a=activation: loss(a)([v.view(M, D)], (X, Y)), flat
            )
            assert torch.linalg.eigvalsh(hessian).abs().max() <= c.rho**2 / 4 + c.beta


def test_the_modified_margin_is_the_formula():
    c = theory.Constants(0.5, 0.1, 0.3)
    loss_value, norm, eta, n = 1e-8, 7.0, 4.0, 5
    inner = math.log(2 * n * math.exp(c.kappa) * loss_value)
    phi = math.log(-inner) + (1 + (4 * c.rho**2 + 2 * c.beta) * eta) / inner
    ours = theory.log_modified_margin(
        torch.tensor(loss_value, dtype=F64), torch.tensor(norm, dtype=F64), c, eta, n
    )
    assert math.exp(ours.item()) == pytest.approx(math.exp(phi) / norm, rel=1e-12)
    assert ours.isfinite()
