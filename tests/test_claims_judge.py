"""The judge from both sides: data that satisfy, violate and straddle, and controls that can fail."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from sgdclaims.claims import statistics
from sgdclaims.claims.judge import control_is_reordered, judge_one
from sgdclaims.claims.schema import Claim
from sgdclaims.errors import UserError
from sgdclaims.results import Provenance, Quantities, Quantity

HIGH = [0.9, 0.95, 1.0, 1.05, 1.1, 0.97, 1.02, 0.99]
LOW = [v - 0.9 for v in HIGH]
WIDE = [0.2, 0.9, 0.4, 0.7, 0.3, 0.8, 0.1, 0.6]


def claim(**changes) -> Claim:
    base = {
        "id": "NE-F1-a",
        "paper": "p",
        "figure": "f",
        "quote": "q",
        "source": "s",
        "quantity": "q",
        "subject": "sgd",
        "check": {"above": 0.5},
        "control": {"variant": "gd"},
        "seeds_at_least": 4,
        "title": "t",
        "prose": "",
        "file": Path("claims.md"),
        "line": 3,
    }
    return Claim.model_validate({**base, **changes})


def measured(kind="mean", dataset="synthetic", axis=None, **variants) -> Quantities:
    values = {n: {str(i): v for i, v in enumerate(row)} for n, row in variants.items()}
    quantity = Quantity(meaning="m", kind=kind, dataset=dataset, axis=axis, values=values)
    provenance = Provenance(dataset="mnist", kind="stand-in", source="stand-in", origin="o", md5={})
    genuine = provenance.model_copy(update={"kind": "genuine", "source": "mirror"})
    return Quantities(
        figure="f",
        scale="standard",
        parameters={},
        environment={},
        datasets={"mnist": provenance, "cifar10": genuine},
        quantities={"q": quantity},
    )


def verdict(a_claim: Claim, quantities: Quantities) -> str:
    return judge_one(a_claim, quantities, "standard").verdict


@pytest.mark.parametrize(
    ("sgd", "gd", "expected"),
    [
        (HIGH, LOW, "REPRODUCED"),
        (LOW, HIGH, "NOT REPRODUCED"),
        (LOW, LOW, "NOT REPRODUCED"),
        (WIDE, LOW, "INCONCLUSIVE"),
        (HIGH, HIGH, "VACUOUS"),
        (HIGH, WIDE, "VACUOUS"),
        ([*HIGH[:-1], None], LOW, "INCONCLUSIVE"),
        (HIGH, [*LOW[:-1], None], "VACUOUS"),
        (HIGH[:3], LOW[:3], "INCONCLUSIVE"),
        ([math.inf] * 8, LOW, "REPRODUCED"),
        ([*HIGH[:-1], -math.inf], LOW, "INCONCLUSIVE"),
    ],
)
def test_verdicts(sgd, gd, expected):
    assert verdict(claim(), measured(sgd=sgd, gd=gd)) == expected


@pytest.mark.parametrize(
    ("check", "yes", "no"),
    [
        ({"above": 0.5}, HIGH, LOW),
        ({"below": 0.5}, LOW, HIGH),
        ({"between": [0.8, 1.2]}, HIGH, LOW),
        ({"within": {"percent": 20, "of": 1.0}}, HIGH, LOW),
        ({"within": {"percent": 20, "of": -1.0}}, [-v for v in HIGH], HIGH),
    ],
)
def test_every_comparator_of_one_variant_both_ways(check, yes, no):
    good, bad = measured(sgd=yes, gd=no), measured(sgd=no, gd=yes)
    assert verdict(claim(check=check), good) == "REPRODUCED"
    assert verdict(claim(check=check), bad) == "NOT REPRODUCED"


@pytest.mark.parametrize(
    ("check", "better", "worse"),
    [
        ({"increasing": True}, ["a", "b", "c"], ["c", "b", "a"]),
        ({"decreasing": True}, ["c", "b", "a"], ["a", "b", "c"]),
        ({"ordered": "descending"}, ["c", "b"], ["b", "c"]),
        ({"ordered": "ascending"}, ["a", "c"], ["c", "a"]),
        ({"slope": {"between": [0.9, 1.1], "log": True}}, ["a", "b", "c"], ["x", "y"]),
    ],
)
def test_every_comparison_of_variants_both_ways(check, better, worse):
    noise = np.linspace(-0.01, 0.01, 8)
    axis = {"a": 1.0, "b": 2.0, "c": 4.0, "x": 1.0, "y": 2.0}
    rows = {n: [v * (1 + e) for e in noise] for n, v in (axis | {"y": 4.0}).items()}
    quantities = measured(axis=axis, **rows)
    good = claim(check=check, subject=better, control={"variants": worse})
    bad = claim(check=check, subject=worse, control={"variants": better})
    assert verdict(good, quantities) == "REPRODUCED"
    assert verdict(bad, quantities) == "NOT REPRODUCED"


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_floats_at_all_give_a_verdict(values):
    quantities = measured(sgd=[None if v != v else v for v in values], gd=[0.0] * len(values))
    found = judge_one(claim(seeds_at_least=1), quantities, "standard")
    if any(v != v for v in values):
        assert found.verdict == "INCONCLUSIVE"


def test_a_comparison_fails_where_one_neighbor_is_out_of_order():
    quantities = measured(a=[1.0, 1.1] * 4, b=[0.5, 0.6] * 4, c=[3.0, 3.1] * 4)
    a_claim = claim(
        check={"increasing": True}, subject=["a", "b", "c"], control={"none": "none is needed here"}
    )
    assert verdict(a_claim, quantities) == "NOT REPRODUCED"


def test_a_control_of_the_subjects_own_values_is_found():
    other = [v + 0.01 for v in HIGH]
    quantities = measured(sgd=HIGH, rolled=[*HIGH[1:], HIGH[0]], gd=other, one=[1.0] * 8)
    for control, found in (("sgd", True), ("rolled", True), ("gd", False), ("one", False)):
        a_claim = claim(control={"variant": control})
        assert control_is_reordered(a_claim, quantities) is found
    # a constant agrees with a constant by chance, and so do counts
    a_claim = claim(subject="one", control={"variant": "same"})
    assert not control_is_reordered(a_claim, measured(one=[1.0] * 4, same=[1.0] * 4))
    a_claim = claim(control={"variant": "rolled"})
    assert not control_is_reordered(a_claim, measured("proportion", sgd=[0, 1], rolled=[1, 0]))


def test_a_reversed_list_of_variants_is_found_also_under_another_quantitys_name():
    quantities = measured(a=[1.0, 1.1], b=[2.0, 2.1], c=[3.0, 3.1])
    quantities.quantities["p"] = quantities.quantities["q"]
    check = {"increasing": True}
    for control in ({"variants": ["b", "a"]}, {"quantity": "p"}):
        assert control_is_reordered(
            claim(check=check, subject=["a", "b"], control=control), quantities
        )
    other = claim(check=check, subject=["a", "b"], control={"variants": ["b", "c"]})
    assert not control_is_reordered(other, quantities)


@pytest.mark.parametrize(("positions", "found"), [((2.0, 1.0), True), ((1.0, 7.0), False)])
def test_the_same_values_along_another_axis_are_another_question(positions, found):
    quantities = measured(axis={"a": 1.0, "b": 2.0}, a=[1.0, 1.1], b=[2.0, 2.1])
    moved = dict(zip("ab", positions, strict=True))
    quantities.quantities["p"] = quantities.quantities["q"].model_copy(update={"axis": moved})
    check = {"slope": {"between": [0.9, 1.1], "log": True}}
    a_claim = claim(check=check, subject=["a", "b"], control={"quantity": "p"})
    assert control_is_reordered(a_claim, quantities) is found


def test_theory_values_are_taken_per_seed():
    quantities = measured(sgd=[1.0, 2.0, 3.0, 4.0], gd=[2.0, 4.0, 6.0, 8.0])
    theory = Quantity(
        meaning="t", values={v: {str(i): i + 1.0 for i in range(4)} for v in ("sgd", "gd")}
    )
    quantities.quantities["theory"] = theory
    a_claim = claim(check={"within": {"percent": 10, "of_quantity": "theory"}})
    found = judge_one(a_claim, quantities, "standard")
    assert found.verdict == "REPRODUCED"
    assert found.subject
    assert found.subject.estimate == 1.0
    assert found.control
    assert found.control.estimate == 2.0


def test_violations_are_counted():
    a_claim = claim(check={"never_violated": True})
    assert verdict(a_claim, measured("violations", sgd=[0] * 4, gd=[3, 1, 2, 5])) == "REPRODUCED"
    assert (
        verdict(a_claim, measured("violations", sgd=[0, 0, 1, 0], gd=[3] * 4)) == "NOT REPRODUCED"
    )
    # a control in which one seed shows no violation proves little
    assert verdict(a_claim, measured("violations", sgd=[0] * 4, gd=[3, 0, 2, 5])) == "VACUOUS"
    with pytest.raises(UserError, match="go together"):
        verdict(claim(), measured("violations", sgd=[0] * 4, gd=[1] * 4))


def test_an_exact_quantity_needs_one_value_only():
    a_claim = claim(check={"between": [1979, 1979]}, seeds_at_least=1)
    assert verdict(a_claim, measured("exact", sgd=[1979], gd=[1991])) == "REPRODUCED"
    assert verdict(a_claim, measured("exact", sgd=[1991], gd=[1979])) == "NOT REPRODUCED"
    with pytest.raises(UserError, match="differs between seeds"):
        verdict(a_claim, measured("exact", sgd=[1979, 1980], gd=[1]))


def test_sixteen_of_sixteen_is_not_certainty():
    quantities = measured("proportion", sgd=[1] * 16, gd=[0] * 16)
    assert verdict(claim(check={"above": 0.75}), quantities) == "REPRODUCED"
    assert verdict(claim(check={"above": 0.9}), quantities) == "INCONCLUSIVE"
    with pytest.raises(UserError, match="0 or 1"):
        verdict(claim(), measured("proportion", sgd=[0.5] * 4, gd=[0] * 4))


def test_stand_ins_never_reproduce():
    quantities = measured(dataset="mnist", sgd=HIGH, gd=LOW)
    found = judge_one(claim(), quantities, "standard")
    assert (found.verdict, found.data_source) == ("STAND-IN", "mnist: stand-in")
    assert found.subject
    assert found.subject.satisfies == "yes"
    genuine = judge_one(claim(), measured(dataset="cifar10", sgd=HIGH, gd=LOW), "standard")
    assert (genuine.verdict, genuine.data_source) == ("REPRODUCED", "cifar10: mirror")


def test_an_expected_failure_and_a_claim_that_is_not_run():
    failing = claim(expect="fails", because="the factor is misprinted")
    found = judge_one(failing, measured(sgd=LOW, gd=LOW), "standard")
    assert found.verdict == found.expected == "NOT REPRODUCED"
    assert "misprinted" in found.note
    parts = dict.fromkeys(("quantity", "subject", "check", "control"))
    idle = claim(**parts, not_run="the constant needs 1e8 steps")
    found = judge_one(idle, measured(), "standard")
    assert found.verdict == found.expected == "NOT RUN"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"quantity": "p"}, "Did you mean 'q'|Valid: q"),
        ({"subject": "sdg"}, "Did you mean 'sgd'"),
        ({"control": {"variant": "sgdd"}}, "Did you mean 'sgd'"),
        (
            {"check": {"within": {"percent": 1, "of_quantity": "qq"}}},
            "no quantity 'qq'",
        ),
    ],
)
def test_a_misspelled_name_never_passes_silently(changes, words):
    with pytest.raises(UserError, match=words):
        verdict(claim(**changes), measured(sgd=HIGH, gd=LOW))


def test_the_bootstrap_is_scipys_bca():
    random = np.random.default_rng(3)
    for _ in range(3):
        values = random.gamma(2, size=12)
        ours = statistics.mean_interval(values)
        theirs = scipy.stats.bootstrap(
            (values,), np.mean, method="BCa", n_resamples=9999, rng=random
        ).confidence_interval
        width = theirs.high - theirs.low
        assert ours[1] == pytest.approx(theirs.low, abs=0.05 * width)
        assert ours[2] == pytest.approx(theirs.high, abs=0.05 * width)


def test_the_exact_interval_is_scipys():
    for n, k in ((16, 16), (16, 0), (20, 7)):
        values = np.array([1.0] * k + [0.0] * (n - k))
        expected = scipy.stats.binomtest(k, n).proportion_ci(0.95, "exact")
        share, low, high = statistics.proportion_interval(values)
        assert (share, low, high) == pytest.approx((k / n, expected.low, expected.high))


@pytest.mark.slow
def test_the_interval_covers_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    hits = 0
    for _ in range(300):
        _, low, high = statistics.mean_interval(random.normal(size=12))
        hits += low <= 0 <= high
    assert 0.86 <= hits / 300 <= 0.99


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=10),
)
@settings(max_examples=60, deadline=None)
def test_any_finite_values_give_a_verdict_and_shifting_up_never_hurts(sgd, gd):
    a_claim = claim(seeds_at_least=1)
    quantities = measured(sgd=sgd, gd=gd)
    before = judge_one(a_claim, quantities, "standard")
    assert before.subject
    assert before.subject.low is not None
    assert before.subject.low <= before.subject.high
    shifted = measured(sgd=[v + 1e7 for v in sgd], gd=gd)
    after = judge_one(a_claim, shifted, "standard")
    if len(sgd) > 1:
        assert after.verdict in ("REPRODUCED", "VACUOUS")
    if before.verdict == "REPRODUCED":
        assert after.verdict == "REPRODUCED"
