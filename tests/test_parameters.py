"""Parameters that do not fit together are refused, with one line that says which and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from sgdclaims import catalog
from sgdclaims.parameters import model_for
from sgdclaims.results import first_problem

PAPERS = catalog.load(Path(__file__).parent.parent / "config")


@pytest.mark.parametrize(
    ("figure", "change", "words"),
    [
        ("ne_fig2_matrix_factorization", {"width": 20}, "width"),
        ("ne_fig2_matrix_factorization", {"other_gains": [[1.0]]}, "other_gains"),
        ("ne_fig2_matrix_factorization", {"other_gains": []}, "other_gains"),
        ("ne_fig2_matrix_factorization", {"grid_batches": [1, 1]}, "grid_batches"),
        ("ne_fig3_balance_and_sharpness", {"judged": 0.31}, "0.31 is not among them"),
        ("ne_fig3_balance_and_sharpness", {"phis": [0.1, 0.3, 0.6]}, "judged at 1"),
        ("ne_fig3_balance_and_sharpness", {"phis": [0.3, 1.0, 2.0]}, "2 - phi"),
        ("ne_fig3_balance_and_sharpness", {"large_weight_decay": 1e-5}, "large_weight_decay"),
        ("ne_fig4_warmup_stability", {"switch": 15000}, "does not end"),
        ("ne_fig4_warmup_stability", {"switch_grid": [1001, 20000]}, "does not end"),
        ("ne_fig4_warmup_stability", {"eta_min": 0.01}, "smaller stepsize"),
        ("ne_fig6_tanh_representation", {"width": 40}, "width"),
        ("ne_fig8_convergence_robustness", {"etas": [0.05, 0.2]}, "etas"),
        ("ne_fig8_convergence_robustness", {"rate_width": 50}, "rate_width"),
        ("ne_fig9_activations", {"activations": ["relu", "relu"]}, "twice"),
        ("ne_theory_balance", {"factor_etas": [0.002, 0.0015]}, "factor_etas"),
        ("ne_theory_balance", {"output_dimension": 6}, "output_dimension"),
        ("ne_theory_depth", {"rank": 9}, "rank"),
        ("ne_theory_laws", {"decay_batches": [2, 4]}, "decay_batches"),
        ("ne_theory_motion", {"lag": 10000}, "lag"),
        ("ne_theory_motion", {"toy_etas": [0.01, 0.02, -0.04]}, "positive"),
    ],
)
def test_what_does_not_fit_together_is_refused(figure, change, words):
    settings = PAPERS.figure(figure).parameters("standard").model_dump()
    with pytest.raises(ValidationError) as caught:
        model_for(figure).model_validate({**settings, **change})
    assert words in first_problem(caught.value)
