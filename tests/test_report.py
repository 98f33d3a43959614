"""The reports: every verdict shown, hostile text escaped, links that resolve, a gate that can close."""

from __future__ import annotations

import csv
import io
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sgdclaims import catalog, reporting, steps
from sgdclaims.claims import parse
from sgdclaims.report.collect import VERDICTS, collect
from sgdclaims.report.html import report_html
from sgdclaims.report.listing import listing
from sgdclaims.report.table import COLUMNS, claims_csv, report_markdown, terminal_table
from sgdclaims.results import Quantities, Quantity, Verdicts, write_model

ROOT = Path(__file__).parent.parent
FIGURE = "ne_fig5_layer_norms"
HOSTILE = "</td><script>alert('x')</script> | pipe"

SUBJECTS = {
    "REPRODUCED": [1.0, 1.1, 1.2],
    "NOT REPRODUCED": [0.1, 0.2, 0.3],
    "INCONCLUSIVE": [0.1, 0.9, 0.2],
    "VACUOUS": [1.0, 1.1, 1.2],
    "STAND-IN": [1.0, 1.1, 1.2],
}


def block(number: int, verdict: str) -> str:
    head = (
        f"## NE-F5-{number}: {HOSTILE}\n\n```yaml\nid: NE-F5-{number}\npaper: noise_equilibrium\n"
        f'figure: {FIGURE}\nquote: "{HOSTILE}"\nsource: Figure 5\n'
    )
    if verdict == "NOT RUN":
        return head + 'not_run: "it would take a year"\n```\n\n'
    slug = verdict.replace(" ", "_").lower()
    control = "high" if verdict == "VACUOUS" else "low"
    return (
        head + f"quantity: {'q_stand_in' if verdict == 'STAND-IN' else 'q'}\nsubject: {slug}\n"
        f"check: {{above: 0.5}}\ncontrol: {{variant: {control}}}\n```\n\n"
    )


@pytest.fixture
def places(tmp_path) -> steps.Places:
    """A checkout with one claim of every verdict."""
    claims = tmp_path / "paper_claims.md"
    claims.write_text("".join(block(i, v) for i, v in enumerate(VERDICTS)), encoding="utf-8")
    values = {v.replace(" ", "_").lower(): row for v, row in SUBJECTS.items()}
    values |= {"low": [0.0, 0.1, 0.2], "high": [1.0, 1.1, 1.2]}
    per_seed = {n: {str(i): v for i, v in enumerate(row)} for n, row in values.items()}
    here = steps.Places(
        ROOT / "config", tmp_path / "data", tmp_path / "results", tmp_path / "figures", claims
    )
    parameters = here.catalog().figure(FIGURE).parameters("standard").model_dump(mode="json")
    provenance = {
        "dataset": "mnist",
        "kind": "stand-in",
        "source": "stand-in",
        "origin": HOSTILE,
        "md5": {},
    }
    quantities = Quantities.model_validate(
        {
            "figure": FIGURE,
            "scale": "standard",
            "parameters": parameters,
            "environment": {"python": "3.11", "cpu": HOSTILE},
            "datasets": {"mnist": provenance},
            "quantities": {
                "q": Quantity(meaning="m", values=per_seed),
                "q_stand_in": Quantity(meaning="m", dataset="mnist", values=per_seed),
            },
        }
    )
    write_model(here.of_figure("standard", FIGURE) / "quantities.json", quantities)
    steps.judge(here, FIGURE, "standard")
    return here


def gathered(places):
    return collect(places.catalog(), parse.parse(places.claims), places.results, "standard")


