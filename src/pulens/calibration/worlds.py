"""The former address of worlds with a known calibration error; they live in :mod:`pulens.testing` now."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from pulens.testing import calibration_worlds

    return getattr(calibration_worlds, name)
