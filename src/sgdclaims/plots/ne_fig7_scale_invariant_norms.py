"""NE Figure 7: squared norms of Net-A and Net-B under SGD and GD, in three panels."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

PANELS = {
    "total": r"$\|u\|^2+\|w\|^2$",
    "second": r"second layer $\|u\|^2$",
    "first": r"first layer $\|w\|^2$",
}


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:  # noqa: ARG001
    """(a) total, (b) second layer, (c) first layer."""
    figure, axes = style.new_figure(1, 3, width=style.PAGE, height=2.3)
    for place, (name, label) in enumerate(PANELS.items()):
        axis = axes[0, place]
        curves = [(net, method) for net in "ab" for method in ("sgd", "gd")]
        for number, (net, method) in enumerate(curves):
            chosen = style.pick(trajectories, variant=f"net_{net}_{method}", name=name)
            text = f"Net-{net.upper()}, {method.upper()}"
            style.median_band(axis, chosen, label=text, **style.line(number))
        axis.set(xlabel="step", ylabel=label)
        style.panel_label(axis, "abc"[place], ("total", "second layer", "first layer")[place])
    axes[0, 0].legend(loc="upper left")
    return figure
