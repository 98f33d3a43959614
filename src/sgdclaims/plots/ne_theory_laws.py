"""The laws behind the noise equilibrium: charge, orbit, mean step, weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

FORMS = ("none", "printed", "appendix", "corrected")


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) exact law; (b) drift along the orbit; (c) factor of the flow; (d) shift by weight decay."""
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=2.2)
    for place, activation in enumerate(("linear", "relu")):
        chosen = style.pick(trajectories, variant=activation)
        x = style.pick(chosen, name="charge_law")["value"].to_numpy()
        y = style.pick(chosen, name="charge_change")["value"].to_numpy()
        axes[0, 0].plot(x, y, ls="", ms=2, label=activation, **_point(place))
    ends = axes[0, 0].get_xlim()
    axes[0, 0].plot(ends, ends, color="0.4", lw=0.8, ls="--")
    axes[0, 0].set(xlabel=r"$\eta^2\, g^\top A g$", ylabel="$C(t+1)-C(t)$")
    axes[0, 0].legend(loc="upper left")
    drift = style.pick(trajectories, name="drift")
    for seed in sorted(drift["seed"].unique()):
        one = style.pick(drift, seed=seed)
        lam = one["step"] / 1000 - 1.5
        axes[0, 1].plot(
            lam, one["value"] / one["value"].abs().max(), lw=0.8, color=style.line(1)["color"]
        )
    axes[0, 1].axhline(0, color="0.4", lw=0.7)
    axes[0, 1].set(
        xlabel=r"$\lambda$ along the orbit", ylabel=r"$G(\lambda)$, scaled", yscale="symlog"
    )
    axes[0, 1].set_yscale("symlog", linthresh=0.01)
    _ratios(axes[1, 0], quantities)
    _residuals(axes[1, 1], quantities)
    titles = (
        "exact law of the charge",
        "one zero (Theorem 4.3)",
        "mean step of $C$ (E1)",
        "weight decay in (13) (E3)",
    )
    for axis, letter, title in zip(axes.flat, "abcd", titles, strict=True):
        style.panel_label(axis, letter, title)
    return figure


def _point(place: int) -> dict[str, Any]:
    return {"color": style.line(place)["color"], "marker": style.marker(place)["marker"]}


def _ratios(axis: Axes, quantities: Quantities) -> None:
    values = quantities.quantities["mean_step_ratio"].values
    for place, form in enumerate(("printed", "corrected")):
        numbers = [v for v in values[form].values() if v is not None]
        spread = np.linspace(-0.12, 0.12, len(numbers))
        axis.plot(place + spread, numbers, ls="", **style.marker(place))
    axis.axhline(1, color="0.4", lw=0.8, ls="--")
    axis.set(xticks=[0, 1], xticklabels=["printed", "corrected"], xlim=(-0.5, 1.5), ylim=(0, 2.4))
    axis.set_ylabel("measured / predicted")


def _residuals(axis: Axes, quantities: Quantities) -> None:
    values = quantities.quantities["decay_residual"].values
    cells = {f"batch{b}": f"batch {b}" for b in quantities.parameters["decay_batches"]}
    cells["batch1_longer"] = "batch 1, longer"
    for number, (cell, name) in enumerate(cells.items()):
        for place, form in enumerate(FORMS):
            numbers = [v for v in values[f"{form}_{cell}"].values() if v is not None]
            x = place + 0.22 * (number - 1) + np.linspace(-0.06, 0.06, len(numbers))
            label = name if place == 0 else None
            axis.plot(x, numbers, ls="", ms=3, label=label, **_point(number))
    axis.set(xticks=range(len(FORMS)), xticklabels=FORMS, yscale="log", ylabel="relative residual")
    axis.legend(loc="lower left")
