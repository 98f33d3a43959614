"""When Snakemake should fetch again. Read while the Snakefile is parsed: no torch, nothing heavy."""

from __future__ import annotations

from pathlib import Path

from sgdclaims.datasets.files import layout
from sgdclaims.datasets.images import provenance_file
from sgdclaims.errors import UserError
from sgdclaims.results import Provenance, read_model

GENUINE_AVAILABLE = "auto: genuine data available"


def request(name: str, data_dir: Path, source: str, mirror: Path | None) -> str:
    """The value of the fetch rule's only parameter: it changes exactly when fetching again is due.

    What is on disk and satisfies the request keeps its recorded request. A stand-in is replaced as soon as a
    mirror is named or the genuine files have appeared in `data_dir`.
    """
    try:  # a damaged one is set aside, and so fetched again
        current = read_model(provenance_file(name, data_dir), Provenance, "")
    except UserError:
        return source
    first = next(iter(layout(name).files))
    genuine = current.kind == "genuine"
    if source == "auto":
        if genuine or not (mirror or (data_dir / first).exists()):
            return current.request
        return GENUINE_AVAILABLE
    satisfied = genuine != (source == "stand-in")
    return current.request if satisfied else source
