"""NE Figure 4: the Hessian trace during training, and which warm-ups are stable."""

from __future__ import annotations

import matplotlib.ticker
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

DIVERGING_SHOWN = 6


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) S against the step; (b) stable share of the seeds over the warm-up grids."""
    figure, axes = style.new_figure(1, 2, width=style.PAGE, height=2.6, width_ratios=[1.9, 1])
    _curves(axes[0, 0], trajectories, quantities)
    _grid(axes[0, 1], quantities)
    return figure


def _curves(axis: Axes, trajectories: pd.DataFrame, quantities: Quantities) -> None:
    p = quantities.parameters
    eta, eta_min = p["eta"], p["eta_min"]
    labels = {
        "constant": f"SGD, Kaiming, constant {eta:g}",
        "warmup": f"SGD, Kaiming, {eta_min:g} then {eta:g}",
        "xavier": f"SGD, Xavier, {eta:g}",
        "gd_kaiming": f"GD, Kaiming, {eta:g}",
    }
    top = 1e5
    for place, (variant, label) in enumerate(labels.items()):
        chosen = style.pick(trajectories, variant=variant, name="hessian_trace")
        if variant != "constant":
            style.median_band(axis, chosen, label=label, **style.line(place))
            continue
        diverged = [
            int(s) for s, v in quantities.quantities["diverged"].values[variant].items() if v
        ]
        for number, seed in enumerate(diverged[:DIVERGING_SHOWN]):
            one = style.pick(chosen, seed=seed)
            one = one[np.isfinite(one["value"]) & (one["value"] < top)]
            name = f"{label} (diverges)" if not number else None
            axis.plot(one["step"], one["value"], lw=0.9, label=name, **style.line(place))
            axis.plot(
                one["step"].iloc[-1:], one["value"].iloc[-1:], "x", color=style.line(place)["color"]
            )
    axis.axvline(p["switch"], color="0.6", lw=0.7)
    axis.annotate("warm-up ends", (p["switch"], 0.13), xycoords=("data", "axes fraction"), fontsize=6,
                  xytext=(-3, 3), textcoords="offset points", ha="right", color="0.35")  # fmt: skip
    theory = quantities.quantities["equilibrium_trace"].values["theory"]["0"]
    axis.axhline(theory or np.nan, color="0.35", lw=0.8, ls=":", label="noise equilibrium, theory")
    axis.set(
        xscale="log",
        xlim=(1, p["steps"]),
        yscale="log",
        ylim=(40, top),
        xlabel="step",
        ylabel=r"$S=\mathrm{Tr}\,\mathrm{Hess}\,L$ (1/2 convention)",
    )
    axis.legend(loc="upper right", fontsize=6, borderaxespad=0.2)
    style.panel_label(axis, "a", "stability during training")


def _grid(axis: Axes, quantities: Quantities) -> None:
    p = quantities.parameters
    finite = quantities.quantities["finite_at_end"].values
    rows = [(f"switch at {s:,}", f"switch_{s}") for s in p["switch_grid"]]
    rows += [(rf"$\eta_{{\min}}$ = {e:g}", f"eta_min_{e:g}") for e in p["eta_min_grid"]]
    rows += [("no warm-up", "constant")]
    share = [np.mean([v or 0.0 for v in finite[variant].values()]) for _, variant in rows]
    positions = np.arange(len(rows))[::-1]
    axis.barh(positions, share, height=0.6, color="0.55")
    axis.set_yticks(positions, [name for name, _ in rows])
    axis.axvline(0.9, color="k", lw=0.8, ls="--")
    axis.set(xlim=(0, 1.02), xlabel="share of stable seeds")
    axis.xaxis.set_major_locator(matplotlib.ticker.MultipleLocator(0.25))
    axis.grid(axis="y", visible=False)
    style.panel_label(axis, "b", "which warm-ups work")
