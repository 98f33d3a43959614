"""The environment variables that Snakemake's jobs inherit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

MIRROR = "SGDCLAIMS_MIRROR"
SOURCE = "SGDCLAIMS_DATA_SOURCE"


def share_package(source: Path) -> None:
    """Lets the jobs import the checkout's own package, also where it is not installed.

    And lets them find this very Python: a scheduler may start a job without the user's PATH.
    """
    for variable, first in (("PYTHONPATH", source), ("PATH", Path(sys.executable).parent)):
        known = os.environ.get(variable)
        os.environ[variable] = os.pathsep.join(filter(None, [str(first), known]))


def share_data_source(source: str, mirror: str | None) -> Path | None:
    """Tells the fetch jobs where data come from; returns the mirror folder, if one is named.

    The configuration's mirror wins over the one that the user's environment names.
    """
    named = mirror or os.environ.get(MIRROR) or None
    os.environ[SOURCE] = source
    os.environ[MIRROR] = named or ""
    return Path(named) if named else None


def data_source(source: str | None, mirror: str | None) -> tuple[str, Path | None]:
    """Source and mirror of a fetch: what is given, else what the environment says, else `auto`."""
    named = mirror or os.environ.get(MIRROR) or None
    return source or os.environ.get(SOURCE) or "auto", Path(named) if named else None
