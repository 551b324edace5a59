"""The one place that imports matplotlib, with a way out for those who do not have it, and that writes pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pulens.atomic_write import AnyPath, whole_file
from pulens.errors import MissingDependencyError, PulensError


def pyplot() -> Any:
    """matplotlib's ``pyplot``, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError("matplotlib", purpose="drawing", extra="plot") from error
    return plt


def write_figure(path: AnyPath, figure: Any, *, dpi: int = 150, **options: Any) -> None:
    """Write a picture in the format that the ending tells, whole or not at all."""
    with whole_file(path) as temporary:
        try:
            figure.savefig(temporary, dpi=dpi, format=Path(path).suffix.lstrip(".").lower() or "png", **options)
        except ValueError as error:
            raise PulensError(f"{path}: the figure cannot be written: {error}.") from error
