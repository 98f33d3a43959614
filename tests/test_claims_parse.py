"""The parser of paper_claims.md: what it accepts, and what it says of what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgdclaims import catalog
from sgdclaims.claims import parse
from sgdclaims.errors import UserError

ROOT = Path(__file__).parent.parent
GOOD = """# Claims

## NE-F1-a: it holds

Because.

```yaml
id: NE-F1-a
paper: p
figure: f
quote: "says so"
source: Figure 1
quantity: q
subject: sgd
check: {above: 0.5}
control: {variant: gd}
```
"""


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "claims.md"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_good_claim(tmp_path):
    (claim,) = parse.parse(write(tmp_path, GOOD))
    assert claim.id == "NE-F1-a"
    assert claim.title == "it holds"
    assert claim.prose == "Because."
    assert claim.line == 3
    assert claim.expected == "REPRODUCED"
    assert claim.binding == ["standard", "paper"]


def test_the_digest_follows_the_block_and_not_the_prose(tmp_path):
    (claim,) = parse.parse(write(tmp_path, GOOD))
    (reworded,) = parse.parse(write(tmp_path, GOOD.replace("Because.", "Since.\n\n")))
    (changed,) = parse.parse(write(tmp_path, GOOD.replace("0.5", "0.6")))
    assert claim.digest == reworded.digest
    assert claim.digest != changed.digest


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("quote:", "qoute:", ["line 11", "qoute", "Did you mean 'quote'"]),
        ("{above: 0.5}", "{abov: 0.5}", ["line 15", "check.abov", "Did you mean 'above'"]),
        ("{above: 0.5}", "{above: 0.5, below: 1}", ["line 15", "exactly one comparator"]),
        ("{above: 0.5}", "{}", ["line 15", "exactly one comparator"]),
        ("{above: 0.5}", "{above: much}", ["line 15", "check.above"]),
        ("{above: 0.5}", "{above: .nan}", ["line 15", "check.above"]),
        ("{above: 0.5}", "{between: [2, 1]}", ["line 15", "lower bound"]),
        ("{above: 0.5}", "{within: {percent: 10}}", ["line 15", "of_quantity"]),
        ("{above: 0.5}", "{increasing: true}", ["list of variants"]),
        ("subject: sgd", "subject: [sgd, gd]", ["needs one variant"]),
        ("control: {variant: gd}", "control: {}", ["line 16", "names no variant"]),
        ("control: {variant: gd}", "control: {none: short}", ["line 16", "control.none"]),
        ("control: {variant: gd}\n", "", ["lacks control"]),
        ("control: {variant: gd}", "control: {variant: gd}\nexpect: fails", ["because"]),
        (
            "control: {variant: gd}",
            "control: {variant: gd}\nbinding: [std]",
            ["line 17", "binding"],
        ),
        ("id: NE-F1-a", "id: NE-F1-b", ["line 8", "NE-F1-b", "heading NE-F1-a"]),
        ("id: NE-F1-a", "id: NE-F1-a\nid: NE-F1-a", ["line 9", "occurs twice"]),
        ("paper: p", "paper: [p", ["line 10"]),
        ("paper: p", "paper: !!python/object/apply:os.system [ls]", ["line 9"]),
        ("```yaml", "```text", ["line 3", "no YAML block"]),
        ("control: {variant: gd}\n```", "control: {variant: gd}", ["line 7", "never closed"]),
        ("## NE-F1-a: it holds", "## NE-F1-a it holds", ["line 3", "## ID: title"]),
    ],
)
def test_a_malformed_block_names_file_line_and_field(tmp_path, old, new, words):
    assert old in GOOD
    file = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        parse.parse(file)
    message = str(caught.value)
    assert str(file) in message
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_duplicate_id(tmp_path):
    with pytest.raises(UserError, match=r"line 18.*stands on line 3 already"):
        parse.parse(write(tmp_path, GOOD + GOOD.replace("# Claims\n\n", "")))


def test_a_claim_that_cannot_be_run(tmp_path):
    text = GOOD[: GOOD.index("quantity:")] + 'not_run: "needs 1e8 steps"\n```\n'
    (claim,) = parse.parse(write(tmp_path, text))
    assert claim.expected == "NOT RUN"
    with pytest.raises(UserError, match="'not_run' excludes quantity"):
        parse.parse(write(tmp_path, GOOD.replace("gd}\n", 'gd}\nnot_run: "needs 1e8 steps"\n')))


def test_a_missing_file(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        parse.parse(tmp_path / "nothing.md")


def test_every_claim_of_the_repository_fits_the_catalog():
    claims = parse.parse(ROOT / "paper_claims.md")
    papers = catalog.load(ROOT / "config")
    parse.check_against(claims, papers)
    assert {claim.figure for claim in claims} == set(papers.figures)
    for claim in claims:
        if claim.not_run is None:
            assert claim.control, f"{claim.id} has no control"


@given(st.text(max_size=400))
@settings(max_examples=300)
def test_any_text_gives_claims_or_one_line(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("any") / "claims.md"
    file.write_text(text, encoding="utf-8", errors="replace")
    try:
        parse.parse(file)
    except UserError as mistake:
        assert "\n" not in str(mistake)


@given(st.data())
@settings(max_examples=300)
def test_any_damage_to_a_good_file_gives_claims_or_one_line(tmp_path_factory, data):
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 30)))
    inserted = data.draw(st.text(st.sampled_from("{}[]:-#`'\"\n &*!|>%@abc0.,"), max_size=8))
    file = tmp_path_factory.mktemp("damaged") / "claims.md"
    file.write_text(GOOD[:start] + inserted + GOOD[end:], encoding="utf-8")
    try:
        parse.parse(file)
    except UserError as mistake:
        assert str(file) in str(mistake)
        assert "\n" not in str(mistake)
