"""Which source files a module depends on, read from the code's own import statements.

Snakemake does not see what a command imports. Every rule lists these files as inputs, so that editing
an experiment reruns that experiment and editing the engine reruns what imports the engine.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

PACKAGE = "sgdclaims"
ROOT = Path(__file__).parent


def module_file(module: str) -> Path | None:
    """The source file of a module of this package, or None if there is no such module."""
    parts = module.split(".")
    if parts[0] != PACKAGE:
        return None
    base = ROOT.joinpath(*parts[1:])
    if base.with_suffix(".py").is_file():
        return base.with_suffix(".py")
    init = base / "__init__.py"
    return init if init.is_file() else None


@functools.cache
def imports(file: Path) -> frozenset[str]:
    """The modules of this package that a source file imports, at the top or inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            # `from package import module` imports a module as well
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(name for name in found if module_file(name))


def closure(module: str) -> list[Path]:
    """All source files that `module` needs, itself and package `__init__` files included, sorted.

    Raises ModuleNotFoundError when the package has no such module.
    """
    if module_file(module) is None:
        raise ModuleNotFoundError(f"{PACKAGE} has no module {module}")
    files: set[Path] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = module_file(name)
        if file is None or file in files:
            continue
        files.add(file)
        waiting.extend(imports(file))
        parents = name.split(".")[:-1]
        waiting.extend(".".join(parents[: i + 1]) for i in range(len(parents)))
    return sorted(files)
