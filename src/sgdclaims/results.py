"""Schemas of the files that the steps exchange.

`quantities.json` and `verdicts.json` are pydantic models, so that a malformed or foreign file is
refused with its place instead of being half understood. Numbers that JSON cannot hold are written
as the strings "inf", "-inf"; a quantity that is undefined for a seed is `null` and is never dropped.
"""

from __future__ import annotations

import glob
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sgdclaims.errors import UserError

Model = TypeVar("Model", bound=BaseModel)
SYNTHETIC = "synthetic"
Kind = Literal["mean", "proportion", "violations", "exact"]
VerdictName = Literal[
    "REPRODUCED", "NOT REPRODUCED", "INCONCLUSIVE", "VACUOUS", "STAND-IN", "NOT RUN"
]
LEFTOVER_SECONDS = 600.0  # no file takes this long to write
TIDY_COLUMNS = ("variant", "seed", "step", "name", "i", "j", "value")


class Strict(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Provenance(Strict):
    """Where a data set came from (`data/<set>.provenance.json`)."""

    dataset: str
    kind: Literal["genuine", "stand-in"]
    source: Literal["present", "mirror", "official", "stand-in"]
    origin: str = Field(description="one sentence for people: mirror folder's name, package, ...")
    md5: dict[str, str] = Field(description="file name below data/ -> md5")
    request: str = Field(default="auto", description="what was asked for; see rules/datasets.smk")


class Quantity(Strict):
    """One measured quantity: `values[variant][seed]`."""

    meaning: str
    unit: str = "1"
    kind: Kind = "mean"
    dataset: str = Field(default=SYNTHETIC, description="a data set's name, or 'synthetic'")
    axis: dict[str, float] | None = Field(
        default=None, description="variant -> position along the scanned parameter"
    )
    axis_name: str | None = None
    values: dict[str, dict[str, float | None]]


class Quantities(Strict):
    """What `train` measured for one figure at one scale."""

    figure: str
    scale: str
    parameters: dict[str, Any]
    environment: dict[str, Any]
    datasets: dict[str, Provenance] = {}
    quantities: dict[str, Quantity]


class Interval(Strict):
    """A statistic with its 95% interval and whether it satisfies the check."""

    estimate: float | None
    low: float | None
    high: float | None
    satisfies: Literal["yes", "no", "straddles", "undefined"]
    seeds: int
    per_seed: dict[str, float | None] = {}


class Verdict(Strict):
    """The judgement of one claim."""

    claim: str
    paper: str
    figure: str
    verdict: VerdictName
    expected: VerdictName
    binding: bool
    check: str = Field(description="the check in words")
    quantity: str | None = None
    unit: str = "1"
    subject: Interval | None = None
    control: Interval | None = None
    control_satisfies: bool | None = None
    data_source: str = SYNTHETIC
    note: str = ""


class Verdicts(Strict):
    """All verdicts of one figure at one scale."""

    figure: str
    scale: str
    verdicts: list[Verdict]


def jsonable(value: Any) -> Any:
    """Replaces what JSON cannot hold: infinities by strings, NaN by null."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(v) for v in value]
    return value


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path`; renames it on success, removes it on failure.

    An OSError that names no file, as a full disk's, gets the name of `path`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix
        )
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as problem:
        if problem.filename is None or Path(str(problem.filename)).name.startswith("."):
            problem.filename = str(path)
            problem.filename2 = None
        raise


def _sweep(path: Path) -> None:
    """Removes the temporaries that killed writers of `path` have left."""
    oldest = time.time() - LEFTOVER_SECONDS
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*"):
        with suppress(OSError):  # another writer may have swept it
            if leftover.stat().st_mtime < oldest:
                leftover.unlink()


def write_model(path: Path, model: BaseModel) -> None:
    """Writes a model as indented JSON, atomically."""
    text = json.dumps(jsonable(model.model_dump(mode="python")), indent=1, allow_nan=False)
    with atomic(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def damaged(path: Path, what: str, remedy: str) -> UserError:
    """The complaint about a file that a step has written and that cannot be right any more.

    The file is set aside as `<name>.damaged`: Snakemake, which only looks whether it is there, then makes
    it again in the next call.
    """
    aside = path.with_name(f"{path.name}.damaged")
    try:
        path.replace(aside)
    except OSError:  # in a read-only folder the message alone must do
        return UserError(f"{path}: {what}", remedy)
    return UserError(f"{path}: {what}; it was set aside as {aside.name}", remedy)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Raises ValueError when a key occurs twice."""
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} occurs twice")
    return table


def read_model(path: Path, schema: type[Model], remedy: str, **expected: str) -> Model:
    """Reads a JSON file as `schema`; its fields must have the `expected` values.

    Raises UserError when the file is missing or unreadable; when it is not JSON, does not fit the schema or
    belongs to something else, it is set aside as well.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} does not exist", remedy) from None
    except OSError as problem:
        raise UserError(f"{path} cannot be read ({problem.strerror})", remedy) from None
    try:
        found = schema.model_validate(json.loads(content.decode(), object_pairs_hook=_once))
    except json.JSONDecodeError as problem:
        what = f"not valid JSON on line {problem.lineno} ({problem.msg})"
        raise damaged(path, what, remedy) from None
    except ValidationError as problem:
        raise damaged(path, first_problem(problem), remedy) from None
    except (ValueError, OverflowError) as problem:  # not UTF-8, a key twice, an endless number
        raise damaged(path, f"not valid JSON ({problem})", remedy) from None
    except RecursionError:
        raise damaged(path, "nested too deeply", remedy) from None
    for name, value in expected.items():
        if getattr(found, name) != value:
            what = f"{name} is {getattr(found, name)!r} and should be {value!r}"
            raise damaged(path, what, remedy)
    return found


def quantities_of(results: Path, scale: str, figure: str) -> Quantities:
    """What was measured for a figure at a scale. Raises UserError; see `read_model`."""
    return read_model(
        results / scale / figure / "quantities.json",
        Quantities,
        f"Run `python -m sgdclaims train {figure} --scale {scale}`.",
        figure=figure,
        scale=scale,
    )


def verdicts_of(results: Path, scale: str, figure: str) -> Verdicts:
    """The verdicts on a figure's claims at a scale. Raises UserError; see `read_model`."""
    return read_model(
        results / scale / figure / "verdicts.json",
        Verdicts,
        f"Run `python -m sgdclaims judge {figure} --scale {scale}`.",
        figure=figure,
        scale=scale,
    )


def first_error(problem: ValidationError) -> tuple[str, tuple[str, ...], str]:
    """Type, key path and message of the complaint that helps most.

    A misspelled key shows up twice, as unknown and as missing: the unknown one comes first.
    """
    errors = problem.errors(include_url=False)
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    message = str(first["msg"]).removeprefix("Value error, ")
    return first["type"], tuple(str(part) for part in first["loc"]), message


def first_problem(problem: ValidationError) -> str:
    """The complaint as `key.path: message`."""
    _, loc, message = first_error(problem)
    return f"{'.'.join(loc)}: {message}" if loc else message