class Page(HTMLParser):
    """Collects ids, links and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        table = dict(attrs)
        self.scripts += tag == "script"
        if "id" in table:
            self.ids.append(table["id"] or "")
        if tag == "a":
            self.links.append(table.get("href") or "")


def test_every_verdict_is_reached(places):
    assert [j.verdict.verdict for j in gathered(places).judged] == list(VERDICTS)


def test_the_csv_has_the_promised_columns(places):
    rows = list(csv.DictReader(io.StringIO(claims_csv(gathered(places)))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["verdict"] for row in rows] == list(VERDICTS)
    first = rows[0]
    assert float(first["ci_low"]) <= float(first["estimate"]) <= float(first["ci_high"])
    assert first["control_satisfies"] == "false"
    assert first["seeds"] == "3"
    assert rows[4]["data_source"] == "mnist: stand-in"
    assert rows[5]["estimate"] == ""


def test_the_page_is_well_formed_self_contained_and_escaped(places):
    html = report_html(gathered(places), places.figures)
    page = Page()
    page.feed(html)
    assert page.scripts == 1  # ours; the hostile ones are text
    assert "<script>alert" not in html
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        assert link.startswith(("#", "data:image/png"))
        if link.startswith("#"):
            assert link[1:] in page.ids
    for judged in gathered(places).judged:
        assert judged.claim.id in page.ids
    assert "http" not in html.replace("http-equiv", "")


def test_the_page_is_the_same_each_time(places):
    results = gathered(places)
    assert report_html(results, places.figures) == report_html(results, places.figures)


def test_markdown_and_terminal_show_every_verdict(places):
    results = gathered(places)
    markdown = report_markdown(results, places.figures, places.results / "standard")
    table = terminal_table(results)
    for judged in results.judged:
        for text in (markdown, table):
            assert judged.claim.id in text
            assert judged.verdict.verdict in text
    rows = [line for line in markdown.splitlines() if line.startswith("| NE-F5")]
    assert all(line.replace("\\|", "").count("|") == 8 for line in rows)


def test_the_gate_names_what_is_unexpected_and_spares_stand_ins(places, caplog):
    assert reporting.gate(places, "standard") == 1
    for number, verdict in enumerate(VERDICTS):
        named = f"NE-F5-{number}: {verdict}" in caplog.text
        assert named == (verdict in ("NOT REPRODUCED", "INCONCLUSIVE", "VACUOUS"))


def test_the_gate_opens_when_all_is_as_expected(places):
    good = [block(0, "REPRODUCED"), block(5, "NOT RUN"), block(4, "STAND-IN")]
    places.claims.write_text("".join(good), encoding="utf-8")
    steps.judge(places, FIGURE, "standard")
    assert reporting.gate(places, "standard") == 0


def test_a_binding_claim_without_results_is_unexpected(places):
    (places.of_figure("standard", FIGURE) / "verdicts.json").unlink()
    assert reporting.gate(places, "standard") == 1


def test_reports_are_written_and_listed(places, capsys):
    reporting.run(places, "report", "standard")
    for name in ("claims.csv", "report.md", "report.html"):
        assert (places.results / "standard" / name).stat().st_size > 100
    reporting.run(places, "verdicts", "standard")
    assert "report.html" in capsys.readouterr().out


def test_the_list_names_everything():
    papers = catalog.load(ROOT / "config")
    claims = parse.parse(ROOT / "paper_claims.md")
    text = listing(papers, claims, ROOT / "results")
    for name in (*papers.figures, *(claim.id for claim in claims)):
        assert name in text


@pytest.mark.parametrize("content", ["{", "[]", '{"figure": 1}', "\x00"])
def test_a_damaged_results_file_is_one_line(places, content):
    file = places.of_figure("standard", FIGURE) / "verdicts.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(catalog.UserError, match="sgdclaims judge"):
        gathered(places)


def test_verdicts_survive_a_round_trip(places):
    from sgdclaims.results import read_model

    file = places.of_figure("standard", FIGURE) / "verdicts.json"
    before = file.read_bytes()
    write_model(file, read_model(file, Verdicts, ""))
    assert file.read_bytes() == before


def test_the_errata_are_those_of_the_reference_run():
    from sgdclaims.report.reference import FOLDER, errata

    claims = parse.parse(ROOT / "paper_claims.md")
    table = (ROOT / FOLDER / "claims.csv").read_text(encoding="utf-8")
    assert (ROOT / "docs/errata.md").read_text(encoding="utf-8") == errata(claims, table)
    for claim in claims:  # a misprint is judged in both forms
        if claim.erratum and claim.expect == "fails":
            others = [c for c in claims if c.erratum == claim.erratum and c.expect == "holds"]
            assert others, f"{claim.id} has no corrected form"


def test_the_readme_says_what_the_reference_run_found():
    from sgdclaims.report.reference import FOLDER, readme_part, with_part

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    claims = (ROOT / FOLDER / "claims.csv").read_text(encoding="utf-8")
    assert with_part(readme, readme_part(claims)) == readme
    for figure in catalog.load(ROOT / "config").figures:
        assert (ROOT / FOLDER / f"{figure}.png").is_file()
