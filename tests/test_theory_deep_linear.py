"""Theorem 5.4 and E.1: closed forms against Monte Carlo, and the two scales."""

from __future__ import annotations

import itertools

import pytest
import torch

from sgdclaims.models import deep_linear as model
from sgdclaims.theory import deep_linear as theory
from sgdclaims.theory import noise_equilibrium

F64 = torch.float64


@pytest.fixture
def problem():
    left, right = (torch.linalg.qr(torch.randn(2, 6, 3, dtype=F64)).Q for _ in range(2))
    teacher = (left * torch.tensor([1.5, 1.0, 0.7], dtype=F64)) @ right.mT
    sigma_x = torch.linspace(0.5, 1.5, 6, dtype=F64)
    sigma_eps = torch.linspace(2.0, 0.5, 6, dtype=F64)
    frames = [torch.linalg.qr(torch.randn(2, 3, 3, dtype=F64)).Q for _ in range(3)]
    return teacher, sigma_x, sigma_eps, frames


@pytest.mark.parametrize("form", ["printed", "corrected"])
def test_both_forms_are_minima_and_only_one_solves_the_equation(problem, form):
    teacher, sigma_x, sigma_eps, frames = problem
    weights = theory.solution(teacher, 4, sigma_x, sigma_eps, frames, form)
    whole = weights[3] @ weights[2] @ weights[1] @ weights[0]
    assert torch.allclose(whole, teacher)
    worst = float(theory.residuals(weights, sigma_x, sigma_eps).max())
    assert worst < 1e-12 if form == "corrected" else worst > 0.1


def test_the_forms_agree_where_the_traces_equal_the_rank():
    singular = torch.tensor([[1.5, 1.0, 0.7]], dtype=F64)
    sigma = torch.full((3,), 1.0, dtype=F64)
    both = [
        theory.predicted_sizes(singular, 4, sigma, sigma, form) for form in ("printed", "corrected")
    ]
    assert torch.allclose(*both)


def test_sizes_of_the_solution_are_the_predicted_ones(problem):
    teacher, sigma_x, sigma_eps, frames = problem
    weights = theory.solution(teacher, 4, sigma_x, sigma_eps, frames, "corrected")
    _, singular, _ = theory.decomposed(teacher, sigma_x, sigma_eps, 3)
    predicted = theory.predicted_sizes(singular, 4, sigma_x, sigma_eps, "corrected")
    assert torch.allclose(theory.layer_sizes(weights, sigma_x, sigma_eps), predicted)


def test_at_the_solution_neighbors_have_the_same_mean_squared_gradient(problem):
    """Theorem E.1's traces are gradient second moments: E|G_i W_i^T|^2 and E|W_{i+1}^T G_{i+1}|^2 agree."""
    teacher, sigma_x, sigma_eps, frames = problem
    weights = theory.solution(teacher, 4, sigma_x, sigma_eps, frames, "corrected")
    count = 200_000
    x = torch.randn(2, count, 6, dtype=F64) * sigma_x.sqrt()
    y = x @ teacher.mT + torch.randn(2, count, 6, dtype=F64) * sigma_eps.sqrt()
    inputs = [x]
    for w in weights:
        inputs.append(inputs[-1] @ w.mT)
    back = inputs[-1] - y
    traces = []
    for w, before in zip(reversed(weights), reversed(inputs[:-1]), strict=True):
        traces.append((back.square().sum(-1) * before.square().sum(-1)).mean(dim=1))
        back = back @ w
    for one, other in itertools.pairwise(traces):
        assert torch.allclose(one, other, rtol=0.03)
    assert model.forward(weights, x[:, :1]).shape == (2, 1, 6)


def test_misalignment_is_the_direct_norm():
    w, u = torch.randn(3, 9, 5, dtype=F64), torch.randn(3, 5, 9, dtype=F64)
    teacher, sigma_x = torch.eye(5, dtype=F64), torch.linspace(0.5, 1.5, 5, dtype=F64)
    sigma_eps = torch.linspace(2, 1, 5, dtype=F64)
    gamma_w, gamma_u = noise_equilibrium.gammas(w, u, teacher, sigma_x, sigma_eps)
    left, right = noise_equilibrium.equilibrium_sides(w, u, gamma_w, gamma_u)
    own, gap = noise_equilibrium.misalignment(w, u, teacher, sigma_x, sigma_eps)
    assert torch.allclose(own, left.norm(dim=(1, 2)))
    assert torch.allclose(gap, (right - left).norm(dim=(1, 2)))
