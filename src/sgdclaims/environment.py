"""On what a result was computed: versions, machine, commit."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sgdclaims import __version__

PACKAGES = ("torch", "numpy", "pandas", "scipy", "matplotlib", "snakemake")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def cpu_name() -> str:
    """The processor's model name."""
    try:
        for row in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if row.startswith("model name"):
                return row.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(threads: int) -> dict[str, Any]:
    """Versions, machine, threads, and the commit with whether the source tree differs from it."""
    status = _git("status", "--porcelain", "--", str(Path(__file__).parent))
    return {
        "sgdclaims": __version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_name(),
        "threads": threads,
        "commit": _git("rev-parse", "HEAD"),
        "dirty": None if status is None else bool(status),
    }
