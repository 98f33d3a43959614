"""The estimate of what a scale costs, and what training asks of a scheduler."""

from __future__ import annotations

import pytest

from sgdclaims import catalog
from sgdclaims.catalog import SCALES, Needs
from sgdclaims.errors import UserError
from sgdclaims.report.cost import cost_table, costs, factor, read_benchmark

PAPERS = catalog.load()
TSV = "s\th:m:s\tmax_rss\tmax_vms\n90.0\t0:01:30\t1500.5\t9.0\n"


def test_the_work_is_the_ratio_of_the_parameters():
    figure = PAPERS.figure("ls_figS1_cifar_accuracy")
    steps = [figure.parameters(scale).model_dump()["steps"] for scale in ("paper", "standard")]
    assert factor(figure, "paper") == pytest.approx(steps[0] / steps[1])
    assert all(factor(f, "standard") == 1 for f in PAPERS.figures.values())


def test_the_estimate_is_the_measured_time_times_the_work(tmp_path):
    name = "ls_figS1_cifar_accuracy"
    file = tmp_path / "standard" / name / "train.benchmark.tsv"
    file.parent.mkdir(parents=True)
    file.write_text(TSV, encoding="utf-8")
    found = costs(PAPERS, tmp_path, "paper")
    (cost,) = [c for c in found if c.measured]
    assert cost.figure.id == name
    assert cost.minutes == pytest.approx(1.5 * cost.factor)
    table = cost_table(found, "paper")
    assert f"| {name} | 90 | 1500 |" in table
    assert f"without the {len(found) - 1} figures that were not run" in table


@pytest.mark.parametrize("text", ["", "s\tmax_rss\n", "a\tb\n1\t2\n", "s\tmax_rss\nx\t1\n"])
def test_a_malformed_benchmark_is_one_line(tmp_path, text):
    file = tmp_path / "train.benchmark.tsv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="no benchmark"):
        read_benchmark(file)


def test_needs_fall_back_on_standard_for_paper_and_on_defaults():
    entry = PAPERS.figure("ne_fig4_warmup_stability")
    assert entry.needs("paper") == entry.needs("standard") != Needs()
    assert PAPERS.figure("ne_theory_laws").needs("quick") == Needs()
    for figure in PAPERS.figures.values():
        for scale in SCALES:
            assert figure.needs(scale).mem_mb >= Needs().mem_mb


def test_bad_needs_name_file_and_key():
    with pytest.raises(UserError, match="mem_mb"):
        catalog.validate({"mem_mb": -1}, Needs, "config/x.yaml")
