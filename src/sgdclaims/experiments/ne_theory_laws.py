"""Our own panels: the laws behind the noise equilibrium, and what is misprinted in them.

(a) Exact law: a step changes the charge C = |U|^2 - |W|^2 by eta^2 g^T A g, whatever the batch and the stepsize. (b)
Theorem 4.3: along the orbit theta_lam = exp(lam A) theta the loss is constant, and the drift G(lam) falls through
exactly one zero; from gradients of single samples by automatic differentiation. (c) The mean step of C at a minimum
against the printed and the corrected factor (E1). (d) Theorem 5.2 with weight decay: which shift of the Gammas closes
(13) (E3). The Hessian trace of Proposition 5.3 against automatic differentiation (E5) has no panel. float64 except
for the long runs of (d).
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.loop import Remembers
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import Batch, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments import symmetry_orbit as orbit
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_theory_laws import Parameters
from sgdclaims.theory import noether
from sgdclaims.theory import noise_equilibrium as theory

F64 = torch.float64
FROM = 0.3  # (d): averages leave out the first part of the steps


def problem(p: Parameters) -> tuple[Weights, Tensor, Tensor]:
    """One random network per seed, and the variances of x and eps; float64."""
    streams = Streams(range(p.seeds), "init")
    w = streams.normal(p.width, p.dimension, dtype=F64) / p.dimension**0.5
    u = streams.normal(p.dimension, p.width, dtype=F64) / p.width**0.5
    sigma_x = torch.linspace(0.5, 1.5, p.dimension, dtype=F64)
    return (w, 1.5 * u), sigma_x, torch.linspace(2.0, 0.5, p.dimension, dtype=F64)


def run(p: Parameters, context: Context) -> Outcome:
    """All panels."""
    outcome = Outcome()
    (w, u), sigma_x, sigma_eps = problem(p)
    measure_exact_law(p, outcome, (w, u), sigma_x, sigma_eps)
    # At V = U W every network is at a minimum of its own problem.
    gamma_w, gamma_u = theory.gammas(w, u, u @ w, sigma_x, sigma_eps)
    trace_u, trace_w = noether.noise_traces(w, u, gamma_w, gamma_u, p.kappa)
    measure_orbit(p, outcome, (w, u), sigma_x, sigma_eps)
    measure_mean_step(p, outcome, (w, u), trace_u - trace_w, sigma_x, sigma_eps)
    measure_hessian(p, outcome, (w, u), sigma_x)
    measure_weight_decay(p, context, outcome)
    return outcome


def measure_exact_law(
    p: Parameters, outcome: Outcome, weights: Weights, sigma_x: Tensor, sigma_eps: Tensor
) -> None:
    """Worst relative gap of a step's charge to eta^2 g^T A g, linear and ReLU, with factor 1 and 1/2."""
    gaps: dict[str, Tensor] = {}
    teacher = torch.eye(p.dimension, dtype=F64)
    for activation in ("linear", "relu"):
        gradient = two_layer.gradient(activation, p.kappa)
        w, u = (m.clone() for m in weights)
        batches = gaussian_teacher(
            Streams(range(p.seeds), activation), p.seeds, p.batch_size, teacher, sigma_x, sigma_eps
        )
        worst = {"": torch.zeros(p.seeds, dtype=F64), "_half": torch.zeros(p.seeds, dtype=F64)}
        changes, laws = [], []
        for batch in itertools.islice(batches, p.law_steps):
            grad_w, grad_u = gradient((w, u), batch)
            before = noether.charge(w, u)
            w, u = w - p.eta * grad_w, u - p.eta * grad_u
            change, law = noether.charge(w, u) - before, noether.exact_step(grad_w, grad_u, p.eta)
            size = p.eta**2 * (grad_w.square().sum((1, 2)) + grad_u.square().sum((1, 2)))
            for name, factor in (("", 1.0), ("_half", 0.5)):
                worst[name] = torch.maximum(worst[name], (change - factor * law).abs() / size)
            changes.append(change)
            laws.append(law)
        gaps |= {f"{activation}{name}": value for name, value in worst.items()}
        steps = list(range(p.law_steps))
        shown = grid([activation], range(p.seeds))
        outcome.add_series("charge_change", steps, torch.stack(changes), shown)
        outcome.add_series("charge_law", steps, torch.stack(laws), shown)
    outcome.quantity(
        "charge_gap",
        _tables(p, gaps),
        meaning="largest |C(t+1) - C(t) - eta^2 g^T A g| over eta^2 |g|^2; half: factor 1/2",
    )


