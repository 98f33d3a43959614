"""NE Figure 2: SGD leads matrix factorization to the noise equilibrium of Theorem 5.2, GD does not.

A linear network f(x) = U W x learns y = x + eps, x ~ N(0, I_30), eps ~ N(0, Sigma_eps). In the noise equilibrium (13)

    Delta = U^T Gamma_U U - W Gamma_W W^T = 0.

The paper shows a trajectory, ten elements of Delta over time, and converged solutions of SGD and GD, one point per
Sigma_eps, against the prediction. Gamma is the closed form of the current network, not an average over a batch.

Stated: dimensions, stepsize .1, batch 1, no weight decay. Inferred: the mean loss (with the sum .1 diverges). Ours:
Sigma_eps, initialization, steps, the robustness grid. GD descends the population loss: an infinite batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.loop import Remembers
from sgdclaims.dynamics.recorder import Recorder, Weights, linear_grid
from sgdclaims.dynamics.samplers import constant, gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.experiments.base import Context, Outcome, Run, by_variant, grid
from sgdclaims.models import two_layer
from sgdclaims.parameters.ne_fig2_matrix_factorization import Parameters
from sgdclaims.theory import noise_equilibrium as theory

LAST = 0.2  # time averages run over the last fifth of the steps
SHOWN = 10  # elements of Delta in the figure
FIRST_NOISE = "noise0"


@dataclass(frozen=True)
class Stack:
    """Runs that advance together, with their label noise (R, dy) and initial gains (R, 2)."""

    runs: list[Run]
    sigma_eps: Tensor
    gains: Tensor


class Watcher(Remembers):
    """Records both sides of (13) and keeps their sums over the last fifth of the recorded steps."""

    remembered = ("left", "right")

    def __init__(self, p: Parameters, sigma_eps: Tensor, schedule: list[int]) -> None:
        self._ones, self._eye = torch.ones(p.dimension), torch.eye(p.dimension)
        self._sigma_eps = sigma_eps
        self._from = (1 - LAST) * p.steps
        self.left = self.right = torch.zeros(())
        self.recorder = Recorder(schedule, self)

    def sides(self, weights: Weights) -> tuple[Tensor, Tensor]:
        """W Gamma_W W^T and U^T Gamma_U U, (R, d, d)."""
        w, u = weights
        gamma_w, gamma_u = theory.gammas(w, u, self._eye, self._ones, self._sigma_eps)
        return theory.equilibrium_sides(w, u, gamma_w, gamma_u)

    def __call__(self, weights: Weights, step: int) -> dict[str, Tensor]:
        left, right = self.sides(weights)
        if step >= self._from:
            self.left, self.right = self.left + left, self.right + right
        w, u = weights
        delta = right - left
        return {
            "delta": delta.flatten(1)[:, :: delta.shape[1] + 4][:, :SHOWN],
            "w_norm": theory.squared_norm(w),
            "u_norm": theory.squared_norm(u),
        }

    @property
    def misalignment(self) -> Tensor:
        """q = |mean Delta|_F / |mean W Gamma_W W^T|_F over the last fifth, (R,)."""
        gap = (self.right - self.left).square().sum(dim=(1, 2))
        return (gap / self.left.square().sum(dim=(1, 2))).sqrt()


def label_noise(p: Parameters, index: int) -> Tensor:
    """The diagonal of the index-th Sigma_eps: log-normal variances."""
    normal = Streams([index], "label noise").normal(p.dimension)[0]
    return (p.noise_spread * normal).exp()


def train(
    p: Parameters, context: Context, stack: Stack, method: str, eta: float, batch: int, steps: int
) -> Watcher:
    """Runs a stack with SGD or GD."""
    n, kappa = p.dimension, p.kappa_times_dimension / p.dimension
    seeds = [run.seed for run in stack.runs]
    streams = Streams(seeds, "init")
    w = streams.normal(p.width, n) * stack.gains[:, :1, None] / n**0.5
    u = streams.normal(n, p.width) * stack.gains[:, 1:, None] / p.width**0.5
    watcher = Watcher(
        p.model_copy(update={"steps": steps}), stack.sigma_eps, linear_grid(steps, p.points)
    )
    ones, eye = torch.ones(n), torch.eye(n)
    if method == "sgd":
        data = Streams(seeds, "data")
        batches = gaussian_teacher(data, len(seeds), batch, eye, ones, stack.sigma_eps)
        gradient = two_layer.gradient("linear", kappa)
    else:
        batches, gradient = constant(), two_layer.population_gradient(eye, ones, kappa)
    progress = context.progress(steps, f"{method} eta {eta:g} batch {batch}")
    descend(
        (w, u),
        gradient,
        batches,
        eta=eta,
        steps=steps,
        recorder=watcher.recorder,
        progress=progress,
    )
    return watcher


def run(p: Parameters, context: Context) -> Outcome:
    """The scatter's stack, the initializations, the grid, and the decay from an exact minimum."""
    names = [f"noise{i}" for i in range(p.noises)]
    runs = grid(names, range(p.seeds))
    gains = [(p.gain_w, p.gain_u), *[(a, b) for a, b in p.other_gains]]
    for place in range(1, len(gains)):  # other initializations, at the first noise only
        runs += grid([f"init{place}"], range(p.seeds))
    noise = {name: label_noise(p, i) for i, name in enumerate(names)}
    first = noise[FIRST_NOISE]
    sigma = torch.stack([noise.get(r.variant, first) for r in runs])
    gain = [gains[int(r.variant[4:])] if r.variant.startswith("init") else gains[0] for r in runs]
    stack = Stack(runs, sigma, torch.tensor(gain))
    done = {m: train(p, context, stack, m, p.eta, p.batch_size, p.steps) for m in ("sgd", "gd")}
    outcome = Outcome()
    for method, watcher in done.items():
        kept = [place for place, r in enumerate(runs) if r.variant == FIRST_NOISE]
        named = [Run(method, runs[place].seed) for place in kept]
        for name, values in watcher.recorder.series.items():
            outcome.add_series(name, watcher.recorder.steps, values[:, kept], named)
    measure_alignment(p, outcome, runs, done)
    measure_prediction(p, outcome, runs, done)
    measure_initializations(p, outcome, runs, done)
    measure_grid(p, context, outcome, stack)
    measure_decay(p, context, outcome)
    return outcome


