"""Lemmas, bounds and the table of activations, against brute force and automatic differentiation."""

from __future__ import annotations

import math

import pytest
import torch

from sgdclaims.dynamics.curvature import top_eigenvalue
from sgdclaims.dynamics.flow import runge_kutta
from sgdclaims.experiments.separable_task import separable
from sgdclaims.models import margin_net
from sgdclaims.theory import activation_table, average_risk, large_stepsize, stable_phase

F64 = torch.float64
PHI = "leaky_softplus_b"


def state(w, task):
    w = w.detach().requires_grad_()
    q = margin_net.forward(w[None], task.x, PHI)[0] * task.y
    loss = margin_net.logistic(q).mean()
    (g,) = torch.autograd.grad(loss, w)
    return g, stable_phase.State(
        loss=loss.detach()[None],
        norm=w.detach().norm()[None],
        grad_squared=g.square().sum()[None],
        pull=-(g * w.detach()).sum()[None],
        smallest=q.min().detach()[None],
    )


def test_the_lemmas_hold_along_a_run_and_tightened_ones_fail():
    task = separable(12, 3, 0.2)
    w = torch.randn(20, 3, dtype=F64)
    eta = torch.tensor([500.0], dtype=F64)
    c = large_stepsize.constants(PHI, 20, task.radius)
    n, held, failed = len(task.y), 0, 0
    g, now = state(w, task)
    for _ in range(3000):
        w = w - eta * g
        g, after = state(w, task)
        if now.loss <= large_stepsize.stable_threshold(c, float(eta), n):
            held += 1
            for one in (
                *stable_phase.descent(now, after, eta, c),
                stable_phase.pull(now, c, n),
                *stable_phase.growth(now, after, eta, c, n),
                *stable_phase.smoothed_margin(now, n),
                *stable_phase.margin_order(now, c, eta, n),
                stable_phase.modified_gain(now, after, c, eta, n),
            ):
                assert float(one) <= 1e-10
            failed += float(max(stable_phase.growth(now, after, eta, c, n, 1000))) > 1e-10
        now = after
    assert held > 100
    assert failed > 100


def test_the_risk_stays_between_the_bounds_of_lemma_a14():
    c = large_stepsize.Constants(rho=0.1, beta=0.01, kappa=0.3)
    one = torch.ones(1, dtype=F64)
    low, high = stable_phase.risk_bounds(0.01 * one, 10 * one, 0.02 * one, 0 * one, one, c)
    assert float(low) == pytest.approx(-math.log(50 + 0.3) - math.log(0.01))
    assert float(high) == pytest.approx(math.log(0.01) - math.log(0.2))


def test_theorem_32_at_a_point_by_hand():
    eta, norm = torch.tensor([2.0], dtype=F64), torch.tensor([3.0], dtype=F64)
    value = average_risk.mean_risk(100, eta, norm, m=10, gamma=0.5, alpha=0.5, kappa=0.2)
    time = 0.25 * 2 * 100
    by_hand = (1 + 8 * math.log(time) ** 2 / 0.25 + 8 * 0.04 / 0.25 + 4) / time + 9 / (10 * 200)
    assert float(value) == pytest.approx(by_hand)
    tighter = average_risk.late_risk(torch.tensor(50.0), eta, 0.5, 0.5)
    assert float(tighter) == pytest.approx(2 / (0.25 * 0.25 * 2 * 50))


@pytest.mark.parametrize("name", activation_table.TABLE)
def test_sharp_constants_are_suprema(name):
    entry = activation_table.TABLE[name]
    measured = activation_table.suprema(entry.value, reach=20, points=400_001)
    for found, sharp in zip(measured, entry.sharp, strict=True):
        assert found == pytest.approx(sharp, rel=1e-6)


def test_the_table_agrees_with_the_networks_activations():
    for name in ("gelu", "softplus", "leaky_softplus_a"):
        act = margin_net.ACTIVATIONS[name]
        kappa, lipschitz, smoothness = activation_table.TABLE[name].sharp
        assert (act.kappa, act.lipschitz) == pytest.approx((kappa, lipschitz))
        assert act.smoothness == pytest.approx(smoothness)


def test_separable_points_have_the_margin_and_the_norm():
    task = separable(30, 4, 0.15)
    assert float(task.x.norm(dim=1).max()) <= 1
    assert sorted(set(task.y.tolist())) == [-1, 1]
    w = torch.zeros(4, dtype=F64)
    for _ in range(20_000):  # the perceptron's bound is (1 / margin)^2 mistakes
        wrong = (task.x @ w * task.y <= 0).nonzero()
        if not len(wrong):
            break
        w = w + task.y[wrong[0]] * task.x[wrong[0, 0]]
    assert bool((task.x @ w * task.y > 0).all())


def test_power_iteration_finds_the_top_eigenvalue():
    spectrum = torch.tensor([5.0, 2.0, 1.0], dtype=F64)
    basis = torch.linalg.qr(torch.randn(3, 3, dtype=F64)).Q
    matrix = basis * spectrum @ basis.mT

    def risk(w):
        flat = torch.cat([w[0].reshape(-1), w[1]])
        return flat @ matrix @ flat / 2

    weights = (torch.randn(1, 2, dtype=F64), torch.randn(1, dtype=F64))
    top, _, residual = top_eigenvalue(risk, weights, weights, 60)
    assert top == pytest.approx(5.0)
    assert residual < 1e-6


def test_runge_kutta_is_of_fourth_order():
    start = (torch.ones(1, dtype=F64),)
    errors = []
    for steps in (10, 20):
        w = start
        for _ in range(steps):
            w = runge_kutta(w, lambda at: at, 1 / steps)
        errors.append(abs(float(w[0]) - math.exp(-1)))
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.1)
