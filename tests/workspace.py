"""A temporary checkout that holds only the toy figure of docs/add-a-figure.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

STEPS = {"Training": "train", "Judging": "judge", "Drawing": "plot"}
JOB = re.compile(r"^Job \d+: (Training|Judging|Drawing) (\w+)", re.MULTILINE)
ROOT = Path(__file__).parent.parent
PARTS = ("Snakefile", "rules", "profiles", "src", "envs")
BLOCK = re.compile(r"^`([\w./]+)`\n(`{3,})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL)


def walk_through() -> dict[str, str]:
    """The files that docs/add-a-figure.md writes, by path."""
    text = (ROOT / "docs/add-a-figure.md").read_text(encoding="utf-8")
    return {path: body for path, _, body in BLOCK.findall(text)}


def second_figure(text: str) -> str:
    """The same file for a second toy figure."""
    return text.replace("qs_fig1_stability", "qs_fig2_again").replace("QS-F1", "QS-F2")


def build(folder: Path) -> Path:
    """Lays out a checkout with two toy figures, and nothing of the real papers."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy(source, folder / part)
    (folder / "config").mkdir()
    shutil.copy(ROOT / "config/config.yaml", folder / "config")
    for path, body in walk_through().items():
        file = folder / path
        if path.startswith("src/"):
            file.write_text(body, encoding="utf-8")
            file.with_name("qs_fig2_again.py").write_text(second_figure(body), encoding="utf-8")
        elif path.endswith(".yaml"):
            entry = body[body.index("  qs_fig1_stability:") :]
            file.write_text(body + second_figure(entry), encoding="utf-8")
        else:
            both = f"# Claims\n\n{body}\n{second_figure(body)}"
            file.write_text(both, encoding="utf-8")
    return folder


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a command in the checkout."""
    scripts = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "src"),
        **more,
    }


def run(folder: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of the environment in the checkout; output as text, status not checked."""
    env = environment(folder, **more)
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600
    )


def snakemake(
    folder: Path, *options: str, scale: str = "quick"
) -> subprocess.CompletedProcess[str]:
    """Runs snakemake in the checkout at quick scale."""
    return run(folder, "snakemake", "--cores", "2", "--config", f"scale={scale}", "--", *options)


def would_run(folder: Path, *targets: str, scale: str = "quick") -> set[str]:
    """What a dry run would do: `rule` or `rule:figure` for every job but the targets."""
    done = run(
        folder, "snakemake", "-n", "--cores", "2", "--config", f"scale={scale}", "--", *targets
    )
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    if "Nothing to be done" in text:
        return set()
    jobs = {f"{STEPS[verb]}:{figure}" for verb, figure in JOB.findall(text)}
    stats = text[text.index("Job stats:") :]
    counted = dict(re.findall(r"^(\w+)\s+(\d+)$", stats, re.MULTILINE))
    jobs |= set(counted) & {"fetch", "report", "gate"}
    for step in STEPS.values():  # the messages and the table must tell the same story
        assert sum(job.startswith(f"{step}:") for job in jobs) == int(counted.get(step, 0)), text
    return jobs
