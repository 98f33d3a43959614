"""LS-S1: test accuracy and losses against the step, small and large stepsize."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) test accuracy; (b) test loss (upper curves) and training loss."""
    p = quantities.parameters
    figure, axes = style.new_figure(1, 2, width=style.PAGE, height=2.4)
    for place, variant in enumerate(("small", "large")):
        label = rf"$\tilde\eta$ = {p[f'{variant}_stepsize']:g}"
        look = style.line(place)
        chosen = style.pick(trajectories, variant=variant)
        accuracy = style.pick(chosen, name="test_accuracy")
        style.median_band(axes[0, 0], accuracy, label=label, **look)
        style.median_band(
            axes[0, 1], style.pick(chosen, name="test_loss"), label=f"test, {label}", **look
        )
        thin = {**look, "lw": 0.8}
        style.median_band(
            axes[0, 1], style.pick(chosen, name="train_loss"), label=f"training, {label}", **thin
        )
    axes[0, 0].set(xlabel="step", ylabel="test accuracy", ylim=(0.7, 0.86))
    axes[0, 1].set(xlabel="step", ylabel="mean logistic loss", yscale="log")
    low, high = p["peak_window"]
    axes[0, 0].axvspan(
        low,
        min(high, p["steps"] / 2),
        color="0.93",
        lw=0,
        zorder=0,
        label="where small should peak",
    )
    axes[0, 0].legend(loc="lower right")
    axes[0, 1].legend(loc="lower right", bbox_to_anchor=(1.0, 0.12), fontsize=6)
    style.panel_label(axes[0, 0], "a", "test accuracy")
    style.panel_label(axes[0, 1], "b", "losses")
    return figure
