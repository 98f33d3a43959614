"""Which files make up a data set, with their checksums.

The md5 of CIFAR-10's files and of MNIST's .gz files are torchvision's; MNIST's unpacked files are what
those .gz files unpack to.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sgdclaims.errors import UserError, suggestion


@dataclass(frozen=True)
class Layout:
    """A data set below torchvision's root: file -> md5, and of packed forms that a mirror may hold."""

    name: str
    torchvision: str
    files: dict[str, str]
    packed: dict[str, str]


LAYOUTS = {
    "mnist": Layout(
        "mnist",
        "MNIST",
        {
            "MNIST/raw/train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
            "MNIST/raw/train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
            "MNIST/raw/t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
            "MNIST/raw/t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
        },
        {
            "MNIST/raw/train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "MNIST/raw/train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
            "MNIST/raw/t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
            "MNIST/raw/t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
        },
    ),
    "cifar10": Layout(
        "cifar10",
        "CIFAR10",
        {
            "cifar-10-batches-py/data_batch_1": "c99cafc152244af753f735de768cd75f",
            "cifar-10-batches-py/data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
            "cifar-10-batches-py/data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
            "cifar-10-batches-py/data_batch_4": "634d18415352ddfa80567beed471001a",
            "cifar-10-batches-py/data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
            "cifar-10-batches-py/test_batch": "40351d587109b95175f43aff81a1287e",
            "cifar-10-batches-py/batches.meta": "5ff9c542aee3614f3951f8cda6e48888",
        },
        {},
    ),
}


def layout(name: str) -> Layout:
    """The layout of a data set. Raises UserError that suggests the nearest name."""
    if name not in LAYOUTS:
        raise UserError(f"there is no data set called {name!r}", suggestion(name, LAYOUTS))
    return LAYOUTS[name]


def md5(content: bytes) -> str:
    """Checksum as torchvision lists it; it guards against corruption, not against malice."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def read_verified(path: Path, expected: str, remedy: str, when_missing: str = "") -> bytes:
    """The bytes of a file whose md5 is right; nothing is unpickled or parsed before this.

    Raises UserError when the file is missing (with the remedy `when_missing`, where that is given), unreadable,
    or has another checksum.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing", when_missing or remedy) from None
    except OSError as problem:
        raise UserError(f"{path} cannot be read ({problem.strerror})", remedy) from None
    if md5(content) != expected:
        raise UserError(
            f"{path} is corrupt or incomplete ({len(content):,} bytes, wrong md5)", remedy
        )
    return content
