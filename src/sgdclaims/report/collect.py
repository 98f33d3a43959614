"""Gathers everything that the reports show: claims, verdicts, parameters, environment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sgdclaims.catalog import Catalog, Figure, Paper
from sgdclaims.claims.schema import Claim
from sgdclaims.results import Quantities, Verdict, VerdictName, quantities_of, verdicts_of

VERDICTS: tuple[VerdictName, ...] = (
    "REPRODUCED",
    "NOT REPRODUCED",
    "INCONCLUSIVE",
    "VACUOUS",
    "STAND-IN",
    "NOT RUN",
)
NO_RESULTS = "No results yet at this scale."


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict.verdict == self.verdict.expected

    @property
    def waiting(self) -> bool:
        """Whether there are no results for it: neither good nor bad news, though the gate stays shut."""
        return self.verdict.verdict == "NOT RUN" and self.claim.not_run is None


@dataclass(frozen=True)
class FigureResults:
    """A figure with its claims and, when it has been run, its quantities."""

    figure: Figure
    quantities: Quantities | None
    judged: list[Judged]
    is_judged: bool = False


@dataclass(frozen=True)
class PaperResults:
    """A paper with its figures."""

    paper: Paper
    figures: list[FigureResults]


@dataclass(frozen=True)
class Results:
    """Everything at one scale."""

    scale: str
    papers: list[PaperResults]

    @property
    def figures(self) -> list[FigureResults]:
        """All figures."""
        return [figure for paper in self.papers for figure in paper.figures]

    @property
    def judged(self) -> list[Judged]:
        """All claims."""
        return [judged for figure in self.figures for judged in figure.judged]

    @property
    def counts(self) -> dict[VerdictName, int]:
        """How often each verdict was given, in a fixed order, zeros included."""
        counted = Counter(judged.verdict.verdict for judged in self.judged)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    @property
    def unexpected(self) -> list[Judged]:
        """What the gate objects to: binding verdicts that are not the expected ones.

        A stand-in cannot be the expected verdict and is not held against anybody.
        """
        return [
            judged
            for judged in self.judged
            if judged.verdict.binding
            and not judged.as_expected
            and judged.verdict.verdict != "STAND-IN"
        ]

    @property
    def environment(self) -> dict[str, object]:
        """Of the first figure that has been run."""
        return next((f.quantities.environment for f in self.figures if f.quantities), {})

    @property
    def data(self) -> dict[str, str]:
        """Data set -> where it came from."""
        return {
            name: f"{provenance.source}: {provenance.origin}"
            for figure in self.figures
            if figure.quantities
            for name, provenance in figure.quantities.datasets.items()
        }

    @property
    def headline(self) -> str:
        """One sentence."""
        counts = self.counts
        reproduced = counts["REPRODUCED"]
        failed = sum(j.verdict.verdict == "NOT REPRODUCED" and j.as_expected for j in self.judged)
        waiting = sum(judged.waiting for judged in self.judged)
        unexpected = sum(not judged.waiting for judged in self.unexpected)
        return (
            f"{reproduced} of {len(self.judged)} claims reproduced at scale {self.scale}, "
            f"{failed} not reproduced as expected, {unexpected} unexpected"
            + (f", {waiting} without results yet" if waiting else "")
        )


def missing(claim: Claim, scale: str) -> Verdict:
    """The verdict on a claim whose figure has not been run."""
    return Verdict(
        claim=claim.id,
        paper=claim.paper,
        figure=claim.figure,
        verdict="NOT RUN",
        expected=claim.expected,
        binding=scale in claim.binding,
        check=claim.check.words() if claim.check else "not run",
        note=claim.not_run or NO_RESULTS,
    )


def collect(catalog: Catalog, claims: list[Claim], results: Path, scale: str) -> Results:
    """Reads the results of a scale. Raises UserError on a malformed file."""
    papers = []
    for paper in catalog.papers:
        figures = []
        for figure in paper.figures:
            folder = results / scale / figure.id
            quantities, verdicts, is_judged = None, {}, False
            if (folder / "quantities.json").exists():
                quantities = quantities_of(results, scale, figure.id)
            if (folder / "verdicts.json").exists():
                stored = verdicts_of(results, scale, figure.id)
                verdicts = {verdict.claim: verdict for verdict in stored.verdicts}
                is_judged = True
            judged = [
                Judged(claim, verdicts.get(claim.id) or missing(claim, scale))
                for claim in claims
                if claim.figure == figure.id
            ]
            figures.append(FigureResults(figure, quantities, judged, is_judged))
        papers.append(PaperResults(paper, figures))
    return Results(scale, papers)
