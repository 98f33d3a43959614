"""The same random numbers in every test run."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings

# A loaded machine makes inputs slowly; that says nothing about the code under test.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
