"""Deep linear networks against autograd and the plain loop."""

from __future__ import annotations

import itertools

import pytest
import torch

from oracle import autograd, plain_descent
from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.samplers import constant, minibatches
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import deep_linear

SIZES = (6, 4, 4, 4, 3)
KAPPA, N = 0.8, 40
F64 = torch.float64
X = torch.randn(N, SIZES[0], dtype=F64, generator=torch.Generator().manual_seed(0))
Y = torch.randn(N, SIZES[-1], dtype=F64, generator=torch.Generator().manual_seed(1))


def make(seeds):
    streams = Streams(seeds, "init")
    return tuple(
        streams.normal(after, before, dtype=F64) / before**0.5
        for before, after in itertools.pairwise(SIZES)
    )


def loss(weights, batch):
    x, y = batch
    for w in weights:
        x = x @ w.T
    return KAPPA * (x - y).square().sum(-1).mean()


def nothing():
    return Recorder([], lambda w, t: {})


def test_gradients_are_autograds():
    weights = make([0, 1])
    x, y = X[None].expand(2, -1, -1), Y[None].expand(2, -1, -1)
    ours = deep_linear.gradient(KAPPA)(weights, (x, y))
    for run in range(2):
        for mine, theirs in zip(
            ours, autograd([w[run] for w in weights], loss, (X, Y)), strict=True
        ):
            torch.testing.assert_close(mine[run], theirs, rtol=1e-10, atol=1e-12)


def test_the_engine_equals_the_plain_loop_alone_and_in_a_stack():
    seeds, steps, eta = [2, 0, 7], 150, 0.02

    def batches(chosen):
        return minibatches(Streams(chosen, "data"), len(chosen), 4, X, Y)

    step = deep_linear.gradient(KAPPA)
    stacked = descend(make(seeds), step, batches(seeds), eta=eta, steps=steps, recorder=nothing())
    for place, seed in enumerate(seeds):
        data = ((x[0], y[0]) for x, y in itertools.islice(batches([seed]), steps))
        plain = plain_descent([w[0] for w in make([seed])], loss, data, eta)
        alone = descend(
            make([seed]), step, batches([seed]), eta=eta, steps=steps, recorder=nothing()
        )
        for w, p, a in zip(stacked, plain, alone, strict=True):
            torch.testing.assert_close(w[place], p, rtol=1e-9, atol=1e-11)
            torch.testing.assert_close(w[place], a[0], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("steps", [1, 200])
def test_descent_on_the_moments_is_full_batch_descent(steps):
    moments = deep_linear.Moments(X, Y, KAPPA)
    start = make([0, 3])
    rotated = descend(
        moments.rotate(start),
        moments.gradient,
        constant(),
        eta=0.05,
        steps=steps,
        recorder=nothing(),
    )
    for run in range(2):
        plain = plain_descent([w[run] for w in start], loss, [(X, Y)] * steps, 0.05)
        torch.testing.assert_close(rotated[0][run] @ moments.basis.T, plain[0])
        for w, p in zip(rotated[1:], plain[1:], strict=True):
            torch.testing.assert_close(w[run], p)
