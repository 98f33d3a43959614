"""NE Figure 8: convergence to the noise equilibrium over stepsize, width, data dimension and batch size.

A linear network f(x) = U W x learns y = x + eps in n dimensions; half of the inputs have variance phi, the others
2 - phi, and eps ~ N(0, I). The misalignment q = |U^T Gamma_U U - W Gamma_W W^T|_F / |W Gamma_W W^T|_F of Theorem 5.2
falls in every cell of the grid, within a time that goes with S / (eta^2 n): the rate of Proposition 5.1 at a minimum is
4 eta^2 kappa^2 n / S, and cells are compared at equal eta^2 n steps / S.

Stated: eta .1, S 100, d 2000, n 100. The text calls d the width and the caption the data's dimension: both are shown.
Inferred: kappa 1/2 (with the sum the stated stepsize diverges). Ours: phi, the grids, horizon, initialization.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_fig8_convergence_robustness import Parameters
from sgdclaims.theory import noise_equilibrium as theory

LAST = 0.2  # "final": the mean over the last fifth of the recorded steps


@dataclass(frozen=True)
class Cell:
    """One setting of the four that are varied, and how long it runs."""

    eta: float
    width: int
    n: int
    batch_size: int
    steps: int

    def timed(self, like: Cell) -> Cell:
        """The same setting with the steps that make eta^2 n steps / S equal to `like`'s."""
        scale = (like.eta / self.eta) ** 2 * (like.n / self.n) * (self.batch_size / like.batch_size)
        return replace(self, steps=max(20, round(like.steps * scale)))


def cells(p: Parameters) -> dict[str, dict[str, Cell]]:
    """By panel and variant. The default is part of every panel under the same name."""
    base = Cell(p.eta, p.width, p.dimension, p.batch_size, p.steps)
    panels = {
        "eta": [replace(base, eta=eta) for eta in p.etas],
        "width": [replace(base, width=width) for width in p.widths],
        "dimension": [replace(base, n=n) for n in p.dimensions],
        "batch": [replace(base, batch_size=size) for size in p.batch_sizes],
    }
    return {panel: {name(c): c.timed(base) for c in varied} for panel, varied in panels.items()}


def name(cell: Cell) -> str:
    """The variant: all four settings."""
    return f"eta{cell.eta:g}_d{cell.width}_n{cell.n}_S{cell.batch_size}"


