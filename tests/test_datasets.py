"""Sources of data, checksums, stand-ins, and when Snakemake should fetch again."""

from __future__ import annotations

import gzip
import http.client
import os
import pickle
import signal
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sgdclaims.datasets import fetch as fetching
from sgdclaims.datasets import files, images, standins
from sgdclaims.datasets.requests import GENUINE_AVAILABLE, request
from sgdclaims.errors import UserError
from sgdclaims.results import Provenance, write_model

MIRROR = os.environ.get("SGDCLAIMS_MIRROR")


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def tiny_mnist() -> dict[str, bytes]:
    x, y = np.arange(2 * 4, dtype=np.uint8).reshape(2, 2, 2), np.array([3, 7], np.uint8)
    pixels, labels = idx(x), idx(y)
    return dict(zip(files.LAYOUTS["mnist"].files, (pixels, labels, pixels, labels), strict=True))


def tiny_cifar() -> dict[str, bytes]:
    content = {}
    for number, name in enumerate(files.LAYOUTS["cifar10"].files):
        data = np.full((3, 3072), number, np.uint8)
        content[name] = pickle.dumps({"data": data, "labels": [0, 1, 5]}, protocol=2)
    return content


@pytest.fixture(params=["mnist", "cifar10"])
def tiny(request, monkeypatch) -> tuple[str, dict[str, bytes]]:
    """A data set's name and the bytes of a small imitation whose checksums count as genuine."""
    content = tiny_mnist() if request.param == "mnist" else tiny_cifar()
    layout = files.LAYOUTS[request.param]
    sums = {name: files.md5(body) for name, body in content.items()}
    packed = {n: files.md5(gzip.compress(b, mtime=0)) for n, b in content.items() if layout.packed}
    imitation = files.Layout(request.param, layout.torchvision, sums, packed)
    monkeypatch.setitem(files.LAYOUTS, request.param, imitation)
    return request.param, content


def lay_out(folder: Path, content: dict[str, bytes]) -> Path:
    for name, body in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder


def left_over(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.name.startswith("."))


@pytest.fixture
def offline(monkeypatch):
    """Every connection fails at once."""

    def refuse(*_, **__):
        raise OSError("Name or service not known")

    monkeypatch.setattr("socket.create_connection", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)


def test_a_mirror_is_copied_and_recorded(tiny, tmp_path):
    name, content = tiny
    mirror = lay_out(tmp_path / "mirror", content)
    data = tmp_path / "data"
    found = fetching.fetch(name, data, "auto", mirror)
    assert (found.kind, found.source) == ("genuine", "mirror")
    assert all((data / file).read_bytes() == body for file, body in content.items())
    loaded = images.load(name, data)
    assert loaded.provenance == found
    assert len(loaded.train_x) == len(loaded.train_y) == len(loaded.train_part)
    assert left_over(data) == []
    # the second time it is there already
    assert fetching.fetch(name, data, "auto", None).source == "present"


def test_a_packed_mirror(tmp_path, monkeypatch):
    content = tiny_mnist()
    layout = files.LAYOUTS["mnist"]
    packed = {name: gzip.compress(body, mtime=0) for name, body in content.items()}
    monkeypatch.setitem(
        files.LAYOUTS,
        "mnist",
        files.Layout(
            "mnist",
            layout.torchvision,
            {n: files.md5(b) for n, b in content.items()},
            {n: files.md5(b) for n, b in packed.items()},
        ),
    )
    mirror = lay_out(tmp_path / "mirror", {f"{n}.gz": b for n, b in packed.items()})
    assert fetching.fetch("mnist", tmp_path / "data", "mirror", mirror).source == "mirror"
    loaded = images.load("mnist", tmp_path / "data")
    assert loaded.train_y.tolist() == [3, 7]
    assert loaded.train_x.shape == (2, 4)


@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_a_bad_mirror_is_one_line_and_leaves_nothing(tiny, tmp_path, damage):
    name, content = tiny
    mirror = lay_out(tmp_path / "mirror", content)
    victim = mirror / list(content)[1]
    if damage == "missing":
        victim.unlink()
    else:
        body = victim.read_bytes()
        victim.write_bytes(body[:-3] if damage == "truncated" else body[:-1] + b"\xff")
    with pytest.raises(UserError, match=victim.name):
        fetching.fetch(name, tmp_path / "data", "auto", mirror)
    assert not (tmp_path / f"data/{name}.provenance.json").exists()
    assert left_over(tmp_path / "data") == []


def test_a_wrong_mirror_path_is_not_passed_over(tiny, tmp_path):
    with pytest.raises(UserError, match=r"is not a folder.*data_mirror"):
        fetching.fetch(tiny[0], tmp_path / "data", "auto", tmp_path / "nowhere")
    with pytest.raises(UserError, match="needs a folder"):
        fetching.fetch(tiny[0], tmp_path / "data", "mirror", None)


