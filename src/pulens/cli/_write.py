"""Writing results: whole files or none."""

from __future__ import annotations

import json
from typing import Any

import click

from pulens.whole_files import write_whole


def write_text(path: str, text: str) -> None:
    """Write to a path, or to standard output for ``-``; a file appears complete or not at all."""
    if path == "-":
        click.echo(text)
        return
    write_whole(path, text)


def to_json(answer: dict[str, Any]) -> str:
    """JSON that any reader accepts: no nan, no infinity."""
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
