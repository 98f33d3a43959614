"""Rates: 1/T^2 against 1/T, the floor of monotone runs, scaled outputs, the length of the first phase."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Four panels, all log-log."""
    p = quantities.parameters
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=2.2)
    labels = {
        "large": rf"$\tilde\eta = {p['share']:g}\,T$",
        "small": rf"$\tilde\eta = {p['small_stepsize']:g}$",
    }
    for place, (variant, label) in enumerate(labels.items()):
        chosen = style.pick(trajectories, name="end_risk", variant=variant)
        _points(axes[0, 0], chosen[chosen["seed"] >= 0], label, place)
    _guides(axes[0, 0], p["horizons"])
    _floor(axes[0, 1], trajectories, p["grid_steps"])
    for place, b in enumerate(p["scales"]):
        chosen = style.pick(trajectories, name="best_risk", variant=f"b{b:g}")
        _points(axes[1, 0], chosen, f"$b$ = {b:g}", place)
    for axis in (axes[0, 0], axes[1, 0]):
        axis.set(xlabel="number of steps $T$", ylabel="risk after $T$ steps")
        axis.legend(loc="lower left", fontsize=6)
    last = quantities.quantities["last_rise"]
    assert last.axis
    for variant, eta in last.axis.items():
        values = [v for v in last.values[variant].values() if v is not None]
        axes[1, 1].plot([eta] * len(values), values, ls="", ms=3.5, **style.marker(1))
    ends = np.array(p["phase_stepsizes"], dtype=float)
    axes[1, 1].plot(ends, 20 * ends / ends[0], color="0.4", ls=":", label=r"$\propto\tilde\eta$")
    axes[1, 1].set(
        xlabel=r"stepsize $\tilde\eta$", ylabel="last rise of the risk, step", ylim=(5, 1e4)
    )
    axes[1, 1].legend(loc="lower right", fontsize=6)
    titles = (
        "rates (Corollary 4.2)",
        "floor of monotone runs (Thm 4.3)",
        "scaled output $b f$",
        "first phase",
    )
    for axis, letter, title in zip(axes.flat, "abcd", titles, strict=True):
        axis.set(xscale="log", yscale="log")
        style.panel_label(axis, letter, title)
    axes[1, 0].set_ylim(bottom=1e-12)
    return figure


def _points(axis: Axes, chosen: pd.DataFrame, label: str, place: int) -> None:
    table = chosen.pivot_table(index="step", columns="seed", values="value")
    axis.plot(table.index, table.median(axis=1), lw=1, label=label, **style.line(place))
    for seed in table:
        axis.plot(table.index, table[seed], ls="", ms=3, **style.marker(place))


def _guides(axis: Axes, horizons: list[int]) -> None:
    t = np.array([horizons[0], horizons[-1]], dtype=float)
    for power, level in ((1, 0.04), (2, 0.006)):
        axis.plot(t, level * (t / t[0]) ** -power, color="0.5", ls=":", lw=0.9)
        axis.text(
            t[1], level * (t[1] / t[0]) ** -power, f" $T^{{-{power}}}$", fontsize=6.5, va="center"
        )


def _floor(axis: Axes, trajectories: pd.DataFrame, steps: int) -> None:
    grid = style.pick(trajectories, name="grid_scaled_risk")
    rises = style.pick(trajectories, name="grid_rises")
    eta = grid["variant"].str.removeprefix("grid_").astype(float).to_numpy()
    scaled, monotone = grid["value"].to_numpy(), rises["value"].to_numpy() == 0
    for place, (which, label) in enumerate(((monotone, "monotone"), (~monotone, "risk rises"))):
        axis.plot(eta[which], scaled[which], ls="", ms=3, label=label, **style.marker(1 - place))
    axis.set(
        xlabel=r"stepsize $\tilde\eta$", ylabel=f"$t\\,L_t$ at $t$ = {steps:,}", ylim=(1e-9, 1e4)
    )
    axis.legend(loc="lower left", fontsize=6)
