"""LS Figure 4: (a) loss, (b) margins of the network and of its two neurons."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Medians over seeds, bands from the 10% to the 90% quantile."""
    figure, axes = style.new_figure(1, 2, width=style.PAGE, height=2.3)
    paper = style.pick(trajectories, variant="paper")
    paper = paper[paper["step"] > 0]
    style.median_band(axes[0, 0], style.pick(paper, name="loss"), **style.line(0))
    axes[0, 0].set(xscale="log", yscale="log", xlabel="step", ylabel="risk $L$")
    style.median_band(
        axes[0, 1], style.pick(paper, name="margin"), label="network", **style.line(0)
    )
    for neuron in (0, 1):
        chosen = style.pick(paper, name="neuron_margin", i=neuron)
        look = style.line(neuron + 1)
        style.median_band(axes[0, 1], chosen, label=f"neuron {neuron + 1}", **look)
    steps = quantities.quantities["crossing_step"].values["paper"]
    crossing = float(np.median([value for value in steps.values() if value is not None]))
    axes[0, 1].axhline(0, color="0.4", lw=0.7)
    axes[0, 1].axvline(crossing, color="0.6", lw=0.7)
    axes[0, 1].annotate("network separates", (crossing, 0.45), xycoords=("data", "axes fraction"),
                        xytext=(-3, 0), textcoords="offset points", ha="right", va="top", fontsize=6)  # fmt: skip
    axes[0, 1].set(xscale="log", xlabel="step", ylabel="normalized margin")
    axes[0, 1].legend(loc="lower right")
    style.panel_label(axes[0, 0], "a", "risk")
    style.panel_label(axes[0, 1], "b", "margins (band: 10% to 90% of seeds)")
    return figure
