"""How the charge moves: conservation, the chase, a broken symmetry; and what predicts stability."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """Four panels."""
    p = quantities.parameters
    figure, axes = style.new_figure(2, 2, width=style.PAGE, height=2.2)
    for place, (variant, label) in enumerate((("sgd", "SGD"), ("gd", "GD"), ("flow", "flow"))):
        chosen = style.pick(trajectories, variant=variant, name="charge_drift")
        chosen = chosen[chosen["step"] > 0]
        style.median_band(axes[0, 0], chosen, label=label, **style.line(place))
    axes[0, 0].set(yscale="log", xlabel="step", ylabel=r"$|C(t)-C(0)|\,/\,|C(0)|$")
    axes[0, 0].legend(fontsize=6, loc="center right")
    for place, (name, label) in enumerate((("charge", "$C$"), ("goal", "$C^*$"))):
        chosen = style.pick(trajectories, variant="chase", name=name, seed=0)
        axes[0, 1].plot(chosen["step"], chosen["value"], lw=0.9, label=label, **style.line(place))
    axes[0, 1].set(xlabel="step", ylabel="charge")
    axes[0, 1].legend(fontsize=6)
    deviation = quantities.quantities["deviation"]
    assert deviation.axis
    for variant, sigma in deviation.axis.items():
        values = [v for v in deviation.values[variant].values() if v is not None]
        axes[1, 0].plot([sigma] * len(values), values, ls="", ms=3.5, **style.marker(0))
    x = np.array(sorted(deviation.axis.values()))
    goal = p["toy_target"] ** 2 - p["toy_target"] ** -2
    theory = 8 * p["kappa"] ** 2 * goal / p["zeta"] * x
    axes[1, 0].plot(x, theory, color="0.4", ls=":", label="eq. (23)")
    axes[1, 0].set(
        xscale="log", yscale="log", xlabel=r"$\sigma^2 = \eta/2S$", ylabel="mean $C^*-C$"
    )
    axes[1, 0].legend(fontsize=6)
    _stability(axes[1, 1], trajectories)
    titles = (
        "conservation (Remark 4.4)",
        "$C$ chases $C^*$",
        "broken symmetry",
        "SGD's stability limit",
    )
    for axis, letter, title in zip(axes.flat, "abcd", titles, strict=True):
        style.panel_label(axis, letter, title)
    return figure


def _stability(axis: Axes, trajectories: pd.DataFrame) -> None:
    chosen = trajectories[trajectories["variant"].str.startswith("sgd_")]
    limit = np.exp(style.pick(chosen, name="log_limit")["value"].to_numpy())
    for place, (name, label) in enumerate(
        (("trace", r"$\mathrm{Tr}\,\nabla^2 L$"), ("top", r"$\lambda_{\max}$"))
    ):
        x = np.exp(style.pick(chosen, name=f"log_{name}")["value"].to_numpy())
        axis.plot(x, limit, ls="", ms=2, alpha=0.7, label=label, **style.marker(place))
    axis.set(xscale="log", yscale="log", xlabel="sharpness", ylabel=r"critical $\eta$, batch 1")
    axis.legend(fontsize=6, loc="lower left")
