"""The steps that read all results at once: report, gate, verdicts, list. No torch, no pandas."""

from __future__ import annotations

from pathlib import Path

from sgdclaims.catalog import check_scale
from sgdclaims.progress import LOG
from sgdclaims.report.collect import Results, collect
from sgdclaims.report.table import claims_csv, report_markdown, terminal_table, with_interval
from sgdclaims.results import atomic
from sgdclaims.steps import Places, claims_of


def gather(places: Places, scale: str) -> Results:
    """All results at a scale. Raises UserError on a malformed file."""
    return collect(places.catalog(), claims_of(places), places.results, check_scale(scale))


def write_report(places: Places, scale: str) -> None:
    """Writes claims.csv, report.md and report.html."""
    from sgdclaims.report.html import report_html

    results = gather(places, scale)
    folder = places.results / scale
    texts = {
        "claims.csv": claims_csv(results),
        "report.md": report_markdown(results, places.figures, folder),
        "report.html": report_html(results, places.figures),
    }
    for name, text in texts.items():
        with atomic(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    LOG.info("%s", results.headline)
    LOG.info("Report: %s", folder / "report.html")


def gate(places: Places, scale: str) -> int:
    """1 if a binding verdict is not the expected one, with one line for each."""
    results = gather(places, scale)
    for judged in results.unexpected:
        v = judged.verdict
        LOG.error(
            "%s: %s, expected %s: %s is %s, the check is '%s'. %s See %s.",
            v.claim,
            v.verdict,
            v.expected,
            v.quantity or "nothing",
            with_interval(v.subject, v.check),
            v.check,
            v.note,
            judged.claim.place,
        )
    LOG.info("%s", results.headline)
    return 1 if results.unexpected else 0


def run(places: Places, step: str, scale: str) -> int:
    """Dispatches; returns the exit status."""
    match step:
        case "report":
            write_report(places, scale)
        case "gate":
            return gate(places, scale)
        case "verdicts":
            show_verdicts(places, scale)
        case "reference":
            from sgdclaims.report.reference import write_reference

            root = places.claims.parent
            write_reference(root, gather(places, "standard"), places.figures)
        case "cost":
            from sgdclaims.report.cost import cost_table, costs

            print(cost_table(costs(places.catalog(), places.results, scale), scale))
        case "list":
            from sgdclaims.report.listing import listing

            print(listing(places.catalog(), claims_of(places), places.results))
    return 0


def show_verdicts(places: Places, scale: str) -> None:
    """Prints the table, the headline and the report's path."""
    results = gather(places, scale)
    print(terminal_table(results))
    print(f"\n{results.headline}.")
    report: Path = places.results / scale / "report.html"
    if report.is_file():
        print(f"Report: {report}")
