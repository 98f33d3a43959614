"""The papers and their figures: the one list that the Snakefile, the CLI and the report read.

It is read from `config/`: `config.yaml` holds the settings of a run, every other YAML file holds one
paper with its figures' parameters. A new figure is a new entry there; nothing is registered in code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from sgdclaims import yamlfile
from sgdclaims.errors import UserError, suggestion
from sgdclaims.parameters import FigureParameters, model_for
from sgdclaims.results import Strict, first_error, first_problem

Scale = Literal["quick", "standard", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "standard", "paper")
DATASETS = ("mnist", "cifar10")
SETTINGS_FILE = "config.yaml"
Entry = TypeVar("Entry", bound=Strict)


class Settings(Strict):
    """Settings of a run (`config/config.yaml`, or `snakemake --config key=value`)."""

    scale: Scale = Field(
        "standard",
        description="quick (minutes, for tests), standard (the default), paper (exactly as stated)",
    )
    data_source: Literal["auto", "present", "mirror", "official", "stand-in"] = Field(
        "auto",
        description="where data comes from; auto tries present, mirror, official, stand-in in turn",
    )
    data_mirror: str | None = Field(
        None,
        description="folder laid out as torchvision lays out its root; also SGDCLAIMS_MIRROR",
    )
    seeds: int | None = Field(
        None, ge=1, le=1000, description="number of seeds for every figure instead of its own"
    )


class Needs(Strict):
    """What the training job of a figure asks of a scheduler in its first attempt."""

    mem_mb: int = Field(2000, ge=100, description="memory in MB, well above the measured peak")
    minutes: int = Field(60, ge=1, description="wall-clock limit, well above the measured time")


class FigureEntry(Strict):
    """One figure in a paper's YAML file."""

    title: str
    number: str = Field(description="the paper's own numbering, e.g. 'Figure 5'")
    datasets: list[Literal["mnist", "cifar10"]] = []
    threads: int = Field(1, ge=1, le=64)
    long: bool = Field(False, description="train it first: nothing else should wait for it")
    needs: dict[Scale, Needs] = Field(
        {}, description="for schedulers, per scale; paper falls back on standard, all on defaults"
    )
    base: dict[str, Any]
    quick: dict[str, Any] = {}
    standard: dict[str, Any] = {}
    paper: dict[str, Any] = {}


class PaperEntry(Strict):
    """One paper's YAML file."""

    paper: str
    prefix: str = Field(pattern=r"^[a-z]{2,4}$")
    title: str
    authors: str
    venue: str
    arxiv: str | None = None
    openreview: str | None = None
    figures: dict[str, FigureEntry]


@dataclass(frozen=True)
class Figure:
    """A figure and where its parameters stand."""

    id: str
    paper: str
    entry: FigureEntry
    file: Path

    def needs(self, scale: str) -> Needs:
        """What its training job asks of a scheduler: the scale's entry, for `paper` else standard's, else defaults."""
        given = self.entry.needs
        asked = given.get(check_scale(scale))
        if asked is None and scale == "paper":
            asked = given.get("standard")
        return asked or Needs()

    def parameters(self, scale: str, seeds: int | None = None) -> FigureParameters:
        """The validated parameters at a scale; `seeds` overrides the number of seeds.

        Raises UserError that names the file, figure, scale and key.
        """
        values = {**self.entry.base, **getattr(self.entry, check_scale(scale))}
        if seeds is not None:
            values["seeds"] = seeds
        try:
            model = model_for(self.id)
        except ModuleNotFoundError:
            raise UserError(
                f"{self.file}: figure {self.id} has no src/sgdclaims/parameters/{self.id}.py",
                "Add the module, or correct the figure's name.",
            ) from None
        try:
            return model.model_validate(values)
        except ValidationError as problem:
            kind, loc, _ = first_error(problem)
            unknown = kind == "extra_forbidden"
            raise UserError(
                f"{self.file}: figures.{self.id} at scale {scale}: {first_problem(problem)}",
                suggestion(loc[0], model.model_fields) if unknown else "",
            ) from None


@dataclass(frozen=True)
class Paper:
    """A paper with its figures, in the file's order."""

    id: str
    entry: PaperEntry
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Catalog:
    """All papers, in the order of their files' names."""

    papers: tuple[Paper, ...]

    @property
    def figures(self) -> dict[str, Figure]:
        return {figure.id: figure for paper in self.papers for figure in paper.figures}

    def figure(self, name: str) -> Figure:
        """The figure called `name`. Raises UserError that suggests the nearest name."""
        figures = self.figures
        if name not in figures:
            raise UserError(f"there is no figure called {name!r}", suggestion(name, figures))
        return figures[name]

    def paper(self, name: str) -> Paper:
        """The paper called `name`. Raises UserError that suggests the nearest name."""
        papers = {paper.id: paper for paper in self.papers}
        if name not in papers:
            raise UserError(f"there is no paper called {name!r}", suggestion(name, papers))
        return papers[name]


def check_scale(scale: str) -> Scale:
    """Returns `scale`. Raises UserError when there is no such scale."""
    for known in SCALES:
        if scale == known:
            return known
    raise UserError(f"there is no scale called {scale!r}", suggestion(scale, SCALES))


def read_yaml(path: Path, schema: type[Entry]) -> Entry:
    """Reads a YAML file as `schema`. Raises UserError with file, line and key."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} does not exist", "Run from the repository's root.") from None
    except OSError as problem:
        raise UserError(f"{path} cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError as problem:
        raise UserError(f"{path} is not UTF-8 text ({problem.reason})") from None
    try:
        content = yamlfile.parse(text)
    except yamlfile.BadYaml as problem:
        line = f", line {problem.line}" if problem.line else ""
        raise UserError(f"{path}{line}: {problem}", "Correct the YAML there.") from None
    return validate(content if content is not None else {}, schema, str(path), text)


def validate(content: object, schema: type[Entry], place: str, text: str = "") -> Entry:
    """`content` as `schema`.

    Raises UserError that names the place, the key, its line in `text`, and the nearest key.
    """
    try:
        return schema.model_validate(content)
    except ValidationError as problem:
        kind, loc, _ = first_error(problem)
        known = kind == "extra_forbidden" and len(loc) == 1
        remedy = suggestion(loc[0], schema.model_fields) if known else ""
        line = yamlfile.line_of(text, loc) if text else None
        where = f"{place}, line {line}" if line else place
        raise UserError(f"{where}: {first_problem(problem)}", remedy) from None


def load(folder: Path = Path("config")) -> Catalog:
    """Reads every paper's file of the folder.

    Raises UserError on a missing folder, a malformed file, or a figure id that does not start with its
    paper's prefix or occurs twice.
    """
    files = sorted(p for p in folder.glob("*.yaml") if p.name != SETTINGS_FILE)
    if not files:
        raise UserError(f"{folder} holds no paper's file", "Run from the repository's root.")
    papers: list[Paper] = []
    seen: dict[str, Path] = {}
    for file in files:
        entry = read_yaml(file, PaperEntry)
        for name in entry.figures:
            if not name.startswith(f"{entry.prefix}_") or not name.isidentifier():
                raise UserError(
                    f"{file}: figures.{name}: a figure's id is an identifier that starts with "
                    f"'{entry.prefix}_'",
                    "Rename the figure.",
                )
            if name in seen:
                raise UserError(f"{file}: figures.{name} stands in {seen[name]} already")
            seen[name] = file
        figures = tuple(Figure(n, entry.paper, f, file) for n, f in entry.figures.items())
        papers.append(Paper(entry.paper, entry, figures))
    return Catalog(tuple(papers))
