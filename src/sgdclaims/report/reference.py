"""The committed reference run, and the part of the README that is made from it.

`docs/reference/` holds the outcome of a full run at standard scale: claims.csv, report.md and the figures. The README's
numbers and pictures come from there; a test holds the two together.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

from sgdclaims.claims.schema import Claim
from sgdclaims.errors import UserError
from sgdclaims.report.collect import Results
from sgdclaims.report.table import bounds_of, cell, claims_csv, number, report_markdown
from sgdclaims.results import atomic

FOLDER = Path("docs/reference")
BEGIN = "<!-- made by `python -m sgdclaims reference`; do not edit -->"
END = "<!-- end -->"
SHOWN = ("ls_fig2_two_layer", "ne_fig5_layer_norms")


def readme_part(claims: str) -> str:
    """Counts and two figures with their verdicts, from the text of a claims.csv."""
    rows = list(csv.DictReader(io.StringIO(claims)))
    counts = Counter(row["verdict"] for row in rows)
    failed = sum(r["verdict"] == r["expected"] == "NOT REPRODUCED" for r in rows)
    lines = [
        f"In the [reference run](docs/reference/report.md), {counts['REPRODUCED']} of {len(rows)} claims are",
        f"reproduced, {failed} are not reproduced and are expected not to be, each with the reason.",
        "",
    ]
    for figure in SHOWN:
        of_figure = [row for row in rows if row["figure"] == figure]
        verdicts = Counter(row["verdict"] for row in of_figure)
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        lines += [f"![{figure}](docs/reference/{figure}.png)", "", f"`{figure}`: {told}.", ""]
    return "\n".join(lines)


def errata(claims: list[Claim], table: str) -> str:
    """`docs/errata.md`: the forms of every suspected misprint side by side, from a claims.csv."""
    rows = {row["claim"]: row for row in csv.DictReader(io.StringIO(table))}
    lines = [
        "# Errata",
        "",
        "Made by `python -m sgdclaims reference` from the claims and the reference run; do not edit.",
        "For a formula that we suspect to be misprinted, every form is judged with the same check. The",
        "papers were read in a machine-extracted copy: a printed form may be a slip of the extraction.",
        "",
    ]
    names = {claim.erratum for claim in claims if claim.erratum}
    for name in sorted(names, key=_natural):
        lines += [
            f"## {name}",
            "",
            "| form | source | check | measured | verdict |",
            "|---|---|---|---|---|",
        ]
        for claim in claims:
            if claim.erratum != name:
                continue
            row = rows.get(claim.id, {})
            check = claim.check.words() if claim.check else "-"
            estimate = row.get("estimate")
            measured = number(float(estimate), bounds_of(check)) if estimate else "-"
            reason = claim.because or claim.not_run
            why = f" {reason}" if reason else ""
            verdict = f"{row.get('verdict', 'NOT RUN')}{':' if why else ''}{why}"
            form = f"{claim.title} (`{claim.quote}`)"
            cells = (form, claim.source, check, measured, verdict)
            lines.append("| " + " | ".join(map(cell, cells)) + " |")
        verdicts = {rows.get(c.id, {}).get("verdict") for c in claims if c.erratum == name}
        if verdicts == {"REPRODUCED"}:
            lines += [
                "",
                "Every form satisfies the check: as far as these data can tell, the suspicion is withdrawn.",
            ]
        lines.append("")
    return "\n".join(lines)


def _natural(name: str) -> tuple[str, int]:
    """NE-E9 before NE-E10."""
    head, _, number = name.rpartition("E")
    return head, int(number)


def with_part(readme: str, part: str) -> str:
    """The README with the generated part replaced. Raises UserError when its markers are missing."""
    if BEGIN not in readme or END not in readme:
        raise UserError("README.md lacks the markers of the generated part", f"Add {BEGIN}, {END}.")
    before, rest = readme.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{part}\n{END}{rest.split(END, 1)[1]}"


def write_reference(root: Path, results: Results, figures: Path) -> None:
    """Replaces docs/reference/ and the README's part by the given results.

    Raises UserError, before anything is written, when a figure has no results or not those of a commit.
    """
    _refuse_incomplete(results, figures)
    folder = root / FOLDER
    table = claims_csv(results)
    texts = {
        folder / "claims.csv": table,
        folder / "report.md": report_markdown(results, folder, folder),
        root / "docs/errata.md": errata([j.claim for j in results.judged], table),
        root / "README.md": with_part(
            (root / "README.md").read_text(encoding="utf-8"), readme_part(table)
        ),
    }
    for path, text in texts.items():
        with atomic(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    for figure in results.figures:
        picture = figures / f"{figure.figure.id}.png"
        with atomic(folder / picture.name) as temporary:
            temporary.write_bytes(picture.read_bytes())


def _refuse_incomplete(results: Results, figures: Path) -> None:
    """Raises UserError that names what is missing for a reference run."""
    remedy = f"Run `snakemake --cores all` at {results.scale} scale first."
    problems: list[str] = []
    for found in results.figures:
        name = found.figure.id
        if found.quantities is None or not found.is_judged:
            problems.append(f"results/{results.scale}/{name}")
        elif not (figures / f"{name}.png").is_file():
            problems.append(f"{figures / name}.png")
    if problems:
        some = ", ".join(problems[:3]) + (" ..." if len(problems) > 3 else "")
        raise UserError(
            f"the reference run lacks {len(problems)} of {len(results.figures)} figures: {some}",
            remedy,
        )
    dirty = [
        found.figure.id
        for found in results.figures
        if found.quantities and found.quantities.environment.get("dirty")
    ]
    if dirty:
        raise UserError(
            f"the results of {', '.join(dirty[:3])}{' ...' if len(dirty) > 3 else ''} come from a source tree "
            "with uncommitted changes",
            "Commit them, and train these figures again.",
        )
