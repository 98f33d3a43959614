"""Lays out a data set below `data/` and records where it came from.

Sources in this order, unless one is named: what is already there; a mirror folder; the official download
through torchvision; a stand-in from installed packages. Files are verified before they get their name, and the
provenance is written last: a killed fetch leaves nothing that looks finished.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import http.client
import io
import shutil
import signal
import socket
import sys
import tarfile
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import get_args

from sgdclaims.catalog import Settings
from sgdclaims.datasets import standins
from sgdclaims.datasets.files import Layout, layout, md5, read_verified
from sgdclaims.datasets.images import provenance_file, standin
from sgdclaims.errors import UserError, suggestion
from sgdclaims.progress import LOG
from sgdclaims.results import Provenance, atomic, write_model

SOURCES: tuple[str, ...] = get_args(Settings.model_fields["data_source"].annotation)
TIMEOUT_SECONDS = 20.0
ATTEMPTS = 2
# What a download can end in besides a checksum that is wrong; torchvision passes all of these on.
DOWNLOAD_PROBLEMS = (
    OSError,  # URLError and time-outs are OSErrors
    RuntimeError,
    EOFError,
    http.client.HTTPException,
    tarfile.TarError,
    zlib.error,
    ImportError,
)
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def fetch(
    name: str, data_dir: Path, source: str, mirror: Path | None, *, request: str = "auto"
) -> Provenance:
    """Makes the data set available and writes `<name>.provenance.json`.

    Raises UserError on an unknown name or source, a corrupt file, a wrong mirror, or no network where the official
    download was asked for by name.
    """
    wanted = layout(name)
    if source not in SOURCES:
        raise UserError(f"there is no data source called {source!r}", suggestion(source, SOURCES))
    if source == "mirror" and mirror is None:
        raise UserError(
            "the source 'mirror' needs a folder", "Set data_mirror or SGDCLAIMS_MIRROR."
        )
    with _tidy_when_terminated():
        provenance = _first_available(wanted, data_dir, source, mirror)
    provenance.request = request
    if provenance.kind == "stand-in":
        _banner(name, provenance.origin)
    write_model(provenance_file(name, data_dir), provenance)
    return provenance


def _first_available(
    wanted: Layout, data_dir: Path, source: str, mirror: Path | None
) -> Provenance:
    auto = source == "auto"
    if source == "present" or (auto and any((data_dir / f).exists() for f in wanted.files)):
        # In `auto`, an incomplete set is completed by the next source; a corrupt file is an error.
        found = _present(wanted, data_dir, complete=not auto)
        if found:
            return found
    if source == "mirror" or (auto and mirror is not None):
        assert mirror is not None
        return _from_mirror(wanted, data_dir, mirror)
    if source == "official" or auto:
        try:
            return _official(wanted, data_dir)
        except UserError as problem:
            if not auto:
                raise
            LOG.warning("%s: %s", wanted.name, problem)
    return _stand_in(wanted.name, data_dir)


def _genuine(wanted: Layout, source: str, origin: str) -> Provenance:
    return Provenance.model_validate(
        {
            "dataset": wanted.name,
            "kind": "genuine",
            "source": source,
            "origin": origin,
            "md5": wanted.files,
        }
    )


def _present(wanted: Layout, data_dir: Path, *, complete: bool) -> Provenance | None:
    # All that exist are verified before an incomplete set is handed on: none is silently replaced.
    for file, checksum in wanted.files.items():
        if complete or (data_dir / file).exists():
            read_verified(
                data_dir / file,
                checksum,
                "Delete it to have it fetched again, or name another data_source.",
                "Put it there, or name another data_source.",
            )
    if not all((data_dir / file).exists() for file in wanted.files):
        return None
    return _genuine(wanted, "present", "files found in the data folder, checksums verified")


def _from_mirror(wanted: Layout, data_dir: Path, mirror: Path) -> Provenance:
    if not mirror.is_dir():
        raise UserError(
            f"the mirror {mirror} is not a folder",
            "Correct data_mirror or SGDCLAIMS_MIRROR; it is laid out as torchvision's root.",
        )
    remedy = f"The mirror must hold the genuine {wanted.torchvision} as torchvision lays it out."
    for file, checksum in wanted.files.items():
        source = mirror / file
        packed = source.with_name(source.name + ".gz")
        if not source.exists() and file in wanted.packed and packed.exists():
            content = _unpacked(read_verified(packed, wanted.packed[file], remedy), packed, remedy)
            if md5(content) != checksum:
                raise UserError(f"{packed} does not unpack to the genuine file", remedy)
        else:
            content = read_verified(source, checksum, remedy)
        with atomic(data_dir / file) as temporary:
            temporary.write_bytes(content)
    return _genuine(wanted, "mirror", "copied from a mirror folder, checksums verified")


def _unpacked(content: bytes, path: Path, remedy: str) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as problem:
        raise UserError(f"{path} cannot be unpacked ({problem})", remedy) from None


@contextlib.contextmanager
def _tidy_when_terminated() -> Iterator[None]:
    """SIGTERM, which Snakemake sends to cancel a job, unwinds: temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _impatient() -> Iterator[None]:
    """Connections time out, and torchvision's own messages stay off the screen."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT_SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        socket.setdefaulttimeout(before)


def _official(wanted: Layout, data_dir: Path) -> Provenance:
    """Downloads into a temporary folder; moves verified files only."""
    LOG.info("%s: downloading from the official site and its mirrors", wanted.name)
    remedy = "Check the network, or name a mirror folder with data_mirror or SGDCLAIMS_MIRROR."
    data_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=data_dir, prefix=".download-") as folder:
        problem = "no answer"
        for _ in range(ATTEMPTS):
            try:
                with _impatient():
                    from torchvision import datasets

                    getattr(datasets, wanted.torchvision)(root=folder, download=True)
                break
            except DOWNLOAD_PROBLEMS as error:
                if isinstance(error, OSError) and error.errno in DISK_FULL:
                    raise  # no stand-in would fit either
                problem = " ".join(str(error).split()) or type(error).__name__
        else:
            raise UserError(f"{wanted.name} cannot be downloaded ({problem})", remedy)
        for file, checksum in wanted.files.items():
            read_verified(Path(folder) / file, checksum, remedy)
        for file in wanted.files:
            (data_dir / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(Path(folder) / file, data_dir / file)
    return _genuine(wanted, "official", "downloaded by torchvision, checksums verified")


def _stand_in(name: str, data_dir: Path) -> Provenance:
    content = standins.stand_in(name)
    file = standin(name)
    with atomic(data_dir / file) as temporary:
        temporary.write_bytes(content)
    return Provenance(
        dataset=name,
        kind="stand-in",
        source="stand-in",
        origin=standins.ORIGIN[name],
        md5={file: md5(content)},
    )


def _banner(name: str, origin: str) -> None:
    bar = "!" * 78
    for line in (
        bar,
        f"!! {name}: {origin}",
        "!! Figures are stamped, and no claim on them can be REPRODUCED.",
        "!! Name a mirror (data_mirror or SGDCLAIMS_MIRROR) or connect to the network.",
        bar,
    ):
        LOG.warning(line)
    sys.stderr.flush()
