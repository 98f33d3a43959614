"""The one place where sizes, colours and line styles are chosen.

Every plot module has `draw(trajectories, quantities) -> Figure`; the `plot` step stamps the footer and saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.errors import UserError

COLUMN = 3.4  # inches: one column of a two-column paper
PAGE = 6.9  # inches: both columns
STYLE = Path(__file__).with_name("sgdclaims.mplstyle")

# Luminance falls from entry to entry and the dashes differ, so that curves stay apart in greyscale.
_INK = ("#d95f02", "#1b6ca8", "#111111", "#3a9a5b", "#8e5bb5", "#b8860b", "#7f7f7f", "#c2185b")
_DASHES: tuple[Any, ...] = (
    "-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)), (0, (3, 1, 1, 1, 1, 1)),
    (0, (8, 2)), (0, (2, 2)), (0, (6, 1, 1, 1)),
)  # fmt: skip
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def house_style() -> Path:
    """The style sheet. Raises UserError when it is missing: matplotlib's own message misleads."""
    if not STYLE.is_file():
        raise UserError(f"{STYLE} does not exist", "Restore it: `git checkout -- src`.")
    return STYLE


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = PAGE, height: float = 2.4, **kwargs: Any
) -> tuple[Figure, np.ndarray[Any, Any]]:
    """A figure in the house style and its axes as a (rows, columns) array; inches."""
    plt.style.use(house_style())
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, height * rows), squeeze=False, **kwargs
    )
    return figure, axes


def line(place: int) -> dict[str, Any]:
    """Colour and dashes of the `place`-th curve."""
    return {"color": _INK[place % len(_INK)], "linestyle": _DASHES[place % len(_DASHES)]}


def marker(place: int) -> dict[str, Any]:
    """Colour and marker of the `place`-th point series."""
    return {"color": _INK[place % len(_INK)], "marker": _MARKERS[place % len(_MARKERS)]}


def shades(count: int) -> list[Any]:
    """An ordered series of colours, dark to light, for a scanned parameter."""
    return list(sns.color_palette("viridis", count + 1)[:count])


def panel_label(axis: Axes, label: str, title: str = "") -> None:
    """`(a) title` above the axis, left-aligned."""
    axis.set_title(f"({label}) {title}".rstrip(), loc="left")


def median_band(
    axis: Axes,
    frame: pd.DataFrame,
    *,
    label: str | None = None,
    quantiles: Sequence[float] = (0.1, 0.9),
    **kwargs: Any,
) -> None:
    """The median over seeds against the step, with a band between two quantiles."""
    table = frame.pivot_table(index="step", columns="seed", values="value", dropna=False)
    steps = table.index.to_numpy()
    axis.plot(steps, table.median(axis=1).to_numpy(), label=label, **kwargs)
    if table.shape[1] > 1:
        with np.errstate(invalid="ignore"):  # a diverged seed is infinite or undefined
            low, high = (table.quantile(q, axis=1).to_numpy() for q in quantiles)
        axis.fill_between(steps, low, high, color=kwargs.get("color"), alpha=0.15, linewidth=0)


def pick(frame: pd.DataFrame, **equals: Any) -> pd.DataFrame:
    """The rows whose columns equal the given values."""
    chosen = frame
    for column, value in equals.items():
        chosen = chosen[chosen[column] == value]
    return chosen
