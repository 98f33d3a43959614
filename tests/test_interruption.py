"""Snakemake itself is interrupted, or called twice: the next identical call goes on and ends bit for bit the same."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import workspace
from sgdclaims.checkpoints import SECONDS

pytestmark = pytest.mark.slow
FIGURE = "qs_fig1_stability"
CALL = ("snakemake", "--cores", "1", "--config", "scale=quick", "--", FIGURE)
# Seconds of training; the growth stays finite over so many steps.
LONGER = "{steps: 600000, relative_stepsizes: {below: 0.999999, above: 1.000001}}"
RESULTS = ("quantities.json", "trajectories.parquet", "verdicts.json")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    folder = workspace.build(tmp_path_factory.mktemp("checkout"))
    file = folder / "config/quadratic_stability.yaml"
    text = file.read_text(encoding="utf-8")
    assert "{steps: 50}" in text
    file.write_text(text.replace("{steps: 50}", LONGER), encoding="utf-8")
    return folder


def made(folder: Path) -> list[bytes]:
    files = [folder / f"results/quick/{FIGURE}/{name}" for name in RESULTS]
    return [file.read_bytes() for file in [*files, folder / f"figures/{FIGURE}.png"]]


@pytest.fixture(scope="module")
def whole(checkout) -> list[bytes]:
    """What a call makes that nobody disturbs."""
    done = workspace.run(checkout, *CALL)
    assert done.returncode == 0, done.stdout + done.stderr
    return made(checkout)


@pytest.fixture
def training(checkout, whole) -> subprocess.Popen[str]:
    """A call in a session of its own whose training job has kept its first checkpoint."""
    for folder in ("results", "figures"):
        shutil.rmtree(checkout / folder)
    env = workspace.environment(checkout, **{SECONDS: "0.1"})
    call = subprocess.Popen(
        CALL,
        cwd=checkout,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 120
    while not checkpoint(checkout).exists():
        assert call.poll() is None, call.communicate()[0]
        assert time.monotonic() < until
        time.sleep(0.01)
    return call


def checkpoint(folder: Path) -> Path:
    return folder / f"results/quick/{FIGURE}/.checkpoint/0000.pt"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_and_the_same_call_again(number, checkout, whole, training):
    os.killpg(training.pid, number)  # Ctrl-C, or a batch system's end of time
    said = training.communicate(timeout=120)[0]
    assert training.returncode != 0, said
    assert "Traceback" not in said
    assert not (checkout / f"results/quick/{FIGURE}/quantities.json").exists()
    again = workspace.run(checkout, *CALL)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "goes on from step" in again.stdout + again.stderr
    assert made(checkout) == whole
    assert not checkpoint(checkout).parent.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_snakemake_alone_and_the_same_call_again(number, checkout, whole, training):
    training.send_signal(number)  # it waits for the running job, and starts no other
    said = training.communicate(timeout=120)[0]
    assert training.returncode != 0, said
    assert not (checkout / f"figures/{FIGURE}.png").exists()
    again = workspace.run(checkout, *CALL)
    assert again.returncode == 0, again.stdout + again.stderr
    assert made(checkout) == whole


def test_a_second_call_at_the_same_time_ends_with_a_clear_message(checkout, whole, training):
    second = workspace.run(checkout, *CALL)
    assert second.returncode != 0
    assert "Directory cannot be locked" in second.stdout + second.stderr
    assert "--unlock" in second.stdout + second.stderr
    said = training.communicate(timeout=120)[0]
    assert training.returncode == 0, said
    assert made(checkout) == whole


def test_a_killed_snakemake_leaves_a_lock_that_unlock_removes(checkout, whole, training):
    os.killpg(training.pid, signal.SIGKILL)
    training.communicate(timeout=120)
    refused = workspace.run(checkout, *CALL)
    assert refused.returncode != 0
    assert "--unlock" in refused.stdout + refused.stderr
    unlocked = workspace.run(checkout, *CALL[:-2], "--unlock")
    assert unlocked.returncode == 0, unlocked.stdout + unlocked.stderr
    again = workspace.run(checkout, *CALL)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "goes on from step" in again.stdout + again.stderr
    assert made(checkout) == whole
