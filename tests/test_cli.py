"""The command line: what it imports, and how it answers mistakes."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from sgdclaims import cli, codegraph, steps

ROOT = Path(__file__).parent.parent
HEAVY = ("torch", "pandas", "matplotlib", "scipy.stats")


def modules_after(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    program = (
        "import sys, contextlib, io\n"
        "from sgdclaims.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        f"    main({list(arguments)!r})\n"
        "print(*sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("arguments", [["--help"], ["list"]])
def test_help_and_list_start_without_heavy_imports(arguments):
    assert not modules_after(*arguments) & set(HEAVY)


@pytest.mark.parametrize("package", ["plots", "claims", "report", "parameters"])
def test_no_torch_outside_the_engine(package):
    for file in (ROOT / "src/sgdclaims" / package).glob("*.py"):
        module = f"sgdclaims.{package}" + ("" if file.stem == "__init__" else f".{file.stem}")
        for needed in codegraph.closure(module):
            text = needed.read_text(encoding="utf-8")
            assert "import torch" not in text, f"{module} reaches {needed}"
            assert "from torch" not in text, f"{module} reaches {needed}"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "ne_fig5_layernorms"], "Did you mean 'ne_fig5_layer_norms'"),
        (["train", "ne_fig5_layer_norms", "--scale", "standart"], "Did you mean 'standard'"),
        (["judge", "ne_fig5_layer_norms", "--scale", "paper"], "sgdclaims train"),
        (["plot", "ne_fig5_layer_norms", "--scale", "paper"], "sgdclaims train"),
        (["fetch", "minst"], "mnist"),
        (["fetch", "mnist", "--source", "mirorr"], "mirror"),
        (["train", "ne_fig5_layer_norms", "--seeds", "-3"], "seeds"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(arguments, words, capfd, tmp_path):
    root = tmp_path / "checkout"
    root.mkdir()
    for part in ("config", "paper_claims.md"):
        (root / part).symlink_to(ROOT / part)
    assert cli.main([*arguments, "--root", str(root)]) == 2
    error = capfd.readouterr().err
    assert words in error
    assert error.startswith("sgdclaims: error: ")
    assert error.count("\n") == 1


def test_outside_a_checkout_it_says_where_to_run(capfd, tmp_path):
    assert cli.main(["list", "--root", str(tmp_path)]) == 2
    assert "repository's root" in capfd.readouterr().err


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_problem_is_one_line(number, monkeypatch, capfd):
    def fail(*_: object) -> None:
        raise OSError(number, "no", "results/quick/x/quantities.json")

    monkeypatch.setattr(steps, "judge", fail)
    assert cli.main(["judge", "ne_fig5_layer_norms"]) == 2
    error = capfd.readouterr().err
    assert "results/quick/x/quantities.json" in error
    assert error.count("\n") == 1


def test_a_bug_keeps_its_traceback(monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(steps, "judge", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["judge", "ne_fig5_layer_norms"])


def test_code_closures_follow_imports_and_nothing_else():
    files = {f.name for f in codegraph.closure("sgdclaims.experiments.ne_fig5_layer_norms")}
    assert {"ne_fig5_layer_norms.py", "descent.py", "streams.py", "base.py"} <= files
    assert not {"cli.py", "steps.py", "ne_fig6_tanh_representation.py", "judge.py"} & files
    with pytest.raises(ModuleNotFoundError):
        codegraph.closure("sgdclaims.no_such_room")
