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
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=2.4)
    ends = style.pick(trajectories, name="end_risk")
    for place, (variant, label) in enumerate(
        (
            ("b1", rf"$\tilde\eta = {p['share']:g}\,T$"),
            ("small", rf"$\tilde\eta = {p['small_stepsize']:g}$"),
        )
    ):
        _points(axes[0, 0], style.pick(ends, variant=variant), label, place)
    for place, b in enumerate(p["scales"]):
        _points(axes[1, 0], style.pick(ends, variant=_name(b)), f"$b$ = {b:g}", place)
    _bound(axes[1, 0], style.pick(ends, variant="b1"), min(p["scales"]))
    for axis in (axes[0, 0], axes[1, 0]):
        axis.set(xlabel="number of steps $T$", ylabel="risk after $T$ steps")
        axis.legend(loc="lower left", fontsize=6)
    _guides(axes[0, 0], p["horizons"], (1, 2))
    _guides(axes[1, 0], p["horizons"], (2,))
    _floor(axes[0, 1], trajectories, quantities)
    _first_phase(axes[1, 1], quantities)
    titles = (
        "rates (Corollary 4.2)",
        "floor of monotone runs (Theorem 4.3)",
        rf"output $b f$, $\tilde\eta = {p['share']:g}\,T/b^2$ (Appendix D)",
        "length of the first phase",
    )
    for axis, letter, title in zip(axes.flat, "abcd", titles, strict=True):
        axis.set(xscale="log", yscale="log")
        style.panel_label(axis, letter, title)
    return figure


def _name(b: float) -> str:
    return f"b{b:g}".replace(".", "_")


def _points(axis: Axes, chosen: pd.DataFrame, label: str, place: int) -> None:
    """Dots: random starts; line: their median; crosses: w_0 = 0."""
    table = chosen.pivot_table(index="step", columns="seed", values="value")
    random = table.drop(columns=-1)
    axis.plot(table.index, random.median(axis=1), lw=1, label=label, **style.line(place))
    for seed in random:
        axis.plot(table.index, random[seed], ls="", ms=3, **style.marker(place))
    zero = "$w_0=0$" if place == 0 else None
    axis.plot(table.index, table[-1], ls="", marker="x", ms=4, color="0.2", label=zero, zorder=3)


def _bound(axis: Axes, chosen: pd.DataFrame, b: float) -> None:
    """What the smallest b may reach: b^-3 times the median at b = 1."""
    median = chosen[chosen["seed"] >= 0].groupby("step")["value"].median()
    look = {"color": style.line(0)["color"], "lw": 0.9, "ls": ":"}
    axis.plot(median.index, median / b**3, label=f"$b^{{-3}}$ × ($b$ = 1), $b$ = {b:g}", **look)


def _guides(axis: Axes, horizons: list[int], powers: tuple[int, ...]) -> None:
    t = np.array([horizons[0], horizons[-1]], dtype=float)
    for power in powers:
        level = {1: 0.15, 2: 0.15}[power]
        axis.plot(t, level * (t / t[0]) ** -power, color="0.5", ls="--", lw=0.8)
        axis.text(
            t[1] * 1.06,
            level * (t[1] / t[0]) ** -power,
            f"$T^{{-{power}}}$",
            fontsize=6.5,
            va="center",
        )
    axis.set_xlim(t[0] / 1.2, t[1] * 1.8)


def _floor(axis: Axes, trajectories: pd.DataFrame, quantities: Quantities) -> None:
    grid = style.pick(trajectories, name="grid_scaled_risk")
    rises = style.pick(trajectories, name="grid_rises")
    eta = grid["variant"].str.removeprefix("grid_").astype(float).to_numpy()
    scaled, monotone = grid["value"].to_numpy(), rises["value"].to_numpy() == 0
    for place, (which, label) in enumerate(
        ((monotone, "risk monotone"), (~monotone, "risk rises somewhere"))
    ):
        axis.plot(eta[which], scaled[which], ls="", ms=3, label=label, **style.marker(1 - place))
    limit = quantities.quantities["monotone_limit"].values["first_step"]["0"]
    assert limit is not None
    axis.axvline(limit, color="0.4", lw=0.8, ls="--", label="limit of the first step")
    steps = quantities.parameters["horizons"][-1]
    axis.set(
        xlabel=r"stepsize $\tilde\eta$", ylabel=f"$t\\,L_t$ at $t$ = {steps:,}", ylim=(1e-9, 3e4)
    )
    axis.legend(loc="lower left", fontsize=6)
    if (scaled < axis.get_ylim()[0]).any():
        axis.text(eta[-1], 3e-9, "below the axis", fontsize=6, ha="right", va="bottom")


def _first_phase(axis: Axes, quantities: Quantities) -> None:
    p = quantities.parameters
    for place, (name, gamma) in enumerate(
        (("last_rise_wide", p["gamma"]), ("last_rise", p["phase_gamma"]))
    ):
        last = quantities.quantities[name]
        assert last.axis
        for number, (variant, eta) in enumerate(last.axis.items()):
            values = [v for v in last.values[variant].values() if v is not None]
            label = rf"$\gamma$ = {gamma:g}" if number == 0 else None
            axis.plot([eta] * len(values), values, ls="", ms=3, label=label, **style.marker(place))
    ends = np.array(p["phase_stepsizes"][:5:4], dtype=float)
    axis.plot(ends, 60 * ends / ends[0], color="0.5", ls="--", lw=0.8, label=r"$\propto\tilde\eta$")
    axis.set(xlabel=r"stepsize $\tilde\eta$", ylabel="last rise of the risk, step", ylim=(3, 1e4))
    axis.legend(loc="upper right", bbox_to_anchor=(1, 0.62), fontsize=6)
