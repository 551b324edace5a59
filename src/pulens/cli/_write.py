"""Writing results: whole files or none."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import click

from pulens.errors import PulensError


def write_text(path: str, text: str) -> None:
    """Write to a path, or to standard output for ``-``; a file appears complete or not at all."""
    if path == "-":
        click.echo(text)
        return
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise PulensError(f"{path}: cannot be written: {error.strerror or error}.") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes private files; a report is an ordinary one
        os.replace(temporary, target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise PulensError(f"{path}: cannot be written: {error.strerror or error}.") from error
        raise


def to_json(answer: dict[str, Any]) -> str:
    """JSON that any reader accepts: no nan, no infinity."""
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
