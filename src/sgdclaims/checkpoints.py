"""Checkpoints of a training job: one small file per loop, written at most every half minute, gone on success.

They lie in `results/<scale>/<figure>/.checkpoint/`, unknown to Snakemake, which therefore neither deletes nor waits for
them. Their key is a hash of all that the result depends on: a checkpoint of other parameters, code, data or threads is
ignored. Loops are numbered in the order in which the experiment starts them, which is always the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from sgdclaims.dynamics.loop import Part, State, capture, put_back
from sgdclaims.errors import Interrupted, UserError
from sgdclaims.progress import LOG, Bar
from sgdclaims.results import atomic

SECONDS = "SGDCLAIMS_CHECKPOINT_SECONDS"
SECONDS_BETWEEN = 30.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)
WORTH_KEEPING = 1 / 30  # a finished loop is kept from this share of the interval on


def seconds_between() -> float:
    """The interval in seconds, from the environment or the default. Raises UserError on nonsense."""
    text = os.environ.get(SECONDS)
    if not text:
        return SECONDS_BETWEEN
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UserError(f"{SECONDS}={text!r} is no number of seconds", "Set it to 30, say.")
    return seconds


def digest(ingredients: Mapping[str, Any], files: Sequence[Path]) -> str:
    """The key: a hash of what the result depends on, source files by content."""
    hashed = hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode())
    for file in files:
        hashed.update(f"\n{file.name}\n".encode() + file.read_bytes())
    return hashed.hexdigest()


class Checkpoints:
    """The checkpoints of one job below `folder`."""

    def __init__(self, folder: Path, key: str, seconds: float) -> None:
        self._folder, self._key, self._seconds = folder, key, seconds
        self._loop = -1
        self._started = self._saved = time.monotonic()
        self._inside = False
        self._signal: int | None = None
        self._full = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """SIGINT and SIGTERM keep the state at the next step and raise Interrupted; a second one ends at once."""
        before = {number: signal.signal(number, self._hear) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        for heard in SIGNALS:
            signal.signal(heard, signal.SIG_DFL)
        self._signal = number
        if not self._inside:  # no state to keep here
            raise Interrupted(number)

    def _file(self) -> Path:
        return self._folder / f"{self._loop:04d}.pt"

    def resume(self, total: int, parts: Sequence[Part]) -> int:
        """Starts the next loop; restores its parts and returns the step to go on from, 0 without a checkpoint."""
        self._loop += 1
        self._started = time.monotonic()
        self._inside = True
        saved = self._read()
        if saved is None:
            return 0
        for part, state in zip(parts, saved["parts"], strict=True):
            put_back(part, state)
        step = int(saved["step"])
        self._inside = step < total
        return step

    def _read(self) -> dict[str, State] | None:
        file = self._file()
        if not file.exists():
            return None
        try:
            # Data only: tensors, numbers and containers, never code.
            saved: dict[str, State] = torch.load(file, weights_only=True)
            key = saved["key"]
        except Exception as problem:
            reason = f"cannot be read ({type(problem).__name__})"
        else:
            if key == self._key:
                return saved
            reason = "belongs to other parameters, code, data or threads"
        LOG.warning("%s %s: ignored", file, reason)
        self.clear()
        return None

    def keep(self, step: int, total: int, parts: Sequence[Part]) -> None:
        """Saves the state when it is due. Raises Interrupted when the job was asked to stop."""
        now = time.monotonic()
        finished = step == total
        self._inside = not finished
        due = now - self._saved >= self._seconds
        worth = finished and now - self._started >= WORTH_KEEPING * self._seconds
        if due or worth or self._signal is not None:
            self._save(step, parts)
            self._saved = time.monotonic()
        if self._signal is not None:
            raise Interrupted(self._signal)

    def _save(self, step: int, parts: Sequence[Part]) -> None:
        content = {"key": self._key, "step": step, "parts": [capture(part) for part in parts]}
        try:
            with atomic(self._file()) as temporary:
                torch.save(content, temporary)
        except (OSError, RuntimeError) as problem:  # torch raises RuntimeError on a full disk
            if not self._full:
                LOG.warning("no checkpoint can be written (%s); the job goes on without", problem)
            self._full = True

    def clear(self) -> None:
        """Removes all checkpoints of this job."""
        shutil.rmtree(self._folder, ignore_errors=True)


class Follower:
    """A progress bar that keeps checkpoints."""

    def __init__(self, bar: Bar, checkpoints: Checkpoints) -> None:
        self._bar, self._checkpoints = bar, checkpoints

    def advance(self, steps: int) -> None:
        """Adds finished steps."""
        self._bar.advance(steps)

    def resume(self, total: int, parts: Sequence[Part]) -> int:
        """Restores the parts; returns the step to go on from."""
        step = self._checkpoints.resume(total, parts)
        if step:
            self._bar.skip(step)
        return step

    def keep(self, step: int, total: int, parts: Sequence[Part]) -> None:
        """Saves the state when it is due."""
        self._checkpoints.keep(step, total, parts)