def measure_alignment(
    p: Parameters, outcome: Outcome, runs: list[Run], done: dict[str, Watcher]
) -> None:
    """q of SGD over q of GD per seed, mean over the noises; fluctuation of Delta's elements."""
    place = {(r.variant, r.seed): i for i, r in enumerate(runs)}
    names = [f"noise{i}" for i in range(p.noises)]
    q = {m: w.misalignment for m, w in done.items()}

    def ratio(above: str, below: str, shift: int) -> dict[int, float]:
        return {
            s: sum(
                float(q[above][place[n, (s + shift) % p.seeds]] / q[below][place[n, s]])
                for n in names
            )
            / len(names)
            for s in range(p.seeds)
        }

    outcome.quantity(
        "misalignment_ratio",
        {"sgd_over_gd": ratio("sgd", "gd", 0), "gd_over_gd": ratio("gd", "gd", 1)},
        meaning="q = |mean Delta| / |mean W Gamma_W W^T| at the end, SGD over GD",
    )
    outcome.quantity(
        "misalignment_gain",
        {"gd_over_sgd": ratio("gd", "sgd", 0), "sgd_over_sgd": ratio("sgd", "sgd", 1)},
        meaning="q of GD over q of SGD",
    )
    delta = done["sgd"].recorder.series["delta"]  # (T, R, elements)
    size = delta[0].square().mean(dim=1).sqrt()
    count = max(2, round(LAST * len(delta)))
    spread = {
        "last_fifth": delta[-count:].std(dim=0).mean(dim=1) / size,
        "first_fifth": delta[:count].std(dim=0).mean(dim=1) / size,
    }
    outcome.quantity(
        "delta_fluctuation",
        {n: by_variant(v, runs)[FIRST_NOISE] for n, v in spread.items()},
        meaning="standard deviation in time of Delta's elements over their initial size, SGD",
    )


def _slope(x: Tensor, y: Tensor) -> float:
    centered = x - x.mean()
    return float((centered * (y - y.mean())).sum() / centered.square().sum())


def measure_prediction(
    p: Parameters, outcome: Outcome, runs: list[Run], done: dict[str, Watcher]
) -> None:
    """Elements of U^T Gamma_U U regressed on those of W Gamma_W W^T over all noises; trace ratio; the scatter."""
    slopes: dict[str, dict[int, float]] = {"sgd": {}, "gd": {}, "mismatched": {}}
    traces: dict[str, dict[int, float]] = {"sgd": {}, "gd": {}}
    for seed in range(p.seeds):
        chosen = [i for i, r in enumerate(runs) if r.seed == seed and r.variant.startswith("noise")]
        for method, watcher in done.items():
            left, right = watcher.left[chosen], watcher.right[chosen]
            slopes[method][seed] = _slope(left.flatten(), right.flatten())
            diagonals = [side.diagonal(dim1=1, dim2=2).sum() for side in (left, right)]
            traces[method][seed] = float(diagonals[0] / diagonals[1])
            if method == "sgd":
                other = (seed + 1) % p.seeds
                theirs = [
                    i
                    for i, r in enumerate(runs)
                    if r.seed == other and r.variant.startswith("noise")
                ]
                slopes["mismatched"][seed] = _slope(left.flatten(), watcher.right[theirs].flatten())
    outcome.quantity(
        "prediction_slope",
        slopes,
        meaning="slope of the elements of U^T Gamma_U U on those of W Gamma_W W^T, all noises",
    )
    outcome.quantity(
        "prediction_trace_ratio", traces, meaning="Tr W Gamma_W W^T over Tr U^T Gamma_U U"
    )
    points = [i for i, r in enumerate(runs) if r.seed == 0 and r.variant.startswith("noise")]
    for method, watcher in done.items():
        for name, side in (("left", watcher.left), ("right", watcher.right)):
            diagonal = side[points].diagonal(dim1=1, dim2=2) / max(1, round(LAST * p.points))
            values = diagonal.mean(dim=1)[None, None].double()
            outcome.add_series(f"scatter_{name}", [p.steps], values, [Run(method, 0)])


