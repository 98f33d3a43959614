"""LS Figure 3: test accuracy against the step; and against the training loss."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) as in the paper; (b) the same runs at equal training loss (ours)."""
    p = quantities.parameters
    figure, axes = style.new_figure(1, 2, width=style.PAGE, height=2.4, sharey=True)
    colors = style.shades(len(p["stepsizes"]))
    for place, eta in enumerate(p["stepsizes"]):
        chosen = style.pick(trajectories, variant=f"eta{eta:g}")
        chosen = chosen[chosen["step"] > 0]
        look = {"color": colors[place], "linestyle": style.line(place)["linestyle"]}
        accuracy = style.pick(chosen, name="accuracy")
        style.median_band(axes[0, 0], accuracy, label=f"{eta:g}", **look)
        loss = style.pick(chosen, name="loss").groupby("step")["value"].median()
        level = accuracy.groupby("step")["value"].median()
        # Points, not a path: while it oscillates, a path would only cover the others.
        point = {"color": colors[place], "marker": style.marker(place)["marker"]}
        axes[0, 1].plot(loss.to_numpy(), level.to_numpy(), ls="", ms=2.5, label=f"{eta:g}", **point)
    axes[0, 0].set(xscale="log", xlabel="step $t$", ylabel="test accuracy", ylim=(0.68, 0.86))
    lowest = style.pick(trajectories, name="loss")["value"].min()
    axes[0, 1].set(
        xscale="log", xlabel="training risk (falls to the right)", xlim=(1.0, 0.9 * lowest)
    )
    axes[0, 1].set_xticks([1, 0.6, 0.4, 0.3, 0.2, 0.1], ["1", "0.6", "0.4", "0.3", "0.2", "0.1"])
    axes[0, 1].minorticks_off()
    axes[0, 1].legend(title=r"stepsize $\tilde\eta$", loc="lower right", markerscale=1.6)
    axes[0, 0].legend(title=r"stepsize $\tilde\eta$", loc="lower right")
    style.panel_label(axes[0, 0], "a", "at equal steps")
    style.panel_label(axes[0, 1], "b", "at equal training risk")
    return figure
