"""A job that is killed, anywhere and any number of times, ends bit for bit like one that never was."""

from __future__ import annotations

import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import tiny
from sgdclaims import steps
from sgdclaims.checkpoints import SECONDS, Checkpoints, Follower
from sgdclaims.dynamics.loop import Silent
from sgdclaims.experiments.base import Context, Outcome
from sgdclaims.progress import Bar

KILLS = 21  # by SIGKILL, over all experiments of REAL
REAL = ("ls_theory_phase", "ne_theory_motion", "ne_fig1_scale_invariance_flow")


class Killed(Exception):
    """Stands for SIGKILL inside the process."""


class Counting(Silent):
    """Counts how often the state may be kept."""

    calls = 0

    def keep(self, step: int, total: int, parts: object) -> None:
        self.calls += 1


class Doomed(Checkpoints):
    """Saves now and then, and dies at the call numbered `fatal`."""

    def __init__(self, folder: Path, rng: random.Random, every: float, fatal: int) -> None:
        super().__init__(folder, "key", 1e9)
        self._rng, self._every, self._left = rng, every, fatal

    def keep(self, step: int, total: int, parts: object) -> None:
        self._left -= 1
        if self._rng.random() * self._every < 1:
            self._save(step, parts)
        if self._left == 0:
            raise Killed


def run(places: steps.Places, name: str, follower: Callable[[int, str], object]) -> Outcome:
    """The experiment at the tiny scale, one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        parameters = places.catalog().figure(name).parameters("quick", None)
        context = Context(places.data, follower)
        return importlib.import_module(f"sgdclaims.experiments.{name}").run(parameters, context)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.slow
@pytest.mark.parametrize("name", tiny.PAPERS.figures)
def test_every_experiment_goes_on_bit_for_bit(name, places, tmp_path):
    counting = Counting()
    whole = run(places, name, lambda total, label: counting)
    rng = random.Random(name)
    kills = 0
    for _ in range(3):  # each attempt goes on from what the ones before have saved
        doomed = Doomed(
            tmp_path, rng, max(1.0, counting.calls / 20), rng.randint(1, counting.calls)
        )
        try:
            run(places, name, lambda total, label: Follower(Bar(total, label), doomed))  # noqa: B023
        except Killed:
            kills += 1
    assert kills
    last = Checkpoints(tmp_path, "key", 1e9)
    resumed = run(places, name, lambda total, label: Follower(Bar(total, label), last))
    assert same(resumed, whole)
    assert resumed.trajectories.equals(whole.trajectories)


def same(a: Outcome, b: Outcome) -> bool:
    """Equal as text: NaN is equal to NaN."""
    return repr(a.quantities) == repr(b.quantities)


def command(places: steps.Places, name: str) -> list[str]:
    root = str(places.config.parent)
    return [sys.executable, "-m", "sgdclaims", "train", name, "--scale", "quick", "--root", root]


def results(places: steps.Places, name: str) -> list[bytes]:
    folder = places.of_figure("quick", name)
    return [(folder / f).read_bytes() for f in ("quantities.json", "trajectories.parquet")]


@pytest.fixture
def real(tmp_path) -> steps.Places:
    """The repository's own quick scale: jobs of several seconds, without data sets."""
    for part in ("config", "paper_claims.md"):
        source = tiny.ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, tmp_path / part)
    folders = ("config", "data", "results", "figures", "paper_claims.md")
    return steps.Places(*(tmp_path / folder for folder in folders))


@pytest.mark.slow
def test_sigkill_at_random_moments(real, tmp_path, record_property):
    log = tmp_path / "job.log"
    rng, environment = random.Random(1), {**os.environ, SECONDS: "0.1"}
    kills = rounds = goes_on = 0
    expected: dict[str, list[bytes]] = {}
    while kills < KILLS:
        name = REAL[rounds % len(REAL)]
        rounds += 1
        folder = real.of_figure("quick", name)
        shutil.rmtree(folder, ignore_errors=True)
        if name not in expected:
            subprocess.run(command(real, name), env=environment, check=True, capture_output=True)
            expected[name] = results(real, name)
            shutil.rmtree(folder)
        while not (folder / "quantities.json").exists():
            with log.open("w", encoding="utf-8") as file:
                job = subprocess.Popen(command(real, name), env=environment, stderr=file)
            while job.poll() is None and log.stat().st_size == 0:
                time.sleep(0.01)  # imports
            try:
                job.wait(timeout=rng.uniform(0.0, 2.0))
            except subprocess.TimeoutExpired:
                job.send_signal(signal.SIGKILL)
                job.wait()
            said = log.read_text(encoding="utf-8")
            assert job.returncode in (0, -signal.SIGKILL), said
            kills += job.returncode != 0
            goes_on += "goes on from step" in said
        assert results(real, name) == expected[name], f"{name} after {kills} kills"
        assert not (folder / ".checkpoint").exists()
    assert goes_on >= kills / 2, "most kills must come after a checkpoint"
    record_property("kills survived", kills)


def test_a_job_that_is_told_to_stop_says_so(places):
    name = "ne_fig5_layer_norms"
    shutil.rmtree(places.of_figure("quick", name), ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(tiny.ROOT / "src")}
    job = subprocess.Popen(
        command(places, name), env=environment, stderr=subprocess.PIPE, text=True
    )
    assert job.stderr is not None
    said = job.stderr.readline()  # the bar of the first loop: it has begun
    time.sleep(0.05)
    job.send_signal(signal.SIGTERM)
    said += job.communicate()[1]
    if job.returncode != 0:  # it may have been fast enough to finish
        assert job.returncode == 128 + signal.SIGTERM, said
        assert "interrupted; the same command goes on from here" in said
        assert "Traceback" not in said