def measure_initializations(
    p: Parameters, outcome: Outcome, runs: list[Run], done: dict[str, Watcher]
) -> None:
    """Spread of ln |U|^2/|W|^2 over initializations, SGD over GD."""
    spread: dict[str, Tensor] = {}
    starts = [FIRST_NOISE, *[f"init{i + 1}" for i in range(len(p.other_gains))]]
    for method, watcher in done.items():
        series = watcher.recorder.series
        last = round(LAST * len(series["u_norm"]))
        ratio = (series["u_norm"][-last:].mean(0) / series["w_norm"][-last:].mean(0)).log()
        by_start = [ratio[[i for i, r in enumerate(runs) if r.variant == s]] for s in starts]
        spread[method] = torch.stack(by_start).std(dim=0)
    seeds = grid(["sgd_over_gd"], range(p.seeds))
    outcome.quantity(
        "initialization_spread",
        by_variant(spread["sgd"] / spread["gd"], seeds)
        | by_variant(spread["gd"].roll(1) / spread["gd"], grid(["gd_over_gd"], range(p.seeds))),
        meaning="spread of ln |U|^2/|W|^2 over initializations, SGD over GD",
    )


def measure_grid(p: Parameters, context: Context, outcome: Outcome, stack: Stack) -> None:
    """q over stepsizes and batch sizes at equal eta^2 steps / S, relative to GD's."""
    seeds = range(min(p.grid_seeds, p.seeds))
    kept = [i for i, r in enumerate(stack.runs) if r.variant == FIRST_NOISE and r.seed in seeds]
    small = Stack([stack.runs[i] for i in kept], stack.sigma_eps[kept], stack.gains[kept])
    reference = train(p, context, small, "gd", p.eta, 1, p.steps).misalignment
    worst = torch.zeros(len(kept))
    work = p.eta**2 * p.steps / p.batch_size
    for eta in p.grid_etas:
        for batch in p.grid_batches:
            steps = round(work * batch / eta**2)
            q = train(p, context, small, "sgd", eta, batch, steps).misalignment
            worst = torch.maximum(worst, torch.nan_to_num(q / reference, nan=torch.inf))
    runs, again = grid(["sgd_over_gd"], seeds), grid(["gd_over_gd"], seeds)
    outcome.quantity(
        "worst_cell",
        by_variant(worst, runs) | by_variant(reference.roll(1) / reference, again),
        meaning="q of SGD over q of GD, the worst cell of the grid of stepsizes and batch sizes; "
        "control: q of GD of another seed over q of GD",
    )


def measure_decay(p: Parameters, context: Context, outcome: Outcome) -> None:
    """Rate at which |U^T U - W W^T|_F decays from an unbalanced exact minimum, over formula (9)'s."""
    n, kappa = p.dimension, p.kappa_times_dimension / p.dimension
    rate = theory.imbalance_decay_rate(p.eta, kappa, n, 1.0, p.batch_size)
    steps = round(1 / rate)  # the first e-fold
    part = torch.eye(n, p.width)
    w = (part.mT / p.imbalance).expand(p.seeds, -1, -1)
    u = (part * p.imbalance).expand(p.seeds, -1, -1)
    ones, eye = torch.ones(n), torch.eye(n)
    decays: dict[str, dict[int, float]] = {}
    for method in ("sgd", "gd"):
        data = Streams(range(p.seeds), "decay")
        noisy = method == "sgd"
        recorder = Recorder([0, steps], lambda m, step: {"d": theory.imbalance(m[0], m[1])})  # noqa: ARG005
        descend(
            (w, u),
            two_layer.gradient("linear", kappa)
            if noisy
            else two_layer.population_gradient(eye, ones, kappa),
            gaussian_teacher(data, p.seeds, p.batch_size, eye, ones, ones) if noisy else constant(),
            eta=p.eta,
            steps=steps,
            recorder=recorder,
            progress=context.progress(steps, f"decay {method}"),
        )
        size = recorder.series["d"].square().sum(dim=(2, 3)).sqrt()
        decays |= by_variant(
            -(size[1] / size[0]).log() / (rate * steps), grid([method], range(p.seeds))
        )
    outcome.quantity(
        "decay_rate",
        decays,
        meaning="measured over predicted decay rate of |U^T U - W W^T|_F",
    )
