"""`claims.csv`, `report.md` and the table on the terminal."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

from sgdclaims.report.collect import Judged, Results
from sgdclaims.results import Interval

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
COLUMNS = (
    "claim",
    "paper",
    "figure",
    "verdict",
    "expected",
    "estimate",
    "ci_low",
    "ci_high",
    "control_estimate",
    "control_satisfies",
    "seeds",
    "data_source",
)


def number(value: float | None, bounds: Sequence[float] = ()) -> str:
    """Four significant digits, for people; more where it would read as a bound that it is not equal to."""
    if value is None:
        return "undefined"
    for digits in range(4, 17):
        told = f"{value:.{digits}g}"
        if all(float(told) != bound or value == bound for bound in bounds):
            return told
    return repr(value)


def bounds_of(check: str) -> list[float]:
    """The numbers in the words of a check."""
    return [float(found) for found in NUMBER.findall(check)]


def with_interval(interval: Interval | None, check: str = "") -> str:
    """`estimate [low, high]`, with enough digits to differ from the numbers in the words of a check."""
    if interval is None:
        return "-"
    bounds = bounds_of(check)
    told = [number(v, bounds) for v in (interval.estimate, interval.low, interval.high)]
    if interval.low == interval.high:
        return told[0]
    return f"{told[0]} [{told[1]}, {told[2]}]"


def claims_csv(results: Results) -> str:
    """One row per claim; numbers in full precision, empty where there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for judged in results.judged:
        v = judged.verdict
        subject = v.subject
        bounds = (subject.estimate, subject.low, subject.high) if subject else (None,) * 3
        writer.writerow(
            [
                v.claim,
                v.paper,
                v.figure,
                v.verdict,
                v.expected,
                *("" if b is None else repr(b) for b in bounds),
                repr(v.control.estimate) if v.control and v.control.estimate is not None else "",
                "" if v.control_satisfies is None else str(v.control_satisfies).lower(),
                subject.seeds if subject else "",
                v.data_source,
            ]
        )
    return out.getvalue()


def terminal_table(results: Results) -> str:
    """Aligned plain text: claim, verdict, whether it is the expected one, measured, check."""
    rows = [("claim", "verdict", "", "measured [95% interval]", "check")]
    for judged in results.judged:
        v = judged.verdict
        if judged.waiting:
            continue
        rows.append((v.claim, v.verdict, _mark(judged), with_interval(v.subject, v.check), v.check))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]
    lines.insert(1, "-" * min(110, max(map(len, lines))))
    return "\n".join(lines)


def _mark(judged: Judged) -> str:
    if judged.as_expected:
        return "as expected"
    if judged.verdict.verdict == "STAND-IN":
        return "not the paper's data"
    return "UNEXPECTED" if judged.verdict.binding else "not enforced"


def cell(text: str) -> str:
    """One line of text for a Markdown table's cell."""
    return " ".join(text.replace("|", "\\|").split())


def report_markdown(results: Results, figures: Path, folder: Path) -> str:
    """Counts, data, machine; then per paper and figure the verdicts. Figures are linked relatively."""
    relative = os.path.relpath(figures, folder)
    lines = [f"# Report, scale {results.scale}", "", f"{results.headline}.", ""]
    lines += ["| verdict | claims |", "|---|---|"]
    lines += [f"| {verdict} | {count} |" for verdict, count in results.counts.items()]
    lines += ["", "**Data.** " + ("; ".join(f"{k}: {v}" for k, v in results.data.items()) or "-")]
    environment = ", ".join(f"{k} {v}" for k, v in results.environment.items())
    lines += ["", f"**Environment.** {environment or '-'}", ""]
    for paper in results.papers:
        lines += [f"## {paper.paper.entry.title}", ""]
        for figure in paper.figures:
            entry = figure.figure.entry
            name = figure.figure.id
            lines += [f"### {entry.number}: {entry.title}", ""]
            lines += [f"![{entry.title}]({relative}/{name}.png)", ""]
            lines += [f"Rebuild: `snakemake --cores 2 {name}`", ""]
            lines += [
                "| claim | says | check | measured | control | seeds | verdict |",
                "|---|---|---|---|---|---|---|",
            ]
            lines += [_markdown_row(judged) for judged in figure.judged]
            lines.append("")
    return "\n".join(lines)


def _markdown_row(judged: Judged) -> str:
    v, claim = judged.verdict, judged.claim
    verdict = f"**{v.verdict}**" + ("" if judged.as_expected else f" ({_mark(judged)})")
    note = f"<br>{v.note}" if v.note else ""
    cells = [
        v.claim,
        f"{claim.title}. “{claim.quote}” ({claim.source})",
        v.check,
        with_interval(v.subject, v.check),
        with_interval(v.control, v.check),
        str(v.subject.seeds) if v.subject else "-",
        verdict + note,
    ]
    return "| " + " | ".join(map(cell, cells)) + " |"