def variances(phi: float, n: int) -> Tensor:
    """(phi, ..., phi, 2 - phi, ..., 2 - phi)."""
    return torch.cat([torch.full((n // 2,), phi), torch.full((n - n // 2,), 2 - phi)])


def random_start(p: Parameters, cell: Cell) -> Weights:
    """Gaussian W (R, d, n) and U (R, n, d), whose squared norms do not depend on the width."""
    streams = Streams(range(p.seeds), "init")
    root = cell.width**0.5
    w = streams.normal(cell.width, cell.n) * (p.gain_w / root)
    return w, streams.normal(cell.n, cell.width) * (p.gain_u / root)


def unbalanced_minimum(p: Parameters, cell: Cell) -> Weights:
    """U W = I with orthogonal factors, U larger than W: where the decay of Proposition 5.1 starts."""
    noise = Streams(range(p.seeds), "frame").normal(cell.width, cell.n)
    frame = torch.linalg.qr(noise).Q  # (R, d, n) with orthonormal columns
    return frame / p.rate_imbalance, frame.mT * p.rate_imbalance


def train(
    p: Parameters, context: Context, cell: Cell, start: Weights, sigma_x: Tensor, *, noisy: bool
) -> Recorder:
    """SGD on fresh samples, or gradient descent on the population loss."""
    eye, ones = torch.eye(cell.n), torch.ones(cell.n)

    def measure(weights: Weights, step: int) -> dict[str, Tensor]:  # noqa: ARG001
        w, u = (m.double() for m in weights)
        left, gap = theory.misalignment(w, u, eye.double(), sigma_x.double(), ones.double())
        return {"misalignment": gap / left, "gap": gap}

    recorder = Recorder(linear_grid(cell.steps, p.points), measure)
    batches = constant()
    if noisy:
        streams = Streams(range(p.seeds), "data")
        batches = gaussian_teacher(streams, p.seeds, cell.batch_size, eye, sigma_x, ones)
    descend(
        start,
        two_layer.gradient("linear", p.kappa)
        if noisy
        else two_layer.population_gradient(eye, sigma_x, p.kappa),
        batches,
        eta=cell.eta,
        steps=cell.steps,
        recorder=recorder,
        progress=context.progress(cell.steps, name(cell)),
    )
    return recorder


def run(p: Parameters, context: Context) -> Outcome:
    """All cells once, gradient descent at the default, and the decay from an unbalanced minimum."""
    outcome = Outcome()
    panels = cells(p)
    ends: dict[str, Tensor] = {}
    for cell in {variant: c for panel in panels.values() for variant, c in panel.items()}.values():
        sigma_x = variances(p.phi, cell.n)
        ends[name(cell)] = _follow(p, context, outcome, cell, sigma_x, noisy=True)
    base = Cell(p.eta, p.width, p.dimension, p.batch_size, p.steps)
    gd = _follow(p, context, outcome, base, variances(p.phi, p.dimension), noisy=False)
    worst = {
        panel: torch.stack([ends[variant] for variant in varied]).amax(dim=0)
        for panel, varied in panels.items()
    }
    outcome.quantity(
        "remaining",
        {v: by_variant(x, _runs(p, v))[v] for v, x in (worst | {"gd": gd}).items()},
        meaning="final over initial misalignment, worst cell of the panel",
    )
    measure_rates(p, context, outcome)
    return outcome


def _runs(p: Parameters, variant: str) -> list[Run]:
    return [Run(variant, seed) for seed in range(p.seeds)]


def _follow(
    p: Parameters, context: Context, outcome: Outcome, cell: Cell, sigma_x: Tensor, *, noisy: bool
) -> Tensor:
    """Final over initial misalignment, (R,); the curve goes to the table. A diverged run is infinite."""
    found = train(p, context, cell, random_start(p, cell), sigma_x, noisy=noisy)
    q = found.series["misalignment"]
    outcome.add_series("misalignment", found.steps, q, _runs(p, name(cell) if noisy else "gd"))
    ratio = q[-max(1, round(LAST * len(q))) :].mean(dim=0) / q[0]
    return torch.nan_to_num(ratio, nan=torch.inf)


def measure_rates(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Rate per step over the first e-fold of the gap, isotropic inputs, from an unbalanced minimum."""
    base = Cell(p.eta, p.rate_width, p.dimension, p.batch_size, p.steps)
    varied = [replace(base, eta=eta) for eta in p.rate_etas]
    varied += [replace(base, batch_size=size) for size in p.rate_batch_sizes]
    rates: dict[str, dict[int, float]] = {}
    ratios: dict[str, dict[int, float]] = {}
    eta_axis, axis = {}, {}
    for cell in dict.fromkeys(varied):
        predicted = theory.imbalance_decay_rate(cell.eta, p.kappa, cell.n, 1.0, cell.batch_size)
        short = replace(cell, steps=max(20, round(1 / predicted)))  # one e-fold
        start, ones = unbalanced_minimum(p, cell), torch.ones(cell.n)
        found = train(p, context, short, start, ones, noisy=True)
        rate = decay(torch.tensor(found.steps), found.series["gap"])
        variant = f"eta{cell.eta:g}_S{cell.batch_size}"
        rates |= by_variant(rate, _runs(p, variant))
        ratios |= by_variant(rate / predicted, _runs(p, variant))
        axis[variant], eta_axis[variant] = cell.eta**2 / cell.batch_size, cell.eta
    outcome.quantity(
        "rate",
        rates,
        meaning="decay rate of |U^T Gamma_U U - W Gamma_W W^T|_F",
        unit="1/step",
        axis_name="eta^2 / S",
        axis=axis,
    )
    outcome.quantity(
        "relaxation_time",
        {v: {seed: 1 / rate for seed, rate in row.items()} for v, row in rates.items()},
        meaning="one over the decay rate",
        unit="steps",
        axis_name="eta^2 / S",
        axis=axis,
    )
    outcome.quantity(
        "rate_by_stepsize",
        rates,
        meaning="the same rates against the stepsize alone",
        unit="1/step",
        axis_name="eta",
        axis=eta_axis,
    )
    outcome.quantity("rate_over_theory", ratios, meaning="decay rate over 4 eta^2 kappa^2 n / S")


def decay(steps: Tensor, values: Tensor) -> Tensor:
    """Least-squares rate of exponential decay of values (T, R) at `steps` (T,), (R,)."""
    t = steps.double() - steps.double().mean()
    return -(t[:, None] * values.log()).sum(dim=0) / t.square().sum()
