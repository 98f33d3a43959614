"""Theorem 2.2: risk, norm, margin and modified margin through the stable phase."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0
NAMES = ("loss", "norm", "margin", "log_gamma_c")
LABELS = ("risk $L$", r"$\|w\|$", r"normalized margin $g$", r"$\ln\gamma^c$")


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Rows: the task; one shade per stepsize, one seed; a dot where (5) first holds."""
    p = quantities.parameters
    figure, axes = style.new_figure(2, 4, width=style.PAGE, height=1.9)
    shades = style.shades(len(p["stepsizes"]))
    for row, task in enumerate(("xor", "separable")):
        for shade, eta in zip(shades, p["stepsizes"], strict=True):
            chosen = style.pick(trajectories, variant=f"{task}_eta{eta:g}", seed=SHOWN_SEED)
            start = float(style.pick(chosen, name="stable_from")["value"].iloc[0])
            for column, name in enumerate(NAMES):
                curve = style.pick(chosen, name=name)
                curve = curve[curve["step"] > 0]
                if name == "log_gamma_c":  # what the theorem says begins with the stable phase
                    curve = curve[curve["step"] >= start]
                axis = axes[row, column]
                axis.plot(curve["step"], curve["value"], lw=1, color=shade)
                if np.isfinite(start):
                    at = np.interp(start, curve["step"], curve["value"])
                    axis.plot(start, at, "o", ms=3.5, color=shade, zorder=4)
        for column, label in enumerate(LABELS):
            axis = axes[row, column]
            axis.set(xscale="log", xlim=(1, p["steps"]), ylabel=label)
            if row == 1:
                axis.set_xlabel("step $t$")
            if column == 0:
                axis.set_yscale("log")
                style.panel_label(axis, "ab"[row], "XOR" if row == 0 else "separable points")
        margin = axes[row, 2]
        top = max(float(np.max(np.asarray(line.get_ydata()))) for line in margin.lines)
        margin.set_ylim(-0.6 * top, 1.15 * top)
        margin.axhline(0, color="0.4", lw=0.7)
    handles = [
        Line2D([], [], color=c, label=f"{eta:g}")
        for c, eta in zip(shades, p["stepsizes"], strict=True)
    ]
    handles.append(Line2D([], [], color="0.3", marker="o", ls="", ms=3.5, label="(5) holds"))
    axes[1, 3].legend(
        handles=handles,
        title=r"stepsize $\tilde\eta$",
        fontsize=6,
        title_fontsize=6,
        loc="upper left",
    )
    return figure
