"""What a run at a scale costs: the measured seconds and memory of a standard run, times the ratio of the work.

The work is taken as proportional to each of the parameters in COUNTED: steps, seeds and samples. That is exact for
steps and seeds; descent in the space of samples grows faster with them, and a figure of which only a part has more
samples grows slower.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from sgdclaims.catalog import Catalog, Figure, Needs, check_scale
from sgdclaims.errors import UserError
from sgdclaims.results import Strict

MEASURED = "standard"
COUNTED = ("steps", "seeds", "samples", "cifar_samples")


class Benchmark(Strict):
    """The columns of Snakemake's benchmark that are read here."""

    s: float
    max_rss: float


@dataclass(frozen=True)
class Cost:
    """One figure: measured seconds and peak in MB at standard scale (None: not run), and the factor of the work."""

    figure: Figure
    measured: Benchmark | None
    factor: float
    needs: Needs

    @property
    def minutes(self) -> float | None:
        """The estimate of the training time at the scale."""
        return None if self.measured is None else self.measured.s * self.factor / 60


def read_benchmark(file: Path) -> Benchmark | None:
    """Seconds and memory of one job, None where it was not run. Raises UserError on a malformed file."""
    if not file.is_file():
        return None
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            row = next(csv.DictReader(lines, delimiter="\t"))
        return Benchmark(s=float(row["s"]), max_rss=float(row["max_rss"]))
    except (StopIteration, KeyError, ValueError, TypeError, OSError):
        raise UserError(f"{file} is no benchmark of Snakemake", "Remove the file.") from None


def factor(figure: Figure, scale: str) -> float:
    """The work at the scale over that of a standard run."""
    there = figure.parameters(scale).model_dump()
    here = figure.parameters(MEASURED).model_dump()
    return math.prod(float(there[key]) / float(here[key]) for key in COUNTED if key in here)


def costs(papers: Catalog, results: Path, scale: str) -> list[Cost]:
    """Every figure's cost at a scale, from the benchmarks below `results/standard`."""
    check_scale(scale)
    return [
        Cost(
            figure,
            read_benchmark(results / MEASURED / name / "train.benchmark.tsv"),
            factor(figure, scale),
            figure.needs(scale),
        )
        for name, figure in papers.figures.items()
    ]


def cost_table(found: list[Cost], scale: str) -> str:
    """Markdown: a row per figure and the sum."""
    lines = [
        f"| figure | measured at {MEASURED} (s) | peak (MB) | work at {scale} | estimate (min) "
        "| asked (min) | asked (MB) |",
        "|---|---|---|---|---|---|---|",
    ]
    for cost in found:
        m = cost.measured
        seconds, peak = (f"{m.s:.0f}", f"{m.max_rss:.0f}") if m else ("not run", "-")
        estimate = "-" if cost.minutes is None else f"{cost.minutes:.1f}"
        lines.append(
            f"| {cost.figure.id} | {seconds} | {peak} | x {cost.factor:.3g} | {estimate} "
            f"| {cost.needs.minutes} | {cost.needs.mem_mb} |"
        )
    known = [cost.minutes for cost in found if cost.minutes is not None]
    unknown = len(found) - len(known)
    missing = f", without the {unknown} figures that were not run" if unknown else ""
    lines += ["", f"Sum of the estimates: {sum(known) / 60:.1f} hours of one core{missing}."]
    return "\n".join(lines)
