"""Catalog, parameters and the documents generated from them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sgdclaims import catalog, documents
from sgdclaims.catalog import SCALES, Settings
from sgdclaims.errors import UserError
from sgdclaims.parameters import model_for

ROOT = Path(__file__).parent.parent
PAPERS = catalog.load(ROOT / "config")


def test_the_generated_documents_agree_with_the_models():
    for path, text in documents.documents(ROOT).items():
        if path != documents.SETTINGS:
            assert (ROOT / path).read_text(encoding="utf-8") == text, f"{path} is out of date"


def test_the_default_file_holds_every_setting_at_its_default():
    content = yaml.safe_load(documents.default_settings())
    assert content == Settings().model_dump(mode="json")
    assert catalog.read_yaml(ROOT / "config/config.yaml", Settings)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PAPERS.figures)
def test_every_figure_is_complete_at_every_scale(name, scale):
    PAPERS.figure(name).parameters(scale)
    for room in ("experiments", "plots", "parameters"):
        assert (ROOT / f"src/sgdclaims/{room}/{name}.py").is_file()


@pytest.mark.parametrize("name", PAPERS.figures)
def test_every_parameter_says_what_it_means_and_where_it_comes_from(name):
    model = model_for(name)
    for key, field in model.model_fields.items():
        assert field.description
        assert model.origin(key) in ("stated", "inferred", "ours")
        assert field.is_required(), f"{name}.{key}: values belong in the YAML file"


def test_an_unknown_figure_suggests_the_nearest():
    with pytest.raises(UserError, match="Did you mean 'ne_fig5_layer_norms'"):
        PAPERS.figure("ne_fig5_layernorms")


def test_an_unknown_scale_suggests_the_nearest():
    with pytest.raises(UserError, match="Did you mean 'standard'"):
        catalog.check_scale("standart")


PAPER = """
paper: p
prefix: pp
title: t
authors: a
venue: v
figures: {pp_fig1: {title: t, number: Figure 1, base: {seeds: 2}}}
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("pp_fig1", "qq_fig1"), "starts with 'pp_'"),
        (("base:", "bse:"), "figures.pp_fig1.bse"),
        (("venue:", "venu:"), "venu"),
        (("{seeds: 2}", "{seeds: 2"), "line 8"),
        (("paper: p\n", "paper: p\npaper: [\n"), "line"),
    ],
)
def test_a_malformed_paper_file_names_file_and_place(tmp_path, change, words):
    file = tmp_path / "p.yaml"
    file.write_text(PAPER.replace(*change), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        catalog.load(tmp_path)
    assert str(file) in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_figure_without_parameter_module(tmp_path):
    (tmp_path / "p.yaml").write_text(PAPER, encoding="utf-8")
    with pytest.raises(UserError, match=r"parameters/pp_fig1\.py"):
        catalog.load(tmp_path).figure("pp_fig1").parameters("quick")


@given(st.binary(max_size=200))
def test_any_bytes_as_settings_give_settings_or_one_line(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("settings") / "config.yaml"
    file.write_bytes(content)
    try:
        catalog.read_yaml(file, Settings)
    except UserError as mistake:
        assert "\n" not in str(mistake)
        assert str(file) in str(mistake)


@given(
    st.dictionaries(st.sampled_from(["scale", "seeds", "data_source", "x"]), st.none() | st.text())
)
def test_any_settings_give_settings_or_one_line(values):
    try:
        catalog.validate(values, Settings, "configuration")
    except UserError as mistake:
        assert str(mistake).startswith("configuration: ")
