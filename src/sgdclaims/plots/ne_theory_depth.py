"""Deep linear networks: layer sizes during SGD, and the residual of Theorem E.1 for both scales."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

FORMS = ("printed", "corrected")


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) sizes under SGD, one seed; (b) the same under GD; (c) end over theory; (d) condition number."""
    p = quantities.parameters
    depth = p["depth"]
    names = [
        r"$\mathrm{Tr}\,W_1\Sigma_x W_1^\top$",
        *(rf"$\|W_{i}\|_F^2$" for i in range(2, depth)),
        rf"$\mathrm{{Tr}}\,W_{depth}^\top\Sigma_\epsilon W_{depth}$",
    ]
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=2.2)
    for column, variant in enumerate(("sgd", "gd")):
        axis = axes[0, column]
        sizes = style.pick(trajectories, variant=variant, name="size", seed=0)
        for layer, label in enumerate(names):
            one = style.pick(sizes, i=layer)
            one = one[one["step"] > 0]
            axis.plot(one["step"], one["value"], lw=1.1, label=label, **style.line(layer))
        predicted = style.pick(trajectories, variant="corrected", name="predicted_size", seed=0)
        for layer in range(depth):
            axis.axhline(
                float(style.pick(predicted, i=layer)["value"].iloc[0]),
                color=style.line(layer)["color"], ls=":", lw=0.8,
            )  # fmt: skip
        axis.set(xscale="log", yscale="log", xlabel="step", ylabel="size of a layer")
        style.panel_label(axis, "ab"[column], f"{variant.upper()}; dotted: corrected theory")
    for axis in axes[0]:
        axis.set_ylim(top=3 * axis.get_ylim()[1])
    axes[0, 0].legend(fontsize=6, loc="upper right", ncols=2)
    for place, form in enumerate(FORMS):
        predicted = style.pick(trajectories, variant=form, name="predicted_size")
        end = style.pick(trajectories, variant="sgd", name="size")
        end = end[end["step"] >= 0.75 * p["steps"]].groupby(["seed", "i"])["value"].mean()
        ratio = end / predicted.groupby(["seed", "i"])["value"].first()
        for layer in range(depth):
            values = ratio.xs(layer, level="i")
            axes[1, 0].plot(
                [layer + 1 + 0.2 * (place - 0.5)] * len(values), values, ls="", ms=3,
                label=form if layer == 0 else None, **style.marker(place),
            )  # fmt: skip
    axes[1, 0].axhline(1, color="0.4", ls=":", lw=1)
    axes[1, 0].set(xlabel="layer", ylabel="size over theory", xticks=range(1, depth + 1))
    axes[1, 0].legend(fontsize=6)
    style.panel_label(axes[1, 0], "c", "SGD's end against Theorem 5.4 (E4)")
    for place, variant in enumerate(("sgd", "gd")):
        condition = style.pick(trajectories, variant=variant, name="condition")
        condition = condition[condition["step"] > 0]
        style.median_band(axes[1, 1], condition, label=variant.upper(), **style.line(place))
    axes[1, 1].set(xscale="log", yscale="log", xlabel="step", ylabel="condition number")
    axes[1, 1].legend(fontsize=6)
    style.panel_label(axes[1, 1], "d", "intermediate layers")
    return figure
