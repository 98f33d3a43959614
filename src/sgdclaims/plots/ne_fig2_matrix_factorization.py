"""NE Figure 2: a trajectory, ten elements of Delta, and the prediction against converged solutions."""

from __future__ import annotations

import matplotlib.ticker
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) norms of both layers; (b) ten elements of Delta, one seed; (c) one point per Sigma_eps."""
    figure, axes = style.new_figure(1, 3, width=style.PAGE, height=2.3)
    _norms(axes[0, 0], trajectories)
    chosen = style.pick(trajectories, seed=SHOWN_SEED, name="delta")
    for place, method in enumerate(("gd", "sgd")):
        of_method = style.pick(chosen, variant=method)
        for element in sorted(of_method["i"].unique()):
            one = style.pick(of_method, i=element)
            label = method.upper() if element == 0 else None
            look = style.line(1 - place)
            axes[0, 1].plot(one["step"], one["value"], lw=0.8, label=label, **look)
    axes[0, 1].axhline(0, color="0.4", lw=0.7)
    axes[0, 1].set(xlabel="step", ylabel=r"$\Delta_{ij}$")
    axes[0, 1].legend(loc="upper right")
    style.panel_label(axes[0, 1], "b", r"ten elements of $\Delta$")
    _scatter(axes[0, 2], trajectories, quantities)
    return figure


def _norms(axis: Axes, trajectories: pd.DataFrame) -> None:
    for place, method in enumerate(("sgd", "gd")):
        for number, name in enumerate(("u_norm", "w_norm")):
            chosen = style.pick(trajectories, variant=method, name=name)
            label = rf"{method.upper()}, $\|{'UW'[number]}\|_F^2$"
            style.median_band(axis, chosen, label=label, **style.line(2 * place + number))
    axis.set(xlabel="step", ylabel="squared norm")
    axis.legend(loc="center right", bbox_to_anchor=(1.0, 0.66), fontsize=6)
    style.panel_label(axis, "a", "a trajectory")


def _scatter(axis: Axes, trajectories: pd.DataFrame, quantities: Quantities) -> None:
    low, high = [], []
    for place, method in enumerate(("sgd", "gd")):
        sides = [
            style.pick(trajectories, variant=method, name=f"scatter_{side}").sort_values("i")[
                "value"
            ]
            for side in ("left", "right")
        ]
        axis.plot(
            *(s.to_numpy() for s in sides), ls="", label=method.upper(), **style.marker(place)
        )
        low.append(min(s.min() for s in sides))
        high.append(max(s.max() for s in sides))
    ends = [0.7 * min(low), 1.4 * max(high)]
    axis.plot(ends, ends, color="0.4", lw=0.8, ls="--", label="Theorem 5.2")
    slopes = quantities.quantities["prediction_slope"].values["sgd"].values()
    mean = sum(value or 0.0 for value in slopes) / len(slopes)
    axis.set(
        xscale="log",
        yscale="log",
        xlim=ends,
        ylim=ends,
        xlabel=r"mean of diag $W\Gamma_W W^\top$",
        ylabel=r"mean of diag $U^\top\Gamma_U U$",
    )
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        one.set_major_formatter(matplotlib.ticker.ScalarFormatter())
        one.set_minor_locator(matplotlib.ticker.NullLocator())
    axis.legend(loc="lower right", title=f"SGD slope {mean:.2f}", fontsize=6, title_fontsize=6)
    style.panel_label(axis, "c", r"one point per $\Sigma_\epsilon$")
