"""NE Figure 5: the layers' norms during training, from equal and from random norms."""

from __future__ import annotations

from typing import Any

import matplotlib.ticker
import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0
PANELS = {"equal": "equal initial norms", "random": "random initial norms"}


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a, b) SGD as in the paper; (c, d) GD from the same starts, which keeps the differences."""
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=1.95, sharex=True, sharey=True)
    layers = quantities.parameters["hidden_layers"] + 1
    for row, method in enumerate(("sgd", "gd")):
        for column, (start, title) in enumerate(PANELS.items()):
            axis = axes[row, column]
            chosen = style.pick(
                trajectories, variant=f"{method}_{start}", seed=SHOWN_SEED, name="squared_norm"
            )
            for layer in range(layers):
                one = style.pick(chosen, i=layer)
                axis.plot(one["step"], one["value"], **_look(layer, layers))
            axis.set_yscale("log")
            axis.yaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
            axis.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
            # A locator, unlike ticks, leaves the limits to the data of all four panels.
            axis.yaxis.set_major_locator(matplotlib.ticker.FixedLocator([2, 5, 10, 20, 50]))
            style.panel_label(axis, "abcd"[2 * row + column], f"{method.upper()}, {title}")
            if row:
                axis.set_xlabel("step")
            if not column:
                axis.set_ylabel(r"$\|W_i\|_F^2$")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", title=f"layer (seed {SHOWN_SEED})")
    return figure


def _look(layer: int, layers: int) -> dict[str, Any]:
    """Outer layers stand out; the intermediate ones are a family of shades."""
    if layer == 0:
        return {"color": "#d95f02", "linestyle": "--", "lw": 1.6, "label": "input"}
    if layer == layers - 1:
        return {"color": "#1b6ca8", "linestyle": "-.", "lw": 1.6, "label": "output"}
    shade = style.shades(layers - 2)[layer - 1]
    return {"color": shade, "linestyle": "-", "label": f"hidden {layer}"}