def _tables(p: Parameters, values: dict[str, Tensor]) -> dict[str, dict[int, float]]:
    merged: dict[str, dict[int, float]] = {}
    for variant, value in values.items():
        merged |= by_variant(value, grid([variant], range(p.seeds)))
    return merged


def measure_orbit(
    p: Parameters, outcome: Outcome, weights: Weights, sigma_x: Tensor, sigma_eps: Tensor
) -> None:
    """Lemma B.1 and Theorem 4.3 along theta_lam = (e^lam U, e^-lam W), on one fixed set of samples."""
    lams = torch.linspace(-1.5, 1.5, p.lambdas, dtype=F64)
    w, u = weights
    data = Streams(range(p.seeds), "orbit")
    batch = next(gaussian_teacher(data, p.seeds, p.orbit_samples, u @ w, sigma_x, sigma_eps))
    gaps, spreads = {}, {}
    for activation in ("linear", "relu", "tanh"):
        traces = orbit.sampled_traces(weights, batch, activation, p.kappa)
        measured, outputs = [], []
        for lam in lams:
            at = orbit.moved(weights, lam)
            trace_u, trace_w = orbit.sampled_traces(at, batch, activation, p.kappa)
            measured.append(trace_u - trace_w)
            outputs.append(two_layer.forward(at, batch[0], activation))
        g = torch.stack(measured)  # (lambdas, R)
        predicted = torch.stack([noether.drift(*traces, lam) for lam in lams])
        gaps[activation] = ((g - predicted).abs() / predicted.abs().amax(0)).amax(0)
        changes = [(o - outputs[0]).square().sum((1, 2)).sqrt() for o in outputs]
        size = outputs[0].square().sum((1, 2)).sqrt()
        spreads[activation] = torch.stack(changes).amax(0) / size
        if activation == "linear":
            measure_zero(p, outcome, weights, batch, traces, g)
            thousandths = [round(1000 * float(lam - lams[0])) for lam in lams]  # steps are integers
            outcome.add_series("drift", thousandths, g, grid(["orbit"], range(p.seeds)))
    outcome.quantity(
        "lemma_gap", _tables(p, gaps), meaning="largest relative gap to Lemma B.1 along the orbit"
    )
    outcome.quantity(
        "orbit_spread",
        _tables(p, spreads),
        meaning="largest relative change of the network's outputs along the orbit",
    )


def measure_zero(
    p: Parameters,
    outcome: Outcome,
    weights: Weights,
    batch: Batch,
    traces: tuple[Tensor, Tensor],
    g: Tensor,
) -> None:
    """How often G (lambdas, R) changes its sign along the orbit, and what it is at the predicted zero."""
    crossings = ((g[1:] <= 0) & (g[:-1] > 0)).sum(0) + ((g[1:] > 0) & (g[:-1] <= 0)).sum(0)
    outcome.quantity(
        "drift_zeros", _tables(p, {"symmetry": crossings.double()}), meaning="sign changes of G"
    )
    zero = noether.balance_point(*traces)
    there = orbit.sampled_traces(orbit.moved(weights, zero), batch, "linear", p.kappa)
    found = {
        name: (trace_u - trace_w).abs() / (trace_u + trace_w)
        for name, (trace_u, trace_w) in (("theorem", there), ("start", traces))
    }
    outcome.quantity(
        "drift_at_zero",
        _tables(p, found),
        meaning="|G| over Tr Sigma at lam*, and at lam = 0",
    )


def measure_mean_step(
    p: Parameters,
    outcome: Outcome,
    weights: Weights,
    trace: Tensor,
    sigma_x: Tensor,
    sigma_eps: Tensor,
) -> None:
    """Mean change of C over many independent batches at a minimum, over both predictions (E1)."""
    w, u = weights
    total = torch.zeros(p.seeds, dtype=F64)
    batches = gaussian_teacher(
        Streams(range(p.seeds), "mean step"), p.seeds, p.batch_size, u @ w, sigma_x, sigma_eps
    )
    gradient = two_layer.gradient("linear", p.kappa)
    for batch in itertools.islice(batches, p.draws):
        grad_w, grad_u = gradient((w, u), batch)
        total += noether.charge(w - p.eta * grad_w, u - p.eta * grad_u) - noether.charge(w, u)
    forms: tuple[noether.Form, ...] = ("printed", "corrected")
    ratios: dict[str, Tensor] = {
        form: total / p.draws / noether.mean_step(trace, p.eta, p.batch_size, form)
        for form in forms
    }
    outcome.quantity(
        "mean_step_ratio",
        _tables(p, ratios),
        meaning="mean change of C in a step, measured over predicted",
    )


