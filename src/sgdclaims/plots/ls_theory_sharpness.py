"""Sharpness: around the oscillation on XOR, and along small steps on CIFAR-10."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

NETS = {"mlp": "four-layer GELU", "two_layer": "two-layer", "linear": "linear predictor"}


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) eta times half the top eigenvalue; (b) top eigenvalue over its start. Medians over seeds."""
    p = quantities.parameters
    figure, axes = style.new_figure(1, 2, width=style.PAGE, height=2.4)
    shades = style.shades(len(p["xor_stepsizes"]))
    for shade, eta in zip(shades, p["xor_stepsizes"], strict=True):
        chosen = style.pick(trajectories, name="relative_sharpness", variant=f"eta{eta:g}")
        chosen = chosen[chosen["step"] > 0]
        style.median_band(axes[0, 0], chosen, label=f"{eta:g}", color=shade, lw=1.2)
    axes[0, 0].axhline(1, color="0.4", ls=":", lw=1)
    axes[0, 0].set(xscale="log", yscale="log", xlabel="step")
    axes[0, 0].set_ylabel(r"$\tilde\eta\,\lambda_{\max}(\nabla^2 L)\,/\,2$")
    axes[0, 0].legend(
        title=r"stepsize $\tilde\eta$", loc="upper right", fontsize=6, title_fontsize=6
    )
    for place, (variant, label) in enumerate(NETS.items()):
        chosen = style.pick(trajectories, name="sharpness", variant=variant).copy()
        start = chosen[chosen["step"] == 0].set_index("seed")["value"]
        chosen["value"] = chosen["value"] / chosen["seed"].map(start)
        style.median_band(axes[0, 1], chosen, label=label, **style.line(place))
    axes[0, 1].axhline(1, color="0.4", ls=":", lw=1)
    axes[0, 1].set(xlabel="step", ylabel=r"$\lambda_{\max}$ over its initial value")
    axes[0, 1].legend(loc="upper left", fontsize=6)
    style.panel_label(axes[0, 0], "a", "XOR (band: 10% to 90% of seeds)")
    style.panel_label(axes[0, 1], "b", "CIFAR-10, small stepsize (band: as in a)")
    return figure
