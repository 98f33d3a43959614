"""The engine against the plain loop, on a model small enough to be written out here."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from oracle import plain_descent
from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, linear_grid, log_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher, minibatches
from sgdclaims.dynamics.streams import Streams

DX, DY, BATCH = 5, 3, 2


def gradient(weights: tuple[Tensor, ...], batch: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Gradient of the batch mean of |W x - y|^2, stacked."""
    (w,), (x, y) = weights, batch
    residual = x @ w.transpose(1, 2) - y
    return (2 / x.shape[1] * residual.transpose(1, 2) @ x,)


def loss(weights, batch):
    (w,), (x, y) = weights, batch
    return (x @ w.T - y).pow(2).sum(1).mean()


def teacher_batches(seeds):
    eye = torch.eye(DY, DX, dtype=torch.float64)
    ones = torch.ones(DX, dtype=torch.float64)
    return gaussian_teacher(Streams(seeds, "data"), len(seeds), BATCH, eye, ones, ones[:DY])


def initial(seeds):
    return (Streams(seeds, "init").normal(DY, DX, dtype=torch.float64),)


def nothing() -> Recorder:
    return Recorder([], lambda w, step: {})


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=6),
    st.integers(1, 40),
    st.floats(1e-4, 0.05),
)
@settings(max_examples=25, deadline=None)
def test_every_run_of_a_stack_equals_the_plain_loop(seeds, steps, eta):
    (stacked,) = descend(
        initial(seeds),
        gradient,
        teacher_batches(seeds),
        eta=eta,
        steps=steps,
        recorder=nothing(),
    )
    for place, seed in enumerate(seeds):
        batches = ((x[0], y[0]) for x, y in itertools.islice(teacher_batches([seed]), steps))
        (plain,) = plain_descent([initial([seed])[0][0]], loss, batches, eta)
        torch.testing.assert_close(stacked[place], plain, rtol=1e-10, atol=1e-12)


def test_a_seed_is_the_same_alone_and_in_a_stack():
    many = descend(
        initial(range(8)),
        gradient,
        teacher_batches(range(8)),
        eta=0.02,
        steps=300,
        recorder=nothing(),
    )
    alone = descend(
        initial([5]), gradient, teacher_batches([5]), eta=0.02, steps=300, recorder=nothing()
    )
    torch.testing.assert_close(many[0][5], alone[0][0], rtol=1e-12, atol=1e-14)


def test_one_and_two_threads_agree():
    results = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(
                descend(
                    initial(range(4)),
                    gradient,
                    teacher_batches(range(4)),
                    eta=0.02,
                    steps=200,
                    recorder=nothing(),
                )[0]
            )
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-12)


def test_stepsizes_per_run_and_schedules():
    x = torch.randn(2, 4, DX, dtype=torch.float64)
    y = torch.randn(2, 4, DY, dtype=torch.float64)
    start = initial([0, 1])
    per_run = torch.tensor([0.01, 0.03], dtype=torch.float64)
    stacked = descend(start, gradient, constant(x, y), eta=per_run, steps=50, recorder=nothing())
    scheduled = descend(
        start, gradient, constant(x, y), eta=lambda _: per_run, steps=50, recorder=nothing()
    )
    torch.testing.assert_close(stacked[0], scheduled[0], rtol=0, atol=0)
    for run, eta in enumerate(per_run.tolist()):
        (plain,) = plain_descent([start[0][run]], loss, [(x[run], y[run])] * 50, eta)
        torch.testing.assert_close(stacked[0][run], plain, rtol=1e-10, atol=1e-12)


def test_warm_up_switches_at_its_step():
    low, high = (torch.tensor([eta], dtype=torch.float64) for eta in (0.001, 0.01))
    x = torch.randn(1, 4, DX, dtype=torch.float64)
    y = torch.randn(1, 4, DY, dtype=torch.float64)
    start = initial([0])
    warm = descend(
        start,
        gradient,
        constant(x, y),
        eta=lambda step: high if step >= 10 else low,
        steps=30,
        recorder=nothing(),
    )
    first = descend(start, gradient, constant(x, y), eta=0.001, steps=10, recorder=nothing())
    both = descend(first, gradient, constant(x, y), eta=0.01, steps=20, recorder=nothing())
    torch.testing.assert_close(warm[0], both[0], rtol=1e-12, atol=1e-14)


