"""What the panels on the charge's motion measure, on series and stepsizes whose answer is known."""

from __future__ import annotations

import math

import pytest
import torch

from sgdclaims.experiments import critical_stepsize as stability
from sgdclaims.experiments.ne_theory_motion import correlation, partial_correlation

F64 = torch.float64


def a_charge(pull: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """C, its changes, and a slowly moving goal that pulls C, or does not; (T, R)."""
    noise = torch.Generator().manual_seed(0)
    charge, goal = torch.full((1, 4), 5.0, dtype=F64), torch.zeros(1, 4, dtype=F64)
    series = [], []
    for _ in range(2000):
        for kept, value in zip(series, (charge, goal), strict=True):
            kept.append(value)
        goal = 0.9 * goal + 0.3 * torch.randn(1, 4, generator=noise, dtype=F64)
        kick = 0.02 * torch.randn(1, 4, generator=noise, dtype=F64)
        charge = charge + 0.1 * (pull * goal - charge) + kick
    c, g = (torch.cat(values) for values in series)
    return c[:-1], c.diff(dim=0), g[:-1]


def test_the_partial_correlation_sees_a_chase_and_nothing_else():
    c, change, goal = a_charge(pull=1.0)
    assert (partial_correlation(change, goal, c) > 0.7).all()
    assert (partial_correlation(change, goal.roll(1, dims=1), c).abs() < 0.2).all()


def test_the_plain_correlation_is_fooled_by_a_return_to_the_mean():
    c, change, goal = a_charge(pull=0.0)
    assert (correlation(change, 0.1 * goal - c) > 0.5).all()
    assert (partial_correlation(change, goal, c).abs() < 0.1).all()


def test_a_critical_stepsize_that_the_grid_does_not_contain_is_undefined():
    eta = torch.tensor([1.0, 2.0, 3.0], dtype=F64)
    assert stability.first_unstable(eta, torch.tensor([True, True, False])) == 3.0
    assert math.isnan(stability.first_unstable(eta, torch.tensor([True, True, True])))
    assert math.isnan(stability.first_unstable(eta, torch.tensor([False, True, False])))


def test_a_run_that_leaves_and_comes_back_counts_as_unstable():
    far, near = torch.full((1, 2, 2), 3.0), torch.zeros(1, 2, 2)
    eye = torch.eye(2).expand(1, 2, 2)
    peak = stability.Peak(torch.zeros(2, 2))
    for place in (near, far, near):
        peak((place, eye), 0)
    assert peak.largest is not None
    assert float(peak.largest) == pytest.approx(6.0)
    peak((far * math.nan, eye), 0)
    assert float(peak.largest) == math.inf


def test_gradient_descents_limit_is_two_over_the_top_eigenvalue():
    _, top, _, limit = stability.critical(1000, 0, 0.5, 300, 40)
    spacing = (stability.RANGE[1] / stability.RANGE[0]) ** (1 / 39)
    assert 1 <= limit * top / 2 <= 1.02 * spacing
