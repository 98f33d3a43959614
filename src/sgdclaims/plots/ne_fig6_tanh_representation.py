"""NE Figure 6: the four heat maps. A matching pair looks alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN = 40  # neurons, those with the largest diagonal: more would blur in print
TITLES = {
    "left": r"$W\bar\Sigma_x W^{\top}$",
    "right": r"$U^{\top}\bar\Sigma_\epsilon U$",
}


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Four panels as in the paper: SGD left pair, GD right pair; one color scale per pair."""
    figure, axes = style.new_figure(1, 4, width=style.PAGE, height=2.1)
    place = 0
    for variant in ("sgd", "gd"):
        maps = {name: _matrix(trajectories, variant, name) for name in TITLES}
        # The diagonal dominates; the scale is set by what lies off it, where the likeness shows.
        off = [m[~np.eye(len(m), dtype=bool)] for m in maps.values()]
        limit = float(np.quantile(np.abs(np.concatenate(off)), 0.995))
        cosines = quantities.quantities["representation_cosine"].values[variant]
        mean = np.mean([value for value in cosines.values() if value is not None])
        for name, title in TITLES.items():
            axis = axes[0, place]
            image = axis.imshow(maps[name], cmap="RdBu_r", vmin=-limit, vmax=limit, rasterized=True)
            axis.grid(visible=False)
            axis.set(
                xlabel="neuron", xticks=[0, len(maps[name]) - 1], yticks=[0, len(maps[name]) - 1]
            )
            style.panel_label(axis, "abcd"[place], f"{variant.upper()}: {title}")
            if name == "left":
                axis.set_ylabel("neuron")
            else:
                bar = figure.colorbar(image, ax=axis, shrink=0.75, pad=0.03)
                bar.ax.tick_params(labelsize=6)
                bar.set_label(f"cosine of the pair: {mean:.2f}", fontsize=7)
            place += 1
    return figure


def _matrix(trajectories: pd.DataFrame, variant: str, name: str) -> np.ndarray[Any, Any]:
    chosen = style.pick(trajectories, variant=variant, name=name)
    size = int(chosen["i"].max()) + 1
    matrix = chosen.sort_values(["i", "j"])["value"].to_numpy().reshape(size, size)
    return matrix[:SHOWN, :SHOWN]
