"""The engine against what a user would write: one run at a time with nn.Module, autograd and torch.optim.SGD.

Both sides alternate in one process; the median ratio of the time per run-step is reported with its spread, and
written to results/bench.json. `make bench`
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.sample_space import SampleSpace, iterate
from sgdclaims.dynamics.samplers import gaussian_teacher
from sgdclaims.dynamics.streams import Streams
from sgdclaims.environment import describe
from sgdclaims.models import two_layer
from sgdclaims.results import atomic

REPEATS = 7
THREADS = 1
Timed = Callable[[], float]  # seconds per run-step


def linear_plain(steps: int = 200) -> float:
    """30-40-30 linear network, batch 1, fresh samples, one run."""
    net = torch.nn.Sequential(
        torch.nn.Linear(30, 40, bias=False), torch.nn.Linear(40, 30, bias=False)
    )
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    started = time.perf_counter()
    for _ in range(steps):
        x = torch.randn(1, 30)
        y = x + torch.randn(1, 30)
        optimizer.zero_grad()
        (net(x) - y).square().sum(1).mean().backward()
        optimizer.step()
    return (time.perf_counter() - started) / steps


def linear_engine(runs: int, steps: int = 1024) -> float:
    """The same for `runs` runs in lock-step, random numbers included."""
    streams = Streams(range(runs), "init")
    weights = (streams.normal(40, 30) * 0.1, streams.normal(30, 40) * 0.1)
    ones = torch.ones(30)
    batches = gaussian_teacher(Streams(range(runs), "data"), runs, 1, torch.eye(30), ones, ones)
    recorder = Recorder([], lambda weights, step: {})  # noqa: ARG005
    started = time.perf_counter()
    descend(
        weights,
        two_layer.gradient("linear", 1.0),
        batches,
        eta=1e-3,
        steps=steps,
        recorder=recorder,
    )
    return (time.perf_counter() - started) / (steps * runs)


N, FEATURES, WIDTH, STEPSIZES = 1979, 3072, 20, (300.0, 1000.0, 3000.0, 10000.0, 30000.0)


def images() -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs of the two-class CIFAR-10 task's shape; timing does not depend on the pixels."""
    random = torch.Generator().manual_seed(0)
    x = torch.randn(N, FEATURES, dtype=torch.float64, generator=random)
    return x / x.norm(dim=1).max(), torch.sign(
        torch.randn(N, dtype=torch.float64, generator=random)
    )


class TwoLayer(torch.nn.Module):
    """f(x) = (1/m) sum_j a_j phi(w_j . x) as a user would write it."""

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Linear(FEATURES, WIDTH, bias=False, dtype=torch.float64)
        a = torch.ones(WIDTH, dtype=torch.float64)
        a[WIDTH // 2 :] = -1
        self.register_buffer("a", a / WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.w(x)
        return ((z + torch.nn.functional.softplus(z)) / 2) @ self.a


def cifar_plain(x: torch.Tensor, y: torch.Tensor, steps: int = 4) -> float:
    """Full-batch gradient descent, one stepsize."""
    net = TwoLayer()
    optimizer = torch.optim.SGD(net.parameters(), lr=300.0)
    started = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.softplus(-net(x) * y).mean().backward()
        optimizer.step()
    return (time.perf_counter() - started) / steps


def cifar_engine(x: torch.Tensor, y: torch.Tensor, steps: int = 20) -> float:
    """Five stepsizes in sample space; forming the Gram matrix is not counted, it is done once per run."""
    runs = len(STEPSIZES)
    start = Streams([0] * runs, "init").normal(WIDTH, FEATURES, dtype=torch.float64)
    eta = torch.tensor(STEPSIZES, dtype=torch.float64)
    space = SampleSpace(x, y.expand(runs, -1), start, eta, "leaky_softplus_b")
    started = time.perf_counter()
    iterate(space, steps, lambda step, at, margins: None)  # noqa: ARG005
    return (time.perf_counter() - started) / (steps * runs)


def compare(plain: Timed, engine: Timed) -> dict[str, float]:
    """Alternates both sides; median times per run-step in microseconds, and the ratio with its range."""
    plain(), engine()  # warm up
    pairs = [(plain(), engine()) for _ in range(REPEATS)]
    ratios = sorted(p / e for p, e in pairs)
    return {
        "plain_us": 1e6 * statistics.median(p for p, _ in pairs),
        "engine_us": 1e6 * statistics.median(e for _, e in pairs),
        "ratio": statistics.median(ratios),
        "ratio_low": ratios[0],
        "ratio_high": ratios[-1],
    }


def main() -> None:
    """Runs the comparisons, prints them, and writes results/bench.json."""
    torch.set_num_threads(THREADS)
    results = {
        f"linear 30-40-30, batch 1, {runs} runs": compare(
            linear_plain, lambda runs=runs: linear_engine(runs)
        )
        for runs in (1, 4, 16, 64, 256)
    }
    x, y = images()
    results["two-layer, 1,979 images, five stepsizes, float64"] = compare(
        lambda: cifar_plain(x, y), lambda: cifar_engine(x, y)
    )
    for name, row in results.items():
        print(
            f"{name:<50} plain {row['plain_us']:>9.1f} us  engine {row['engine_us']:>9.1f} us"
            f"  ratio {row['ratio']:.1f} [{row['ratio_low']:.1f}, {row['ratio_high']:.1f}]"
        )
    report = {"environment": describe(THREADS), "repeats": REPEATS, "results": results}
    with atomic(Path("results/bench.json")) as temporary:
        temporary.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