@pytest.mark.parametrize("source", ["auto", "present"])
def test_a_corrupt_present_file_is_named(tiny, tmp_path, source):
    name, content = tiny
    data = lay_out(tmp_path / "data", content)
    victim = data / list(content)[-1]
    victim.write_bytes(b"\x80\x02corrupt")
    with pytest.raises(UserError, match=f"{victim.name} is corrupt.*Delete it"):
        fetching.fetch(name, data, source, None)


def test_present_means_complete(tiny, tmp_path, offline):
    name, content = tiny
    data = lay_out(tmp_path / "data", content)
    (data / list(content)[-1]).unlink()
    with pytest.raises(UserError, match="is missing"):
        fetching.fetch(name, data, "present", None)


def test_a_pickle_is_not_opened_before_its_checksum_is_right(tmp_path, monkeypatch):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was opened",))

    content = tiny_cifar()
    layout = files.LAYOUTS["cifar10"]
    sums = {n: files.md5(b) for n, b in content.items()}
    monkeypatch.setitem(
        files.LAYOUTS, "cifar10", files.Layout("cifar10", layout.torchvision, sums, {})
    )
    data = lay_out(tmp_path / "data", content)
    fetching.fetch("cifar10", data, "present", None)
    (data / "cifar-10-batches-py/test_batch").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(UserError, match="test_batch is corrupt"):
        images.load("cifar10", data)


