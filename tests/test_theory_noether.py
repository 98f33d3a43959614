"""The charge's laws against Monte Carlo."""

from __future__ import annotations

import itertools

import torch

from sgdclaims.dynamics.samplers import gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.models import two_layer
from sgdclaims.theory import noether
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64
N, D, KAPPA = 5, 6, 0.7


def minimum():
    streams = Streams([0, 1], "init")
    w, u = streams.normal(D, N, dtype=F64), streams.normal(N, D, dtype=F64)
    return w, u, torch.linspace(0.5, 1.5, N, dtype=F64), torch.linspace(2, 1, N, dtype=F64)


def test_noise_traces_are_the_variances_of_sampled_gradients():
    w, u, sigma_x, sigma_eps = minimum()
    traces = noether.noise_traces(w, u, *theory.gammas(w, u, u @ w, sigma_x, sigma_eps), KAPPA)
    data = gaussian_teacher(Streams([0, 1], "data"), 2, 1, u @ w, sigma_x, sigma_eps)
    step = two_layer.gradient("linear", KAPPA)
    sums = [torch.zeros(2, dtype=F64), torch.zeros(2, dtype=F64)]
    draws = 20_000
    for batch in itertools.islice(data, draws):
        grad_w, grad_u = step((w, u), batch)
        sums[0] += grad_u.square().sum((1, 2))
        sums[1] += grad_w.square().sum((1, 2))
    for exact, total in zip(traces, sums, strict=True):
        torch.testing.assert_close(total / draws, exact, rtol=0.06, atol=0)


def test_the_drift_vanishes_at_the_balance_point_only():
    trace_u, trace_w = torch.tensor([3.0], dtype=F64), torch.tensor([0.7], dtype=F64)
    zero = noether.balance_point(trace_u, trace_w)
    assert noether.drift(trace_u, trace_w, zero).abs() < 1e-12
    assert noether.drift(trace_u, trace_w, zero - 0.1) > 0
    assert noether.drift(trace_u, trace_w, zero + 0.1) < 0


def test_the_forms_of_weight_decay_agree_only_where_their_units_do():
    shifts = noether.weight_decay_shifts(gamma=0.01, eta=0.1, batch_size=1, kappa=1.0)
    assert shifts["corrected"] == shifts["appendix"]
    assert noether.weight_decay_shifts(0.01, 0.1, 4, 0.5)["corrected"] == 16 * shifts["appendix"]
