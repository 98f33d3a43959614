"""NE Figure 3: squared norms and Hessian trace after training, over phi."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

CURVES = {"sgd": "SGD", "sgd_wd": "SGD, weight decay", "gd_wd": "GD, weight decay"}


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) |U|^2, (b) |W|^2, (c) sharpness; markers are medians over seeds, lines the theory."""
    p = quantities.parameters
    n, phis = p["dimension"], p["phis"]
    x = np.linspace(min(phis), max(phis), 200)
    root, other, q = np.sqrt(x), np.sqrt(2 - x), np.sqrt(x * (2 - x))
    figure, axes = style.new_figure(1, 3, width=style.PAGE, height=2.4)
    lines = {
        "u_norm": n / 2 * (root + other),
        "w_norm": n / 2 * (1 / root + 1 / other),
        "trace": n**2 * (root + other),
    }
    labels = (r"$\|U\|_F^2$", r"$\|W\|_F^2$", r"$\mathrm{Tr\,Hess}\,L$ (1/2 convention)")
    for place, (name, values) in enumerate(lines.items()):
        axis = axes[0, place]
        axis.plot(x, values, color="0.3", lw=1, label="theory, SGD")
        _points(axis, trajectories, name, phis)
        axis.set(xlabel=r"$\phi_x$", ylabel=labels[place])
    reversed_noise = {"sgd_reversed": "SGD, label noise reversed"}
    axes[0, 2].plot(x, n**2 * (q + 1 / q), color="0.3", lw=1, ls="--", label="theory, reversed")
    _points(axes[0, 2], trajectories, "trace", phis, reversed_noise, first=3)
    axes[0, 0].legend(fontsize=6, loc="lower center")
    axes[0, 2].legend(fontsize=6, loc="upper center")
    for place, title in enumerate(("second layer", "first layer", "sharpness")):
        style.panel_label(axes[0, place], "abc"[place], title)
    return figure


def _points(
    axis: Axes,
    trajectories: pd.DataFrame,
    name: str,
    phis: list[float],
    curves: dict[str, str] | None = None,
    first: int = 0,
) -> None:
    for place, (curve, label) in enumerate((curves or CURVES).items()):
        medians = [
            style.pick(trajectories, variant=f"{curve}_phi{phi:g}", name=name)["value"].median()
            for phi in phis
        ]
        look = style.marker(first + place)
        if curve == "sgd_wd":  # it lies on SGD: an open marker shows both
            look |= {"markerfacecolor": "none", "markersize": 7}
        axis.plot(phis, medians, ls="", label=label, **look)
