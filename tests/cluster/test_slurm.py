"""The shipped SLURM profile on a real SLURM: the whole quick DAG, a killed job, a figure by name, the same verdicts.

Run by `make test-cluster`, not by `make test`. Needs a running SLURM, or a script in SGDCLAIMS_TEST_SLURM that
`start`s and `stop`s one; `make test-cluster SLURM=<script>` names it. SGDCLAIMS_TEST_LOCAL may name a checkout
whose quick results were made without a cluster; else they are made here.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sgdclaims import catalog

ROOT = Path(__file__).parents[2]
PATIENCE = 900
FIGURES = catalog.load(ROOT / "config").figures
ONE = "ne_fig9_activations"
SUBMITTED = re.compile(r"submitted with SLURM jobid (\d+) \(log: (.*?)\)")
# The shipped profile; only the looks at the queue are quicker than a real controller should bear.
PROFILE = ["--workflow-profile", "profiles/slurm"]
HASTE = ["--slurm-init-seconds-before-status-checks", "3", "--seconds-between-status-checks", "3"]
# A site that hands jobs nothing of the user's environment.
BARE_SBATCH = '#!/bin/sh\nfor a; do shift; [ "$a" = --export=ALL ] && a=--export=NONE; set -- "$@" "$a"; done\n'


def slurm_answers() -> bool:
    """Whether a controller is there and has a node."""
    if shutil.which("sinfo") is None:
        return False
    asked = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and bool(asked.stdout.strip())


@pytest.fixture(scope="module", autouse=True)
def slurm() -> Iterator[None]:
    if slurm_answers():
        yield
        return
    script = os.environ.get("SGDCLAIMS_TEST_SLURM")
    if not script:
        pytest.skip("no SLURM answers, and SGDCLAIMS_TEST_SLURM names no script that starts one")
    folder = Path(tempfile.mkdtemp(prefix="sgdclaims-slurm-"))
    folder.chmod(0o755)  # munge runs as a user of its own, which pytest's own folders shut out
    try:
        with (folder / "start.log").open("w") as log:  # daemons would keep a pipe open
            subprocess.run([script, "start", folder], check=True, stdout=log, stderr=log)
        assert slurm_answers(), (folder / "start.log").read_text()
        yield
    finally:
        subprocess.run([script, "stop", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def copy(folder: Path) -> Path:
    """A checkout of the files that git knows or does not ignore."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def environment(**more: str) -> dict[str, str]:
    scripts = Path(sys.executable).parent
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return {**clean, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", **more}


def start(folder: Path, log: Path, *options: str, **env: str) -> subprocess.Popen[bytes]:
    command = ["snakemake", *options, "--config", "scale=quick"]
    with log.open("w") as file:
        return subprocess.Popen(
            command, cwd=folder, env=environment(**env), stdout=file, stderr=file
        )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    return copy(tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="module")
def local(tmp_path_factory) -> Path:
    """A checkout with the quick results of a run without a cluster."""
    named = os.environ.get("SGDCLAIMS_TEST_LOCAL")
    if named:
        return Path(named).resolve()
    folder = copy(tmp_path_factory.mktemp("local"))
    log = folder.with_suffix(".log")
    assert start(folder, log, "--cores", "2").wait(PATIENCE) == 0, log.read_text()
    return folder


def test_one_figure_by_name_where_jobs_get_no_environment(checkout, tmp_path):
    real = shutil.which("sbatch")
    (tmp_path / "sbatch").write_text(f'{BARE_SBATCH}exec {real} "$@"\n')
    (tmp_path / "sbatch").chmod(0o755)
    log = tmp_path / "log"
    path = f"{tmp_path}{os.pathsep}{environment()['PATH']}"
    assert start(checkout, log, *PROFILE, *HASTE, ONE, PATH=path).wait(PATIENCE) == 0, (
        log.read_text()
    )
    said = log.read_text()
    assert len(SUBMITTED.findall(said)) == 1, said  # train, judge and plot queue once
    assert "localrule " + ONE in said
    for suffix in (".pdf", ".png"):
        assert (checkout / f"figures/{ONE}{suffix}").stat().st_size > 1000


def job_of_a_checkpoint(checkout: Path, log: Path) -> tuple[str, str]:
    """Figure and SLURM id of a running job that has kept a checkpoint."""
    for kept in checkout.glob("results/quick/*/.checkpoint/*.pt"):
        figure = kept.parents[1].name
        for number, file in SUBMITTED.findall(log.read_text()):
            said = Path(file).read_text() if Path(file).exists() else ""
            if f"Training {figure} " in said:
                return figure, number
    return "", ""


def test_everything_with_one_job_killed_gives_the_verdicts_of_a_local_run(
    checkout, local, tmp_path
):
    log = tmp_path / "log"
    run = start(checkout, log, *PROFILE, *HASTE, SGDCLAIMS_CHECKPOINT_SECONDS="0.3")
    killed = number = ""
    until = time.monotonic() + PATIENCE
    while not killed and run.poll() is None and time.monotonic() < until:
        killed, number = job_of_a_checkpoint(checkout, log)
        time.sleep(0.1)
    assert killed, log.read_text()
    subprocess.run(["scancel", number], check=True)
    assert run.wait(PATIENCE) == 0, log.read_text()
    submitted = SUBMITTED.findall(log.read_text())
    assert len(submitted) == len(FIGURES)  # ONE is made already, and one was submitted twice
    train = (checkout / f"logs/quick/{killed}.train.log").read_text()
    assert re.search(r"goes on from step [1-9]", train), train
    assert not list(checkout.glob("results/quick/*/.checkpoint"))
    assert verdicts(checkout) == verdicts(local)
    assert quantities(checkout, killed) == quantities(local, killed)


def verdicts(folder: Path) -> dict[str, str]:
    with (folder / "results/quick/claims.csv").open(encoding="utf-8") as file:
        found = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
    assert len(found) > 100
    return found


def quantities(folder: Path, figure: str) -> object:
    """What was measured, without the machine it was measured on."""
    file = folder / f"results/quick/{figure}/quantities.json"
    return json.loads(file.read_text(encoding="utf-8"))["quantities"]
