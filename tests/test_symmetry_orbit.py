"""Noise traces from single samples' gradients, against closed forms and the plain definition."""

from __future__ import annotations

import pytest
import torch

from sgdclaims.dynamics.samplers import gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments import symmetry_orbit as orbit
from sgdclaims.models import two_layer
from sgdclaims.theory import noether
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64
N, D, KAPPA = 4, 5, 0.7


def minimum(samples: int):
    streams = Streams([0, 1], "init")
    w, u = streams.normal(D, N, dtype=F64), streams.normal(N, D, dtype=F64)
    sigma_x, sigma_eps = torch.linspace(0.5, 1.5, N, dtype=F64), torch.ones(N, dtype=F64)
    data = gaussian_teacher(Streams([0, 1], "data"), 2, samples, u @ w, sigma_x, sigma_eps)
    return (w, u), next(data), (sigma_x, sigma_eps)


def test_the_traces_approach_the_closed_form_of_a_linear_network():
    (w, u), batch, (sigma_x, sigma_eps) = minimum(samples=20_000)
    expected = noether.noise_traces(w, u, *theory.gammas(w, u, u @ w, sigma_x, sigma_eps), KAPPA)
    found = orbit.sampled_traces((w, u), batch, "linear", KAPPA)
    for measured, exact in zip(found, expected, strict=True):
        torch.testing.assert_close(measured, exact, rtol=0.06, atol=0)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_the_traces_are_the_variances_over_single_samples(activation):
    weights, (x, y), _ = minimum(samples=7)
    step = two_layer.gradient(activation, KAPPA)
    singles = [step(weights, (x[:, i : i + 1], y[:, i : i + 1])) for i in range(7)]
    found = orbit.sampled_traces(weights, (x, y), activation, KAPPA)
    for layer, measured in ((1, found[0]), (0, found[1])):
        stacked = torch.stack([g[layer] for g in singles])
        exact = stacked.var(dim=0, unbiased=False).sum(dim=(1, 2))
        torch.testing.assert_close(measured, exact)


def test_only_a_homogeneous_network_is_left_alone():
    weights, (x, _), _ = minimum(samples=5)
    there = orbit.moved(weights, torch.tensor([0.4, -0.7], dtype=F64))
    for activation, alone in (("linear", True), ("relu", True), ("tanh", False)):
        outputs = [two_layer.forward(at, x, activation) for at in (weights, there)]
        assert torch.allclose(*outputs) is alone
