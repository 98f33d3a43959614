"""One pydantic model per figure: types, bounds, meaning and origin of every parameter.

No torch here: the Snakefile validates every figure's parameters before the first job starts.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Origin = Literal["stated", "inferred", "ours"]


def _parameter(origin: Origin, meaning: str, unit: str, bounds: dict[str, Any]) -> Any:
    return Field(
        description=meaning, json_schema_extra={"origin": origin, "unit": unit or None}, **bounds
    )


def stated(meaning: str, *, unit: str = "", **bounds: Any) -> Any:
    """A parameter that the paper or its authors' replies state."""
    return _parameter("stated", meaning, unit, bounds)


def inferred(meaning: str, *, unit: str = "", **bounds: Any) -> Any:
    """A parameter that follows from what the paper says, but is not written there."""
    return _parameter("inferred", meaning, unit, bounds)


def ours(meaning: str, *, unit: str = "", **bounds: Any) -> Any:
    """A parameter that the paper leaves open; chosen by us on seeds that are not judged."""
    return _parameter("ours", meaning, unit, bounds)


def require(condition: bool, complaint: str) -> None:
    """For validators across parameters. Raises ValueError, which pydantic turns into its own error."""
    if not condition:
        raise ValueError(complaint)


def require_grid(name: str, values: Sequence[float], holds: float | None = None) -> None:
    """A scan's values are positive and different, and contain the default. Raises ValueError."""
    require(all(value > 0 for value in values), f"{name}: every value must be positive")
    require(len(set(values)) == len(values), f"{name}: a value is given twice")
    require(holds is None or holds in values, f"{name}: the default {holds} is not among them")


class FigureParameters(BaseModel):
    """What every figure has. Judged seeds are 0, ..., seeds - 1; searches use seeds from 1000 on."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    seeds: int = ours("number of judged seeds 0, 1, ...", ge=1, le=1000)

    @classmethod
    def origin(cls, name: str) -> Origin:
        """Where the value of a parameter comes from."""
        extra = cls.model_fields[name].json_schema_extra
        assert isinstance(extra, dict)
        origin = extra["origin"]
        assert origin in ("stated", "inferred", "ours")
        return origin  # type: ignore[return-value]


def model_for(figure: str) -> type[FigureParameters]:
    """The parameter model of a figure: class `Parameters` of `parameters/<figure>.py`.

    Raises ModuleNotFoundError when there is no such module.
    """
    module = importlib.import_module(f"{__name__}.{figure}")
    model: type[FigureParameters] = module.Parameters
    return model
