"""GELU networks: gradients, and the first layer in sample space against the direct loop."""

from __future__ import annotations

import itertools
import math

import torch

from oracle import autograd, plain_descent
from sgdclaims.dynamics.first_layer import FirstLayer, iterate
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import mlp

F64 = torch.float64
SIZES = [9, 5, 4, 1]
N = 7
X = torch.randn(N, SIZES[0], dtype=F64, generator=torch.Generator().manual_seed(0))
Y = torch.sign(torch.randn(N, dtype=F64, generator=torch.Generator().manual_seed(1)))


def make(seeds):
    streams = Streams(seeds, "init")
    return tuple(
        streams.normal(after, before, dtype=F64) / before**0.5
        for before, after in itertools.pairwise(SIZES)
    )


def loss(weights, batch):
    x, y = batch
    output = mlp.forward(tuple(w[None] for w in weights), x)[0]
    return torch.nn.functional.softplus(-output * y).mean()


def test_gelu_is_x_times_the_normal_distribution_function():
    for x in (-3.0, -0.5, 0.0, 2.0):
        value = mlp.gelu(torch.tensor(x, dtype=F64)).item()
        assert math.isclose(value, x * (1 + math.erf(x / math.sqrt(2))) / 2, abs_tol=1e-12)


def test_gradients_are_autograds():
    weights = make([0, 1])
    z = torch.matmul(weights[0], X.mT)
    pre, active = mlp.remember(weights[1:], z)
    pull = -Y * torch.sigmoid(-pre[-1][:, 0] * Y) / N
    delta, upper = mlp.upper_gradients(weights[1:], pre, active, pull)
    first = torch.matmul(delta, X)
    for run in range(2):
        expected = autograd([w[run] for w in weights], loss, (X, Y))
        for mine, theirs in zip((first, *upper), expected, strict=True):
            torch.testing.assert_close(mine[run], theirs, rtol=1e-9, atol=1e-12)


def test_the_first_layer_in_sample_space_is_the_direct_loop():
    seeds, steps = [0, 1, 5], 80
    weights = make(seeds)
    eta = torch.tensor([0.1, 1.0, 0.3], dtype=F64)
    y = torch.stack([Y, Y, -Y])
    net = FirstLayer(X, y, weights, eta)
    other = torch.randn(4, SIZES[0], dtype=F64)
    outputs = net.evaluator(other)
    seen = []
    iterate(net, steps, {0, 40, steps}, lambda step, *_: seen.append(step))
    assert seen == [0, 40, steps]
    for run, seed in enumerate(seeds):
        start = [w[0] for w in make([seed])]
        plain = plain_descent(start, loss, [(X, y[run])] * steps, float(eta[run]))
        for mine, theirs in zip(net.weights(), plain, strict=True):
            torch.testing.assert_close(mine[run], theirs, rtol=1e-8, atol=1e-9)
        expected = mlp.forward(tuple(w[None] for w in plain), other)[0]
        torch.testing.assert_close(outputs()[run], expected, rtol=1e-8, atol=1e-9)


def test_the_submissions_network_has_about_30000_parameters():
    assert mlp.parameter_count([3072, 10, 10, 10, 1]) == 30_930
