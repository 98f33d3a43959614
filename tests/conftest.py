"""The same random numbers in every test run."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings

import tiny
from sgdclaims import steps

# A loaded machine makes inputs slowly; that says nothing about the code under test.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> steps.Places:
    """A checkout whose quick scale is tiny, with stand-in data."""
    return tiny.checkout(tmp_path_factory.mktemp("tiny"))
