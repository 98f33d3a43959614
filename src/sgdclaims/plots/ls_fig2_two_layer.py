"""LS Figure 2: (a, d) risk, (b, e) rate, (c, f) normalized margin, on XOR and on CIFAR-10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)))


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Rows: the task. One shade per stepsize, dashes for the second width; one seed."""
    p = quantities.parameters
    figure, axes = style.new_figure(2, 3, width=style.PAGE, height=2.15)
    for row, task in enumerate(("xor", "cifar")):
        stepsizes = p[f"{task}_stepsizes"]
        for place, eta in enumerate(stepsizes):
            for number, m in enumerate(p["widths"]):
                chosen = style.pick(
                    trajectories, variant=f"{task}_m{m}_eta{eta:g}", seed=SHOWN_SEED
                )
                look = {
                    "color": style.shades(len(stepsizes))[place],
                    "linestyle": DASHES[number % 2],
                }
                _curves(axes[row], chosen, eta, look)
        _labels(
            axes[row], row, "XOR" if task == "xor" else f"CIFAR-10, {p['cifar_samples']:,} images"
        )
        handles = [
            Line2D([], [], color=style.shades(len(stepsizes))[i], label=f"{eta:g}")
            for i, eta in enumerate(stepsizes)
        ]
        widths = [
            Line2D([], [], color="0.3", linestyle=DASHES[i], label=f"m = {m}")
            for i, m in enumerate(p["widths"])
        ]
        axes[row, 2].legend(
            handles=handles,
            title=r"stepsize $\tilde\eta$",
            loc=("lower right", "upper left")[row],
            fontsize=6,
            title_fontsize=6,
        )
        axes[row, 1].legend(handles=widths, loc="lower right", fontsize=6)
    return figure


def _curves(axes: list[Axes], chosen: pd.DataFrame, eta: float, look: dict[str, Any]) -> None:
    loss = style.pick(chosen, name="loss")
    loss = loss[loss["step"] > 0]
    margin = style.pick(chosen, name="margin")
    margin = margin[margin["step"] > 0]
    axes[0].plot(loss["step"], loss["value"], lw=1, **look)
    axes[1].plot(loss["step"], eta * loss["step"] * loss["value"], lw=1, **look)
    axes[2].plot(margin["step"], margin["value"], lw=1, **look)


def _labels(axes: list[Axes], row: int, task: str) -> None:
    for place, (axis, ylabel) in enumerate(
        zip(
            axes,
            ("risk $L$", r"$\tilde\eta\, t\, L$", r"$\min_i y_i f(x_i)\,/\,\|W\|$"),
            strict=True,
        )
    ):
        axis.set(xscale="log", xlabel="step $t$", ylabel=ylabel)
        title = (f"{task}: risk", "rate", "normalized margin")[place]
        style.panel_label(axis, "abcdef"[3 * row + place], title)
    for axis in axes[:2]:
        axis.set_yscale("log")
    # The margin before separation is a large negative number; what the claim speaks of is near zero.
    axes[2].axhline(0, color="0.4", lw=0.7)
    top = max(float(np.max(np.asarray(line.get_ydata()))) for line in axes[2].lines[:-1])
    axes[2].set_ylim(-1.2 * top, 1.15 * top)
