"""A checkout in which every figure's quick scale takes a second or two."""

from __future__ import annotations

from pathlib import Path

import yaml

from sgdclaims import catalog, steps
from sgdclaims.datasets.fetch import fetch

ROOT = Path(__file__).parent.parent
PAPERS = catalog.load(ROOT / "config")

# Small enough for a few seconds each; the quantities and their variants must still all be there.
TINY = {
    "ne_fig4_warmup_stability": {
        "seeds": 4,
        "steps": 600,
        "switch": 200,
        "switch_grid": [101, 200, 400],
        "eta_min_switch": 300,
        "points": 40,
    },
    "ne_fig5_layer_norms": {"seeds": 2, "steps": 300},
    "ne_fig6_tanh_representation": {"seeds": 3, "steps": 60, "gd_samples": 50},
    "ne_fig1_scale_invariance_flow": {"seeds": 2, "steps": 1000, "points": 60},
    "ne_fig7_scale_invariant_norms": {"seeds": 2, "steps": 60, "gd_samples": 50},
    "ne_fig8_convergence_robustness": {
        "dimension": 20,
        "width": 40,
        "widths": [40, 50],
        "dimensions": [20, 30],
        "etas": [0.1, 0.2],
        "batch_sizes": [50, 100],
        "rate_etas": [0.025, 0.05, 0.1],
        "rate_batch_sizes": [100, 200, 400],
        "rate_width": 30,
        "steps": 20,
    },
    "ne_theory_laws": {"seeds": 2, "law_steps": 20, "draws": 1000, "decay_steps": 200},
    "ne_fig2_matrix_factorization": {"seeds": 2, "steps": 300, "grid_batches": [1]},
    "ne_fig3_balance_and_sharpness": {"seeds": 2, "steps": 100, "gd_steps": 100, "points": 20},
    "ne_fig9_activations": {"seeds": 2, "steps": 50, "moment_samples": 200},
    "ne_theory_depth": {"seeds": 2, "steps": 200},
    "ne_theory_balance": {
        "seeds": 2,
        "steps": 200,
        "sign_steps": 100,
        "factor_steps": 100,
        "draws": 20,
        "points": 20,
    },
    "ne_theory_motion": {
        "seeds": 2,
        "steps": 400,
        "flow_steps": 20,
        "toy_time": 4,
        "problems": 5,
        "stability_steps": 20,
        "stability_etas": 10,
    },
    "ls_fig1_gelu_mlp": {"seeds": 2, "samples": 40, "width": 20, "steps": 60},
    "ls_theory_phase": {"seeds": 2, "steps": 200},
    "ls_theory_bounds": {"seeds": 2, "steps": 200},
    "ls_theory_rates": {"seeds": 2, "horizons": [100, 200, 400], "phase_steps": 200},
    "ls_theory_sharpness": {
        "seeds": 2,
        "xor_stepsizes": [10, 1000],
        "xor_steps": 100,
        "samples": 20,
        "width": 5,
        "cifar_steps": 20,
        "cifar_points": 5,
    },
    "ls_fig2_two_layer": {
        "seeds": 2,
        "xor_steps": 200,
        "cifar_seeds": 2,
        "cifar_samples": 40,
        "cifar_steps": 100,
    },
    "ls_fig3_test_accuracy": {"seeds": 2, "samples": 60, "steps": 100},
    "ls_fig4_neuron_margins": {"seeds": 2, "steps": 300},
    "ls_figS1_cifar_accuracy": {"seeds": 2, "steps": 100, "points": 40},
}


def checkout(folder: Path) -> steps.Places:
    """Lays out configuration and stand-in data in an empty folder."""
    config, data = folder / "config", folder / "data"
    config.mkdir()
    for name in catalog.DATASETS:
        fetch(name, data, "stand-in", None)
    for paper in PAPERS.papers:
        entry = paper.entry.model_dump(mode="json")
        for name, figure in entry["figures"].items():
            figure["quick"] = {**figure["quick"], **TINY.get(name, {})}
        (config / f"{paper.id}.yaml").write_text(yaml.safe_dump(entry), encoding="utf-8")
    return steps.Places(
        config, data, folder / "results", folder / "figures", ROOT / "paper_claims.md"
    )
