"""What every experiment receives and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from torch import Tensor

from sgdclaims.datasets.images import Images, load
from sgdclaims.dynamics.loop import Progress, Silent
from sgdclaims.dynamics.recorder import Recorder
from sgdclaims.results import SYNTHETIC, TIDY_COLUMNS, Kind, Quantity

ProgressMaker = Callable[[int, str], Progress]
PerSeed = Mapping[int, float]


@dataclass(frozen=True)
class Run:
    """One run of a stack: which curve it belongs to, and its seed."""

    variant: str
    seed: int


def grid(variants: Sequence[str], seeds: Sequence[int]) -> list[Run]:
    """All runs variant by variant: the stack's order."""
    return [Run(variant, seed) for variant in variants for seed in seeds]


def silent(total_steps: int, label: str) -> Progress:  # noqa: ARG001
    """A progress maker that says nothing."""
    return Silent()


@dataclass
class Context:
    """What an experiment may ask of its surroundings."""

    data_dir: Path = Path("data")
    make_progress: ProgressMaker = silent

    def dataset(self, name: str) -> Images:
        """A data set that `fetch` has laid out. Raises UserError when it is missing or corrupt."""
        return load(name, self.data_dir)

    def progress(self, total_steps: int, label: str) -> Progress:
        """A progress bar for `total_steps` steps of the engine."""
        return self.make_progress(total_steps, label)


@dataclass
class Outcome:
    """Trajectories and quantities of one figure."""

    frames: list[pd.DataFrame] = field(default_factory=list)
    quantities: dict[str, Quantity] = field(default_factory=dict)

    def record(self, recorder: Recorder, runs: Sequence[Run]) -> None:
        """Adds a recorder's series to the tidy table."""
        for name, values in recorder.series.items():
            self.add_series(name, recorder.steps, values, runs)

    def add_series(
        self, name: str, steps: Sequence[int], values: Tensor, runs: Sequence[Run]
    ) -> None:
        """Adds values (T, R), (T, R, I) or (T, R, I, J) of R runs at T steps to the tidy table."""
        array = values.numpy().reshape(len(steps), len(runs), *values.shape[2:])
        t, r, *rest = np.indices(array.shape).reshape(array.ndim, -1)
        i = rest[0] if rest else np.zeros_like(t)
        j = rest[1] if len(rest) > 1 else np.zeros_like(t)
        frame = pd.DataFrame(
            {
                "variant": np.array([run.variant for run in runs], dtype=object)[r],
                "seed": np.array([run.seed for run in runs])[r],
                "step": np.asarray(steps)[t],
                "name": name,
                "i": i,
                "j": j,
                "value": array.reshape(-1),
            }
        )
        self.frames.append(frame)

    @property
    def trajectories(self) -> pd.DataFrame:
        """The tidy table: variant, seed, step, name, i, j, value."""
        if not self.frames:
            return pd.DataFrame(columns=list(TIDY_COLUMNS))
        return pd.concat(self.frames, ignore_index=True)

    def quantity(
        self,
        name: str,
        values: Mapping[str, PerSeed],
        *,
        meaning: str,
        unit: str = "1",
        kind: Kind = "mean",
        dataset: str = SYNTHETIC,
        axis_name: str | None = None,
        axis: Mapping[str, float] | None = None,
    ) -> None:
        """Adds a quantity: `values[variant][seed]`. NaN means undefined for that seed."""
        stored: dict[str, dict[str, float | None]] = {
            variant: {str(seed): float(value) for seed, value in per_seed.items()}
            for variant, per_seed in values.items()
        }
        self.quantities[name] = Quantity(
            meaning=meaning,
            unit=unit,
            kind=kind,
            dataset=dataset,
            axis=dict(axis) if axis else None,
            axis_name=axis_name,
            values=stored,
        )


def by_variant(values: Tensor, runs: Sequence[Run]) -> dict[str, dict[int, float]]:
    """One number per run (R,) as `[variant][seed]`."""
    table: dict[str, dict[int, float]] = {}
    for run, value in zip(runs, values.tolist(), strict=True):
        table.setdefault(run.variant, {})[run.seed] = value
    return table