def test_weight_decay_is_torchs():
    x = torch.randn(1, 4, DX, dtype=torch.float64)
    y = torch.randn(1, 4, DY, dtype=torch.float64)
    start = initial([3])
    (ours,) = descend(
        start,
        gradient,
        constant(x, y),
        eta=0.01,
        steps=40,
        weight_decay=0.1,
        recorder=nothing(),
    )
    weight = torch.nn.Parameter(start[0][0].clone())
    optimizer = torch.optim.SGD([weight], lr=0.01, weight_decay=0.1)
    for _ in range(40):
        optimizer.zero_grad()
        loss([weight], (x[0], y[0])).backward()
        optimizer.step()
    torch.testing.assert_close(ours[0], weight.detach(), rtol=1e-10, atol=1e-12)


def test_a_diverging_run_disturbs_no_other():
    eta = torch.tensor([10.0, 0.02], dtype=torch.float64)
    both = descend(
        initial([0, 1]),
        gradient,
        teacher_batches([0, 1]),
        eta=eta,
        steps=2000,
        recorder=nothing(),
    )
    alone = descend(
        initial([1]), gradient, teacher_batches([1]), eta=0.02, steps=2000, recorder=nothing()
    )
    assert not torch.isfinite(both[0][0]).all()
    torch.testing.assert_close(both[0][1], alone[0][0], rtol=1e-10, atol=1e-12)


def test_the_recorder_measures_before_the_step_and_at_the_end():
    recorder = Recorder([0, 3, 7], lambda w, step: {"w": w[0].flatten(1)[:, 0]})
    start = initial([0])
    end = descend(start, gradient, teacher_batches([0]), eta=0.01, steps=7, recorder=recorder)
    assert recorder.steps == [0, 3, 7]
    series = recorder.series["w"]
    assert series.shape == (3, 1)
    assert series[0, 0] == start[0][0, 0, 0]
    assert series[-1, 0] == end[0][0, 0, 0]


def test_the_given_weights_are_left_alone():
    start = initial([0])
    copy = start[0].clone()
    descend(start, gradient, teacher_batches([0]), eta=0.01, steps=5, recorder=nothing())
    assert torch.equal(start[0], copy)


@given(st.integers(0, 10**6), st.integers(2, 400))
def test_grids_hold_both_ends_and_rise(steps, points):
    for grid in (linear_grid(steps, points), log_grid(steps, points)):
        assert grid[0] == 0
        assert grid[-1] == steps
        assert grid == sorted(set(grid))


@given(st.integers(0, 2**32), st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_draws_do_not_depend_on_how_they_are_grouped(seed, sizes):
    whole = Streams([seed], "data").normal(sum(sizes))[0]
    pieces = Streams([seed], "data")
    parts = torch.cat([pieces.normal(size)[0] for size in sizes])
    assert torch.equal(whole, parts)


def test_streams_belong_to_seed_and_purpose():
    together = Streams([4, 1, 4], "data").normal(6)
    assert torch.equal(together[0], together[2])
    assert not torch.equal(together[0], together[1])
    assert torch.equal(together[1], Streams([1], "data").normal(6)[0])
    assert not torch.equal(together[1], Streams([1], "init").normal(6)[0])


def test_streams_continue_from_a_saved_state():
    streams = Streams([0, 1], "data")
    streams.normal(7)
    state = streams.state()
    expected = streams.normal(5)
    streams.restore(state)
    assert torch.equal(streams.normal(5), expected)


def test_the_teacher_has_the_stated_moments():
    sigma_x = torch.tensor([0.5, 2.0])
    sigma_eps = torch.tensor([3.0])
    teacher = torch.tensor([[1.0, -2.0]])
    batches = gaussian_teacher(Streams([0], "data"), 1, 50_000, teacher, sigma_x, sigma_eps)
    x, y = next(batches)
    assert x[0].var(0).tolist() == pytest.approx([0.5, 2.0], rel=0.05)
    assert (y - x @ teacher.T)[0].var().item() == pytest.approx(3.0, rel=0.05)
    assert y[0].var().item() == pytest.approx(0.5 + 4 * 2.0 + 3.0, rel=0.05)


def test_minibatches_pair_images_with_their_labels():
    x = torch.arange(20.0)[:, None]
    for bx, by in itertools.islice(minibatches(Streams([0, 1], "b"), 2, 4, x, 10 * x), 5):
        assert bx.shape == (2, 4, 1)
        assert torch.equal(by, 10 * bx)
