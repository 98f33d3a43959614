"""Theorems 3.2 and 4.1 on separable data, and the table of activations."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0
PANELS = (("mean_risk", "mean risk"), ("norm", r"$\|w_t\|$"))


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a, b) measured and bound; (c) the constant of Theorem 4.1; (d) suprema over printed bounds."""
    p = quantities.parameters
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=2.2)
    shades = style.shades(len(p["stepsizes"]))
    init = p["inits"][1]
    for shade, eta in zip(shades, p["stepsizes"], strict=True):
        chosen = style.pick(trajectories, variant=f"eta{eta:g}_init{init:g}", seed=SHOWN_SEED)
        for axis, (name, label) in zip(axes[0], PANELS, strict=True):
            for which, look in (("", "-"), ("_bound", ":")):
                curve = style.pick(chosen, name=f"{name}{which}")
                if which:  # below gamma^2 eta t = 1 the bound says nothing
                    curve = curve[p["margin"] ** 2 * eta * curve["step"] >= 1]
                told = rf"$\eta$ = {eta:g}" if not which else None
                axis.plot(curve["step"], curve["value"], ls=look, lw=1.1, color=shade, label=told)
            axis.set(xscale="log", yscale="log", xlabel="step $t$", ylabel=label)
        late = style.pick(chosen, name="constant")
        axes[1, 0].plot(late["step"], late["value"], lw=1.1, color=shade)
    axes[0, 0].plot([], [], ls=":", color="0.3", label="bound")
    axes[0, 0].legend(loc="lower left", fontsize=6)
    axes[1, 0].axhline(2, color="0.3", ls=":", lw=1)
    axes[1, 0].text(0.03, 0.86, "bound: 2", transform=axes[1, 0].transAxes, fontsize=7)
    axes[1, 0].set(
        xscale="log", yscale="log", xlabel="step $t$", ylim=(1e-3, 10), xlim=(1, p["steps"])
    )
    axes[1, 0].set_ylabel(r"$L_t\,(t-s)\,\alpha^2\gamma^2\eta$")
    _table(axes[1, 1], quantities)
    titles = ("Theorem 3.2", "Lemma C.2", "Theorem 4.1", "Example 3.1")
    for axis, letter, title in zip(axes.flat, "abcd", titles, strict=True):
        style.panel_label(axis, letter, title)
    return figure


def _table(axis: Axes, quantities: Quantities) -> None:
    excess = quantities.quantities["bound_excess"].values
    names = [v for v in excess if not v.endswith("_sharp") and v != "all_but_gelu"]
    for place, name in enumerate(names):
        value = excess[name]["0"] or 0.0
        look = style.marker(0 if value > 1 + 1e-9 else 1)
        axis.plot(value, place, ls="", **look)
    axis.axvline(1, color="0.3", ls=":", lw=1)
    axis.set(yticks=range(len(names)), xlim=(0, 1.4), xlabel="largest supremum / printed bound")
    axis.set_yticklabels([name.replace("_", " ") for name in names], fontsize=6.5)
    axis.invert_yaxis()
