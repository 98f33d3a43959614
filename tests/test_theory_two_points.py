"""Theorem 4.3's two points: the limit of the first step, and what the descent of the rates figure counts."""

from __future__ import annotations

import math

import pytest
import torch

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.loop import Silent
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.samplers import constant
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.ls_theory_rates import Descent, slope, two_point_task
from sgdclaims.models import margin_net
from sgdclaims.theory import two_points

F64 = torch.float64


def test_the_points_are_those_of_the_theorem():
    x = two_points.points(0.09)
    assert x[0].norm().item() == pytest.approx(1)
    assert x[:, 0].tolist() == [0.09, 0.09]
    assert x[1, 1].item() == pytest.approx(-x[0, 1].item() / 2)


@pytest.mark.parametrize("activation", ["softplus", "leaky_softplus_a", "leaky_softplus_b"])
@pytest.mark.parametrize(("gamma", "m"), [(0.09, 20), (0.01, 20), (0.05, 2)])
def test_the_first_step_raises_the_risk_exactly_above_the_limit(activation, gamma, m):
    limit = two_points.first_step_limit(gamma, m, activation)
    x, y = two_points.points(gamma), torch.ones(2, dtype=F64)
    w = torch.zeros(3, m, 2, dtype=F64)
    eta = limit * torch.tensor([0.999, 1.0, 1.001], dtype=F64)
    (grad,) = margin_net.gradient(activation)((w,), (x, y))
    after = margin_net.logistic(margin_net.forward(w - eta[:, None, None] * grad, x, activation))
    below, at, above = after.mean(dim=1).tolist()
    assert below < math.log(2) < above
    assert at == pytest.approx(math.log(2), rel=1e-9)


def test_the_descent_is_the_engines_with_the_output_scaled():
    """Against autograd on the risk of b f, and against the engine at b = 1."""
    task = two_point_task(0.09)
    w = Streams([0, 1], "init").normal(6, 2, dtype=F64)
    b = torch.tensor([0.25, 4.0], dtype=F64)
    eta = torch.tensor([30.0, 2.0], dtype=F64)
    ours = Descent(task, w, eta, b)
    ours.step(0)
    leaf = w.clone().requires_grad_()
    outputs = b[:, None] * margin_net.forward(leaf, task.x, "leaky_softplus_b")
    margin_net.logistic(outputs * task.y).mean(dim=1).sum().backward()
    torch.testing.assert_close(ours.w, w - eta[:, None, None] * leaf.grad, rtol=1e-10, atol=1e-12)
    plain = Descent(task, w, eta)
    seen = plain.run(50, [0, 50], Silent())
    recorder = Recorder(
        [0, 50],
        lambda weights, step: {
            "loss": margin_net.logistic(
                margin_net.forward(weights[0], task.x, "leaky_softplus_b") * task.y
            ).mean(dim=1)
        },
    )
    descend(
        (w,),
        margin_net.gradient("leaky_softplus_b"),
        constant(task.x, task.y),
        eta=eta,
        steps=50,
        recorder=recorder,
    )
    torch.testing.assert_close(torch.stack([seen[0], seen[50]]), recorder.series["loss"])


def test_rises_floor_and_last_rise_are_those_of_the_whole_path():
    task = two_point_task(0.09)
    eta = torch.tensor([100.0, 3000.0], dtype=F64)
    start = Streams([0, 0], "init").normal(20, 2, dtype=F64)
    steps = 60
    descent = Descent(task, start, eta)
    seen = descent.run(steps, range(steps + 1), Silent())
    path = torch.stack([seen[t] for t in range(steps + 1)])
    rose = path[1:] > path[:-1] * (1 + 1e-12)
    assert descent.rises.tolist() == rose.sum(dim=0).tolist()
    assert descent.rises[0] == 0
    assert descent.rises[1] > 0
    assert descent.last_rise[1] == 1 + rose[:, 1].nonzero().max()
    scaled = torch.arange(1, steps + 1, dtype=F64)[:, None] * path[1:]
    assert descent.floor.tolist() == scaled.amin(dim=0).tolist()
    assert descent.monotone_at[steps].tolist() == [True, False]


def test_a_diverged_run_rises_at_every_step():
    task = two_point_task(0.09)
    start = torch.full((1, 4, 2), torch.nan, dtype=F64)
    descent = Descent(task, start, torch.ones(1, dtype=F64))
    descent.run(5, [], Silent())
    assert descent.rises.item() == 6
    assert descent.last_rise.item() == 5
    assert not descent.monotone_at[5].item()


def test_the_slope_is_the_exponent():
    assert slope([10, 100, 1000], [3.0, 0.03, 0.0003]) == pytest.approx(-2)
