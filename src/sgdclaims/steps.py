"""What each step of the DAG does: read the inputs, call one room, write the outputs atomically.

Every function can be called without Snakemake. Heavy imports stay inside the step that needs them.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sgdclaims import catalog, codegraph
from sgdclaims.catalog import Catalog, check_scale
from sgdclaims.progress import LOG, Bar
from sgdclaims.results import Quantities, Verdicts, quantities_of, verdicts_of, write_model
from sgdclaims.surroundings import data_source

if TYPE_CHECKING:
    from sgdclaims.claims.schema import Claim


@dataclass(frozen=True)
class Places:
    """The folders and files of a checkout, relative to where the command runs."""

    config: Path = Path("config")
    data: Path = Path("data")
    results: Path = Path("results")
    figures: Path = Path("figures")
    claims: Path = Path("paper_claims.md")

    def catalog(self) -> Catalog:
        """The papers and figures. Raises UserError on a malformed file."""
        return catalog.load(self.config)

    def of_figure(self, scale: str, figure: str) -> Path:
        """`results/<scale>/<figure>`."""
        return self.results / check_scale(scale) / figure


def fetch(
    places: Places, dataset: str, source: str | None, mirror: str | None, request: str | None
) -> None:
    """Lays out a data set below `data/` and writes its provenance.

    What is not given is taken from SGDCLAIMS_DATA_SOURCE and SGDCLAIMS_MIRROR, which Snakemake sets from the
    configuration.
    """
    from sgdclaims.datasets.fetch import fetch as lay_out

    wanted, folder = data_source(source, mirror)
    provenance = lay_out(dataset, places.data, wanted, folder, request=request or wanted)
    LOG.info("%s: %s (%s)", dataset, provenance.origin, provenance.kind)


def train(places: Places, name: str, scale: str, seeds: int | None, threads: int | None) -> None:
    """Runs a figure's experiment; writes trajectories.parquet and quantities.json.

    Goes on from the checkpoint of a killed run, if there is one. Raises UserError on unknown names, invalid
    parameters, or missing data, and Interrupted when it was told to stop.
    """
    figure = places.catalog().figure(name)
    parameters = figure.parameters(scale, seeds)
    used = threads or figure.entry.threads
    # Set before torch starts its thread pools: the number of threads changes the last digits.
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(used)
    import torch

    from sgdclaims.checkpoints import Checkpoints, Follower, digest, seconds_between
    from sgdclaims.environment import describe
    from sgdclaims.experiments.base import Context
    from sgdclaims.trajectories import write_trajectories

    torch.set_num_threads(used)
    context = Context(data_dir=places.data)
    provenance = {d: context.dataset(d).provenance for d in figure.entry.datasets}
    settings = parameters.model_dump(mode="json")
    folder = places.of_figure(scale, name)
    key = digest(
        {
            "parameters": settings,
            "data": {d: source.md5 for d, source in provenance.items()},
            "threads": used,
            "torch": torch.__version__,
        },
        codegraph.closure(f"sgdclaims.experiments.{name}"),
    )
    checkpoints = Checkpoints(folder / ".checkpoint", key, seconds_between())
    context.make_progress = lambda total, label: Follower(
        Bar(total, f"{name} {label}"), checkpoints
    )
    with checkpoints.listening():
        outcome = importlib.import_module(f"sgdclaims.experiments.{name}").run(parameters, context)
        measured = Quantities(
            figure=name,
            scale=scale,
            parameters=settings,
            environment=describe(used),
            datasets=provenance,
            quantities=outcome.quantities,
        )
        write_trajectories(folder / "trajectories.parquet", outcome.trajectories)
        write_model(folder / "quantities.json", measured)
    checkpoints.clear()


def claims_of(places: Places, figure: str | None = None) -> list[Claim]:
    """The claims, checked against the catalog; of one figure when named."""
    from sgdclaims.claims import parse

    claims = parse.parse(places.claims)
    parse.check_against(claims, places.catalog())
    return claims if figure is None else parse.for_figure(claims, figure)


def read_quantities(places: Places, scale: str, figure: str) -> Quantities:
    """The measured quantities of a figure. Raises UserError when they are missing or malformed."""
    return quantities_of(places.results, check_scale(scale), figure)


def judge(places: Places, name: str, scale: str) -> Verdicts:
    """Judges the claims of a figure; writes verdicts.json."""
    from sgdclaims.claims.judge import judge as judge_claims

    figure = places.catalog().figure(name)
    quantities = read_quantities(places, scale, figure.id)
    verdicts = judge_claims(claims_of(places, figure.id), quantities, scale)
    write_model(places.of_figure(scale, name) / "verdicts.json", verdicts)
    for verdict in verdicts.verdicts:
        LOG.info("%s: %s", verdict.claim, verdict.verdict)
    return verdicts


def plot(places: Places, name: str, scale: str) -> None:
    """Draws a figure from its trajectories; writes `figures/<figure>.pdf` and `.png`."""
    figure = places.catalog().figure(name)
    quantities = read_quantities(places, scale, figure.id)
    verdicts = verdicts_of(places.results, check_scale(scale), figure.id)
    from sgdclaims.plots.stamp import save, stamp
    from sgdclaims.trajectories import read_trajectories

    trajectories = read_trajectories(
        places.of_figure(scale, name) / "trajectories.parquet",
        f"Run `python -m sgdclaims train {name} --scale {scale}`.",
    )
    drawing = importlib.import_module(f"sgdclaims.plots.{name}").draw(trajectories, quantities)
    stamp(drawing, quantities, verdicts)
    save(drawing, places.figures / name)
