"""What Snakemake would rerun, and the walk-through of docs/add-a-figure.md followed to the letter."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import workspace

pytestmark = pytest.mark.slow
ONE, TWO = "qs_fig1_stability", "qs_fig2_again"
AFTERWARDS = {"report", "gate"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A checkout in which everything has been made once."""
    folder = workspace.build(tmp_path_factory.mktemp("checkout"))
    done = workspace.snakemake(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def checkout(finished, tmp_path) -> Path:
    """A copy of it, time stamps included, that a test may change."""
    folder = tmp_path / "checkout"
    shutil.copytree(finished, folder, symlinks=True)
    return folder


def edit(file: Path, old: str = "", new: str = "\n# edited\n") -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")


def test_everything_is_made(finished):
    for name in (ONE, TWO):
        for suffix in (".pdf", ".png"):
            assert (finished / f"figures/{name}{suffix}").stat().st_size > 1000
        for part in ("trajectories.parquet", "quantities.json", "verdicts.json"):
            assert (finished / f"results/quick/{name}/{part}").is_file()
    with (finished / "results/quick/claims.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == ["REPRODUCED"] * 2
    assert [row["control_satisfies"].lower() for row in rows] == ["false"] * 2
    for part in ("report.md", "report.html", "gate.passed"):
        assert (finished / "results/quick" / part).is_file()


def test_a_second_call_does_nothing(checkout):
    assert workspace.would_run(checkout) == set()


def test_editing_a_plot_redraws_that_figure_only(checkout):
    edit(checkout / f"src/sgdclaims/plots/{ONE}.py")
    assert workspace.would_run(checkout) == {f"plot:{ONE}"} | AFTERWARDS


def test_editing_an_experiment_reruns_that_figure_only(checkout):
    edit(checkout / f"src/sgdclaims/experiments/{TWO}.py")
    expected = {f"train:{TWO}", f"judge:{TWO}", f"plot:{TWO}"} | AFTERWARDS
    assert workspace.would_run(checkout) == expected


def test_editing_the_engine_reruns_what_imports_it(checkout):
    edit(checkout / "src/sgdclaims/dynamics/descent.py")
    jobs = workspace.would_run(checkout)
    assert {f"train:{ONE}", f"train:{TWO}"} <= jobs
    edit(checkout / "src/sgdclaims/datasets/fetch.py")
    assert workspace.would_run(checkout) == jobs


def test_editing_a_module_that_nothing_trained_imports_reruns_nothing(checkout):
    edit(checkout / "src/sgdclaims/datasets/fetch.py")
    edit(checkout / "src/sgdclaims/cli.py")
    assert workspace.would_run(checkout) == set()


def test_editing_a_claim_judges_that_figure_again_and_trains_nothing(checkout):
    edit(checkout / "paper_claims.md", "check: {below: 1.0}", "check: {below: 0.9}")
    assert workspace.would_run(checkout) == {f"judge:{ONE}", f"plot:{ONE}"} | AFTERWARDS


def test_changing_a_parameter_reruns_that_figure_only(checkout):
    edit(checkout / "config/quadratic_stability.yaml", "{steps: 50}", "{steps: 60}")
    expected = {f"train:{ONE}", f"judge:{ONE}", f"plot:{ONE}"} | AFTERWARDS
    assert workspace.would_run(checkout) == expected


def test_a_parameter_of_another_scale_reruns_nothing(checkout):
    edit(checkout / "config/quadratic_stability.yaml", "steps: 200", "steps: 300")
    assert workspace.would_run(checkout) == set()


@pytest.mark.parametrize("target", [ONE, f"figures/{ONE}.pdf", f"figures/{ONE}.png"])
def test_one_figure_by_name_or_file(checkout, target):
    for suffix in (".pdf", ".png"):
        (checkout / f"figures/{ONE}{suffix}").unlink()
    assert workspace.would_run(checkout, target) == {f"plot:{ONE}"}
    assert workspace.snakemake(checkout, target).returncode == 0
    assert (checkout / f"figures/{ONE}.pdf").is_file()


def test_scales_do_not_overwrite_each_other(checkout):
    before = (checkout / f"results/quick/{ONE}/quantities.json").read_bytes()
    assert workspace.snakemake(checkout, scale="standard").returncode == 0
    assert (checkout / f"results/quick/{ONE}/quantities.json").read_bytes() == before
    assert "train" not in {job.split(":")[0] for job in workspace.would_run(checkout)}


def test_an_unexpected_verdict_fails_after_everything_is_on_disk(checkout):
    edit(checkout / "paper_claims.md", "check: {below: 1.0}", "check: {above: 1.0}")
    shutil.rmtree(checkout / "figures")
    done = workspace.snakemake(checkout)
    assert done.returncode == 1
    assert "QS-F1-a" in done.stdout + done.stderr
    assert not (checkout / "results/quick/gate.passed").exists()
    for name in (f"figures/{ONE}.pdf", "results/quick/report.html", "results/quick/claims.csv"):
        assert (checkout / name).is_file()


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("config/config.yaml", "scale: standard", "scael: standard", ["scael", "'scale'"]),
        (
            "config/quadratic_stability.yaml",
            "curvature: 4.0",
            "curvatur: 4.0",
            ["quadratic_stability.yaml", "curvatur"],
        ),
        ("config/quadratic_stability.yaml", "curvature: 4.0", "curvature: -1", ["curvature"]),
        ("config/quadratic_stability.yaml", "seeds: 8", "seeds: [8", ["line "]),
        ("paper_claims.md", "check: {below: 1.0}", "check: {bellow: 1.0}", ["bellow", "below"]),
        ("paper_claims.md", f"figure: {ONE}", "figure: qs_fig1_stabilty", [f"'{ONE}'"]),
    ],
)
def test_bad_input_is_one_clear_line(checkout, file, old, new, words):
    edit(checkout / file, old, new)
    done = workspace.run(checkout, "snakemake", "-n", "--cores", "1")
    assert done.returncode != 0
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    for word in words:
        assert word in text


def test_a_scale_that_does_not_exist(checkout):
    done = workspace.snakemake(checkout, scale="standrad")
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr
    assert "standard" in done.stdout + done.stderr
