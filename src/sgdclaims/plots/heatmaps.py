"""Pairs of heat maps on one color scale, shared by NE Figures 6 and 9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style

SHOWN = 40  # neurons, those with the largest diagonal: more would blur in print


def matrix(trajectories: pd.DataFrame, variant: str, name: str) -> np.ndarray[Any, Any]:
    """The first neurons' block of a recorded matrix."""
    chosen = style.pick(trajectories, variant=variant, name=name)
    size = int(chosen["i"].max()) + 1
    whole = chosen.sort_values(["i", "j"])["value"].to_numpy().reshape(size, size)
    return np.asarray(whole[:SHOWN, :SHOWN])


def draw_pair(
    figure: Figure,
    axes: Sequence[Axes],
    pair: Sequence[np.ndarray[Any, Any]],
    titles: Sequence[str],
    caption: str,
) -> None:
    """Two maps side by side, the caption below the right one.

    The diagonal dominates; the scale is set by what lies off it.
    """
    off = np.concatenate([m[~np.eye(len(m), dtype=bool)] for m in pair])
    limit = float(np.quantile(np.abs(off), 0.995))
    for axis, values, title in zip(axes, pair, titles, strict=True):
        image = axis.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit, rasterized=True)
        axis.grid(visible=False)
        ticks = [0, len(values) - 1]
        axis.set(xlabel="neuron", xticks=ticks, yticks=ticks)
        axis.set_title(title, loc="left")
    axes[0].set_ylabel("neuron")
    axes[1].set_xlabel(f"neuron\n{caption}")
    bar = figure.colorbar(image, ax=axes[1], shrink=0.75, pad=0.03)
    bar.ax.tick_params(labelsize=6)
    bar.set_label("matrix entry", fontsize=7)
