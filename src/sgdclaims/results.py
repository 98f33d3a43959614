"""Schemas of the files that the steps exchange.

`quantities.json` and `verdicts.json` are pydantic models, so that a malformed or foreign file is
refused with its place instead of being half understood. Numbers that JSON cannot hold are written
as the strings "inf", "-inf"; a quantity that is undefined for a seed is `null` and is never dropped.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    """Yields a temporary path beside `path`; renames it on success, removes it on failure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_model(path: Path, model: BaseModel) -> None:
    """Writes a model as indented JSON, atomically."""
    text = json.dumps(jsonable(model.model_dump(mode="python")), indent=1, allow_nan=False)
    with atomic(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_model(path: Path, schema: type[Model], remedy: str) -> Model:
    """Reads a JSON file as `schema`.

    Raises UserError when the file is missing, is not JSON, or does not fit the schema.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist", remedy) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError(f"{path} cannot be read ({problem})", remedy) from None
    try:
        return schema.model_validate(json.loads(text))
    except json.JSONDecodeError as problem:
        raise UserError(
            f"{path}, line {problem.lineno}: not valid JSON ({problem.msg})", remedy
        ) from None
    except ValidationError as problem:
        raise UserError(f"{path}: {first_problem(problem)}", remedy) from None


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
