"""`report.html`: one self-contained file that opens from a mail attachment."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sgdclaims.parameters import model_for
from sgdclaims.report.collect import VERDICTS, FigureResults, Judged, Results
from sgdclaims.report.intervalplot import svg
from sgdclaims.report.table import number, with_interval

HERE = Path(__file__).parent


def parameters(figure: FigureResults) -> list[dict[str, Any]]:
    """Name, value, meaning, unit and origin of every parameter that the run used."""
    if figure.quantities is None:
        return []
    model = model_for(figure.figure.id)
    rows = []
    for name, value in figure.quantities.parameters.items():
        known = name in model.model_fields
        field = model.model_fields[name] if known else None
        extra = field.json_schema_extra if field else None
        rows.append(
            {
                "name": name,
                "value": value,
                "meaning": (field.description if field else None) or "",
                "unit": (extra.get("unit") if isinstance(extra, dict) else None) or "",
                "origin": model.origin(name) if known else "unknown",
            }
        )
    order = {"stated": 0, "inferred": 1, "ours": 2, "unknown": 3}
    return sorted(rows, key=lambda row: order[row["origin"]])


def interval_plot(judged: Judged) -> Markup:
    """Inline SVG made of numbers only."""
    if judged.verdict.subject is None or judged.claim.check is None:
        return Markup("")
    # Only numbers that we formatted ourselves enter the markup.
    return Markup(svg(judged.verdict.subject, judged.claim.check))  # noqa: S704


def image(figures: Path, name: str) -> str | None:
    """The figure as a data URI, or None when it has not been drawn."""
    path = figures / f"{name}.png"
    if not path.is_file():
        return None
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


def report_html(results: Results, figures: Path) -> str:
    """The whole page. Texts are escaped; an undefined variable is an error."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["with_interval"] = with_interval
    template = environment.get_template("template.html")
    return template.render(
        results=results,
        verdicts=VERDICTS,
        image=lambda name: image(figures, name),
        parameters=parameters,
        interval_plot=interval_plot,
        slug=lambda verdict: verdict.lower().replace(" ", "-"),
    )
