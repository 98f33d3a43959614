"""Reads the data sets that `fetch` has laid out. Checksums are verified before anything is opened."""

from __future__ import annotations

import io
import pickle
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sgdclaims.datasets.files import layout, read_verified
from sgdclaims.errors import UserError
from sgdclaims.results import Provenance, damaged, read_model

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Images:
    """A data set in its official order.

    train_x (N, D) uint8, row-major images (CIFAR: red, green, blue plane); train_y (N,) int64;
    train_part (N,) int64: the number of the official training file (CIFAR-10: 1..5, MNIST: 1).
    """

    name: str
    train_x: Array
    train_y: Array
    train_part: Array
    test_x: Array
    test_y: Array
    provenance: Provenance


@dataclass(frozen=True)
class TwoClasses:
    """Airplanes (+1) and automobiles (-1): x (N, 3072) float64 in [0, 1], y (N,) float64."""

    train_x: Array
    train_y: Array
    train_part: Array
    test_x: Array
    test_y: Array


def provenance_file(name: str, data_dir: Path) -> Path:
    """`data/<set>.provenance.json`."""
    return data_dir / f"{name}.provenance.json"


def standin(name: str) -> str:
    """The stand-in's file below `data/`."""
    return f"standin/{name}.npz"


def load(name: str, data_dir: Path) -> Images:
    """The data set `name`, genuine or stand-in as its provenance says.

    Raises UserError when it was never fetched, or a file is missing or corrupt.
    """
    wanted = layout(name)
    refetch = f"Run `python -m sgdclaims fetch {name}`."
    provenance = read_model(provenance_file(name, data_dir), Provenance, refetch)
    # Only the checksums in the code say what is genuine: the provenance is a file that anyone can edit.
    genuine = provenance.kind == "genuine"
    expected = provenance.md5 == wanted.files if genuine else set(provenance.md5) == {standin(name)}
    if provenance.dataset != name or not expected:
        what = f"does not describe {provenance.kind} {name} data"
        raise damaged(provenance_file(name, data_dir), what, refetch)
    remedy = f"Delete it and {provenance_file(name, data_dir)}, then run `python -m sgdclaims fetch {name}`."
    files = {
        path: read_verified(data_dir / path, checksum, remedy, refetch)
        for path, checksum in provenance.md5.items()
    }
    try:
        if not genuine:
            arrays = _stand_in(files[standin(name)])
        else:
            arrays = _mnist(files) if name == "mnist" else _cifar10(files)
    except (KeyError, ValueError, zipfile.BadZipFile, pickle.UnpicklingError) as problem:
        raise UserError(f"{data_dir}: {name} cannot be understood ({problem!r})", remedy) from None
    return Images(name, *arrays, provenance=provenance)


Arrays = tuple[Array, Array, Array, Array, Array]


def _idx(content: bytes) -> Array:
    """An IDX file: magic number with the number of dimensions, their sizes, bytes."""
    dimensions = content[3]
    sizes = np.frombuffer(content, ">i4", count=dimensions, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(sizes)


def _mnist(files: dict[str, bytes]) -> Arrays:
    train_x, train_y, test_x, test_y = (
        _idx(files[f"MNIST/raw/{part}-ubyte"])
        for part in (
            "train-images-idx3",
            "train-labels-idx1",
            "t10k-images-idx3",
            "t10k-labels-idx1",
        )
    )
    return (
        train_x.reshape(len(train_x), -1),
        train_y.astype(np.int64),
        np.ones(len(train_x), np.int64),
        test_x.reshape(len(test_x), -1),
        test_y.astype(np.int64),
    )


def _batch(content: bytes) -> tuple[Array, Array]:
    # Only files whose checksum is the official one come here.
    batch = pickle.loads(content, encoding="latin1")  # noqa: S301
    return batch["data"], np.array(batch["labels"], np.int64)


def _cifar10(files: dict[str, bytes]) -> Arrays:
    folder = "cifar-10-batches-py"
    parts = [_batch(files[f"{folder}/data_batch_{part}"]) for part in range(1, 6)]
    test_x, test_y = _batch(files[f"{folder}/test_batch"])
    return (
        np.concatenate([x for x, _ in parts]),
        np.concatenate([y for _, y in parts]),
        np.repeat(np.arange(1, 6), [len(x) for x, _ in parts]),
        test_x,
        test_y,
    )


def _stand_in(content: bytes) -> Arrays:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return (
            arrays["train_x"],
            arrays["train_y"],
            arrays["train_part"],
            arrays["test_x"],
            arrays["test_y"],
        )


def two_classes(images: Images) -> TwoClasses:
    """Classes 0 and 1 in the official order, pixels divided by 255, labels +1 and -1."""
    train, test = images.train_y < 2, images.test_y < 2
    return TwoClasses(
        images.train_x[train] / 255.0,
        1.0 - 2.0 * images.train_y[train],
        images.train_part[train],
        images.test_x[test] / 255.0,
        1.0 - 2.0 * images.test_y[test],
    )
