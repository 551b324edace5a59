"""Fixtures that several test files share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data, where it stands beside this checkout."""
    root = Path(__file__).resolve().parents[1]
    named = os.environ.get("PULENS_SHARED")
    for folder in ([Path(named)] if named else []) + [root.parent / "shared", root.parent.parent / "shared"]:
        if folder.is_dir():
            return folder
    pytest.skip("shared/ reference data is not beside this checkout")
