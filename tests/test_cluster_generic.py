"""The profile for other schedulers, with a submit command that runs the job script in the background."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import workspace

FIGURE = "qs_fig1_stability"
ASKS = "{threads} {resources.mem_mb} {resources.runtime}"
# Like a scheduler that hands a job nothing of the user's environment; prints the job's id.
SUBMIT = """#!/bin/sh
env -i HOME="$HOME" PATH=/usr/bin:/bin sh "$4" >"$4.log" 2>&1 &
echo "$1 $2 $3" >>"$0.asked"
echo $!
"""


@pytest.mark.slow
def test_one_figure_through_a_submit_command(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    workspace.build(folder)
    submit = tmp_path / "submit"
    submit.write_text(SUBMIT, encoding="utf-8")
    submit.chmod(0o755)
    done = workspace.run(
        folder,
        *("snakemake", "--workflow-profile", "profiles/cluster-generic"),
        *(
            "--cluster-generic-submit-cmd",
            f"{submit} {ASKS}",
            "--seconds-between-status-checks",
            "1",
        ),
        *("--config", "scale=quick", "--", FIGURE),
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.count("with external jobid") == 1, said
    threads, memory, minutes = (tmp_path / "submit.asked").read_text().split()
    assert (threads, memory) == ("1", "2000")
    assert int(minutes) >= 60
    assert (folder / f"figures/{FIGURE}.pdf").is_file()


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_a_profile_is_complete_without_the_default_one(profile):
    import yaml

    def keys(name: str) -> dict[str, object]:
        return yaml.safe_load(Path(workspace.ROOT, f"profiles/{name}/config.yaml").read_text())

    assert keys("default").items() <= keys(profile).items()


def test_jobs_find_this_python_first(monkeypatch, tmp_path):
    import sys

    from sgdclaims import surroundings

    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    surroundings.share_package(tmp_path)
    assert os.environ["PATH"].split(os.pathsep) == [str(Path(sys.executable).parent), "/usr/bin"]
    assert os.environ["PYTHONPATH"] == str(tmp_path)
