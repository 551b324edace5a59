"""Fixtures that several tests share."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

# no deadlines: a busy machine is not a bug; derandomised, so that a run can be repeated
settings.register_profile(
    "suite", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference data that lie beside some checkouts; nothing in the package needs them."""
    for place in (os.environ.get("PULENS_SHARED"), ROOT.parent / "shared", ROOT.parents[1] / "shared"):
        if place and Path(place).is_dir():
            return Path(place)
    pytest.skip("shared/ reference data is not beside this checkout")


@pytest.fixture(scope="session")
def reference_cases() -> dict[str, dict]:
    """Worked cases with exact answers, by id; reference-cases.md says what each is."""
    return {case["id"]: case for case in json.loads((ROOT / "tests" / "reference-cases.json").read_text())["cases"]}
