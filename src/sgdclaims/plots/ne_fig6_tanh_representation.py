"""NE Figure 6: the four heat maps. A matching pair looks alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import heatmaps, style
from sgdclaims.results import Quantities

LEFT, RIGHT = r"$W\bar\Sigma_x W^{\top}$", r"$U^{\top}\bar\Sigma_\epsilon U$"


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Four panels as in the paper: SGD left pair, GD right pair; one color scale per pair."""
    figure, axes = style.new_figure(1, 4, width=style.PAGE, height=2.1)
    for place, variant in enumerate(("sgd", "gd")):
        pair = [heatmaps.matrix(trajectories, variant, name) for name in ("left", "right")]
        cosines = quantities.quantities["representation_cosine"].values[variant]
        mean = np.mean([value for value in cosines.values() if value is not None])
        letters = "abcd"[2 * place :]
        titles = [
            f"({letters[0]}) {variant.upper()}: {LEFT}",
            f"({letters[1]}) {variant.upper()}: {RIGHT}",
        ]
        chosen = axes[0, 2 * place : 2 * place + 2]
        heatmaps.draw_pair(figure, list(chosen), pair, titles, f"cosine of the pair: {mean:.2f}")
    return figure
