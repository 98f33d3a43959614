"""NE Figure 9: one pair of heat maps per activation, left W Gamma_W W^T, right U^T Gamma_U U."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import heatmaps, style
from sgdclaims.results import Quantities

NAMES = {"relu": "ReLU", "leaky_relu": "leaky", "swish": "swish"}
LEFT, RIGHT = r"$W\Gamma_W W^{\top}$", r"$U^{\top}\Gamma_U U$"


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """One row per activation."""
    activations = quantities.parameters["activations"]
    figure, axes = style.new_figure(len(activations), 2, width=style.COLUMN, height=1.75)
    for row, activation in enumerate(activations):
        pair = [heatmaps.matrix(trajectories, activation, name) for name in ("left", "right")]
        cosines = quantities.quantities["cosine"].values[activation]
        mean = np.mean([value for value in cosines.values() if value is not None])
        letters = "abcdef"[2 * row :]
        titles = [f"({letters[0]}) {NAMES[activation]}: {LEFT}", f"({letters[1]}) {RIGHT}"]
        heatmaps.draw_pair(figure, list(axes[row]), pair, titles, f"cosine {mean:.2f}")
    return figure
