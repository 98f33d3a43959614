"""Statistics of the large-stepsize panels, on inputs whose answer is known."""

from __future__ import annotations

import importlib
import math

import pytest
import torch
from pydantic import ValidationError

import tiny
from sgdclaims.dynamics.loop import Silent
from sgdclaims.errors import UserError
from sgdclaims.experiments.base import Context, Outcome
from sgdclaims.experiments.large_stepsize_task import Watcher
from sgdclaims.experiments.ls_theory_phase import bend
from sgdclaims.experiments.ls_theory_rates import (
    Descent,
    phase_growth,
    slope,
    smallest,
    two_point_task,
)
from sgdclaims.experiments.ls_theory_sharpness import sharpness_by_phase
from sgdclaims.experiments.separable_task import separable

F64 = torch.float64


def test_sharpness_leaves_out_step_0_and_runs_without_an_oscillation():
    schedule = torch.arange(31)
    # Two stepsizes, two seeds: the first stepsize never rises; the last one's first seed rises up to step 3.
    series = torch.arange(31, dtype=F64)[:, None].repeat(1, 4)
    series[0] = 1000
    last_rise = torch.tensor([-1, -1, 3, -1], dtype=F64)
    found = sharpness_by_phase(schedule, series, last_rise, 2)
    assert found["oscillating"][[0, 2]].tolist() == [
        2,
        2,
    ]  # steps 1, 2, 3; the control over the same
    assert found["oscillating_peak"][[0, 2]].tolist() == [3, 3]
    assert found["settled"][2] == 25.5  # steps 21 to 30
    assert found["settled_peak"][2] == 30
    for values in found.values():
        assert values[[1, 3]].isnan().all()


def test_a_logarithm_does_not_bend_and_a_power_does():
    t = torch.logspace(3, 4, 101, dtype=F64)
    bends = bend(t, torch.stack([5 + 2 * t.log(), t**0.25], dim=1))
    torch.testing.assert_close(bends, torch.tensor([1, 10**0.125], dtype=F64), atol=2e-3, rtol=0)


def test_the_first_phase_is_of_order_eta_or_longer():
    eta = [1e3, 1e4, 1e5, 1e6]
    # Per seed: in proportion up to saturation; like eta^(3/2); not at all.
    last = torch.tensor([[10, 1, 7], [90, 32, 7], [800, 1000, 7], [900, 32000, 7]], dtype=F64)
    outcome = Outcome()
    phase_growth(outcome, eta, last)
    found = outcome.quantities["phase_growth"].values
    assert found["over_stepsize"] == pytest.approx({"0": 0.8, "1": 10.0, "2": 0.01}, rel=1e-9)
    assert found["itself"] == pytest.approx({"0": 10.0, "1": 1000.0, "2": 1.0})


def test_the_floor_is_read_from_a_late_step_on():
    start = torch.full((1, 4, 2), 0.1, dtype=F64)
    task = two_point_task(0.09)
    whole, late = (Descent(task, start, torch.ones(1, dtype=F64), floor_from=f) for f in (1, 8))
    seen = whole.run(10, range(11), Silent())
    late.run(10, [], Silent())
    assert whole.floor.item() == min(t * seen[t].item() for t in range(1, 11))
    assert late.floor.item() == min(t * seen[t].item() for t in (8, 9, 10))
    assert whole.floor < late.floor


def test_an_empty_or_vanishing_floor_is_undefined():
    assert math.isnan(smallest(torch.zeros(0)))
    assert math.isnan(slope([1, 2, 3], [1.0, math.nan, 1.0]))
    assert math.isnan(slope([1, 2, 3], [1.0, 0.0, 1.0]))


def test_the_largest_fall_moves_to_before_when_the_risk_rises_again():
    watcher = Watcher(1, [], torch.full((1,), -torch.inf))
    # The margin falls by a half while the risk falls (the other point gains); then the risk rises; then all is calm.
    for step, pair in enumerate(([1.0, 0.0], [2.0, 1.0], [0.9, 9.0], [0.1, 0.1], [0.2, 0.2])):
        watcher(step, torch.tensor([pair], dtype=F64), torch.ones(1, dtype=F64))
    watched = watcher.finish()
    assert watched.late["drop_settled"].item() == 0
    assert watched.late["drop_before"].item() == pytest.approx(8)  # from .9 to .1


def test_a_run_that_never_reaches_the_stable_phase_has_no_falls():
    parameters = tiny.PAPERS.figure("ls_fig4_neuron_margins").parameters("quick", None)
    short = parameters.model_copy(update={"seeds": 2, "steps": 100, "eta": 1e-3})
    falls = importlib.import_module("sgdclaims.experiments.ls_fig4_neuron_margins").run(
        short, Context()
    )
    values = falls.quantities["margin_falls"].values["paper"]
    assert all(math.isnan(value) for value in values.values())


def test_a_margin_that_is_never_found_is_a_users_mistake():
    with pytest.raises(UserError, match=r"only 0 of 4 points with margin 0\.99 in 5 dimensions"):
        separable(4, 5, 0.99)


@pytest.mark.parametrize(
    ("figure", "change", "words"),
    [
        ("ls_theory_rates", {"scales": [0.25, 4]}, "lacks 1"),
        ("ls_theory_rates", {"scales": [1, 1]}, "the same"),
        ("ls_theory_rates", {"horizons": [100, 300, 300]}, "must rise"),
        ("ls_theory_rates", {"grid_decades": 2}, "greater than or equal to 3"),
        ("ls_theory_rates", {"phase_stepsizes": [1, 10, 100]}, "must not touch"),
        ("ls_theory_sharpness", {"xor_stepsizes": [1000, 10]}, "must rise"),
        ("ls_theory_bounds", {"inits": [0, 1]}, "positive"),
        ("ls_theory_phase", {"stepsizes": [100, 100.00001]}, "the same"),
        ("ls_fig2_two_layer", {"cifar_stable_stepsizes": [1, 300]}, "1 is not in cifar_stepsizes"),
        ("ls_fig1_gelu_mlp", {"large_stepsize": 0.001}, "must exceed"),
        ("ls_figS1_cifar_accuracy", {"hidden": [10, 0]}, "positive"),
        ("ls_figS1_cifar_accuracy", {"peak_window": [9, 5]}, "before the last"),
    ],
)
def test_parameters_that_do_not_fit_one_another_are_refused(figure, change, words):
    good = tiny.PAPERS.figure(figure).parameters("standard", None)
    with pytest.raises(ValidationError, match=words):
        type(good).model_validate({**good.model_dump(), **change})
