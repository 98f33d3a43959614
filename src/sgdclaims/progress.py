"""Progress of a training job: a bar with rate and ETA on a terminal, plain lines in a log file."""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import dataclass, field

LOG = logging.getLogger("sgdclaims")
SECONDS_BETWEEN_LINES = 10.0


def start_logging(file: str | None) -> None:
    """Lines go to standard error and, when named, to a log file as well."""
    LOG.setLevel(logging.INFO)
    LOG.handlers.clear()
    screen = logging.StreamHandler(sys.stderr)
    screen.setFormatter(logging.Formatter("%(message)s"))
    LOG.addHandler(screen)
    if file:
        log = logging.FileHandler(file, mode="w", encoding="utf-8", errors="backslashreplace")
        log.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        LOG.addHandler(log)


def log_file_only(line: str) -> None:
    """Writes to the log file, not to the screen."""
    record = LOG.makeRecord(LOG.name, logging.INFO, "", 0, line, (), None)
    for handler in LOG.handlers:
        if isinstance(handler, logging.FileHandler):
            handler.handle(record)


@dataclass
class Bar:
    """Counts steps of one loop."""

    total: int
    label: str
    done: int = 0
    skipped: int = 0
    started: float = field(default_factory=time.monotonic)
    last_line: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._bar = None
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(
                total=self.total, desc=self.label, unit=" steps", unit_scale=True, leave=False
            )
        self._line()

    def advance(self, steps: int) -> None:
        """Adds finished steps; writes a line at most every ten seconds and at the end."""
        if steps <= 0:
            return
        self.done += steps
        if self._bar is not None:
            self._bar.update(steps)
        if time.monotonic() - self.last_line > SECONDS_BETWEEN_LINES or self.done >= self.total:
            self._line()
        if self.done >= self.total and self._bar is not None:
            self._bar.close()

    def skip(self, steps: int) -> None:
        """Counts steps that a killed job has done already."""
        self.skipped += steps
        LOG.info("%s: goes on from step %s", self.label, f"{self.done + steps:,}")
        self.advance(steps)

    def _line(self) -> None:
        self.last_line = time.monotonic()
        elapsed = max(self.last_line - self.started, 1e-9)
        rate = max(self.done - self.skipped, 1) / elapsed
        text = f"{self.label}: {self.done:,} of {self.total:,} steps"
        if self.done:
            left = (self.total - self.done) / rate
            text += f", {rate:,.0f} steps/s, ETA {int(left) // 60}:{int(left) % 60:02d}"
        if self._bar is not None:
            log_file_only(text)
        else:
            LOG.info(text)