def test_provenance_cannot_declare_other_files_genuine(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was opened",))

    body = pickle.dumps(Bomb())
    names = files.LAYOUTS["cifar10"].files
    data = lay_out(tmp_path, dict.fromkeys(names, body))
    forged = Provenance(
        dataset="cifar10",
        kind="genuine",
        source="present",
        origin="forged",
        md5=dict.fromkeys(names, files.md5(body)),
    )
    write_model(images.provenance_file("cifar10", data), forged)
    with pytest.raises(UserError, match="does not describe genuine cifar10 data"):
        images.load("cifar10", data)


def test_provenance_of_another_data_set_is_refused(tmp_path):
    digits = fetching.fetch("mnist", tmp_path, "stand-in", None)
    write_model(images.provenance_file("cifar10", tmp_path), digits)
    with pytest.raises(UserError, match="does not describe"):
        images.load("cifar10", tmp_path)


def test_a_stand_in_that_is_no_archive_is_one_line(tmp_path):
    found = fetching.fetch("mnist", tmp_path, "stand-in", None)
    body = b"PK\x03\x04 no archive"
    (tmp_path / "standin/mnist.npz").write_bytes(body)
    found.md5 = {"standin/mnist.npz": files.md5(body)}
    write_model(images.provenance_file("mnist", tmp_path), found)
    with pytest.raises(UserError, match="cannot be understood"):
        images.load("mnist", tmp_path)


def test_a_corrupt_file_of_an_incomplete_set_is_not_replaced(tiny, tmp_path):
    name, content = tiny
    first, *_, last = content
    mirror, data = lay_out(tmp_path / "mirror", content), lay_out(tmp_path / "data", content)
    (data / first).unlink()
    (data / last).write_bytes(b"mine")
    with pytest.raises(UserError, match="is corrupt"):
        fetching.fetch(name, data, "auto", mirror)
    assert (data / last).read_bytes() == b"mine"
    (data / last).write_bytes(content[last])
    assert fetching.fetch(name, data, "auto", mirror).source == "mirror"


@pytest.mark.parametrize(
    "problem",
    [
        http.client.IncompleteRead(b""),
        tarfile.ReadError("not a gzip file"),
        ImportError("no torchvision"),
    ],
)
def test_any_failed_download_is_one_line(tmp_path, monkeypatch, problem):
    def fail(**_):
        raise problem

    monkeypatch.setattr("torchvision.datasets.MNIST", fail)
    with pytest.raises(UserError, match="cannot be downloaded"):
        fetching.fetch("mnist", tmp_path, "official", None)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_not_taken_for_a_missing_network(tmp_path, monkeypatch):
    def fail(**_):
        raise OSError(fetching.DISK_FULL[0], "No space left on device")

    monkeypatch.setattr("torchvision.datasets.MNIST", fail)
    with pytest.raises(OSError, match="No space left"):
        fetching.fetch("mnist", tmp_path, "auto", None)
    assert list(tmp_path.iterdir()) == []


def test_a_terminated_fetch_removes_its_temporary_file(tiny, tmp_path, monkeypatch):
    name, content = tiny
    mirror = lay_out(tmp_path / "mirror", content)
    before = signal.getsignal(signal.SIGTERM)

    def killed(path, body):
        with path.open("wb") as half:
            half.write(body[: len(body) // 2])
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Path, "write_bytes", killed)
    with pytest.raises(SystemExit) as stopped:
        fetching.fetch(name, tmp_path / "data", "mirror", mirror)
    assert stopped.value.code == 128 + signal.SIGTERM
    assert [p for p in (tmp_path / "data").rglob("*") if p.is_file()] == []
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_without_network_the_official_source_is_one_line(name, tmp_path, offline):
    with pytest.raises(UserError, match=r"cannot be downloaded.*Check the network"):
        fetching.fetch(name, tmp_path / "data", "official", None)
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_without_network_auto_falls_back_to_a_loud_stand_in(name, tmp_path, offline, caplog):
    found = fetching.fetch(name, tmp_path / "data", "auto", None)
    assert found.kind == found.source == "stand-in"
    assert "!!!!" in caplog.text
    loaded = images.load(name, tmp_path / "data")
    assert loaded.provenance.kind == "stand-in"
    assert len(loaded.test_x) > 0
    assert loaded.train_x.dtype == np.uint8


def test_the_cifar_stand_in_has_data_batch_1s_counts(tmp_path):
    fetching.fetch("cifar10", tmp_path, "stand-in", None)
    pair = images.two_classes(images.load("cifar10", tmp_path))
    first = pair.train_y[pair.train_part == 1]
    assert ((first > 0).sum(), (first < 0).sum()) == (1005, 974)
    assert pair.train_x.min() >= 0
    assert pair.train_x.max() <= 1


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_stand_ins_are_the_same_bytes_each_time(name):
    assert standins.stand_in(name) == standins.stand_in(name)


def test_unknown_names_suggest_the_nearest(tmp_path):
    with pytest.raises(UserError, match="Did you mean 'mnist'"):
        fetching.fetch("minst", tmp_path, "auto", None)
    with pytest.raises(UserError, match="Did you mean 'mirror'"):
        fetching.fetch("mnist", tmp_path, "mirorr", None)
    with pytest.raises(UserError, match="sgdclaims fetch mnist"):
        images.load("mnist", tmp_path)


def test_when_to_fetch_again(tiny, tmp_path, offline):
    name, content = tiny
    data = tmp_path / "data"
    mirror = lay_out(tmp_path / "mirror", content)
    assert request(name, data, "auto", None) == "auto"
    fetching.fetch(name, data, "auto", None, request="auto")  # a stand-in
    assert request(name, data, "auto", None) == "auto"
    assert request(name, data, "stand-in", None) == "auto"
    again = request(name, data, "auto", mirror)
    assert again == GENUINE_AVAILABLE
    fetching.fetch(name, data, "auto", mirror, request=again)
    # genuine data stay, whether or not the mirror is named again
    assert request(name, data, "auto", mirror) == again
    assert request(name, data, "auto", None) == again
    assert request(name, data, "official", None) == again
    assert request(name, data, "stand-in", None) == "stand-in"


@given(st.binary(max_size=300))
@settings(max_examples=100)
def test_any_provenance_file_gives_data_or_one_line(tmp_path_factory, content):
    data = tmp_path_factory.mktemp("data")
    (data / "mnist.provenance.json").write_bytes(content)
    try:
        images.load("mnist", data)
    except UserError as mistake:
        assert "\n" not in str(mistake)


def test_the_checksums_are_torchvisions():
    from torchvision.datasets import CIFAR10, MNIST

    listed = dict((*CIFAR10.train_list, *CIFAR10.test_list))
    listed[CIFAR10.meta["filename"]] = CIFAR10.meta["md5"]
    ours = {Path(n).name: md5 for n, md5 in files.LAYOUTS["cifar10"].files.items()}
    assert ours == listed
    packed = {f"{Path(n).name}.gz": md5 for n, md5 in files.LAYOUTS["mnist"].packed.items()}
    assert packed == dict(MNIST.resources)


@pytest.mark.skipif(not MIRROR, reason="SGDCLAIMS_MIRROR names no mirror")
@pytest.mark.slow
def test_the_genuine_data(tmp_path):
    for name in ("mnist", "cifar10"):
        fetching.fetch(name, tmp_path, "mirror", Path(str(MIRROR)))
    digits = images.load("mnist", tmp_path)
    assert digits.train_x.shape == (60_000, 784)
    assert digits.train_y[:5].tolist() == [5, 0, 4, 1, 9]
    pair = images.two_classes(images.load("cifar10", tmp_path))
    assert len(pair.train_y) == 10_000
    assert len(pair.test_y) == 2_000
    assert (pair.train_part == 1).sum() == 1_979
