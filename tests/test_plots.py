"""Every figure at quick scale with tiny settings: the quantities that its claims name, and a drawing."""

from __future__ import annotations

import hashlib

import pytest
import torch

import tiny
from sgdclaims import catalog, steps
from sgdclaims.claims import parse
from sgdclaims.claims.judge import control_is_reordered
from sgdclaims.experiments.base import Outcome
from sgdclaims.results import Quantity

CLAIMS = parse.parse(tiny.ROOT / "paper_claims.md")
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", tiny.PAPERS.figures)
def test_a_figure_from_training_to_drawing(name, places):
    threads = torch.get_num_threads()
    steps.train(places, name, "quick", None, 1)
    torch.set_num_threads(threads)
    verdicts = steps.judge(places, name, "quick")  # a claim that names what is not measured raises
    expected = [claim.id for claim in CLAIMS if claim.figure == name]
    assert [verdict.claim for verdict in verdicts.verdicts] == expected
    quantities = steps.read_quantities(places, "quick", name)
    for quantity in quantities.quantities.values():
        assert quantity.meaning
        stand_in = quantity.dataset in catalog.DATASETS
        assert stand_in or quantity.dataset == "synthetic"
    assert not yes_or_no(quantities.quantities), "a share of seeds needs kind='proportion'"
    for claim in CLAIMS:
        if claim.figure == name:
            assert not control_is_reordered(claim, quantities), claim.id
    for verdict in verdicts.verdicts:
        if verdict.data_source != "synthetic":
            assert verdict.verdict in ("STAND-IN", "NOT RUN")
    steps.plot(places, name, "quick")
    first = drawn(places, name)
    steps.plot(places, name, "quick")
    assert drawn(places, name) == first, "the same figure must give the same bytes"


def yes_or_no(quantities: dict[str, Quantity]) -> list[str]:
    """Quantities of kind mean whose values are all zero or one, and both occur.

    A bootstrap of such values takes six of six seeds for certainty. All of them equal tells nothing: a ratio or a count
    may be zero everywhere at tiny settings.
    """
    found = []
    for name, quantity in quantities.items():
        values = [value for row in quantity.values.values() for value in row.values()]
        if quantity.kind == "mean" and set(values) == {0.0, 1.0}:
            found.append(name)
    return found


def test_yes_or_no_answers_are_recognized():
    outcome = Outcome()
    outcome.quantity("answer", {"a": {0: 1, 1: 1}, "b": {0: 0, 1: 0}}, meaning="yes or no")
    outcome.quantity("share", {"a": {0: 1}, "b": {0: 0}}, meaning="share", kind="proportion")
    outcome.quantity("number", {"a": {0: 1.0}, "b": {0: 0.5}}, meaning="a number")
    outcome.quantity("zero", {"a": {0: 0.0}, "b": {0: 0.0}}, meaning="a count")
    assert yes_or_no(outcome.quantities) == ["answer"]


def drawn(places: steps.Places, name: str) -> list[str]:
    files = [places.figures / f"{name}{suffix}" for suffix in (".pdf", ".png")]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]


@pytest.mark.parametrize("name", ["ne_fig4_warmup_stability", "ls_fig2_two_layer"])
def test_training_twice_gives_the_same_bytes(name, places):
    threads = torch.get_num_threads()
    folder = places.of_figure("quick", name)
    runs = []
    for _ in range(2):
        steps.train(places, name, "quick", None, 1)
        runs.append(
            [(folder / f).read_bytes() for f in ("quantities.json", "trajectories.parquet")]
        )
    torch.set_num_threads(threads)
    assert runs[0] == runs[1]
