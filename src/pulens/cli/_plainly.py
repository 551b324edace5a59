"""Warnings of learners for the reader of the terminal: no file, no line, no class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


@contextmanager
def plainly_warned() -> Iterator[None]:
    """Say that training collapsed in one sentence, and all else as Python does."""
    import warnings

    from pulens.errors import CollapseWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", CollapseWarning)
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
            if issubclass(category, CollapseWarning):
                click.echo(f"pulens: {message}", err=True)
            else:
                shown(message, category, filename, lineno, file, line)

        warnings.showwarning = show  # put back by catch_warnings
        yield
