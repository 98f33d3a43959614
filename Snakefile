"""Data, experiments, judgements, figures and one report.

snakemake --cores 8                                  everything, at config/config.yaml's scale
snakemake --cores 8 --config scale=quick             everything in minutes
snakemake --cores 2 ne_fig5_layer_norms              one figure, by name
snakemake --cores 2 figures/ne_fig5_layer_norms.pdf  the same, by file
"""

import sys
from pathlib import Path

# The checkout's own package serves, here and in the jobs, also where it is not installed.
SOURCE = Path(workflow.basedir) / "src"
sys.path.insert(0, str(SOURCE))

from snakemake.exceptions import WorkflowError

from sgdclaims import catalog, surroundings
from sgdclaims.errors import UserError

surroundings.share_package(SOURCE)
try:  # Snakemake itself would take a key given twice, and name no file where the YAML is broken.
    catalog.read_yaml(Path("config/config.yaml"), catalog.Settings)
except UserError as mistake:
    raise WorkflowError(str(mistake)) from None


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/datasets.smk"
include: "rules/experiments.smk"
include: "rules/figures.smk"
include: "rules/report.smk"


localrules:
    all,
    fetch,
    report,
    gate,


rule all:
    default_target: True
    input:
        [figure_files(name) for name in FIGURES],
        multiext(f"results/{SETTINGS.scale}/report", ".html", ".md"),
        f"results/{SETTINGS.scale}/claims.csv",
        f"results/{SETTINGS.scale}/gate.passed",
