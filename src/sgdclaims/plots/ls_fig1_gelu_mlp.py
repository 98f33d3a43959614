"""LS Figure 1: (a) risk, (b) normalized margin, (c) test accuracy of the GELU network."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

SHOWN_SEED = 0
MARGIN_UNIT = 1e-5


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Risk and margin of one seed, whose oscillations a median would hide; accuracy over all seeds."""
    p = quantities.parameters
    figure, axes = style.new_figure(1, 3, width=style.PAGE, height=2.3)
    for place, variant in enumerate(("large", "small")):
        label = rf"$\tilde\eta$ = {p[f'{variant}_stepsize']:g}"
        chosen = style.pick(trajectories, variant=variant)
        chosen = chosen[chosen["step"] > 0]
        for axis, name in zip(axes[0, :2], ("loss", "margin"), strict=True):
            one = style.pick(chosen, seed=SHOWN_SEED, name=name)
            unit = MARGIN_UNIT if name == "margin" else 1
            axis.plot(one["step"], one["value"] / unit, lw=1.1, label=label, **style.line(place))
        accuracy = style.pick(chosen, name="accuracy")
        style.median_band(axes[0, 2], accuracy, label=label, **style.line(place))
    axes[0, 0].set(yscale="log", ylabel="risk $L$")
    axes[0, 1].set(ylabel=r"$10^5\,\min_i y_i f(x_i)\,/\,\|w\|^4$")
    axes[0, 1].axhline(0, color="0.4", lw=0.7)
    axes[0, 2].set(ylabel="test accuracy")
    for axis, letter, title in zip(
        axes[0], "abc", ("risk", "normalized margin", "test accuracy"), strict=True
    ):
        axis.set(xscale="log", xlabel="step $t$")
        style.panel_label(axis, letter, title)
    axes[0, 0].legend(loc="lower left")
    return figure
