"""`claims.csv`, `report.md` and the table on the terminal."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from sgdclaims.report.collect import Judged, Results
from sgdclaims.results import Interval

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


def number(value: float | None) -> str:
    """Four significant digits, for people."""
    return "undefined" if value is None else f"{value:.4g}"


def with_interval(interval: Interval | None) -> str:
    """`estimate [low, high]`."""
    if interval is None:
        return "-"
    if interval.low == interval.high:
        return number(interval.estimate)
    return f"{number(interval.estimate)} [{number(interval.low)}, {number(interval.high)}]"


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
        if v.verdict == "NOT RUN" and not judged.claim.not_run:
            continue
        rows.append((v.claim, v.verdict, _mark(judged), with_interval(v.subject), v.check))
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
        with_interval(v.subject),
        with_interval(v.control),
        str(v.subject.seeds) if v.subject else "-",
        verdict + note,
    ]
    return "| " + " | ".join(map(cell, cells)) + " |"
