"""The one place that imports matplotlib, with a way out for those who do not have it."""

from __future__ import annotations

from typing import Any

from pulens.errors import MissingDependencyError


def pyplot() -> Any:
    """matplotlib's ``pyplot``, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("matplotlib", purpose="drawing", extra="plot") from error
    return plt
