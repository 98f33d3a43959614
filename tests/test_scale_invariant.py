"""Scale-invariant losses against autograd, and the exact identity |theta'|^2 = |theta|^2 + eta^2 |g|^2."""

from __future__ import annotations

import pytest
import torch

from oracle import autograd, plain_descent
from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.samplers import constant
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import scale_invariant, two_layer

F64 = torch.float64
NETS = ("a", "b", "plain")


def make():
    streams = Streams([0, 1], "init")
    w, u = streams.normal(6, 4, dtype=F64), streams.normal(3, 6, dtype=F64)
    x, y = streams.normal(5, 4, dtype=F64), streams.normal(5, 3, dtype=F64)
    return (w, u), (x, y)


def loss(net):
    def of_one_run(weights, batch):
        stacked = tuple(w[None] for w in weights)
        x, y = batch
        output = two_layer.forward(scale_invariant.effective(stacked, net), x, "tanh")[0]
        return 0.7 * (output - y).square().sum(-1).mean()

    return of_one_run


@pytest.mark.parametrize("net", NETS)
def test_gradients_are_autograds(net):
    weights, batch = make()
    ours = scale_invariant.gradient(net, 0.7)(weights, batch)
    for run in range(2):
        expected = autograd([w[run] for w in weights], loss(net), [b[run] for b in batch])
        for mine, theirs in zip(ours, expected, strict=True):
            torch.testing.assert_close(mine[run], theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("net", NETS)
def test_which_gradients_are_tangential(net):
    weights, batch = make()
    w, u = weights
    grad_w, grad_u = scale_invariant.gradient(net, 0.7)(weights, batch)
    radial_w, radial_u = (w * grad_w).sum(), (u * grad_u).sum()
    together = abs(radial_w + radial_u)
    assert (together < 1e-12) == (net != "plain")
    assert (abs(radial_w) < 1e-12) == (net == "b")


def test_the_angle_gradient_is_autograds_and_tangential():
    theta = torch.randn(7, 2, dtype=F64)
    target = torch.randn(7, dtype=F64)
    ours = scale_invariant.angle_gradient(theta, target)
    leaf = theta.clone().requires_grad_()
    (-torch.cos(torch.atan2(leaf[:, 1], leaf[:, 0]) - target)).sum().backward()
    torch.testing.assert_close(ours, leaf.grad)
    assert (ours * theta).sum(1).abs().max() < 1e-12


@pytest.mark.parametrize("net", NETS)
def test_the_engine_equals_the_plain_loop_alone_and_in_a_stack(net):
    weights, (x, y) = make()
    step = scale_invariant.gradient(net, 0.7)
    nothing = Recorder([], lambda w, t: {})
    stacked = descend(weights, step, constant(x, y), eta=0.05, steps=100, recorder=nothing)
    for run in range(2):
        plain = plain_descent([w[run] for w in weights], loss(net), [(x[run], y[run])] * 100, 0.05)
        alone = descend(
            tuple(w[run : run + 1] for w in weights),
            step,
            constant(x[run : run + 1], y[run : run + 1]),
            eta=0.05,
            steps=100,
            recorder=nothing,
        )
        for w, p, a in zip(stacked, plain, alone, strict=True):
            torch.testing.assert_close(w[run], p, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(w[run], a[0], rtol=1e-9, atol=1e-11)