def measure_hessian(p: Parameters, outcome: Outcome, start: Weights, sigma_x: Tensor) -> None:
    """Proposition 5.3 over the exact trace by automatic differentiation, loss |r|^2 (E5)."""
    w, u = start
    split = p.width * p.dimension

    def loss(flat: Tensor) -> Tensor:
        first, second = flat[:split].view(p.width, -1), flat[split:].view(-1, p.width)
        error = second @ first - torch.eye(p.dimension, dtype=F64)
        return (error * sigma_x * error).sum()

    flat = torch.cat([w.flatten(1), u.flatten(1)], dim=1)
    exact = torch.stack([torch.func.hessian(loss)(weights).trace() for weights in flat])
    ratios = {
        form: theory.hessian_trace(w, u, sigma_x, kappa) / exact
        for form, kappa in (("printed", 0.5), ("corrected", 1.0))
    }
    outcome.quantity(
        "hessian_ratio",
        _tables(p, ratios),
        meaning="Proposition 5.3 over the exact Hessian trace, for the loss (12)",
    )


class LateSums(Remembers):
    """Sums of both sides of (13) and of W W^T and U^T U over the last recorded steps."""

    remembered = ("sums",)

    def __init__(self, steps: int, sigma_x: Tensor, sigma_eps: Tensor) -> None:
        self._from, self._eye = FROM * steps, torch.eye(len(sigma_x))
        self._sigma_x, self._sigma_eps = sigma_x, sigma_eps
        self.sums = [torch.zeros(())] * 4

    def __call__(self, weights: Weights, step: int) -> dict[str, Tensor]:
        if step >= self._from:
            w, u = weights
            gamma_w, gamma_u = theory.gammas(w, u, self._eye, self._sigma_x, self._sigma_eps)
            sides = *theory.equilibrium_sides(w, u, gamma_w, gamma_u), w @ w.mT, u.mT @ u
            self.sums = [old + new for old, new in zip(self.sums, sides, strict=True)]
        return {}


def measure_weight_decay(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Relative residual of (13) after SGD with weight decay, for every form of the shift (E3)."""
    sigma_x = torch.linspace(0.5, 1.5, p.dimension)
    sigma_eps, eye = torch.linspace(2.0, 0.5, p.dimension), torch.eye(p.dimension)
    residuals: dict[str, dict[int, float]] = {}
    cells = [(batch, 1, f"batch{batch}") for batch in p.decay_batches]
    cells.append((1, p.decay_longer, "batch1_longer"))
    for batch, longer, name in cells:
        gamma = p.decay_shift * p.kappa**2 * p.decay_eta / batch
        steps = p.decay_steps * batch * longer
        late = LateSums(steps, sigma_x, sigma_eps)
        seeds = range(p.seeds)
        streams = Streams(seeds, "decay init")
        start = (
            0.5 * streams.normal(p.width, p.dimension),
            0.5 * streams.normal(p.dimension, p.width),
        )
        descend(
            start,
            two_layer.gradient("linear", p.kappa),
            gaussian_teacher(Streams(seeds, "decay"), p.seeds, batch, eye, sigma_x, sigma_eps),
            eta=p.decay_eta,
            steps=steps,
            recorder=Recorder(linear_grid(steps, 3000), late),
            weight_decay=2 * gamma,
            progress=context.progress(steps, f"weight decay, {name}"),
        )
        left, right, outer_w, outer_u = late.sums
        size = left.square().sum((1, 2)).sqrt()
        shifts = noether.weight_decay_shifts(gamma, p.decay_eta, batch, p.kappa)
        for form, shift in shifts.items():
            residual = left + shift * outer_w - right - shift * outer_u
            relative = residual.square().sum((1, 2)).sqrt() / size
            runs = [Run(f"{form}_{name}", seed) for seed in seeds]
            residuals |= by_variant(relative, runs)
    outcome.quantity(
        "decay_residual",
        residuals,
        meaning="relative residual of (13) with weight decay, by the form of the shift",
    )
