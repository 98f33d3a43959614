"""NE Figure 1: gradients tangential to circles; SGD moves outward, the flow stays on its circle."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0
CURVES = (("sgd", "SGD"), ("flow", "gradient flow"))


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:  # noqa: ARG001
    """(a) the plane; (b) the radius against the step."""
    figure, axes = style.new_figure(1, 2, width=style.PAGE, height=2.9, width_ratios=[1, 1.25])
    _plane(axes[0, 0], trajectories)
    for place, (variant, label) in enumerate(CURVES):
        chosen = style.pick(trajectories, variant=variant, name="radius")
        chosen = chosen[chosen["step"] > 0]
        style.median_band(axes[0, 1], chosen, label=label, **style.line(place))
    chosen = style.pick(trajectories, variant="sgd", name="radius")
    last = chosen["step"].max()
    end = chosen[chosen["step"] == last]["value"].median()
    steps = np.geomspace(last / 100, last, 50)
    axes[0, 1].plot(
        steps, 0.88 * end * (steps / last) ** 0.25, color="0.4", ls=":", label=r"$\propto t^{1/4}$"
    )
    axes[0, 1].set(xscale="log", yscale="log", xlabel="step $t$", ylabel=r"$|\theta|$")
    axes[0, 1].legend(loc="upper left")
    style.panel_label(axes[0, 1], "b", "SGD moves outward, the flow does not")
    return figure


def _plane(axis: Axes, trajectories: pd.DataFrame) -> None:
    paths = {}
    for variant, _ in CURVES:
        chosen = style.pick(trajectories, variant=variant, seed=SHOWN_SEED, name="theta")
        table = chosen.pivot_table(index="step", columns="i", values="value")
        paths[variant] = table.to_numpy()
    reach = 1.12 * np.abs(paths["sgd"]).max()
    turn = np.linspace(0, 2 * np.pi, 200)
    for radius in np.linspace(0, reach, 6)[1:]:
        axis.plot(radius * np.cos(turn), radius * np.sin(turn), color="0.85", lw=0.7, zorder=0)
    # The mean gradient's direction: tangential, towards angle zero, weaker far out.
    radii, angles = np.meshgrid(
        np.linspace(0.4, 0.95, 4) * reach, np.linspace(-np.pi, np.pi, 17)[:-1]
    )
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    pull = -np.sin(angles) / radii
    axis.quiver(
        x, y, -np.sin(angles) * pull, np.cos(angles) * pull, color="0.55", width=0.005, zorder=1
    )
    for place, (variant, label) in enumerate(CURVES):
        path = paths[variant]
        axis.plot(
            path[:, 0], path[:, 1], lw=0.9, label=label, zorder=2 + place, **style.line(place)
        )
    axis.plot(*paths["sgd"][0], "o", color="k", ms=4, zorder=5, label="start")
    axis.set(
        aspect="equal",
        xlim=(-reach, reach),
        ylim=(-reach, reach),
        xlabel=r"$\theta_1$",
        ylabel=r"$\theta_2$",
    )
    axis.grid(visible=False)
    axis.legend(loc="lower left", fontsize=6)
    style.panel_label(axis, "a", "descent directions are tangential")
