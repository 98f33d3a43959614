"""The tidy table of a figure's trajectories: written and read as Parquet, each page with a checksum."""

from __future__ import annotations

import errno
from pathlib import Path

import pandas as pd
import pyarrow
from pyarrow import parquet, types

from sgdclaims.errors import UserError
from sgdclaims.results import TIDY_COLUMNS, atomic, damaged

NUMBERS = ("seed", "step", "i", "j", "value")


def write_trajectories(path: Path, frame: pd.DataFrame) -> None:
    """Writes the tidy table; the same table gives the same bytes."""
    typed = frame.astype(
        {
            "variant": "category",
            "name": "category",
            "seed": "int32",
            "step": "int64",
            "i": "int32",
            "j": "int32",
            "value": "float64",
        }
    )
    with atomic(path) as temporary:
        typed.to_parquet(
            temporary, index=False, engine="pyarrow", compression="zstd", write_page_checksum=True
        )


def read_trajectories(path: Path, remedy: str) -> pd.DataFrame:
    """The tidy table of a figure.

    Raises UserError when it is missing or unreadable; when it is damaged or not a table of ours, it is set
    aside as well.
    """
    try:
        with path.open("rb") as file:
            table = parquet.read_table(file, page_checksum_verification=True)
        what = _objection(table)
        # Pandas' own remarks in the file are of no use here, and would be one more thing to be damaged.
        frame = None if what else table.to_pandas(ignore_metadata=True)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist", remedy) from None
    except (
        OSError,
        ValueError,
        TypeError,
        KeyError,
        MemoryError,
        pyarrow.ArrowException,
    ) as problem:
        number = getattr(problem, "errno", None)
        if number in errno.errorcode:  # the machine's problem and not the file's
            raise UserError(f"{path} cannot be read ({problem})", remedy) from None
        raise damaged(path, f"cannot be read ({problem})", remedy) from None
    if frame is None:
        raise damaged(path, what, remedy)
    typed: pd.DataFrame = frame.astype({"variant": str, "name": str})
    return typed


def _objection(table: pyarrow.Table) -> str:
    """Why the table is none of ours; empty if it is."""
    if tuple(table.column_names) != TIDY_COLUMNS:
        return f"does not hold the columns {', '.join(TIDY_COLUMNS)}"
    if table.num_rows == 0:
        return "holds no rows"
    for name in TIDY_COLUMNS:
        kind = table.schema.field(name).type
        inner = kind.value_type if types.is_dictionary(kind) else kind
        number = types.is_integer(kind) or types.is_floating(kind)
        text = types.is_string(inner) or types.is_large_string(inner)
        if not (number if name in NUMBERS else text):
            return f"the column {name} holds {kind}"
    return ""
