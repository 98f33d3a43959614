"""Checkpoints: what is kept, what is refused, and what a loop does with it."""

from __future__ import annotations

import os
import signal

import pytest
import torch

from sgdclaims import cli
from sgdclaims.checkpoints import SECONDS, Checkpoints, Follower, digest
from sgdclaims.dynamics.descent import descend
from sgdclaims.dynamics.loop import follow
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.dynamics.samplers import gaussian_teacher, minibatches
from sgdclaims.dynamics.streams import Streams
from sgdclaims.errors import Interrupted
from sgdclaims.progress import Bar


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_keeps_the_state_of_the_last_step(number, tmp_path, places):
    checkpoints = Checkpoints(tmp_path, "key", 1e9)
    total = [0]

    def add_up() -> None:
        for step in follow(100, Follower(Bar(100, "sum"), checkpoints), total):
            total[0] += step
            if step == 41:
                os.kill(os.getpid(), number)

    with checkpoints.listening(), pytest.raises(Interrupted):
        add_up()
    again = Checkpoints(tmp_path, "key", 1e9)
    total = [0]
    seen = []
    for step in follow(100, Follower(Bar(100, "sum"), again), total):
        seen.append(step)
        total[0] += step
    assert seen == list(range(42, 100))
    assert total == [sum(range(100))]


def test_a_checkpoint_of_something_else_is_ignored_with_one_line(tmp_path, caplog):
    def steps_done(key: str) -> list[int]:
        kept = Checkpoints(tmp_path, key, 0)
        return list(follow(5, Follower(Bar(5, "x"), kept), [0]))

    assert steps_done("a") == [0, 1, 2, 3, 4]
    assert steps_done("a") == []
    caplog.clear()
    assert steps_done("b") == [0, 1, 2, 3, 4]
    assert [r.message for r in caplog.records if "ignored" in r.message] == [
        f"{tmp_path / '0000.pt'} belongs to other parameters, code, data or threads: ignored"
    ]
    (tmp_path / "0000.pt").write_bytes((tmp_path / "0000.pt").read_bytes()[:-100])
    caplog.clear()
    assert steps_done("b") == [0, 1, 2, 3, 4]
    assert sum("ignored" in r.message for r in caplog.records) == 1


def test_the_key_changes_with_whatever_the_result_depends_on(tmp_path):
    file = tmp_path / "module.py"
    file.write_text("a = 1\n", encoding="utf-8")
    first = digest({"steps": 10}, [file])
    assert digest({"steps": 10}, [file]) == first
    assert digest({"steps": 11}, [file]) != first
    file.write_text("a = 2\n", encoding="utf-8")
    assert digest({"steps": 10}, [file]) != first


def test_a_checkpoint_holds_data_only(tmp_path):
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "owned"),)

    torch.save({"key": "key", "step": 1, "parts": [Evil()]}, tmp_path / "0000.pt")
    kept = Checkpoints(tmp_path, "key", 0)
    assert list(follow(2, Follower(Bar(2, "x"), kept), [0])) == [0, 1]
    assert not (tmp_path / "owned").exists()


def test_a_full_disk_costs_the_checkpoint_not_the_job(tmp_path, monkeypatch, caplog):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", full)
    kept = Checkpoints(tmp_path / "x", "key", 0)
    assert list(follow(5, Follower(Bar(5, "x"), kept), [0])) == list(range(5))
    assert sum("No space left" in r.message for r in caplog.records) == 1


def test_a_senseless_interval_is_a_users_mistake(monkeypatch, places, capsys):
    monkeypatch.setenv(SECONDS, "soon")
    root = str(places.config.parent)
    arguments = ["train", "ne_fig1_scale_invariance_flow", "--scale", "quick", "--root", root]
    assert cli.main(arguments) == 2
    assert "SGDCLAIMS_CHECKPOINT_SECONDS='soon'" in capsys.readouterr().err


@pytest.mark.parametrize("used", [0, 1, 5, 1024, 1025, 3000])
def test_samplers_go_on_where_they_were(used):
    eye, ones = torch.eye(3), torch.ones(3)
    makers = [
        lambda: gaussian_teacher(Streams([4, 7], "data"), 2, 5, eye, ones, ones),
        lambda: minibatches(Streams([4, 7], "data"), 2, 5, torch.randn(9, 3), torch.zeros(9, 3)),
    ]
    for make in makers:
        torch.manual_seed(0)
        plain = make()
        for _ in range(used):
            next(plain)
        torch.manual_seed(0)
        again = make()
        again.restore(plain.state())
        for _ in range(3):
            for a, b in zip(next(plain), next(again), strict=True):
                assert torch.equal(a, b)


def test_a_finished_loop_is_not_repeated_and_its_last_record_is(tmp_path):
    def train() -> tuple[torch.Tensor, Recorder]:
        calls.append(0)
        eye, ones = torch.eye(1), torch.ones(1)
        recorder = Recorder([0, 3, 6], lambda w, step: {"w": w[0][:, 0]})
        kept = Checkpoints(tmp_path, "key", 0)
        (end,) = descend(
            (torch.zeros(1, 1),),
            lambda w, batch: (calls.append(1) or w[0] - batch[0][:, 0],),
            gaussian_teacher(Streams([0], "d"), 1, 1, eye, ones, ones),
            eta=0.1,
            steps=6,
            recorder=recorder,
            progress=Follower(Bar(6, "x"), kept),
            report_every=2,
        )
        return end, recorder

    calls: list[int] = []
    first, recorded = train()
    assert sum(calls) == 6
    calls.clear()
    second, again = train()
    assert sum(calls) == 0
    assert torch.equal(first, second)
    assert recorded.steps == again.steps == [0, 3, 6]
    assert torch.equal(recorded.series["w"], again.series["w"])
