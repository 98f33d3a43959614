# What the rules share: the settings, the catalog, the claims, and which code a step depends on.

import json
import os

from sgdclaims import catalog, codegraph
from sgdclaims.claims import parse as claims_file
from sgdclaims.datasets.requests import request as dataset_request

try:
    SETTINGS = catalog.validate(dict(config), catalog.Settings, "configuration")
    CATALOG = catalog.load(Path("config"))
    FIGURES = CATALOG.figures
    PARAMETERS = {
        name: figure.parameters(SETTINGS.scale, SETTINGS.seeds)
        for name, figure in FIGURES.items()
    }
    CLAIMS = claims_file.parse(Path("paper_claims.md"))
    claims_file.check_against(CLAIMS, CATALOG)
except UserError as mistake:
    raise WorkflowError(str(mistake)) from None

MIRROR = surroundings.share_data_source(SETTINGS.data_source, SETTINGS.data_mirror)
ENVIRONMENT = "../envs/environment.yaml"


def alternatives(names):
    """A wildcard's constraint that matches exactly these names, and nothing if there are none."""
    return "|".join(names) or "(?!)"


LONG = [name for name, figure in FIGURES.items() if figure.entry.long]


wildcard_constraints:
    scale="|".join(catalog.SCALES),
    figure=alternatives(FIGURES),
    dataset="|".join(catalog.DATASETS),


def code(module):
    """The source files that a module imports, as inputs: editing one reruns what depends on it."""
    return [os.path.relpath(file) for file in codegraph.closure(f"sgdclaims.{module}")]


def figure_files(name):
    return multiext(f"figures/{name}", ".pdf", ".png")


def claims_digest(name):
    """Changes when a claim on this figure changes, not when its prose or another claim does."""
    return [claim.digest for claim in claims_file.for_figure(CLAIMS, name)]
