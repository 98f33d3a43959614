"""NE Figure 8: misalignment against the step over stepsize, width, data dimension and batch size."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

TITLES = ("learning rate", "width", "data dimension", "batch size")
SYMBOLS = (r"$\eta$", "$d$", "$d_x = d_y$", "$S$")
GD: dict[str, Any] = {"color": "0.45", "linestyle": (0, (1, 1.2)), "lw": 1.0}


def variants(p: dict[str, Any]) -> list[dict[str, str]]:
    """Per panel: the label of every cell and the variant's name."""

    def name(**changed: Any) -> str:
        cell = {key: p[key] for key in ("eta", "width", "dimension", "batch_size")} | changed
        return f"eta{cell['eta']:g}_d{cell['width']}_n{cell['dimension']}_S{cell['batch_size']}"

    grids = [("eta", "etas"), ("width", "widths"), ("dimension", "dimensions")]
    grids.append(("batch_size", "batch_sizes"))
    return [{f"{value:g}": name(**{key: value}) for value in p[grid]} for key, grid in grids]


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Four panels; gradient descent at the default setting is the same gray curve in each."""
    p = quantities.parameters
    figure, axes = style.new_figure(1, 4, width=style.PAGE, height=2.3, sharey=True)
    gd = style.pick(trajectories, variant="gd")
    for place, panel in enumerate(variants(p)):
        axis = axes[0, place]
        for number, (label, variant) in enumerate(panel.items()):
            chosen = style.pick(trajectories, variant=variant)
            chosen = chosen[chosen["step"] > 0]
            style.median_band(axis, chosen, label=label, **style.line(number))
        style.median_band(axis, gd[gd["step"] > 0], label="GD", **GD)
        axis.set(yscale="log", xscale="log", xlabel="step")
        axis.legend(title=SYMBOLS[place], fontsize=6, title_fontsize=6, loc="lower left")
        style.panel_label(axis, "abcd"[place], TITLES[place])
    axes[0, 0].set_ylabel("misalignment $q$ of Theorem 5.2")
    return figure
