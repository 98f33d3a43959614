"""Statistics of the large-stepsize panels, on inputs whose answer is known."""

from __future__ import annotations

import torch

from sgdclaims.experiments.ls_theory_sharpness import sharpness_by_phase

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
