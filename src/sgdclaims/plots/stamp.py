"""The footer of every figure, and saving it so that the same figure gives the same bytes."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities, Verdicts, atomic

CHARACTERS_PER_INCH = 24  # of the footer's font, on the safe side


def footer(quantities: Quantities, verdicts: Verdicts) -> str:
    """Scale, seeds, data and verdicts in one line."""
    counts = Counter(v.verdict for v in verdicts.verdicts)
    judged = ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) or "no claims"
    data = [f"{name}: {p.source}" for name, p in quantities.datasets.items()] or ["synthetic data"]
    seeds = quantities.parameters.get("seeds")
    return f"{quantities.figure} · scale {quantities.scale} · {seeds} seeds · {', '.join(data)} · {judged}"


def fitted(line: str, inches: float) -> str:
    """The footer; in a narrow figure the verdicts go to a line of their own."""
    if len(line) <= CHARACTERS_PER_INCH * inches:
        return line
    return "\n".join(line.rsplit(" · ", 1))


def stamp(figure: Figure, quantities: Quantities, verdicts: Verdicts) -> None:
    """Writes the footer, and a loud line when the data are stand-ins."""
    stand_ins = [n for n, p in quantities.datasets.items() if p.kind == "stand-in"]
    # A label at the figure's edge is laid out with the panels, so it never covers them.
    line = fitted(footer(quantities, verdicts), figure.get_figwidth())
    figure.supxlabel(line, fontsize=5, color="0.45", x=0.5)
    if stand_ins:
        figure.suptitle(
            f"STAND-IN DATA ({', '.join(stand_ins)}): not the paper's",
            fontsize=8,
            color="#b00020",
            weight="bold",
        )


def save(figure: Figure, base: Path) -> None:
    """Writes `<base>.pdf` and `<base>.png`, atomically and byte-stable."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    with plt.style.context(style.house_style()):
        for suffix, metadata in ((".pdf", {"CreationDate": None}), (".png", {"Software": None})):
            with atomic(base.with_suffix(suffix)) as temporary:
                figure.savefig(temporary, metadata=metadata)
    plt.close(figure)
