"""Balance between unequal layers, signs of neurons, and both forms of five formulas."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgdclaims.plots import style
from sgdclaims.results import Quantities

FORMULAS = {
    "fixed_point": "E2: fixed point\nwith decay",
    "rank_one_ratio": "E7: rank-one\nratio",
    "kaiming_variance": "E6: Kaiming's\nvariance",
    "xavier_share": "E8: Xavier's\ntrace",
}


def draw(trajectories: pd.DataFrame, quantities: Quantities) -> Figure:
    """(a) balance; (b) the neurons' weights; (c) measured over printed and over corrected."""
    p = quantities.parameters
    figure, axes = style.new_figure(1, 3, width=style.PAGE, height=2.5, width_ratios=[1.1, 1, 1.3])
    for place, (variant, label) in enumerate((("sgd", "SGD"), ("gd", "GD"))):
        for name, dashes, symbol in (("w", "-", r"$\|W\|^2/d_x$"), ("u", ":", r"$\|U\|^2/d_y$")):
            chosen = style.pick(trajectories, variant=variant, name=f"{name}_norm")
            chosen = chosen[chosen["step"] > 0]
            look = {"color": style.line(place)["color"], "linestyle": dashes}
            style.median_band(axes[0, 0], chosen, label=f"{label}: {symbol}", **look)
    axes[0, 0].set(xlabel="step", ylabel="squared norm per dimension", ylim=(0, None))
    axes[0, 0].legend(fontsize=6)
    title = rf"$d_x$ = {p['input_dimension']}, $d_y$ = {p['output_dimension']}"
    style.panel_label(axes[0, 0], "a", title)
    _signs(axes[0, 1], trajectories)
    _forms(axes[0, 2], quantities)
    style.panel_label(axes[0, 1], "b", "one input, one output")
    style.panel_label(axes[0, 2], "c", "measured over theory")
    return figure


def _signs(axis: Axes, trajectories: pd.DataFrame) -> None:
    w = style.pick(trajectories, name="neuron_w").set_index(["seed", "i"])["value"]
    u = style.pick(trajectories, name="neuron_u").set_index(["seed", "i"])["value"]
    reach = 1.1 * float(max(w.abs().max(), u.abs().max()))
    axis.plot([-reach, reach], [-reach, reach], color="0.4", ls=":", lw=0.9, label="$W = U^\\top$")
    axis.plot(w, u, ls="", ms=2.5, alpha=0.8, **style.marker(1))
    axis.set(
        xlabel="$W_i$", ylabel="$U_i$", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal"
    )
    axis.legend(fontsize=6, loc="upper left")


def _forms(axis: Axes, quantities: Quantities) -> None:
    for row, name in enumerate(FORMULAS):
        values = quantities.quantities[name].values
        for place, form in enumerate(("printed", "corrected")):
            numbers = [v for v in values[form].values() if v is not None]
            x = row + 0.25 * (place - 0.5) + np.linspace(-0.05, 0.05, len(numbers))
            label = form if row == 0 else None
            axis.plot(x, numbers, ls="", ms=3, label=label, **style.marker(place))
    axis.axhline(1, color="0.4", ls=":", lw=1)
    axis.set(xticks=range(len(FORMULAS)), ylim=(0, 2.6))
    axis.set_xticklabels(list(FORMULAS.values()), fontsize=5.5)
    axis.legend(fontsize=6, loc="upper right")
