"""Writing results: whole files or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from pulens.errors import PulensError
from pulens.whole_files import is_channel, whole_file, write_whole


def write_text(path: str, text: str) -> None:
    """Write to a path, or to standard output for ``-``; a file appears complete or not at all."""
    if path == "-":
        click.echo(text)
        return
    write_whole(path, text)


def write_all(contents: Mapping[str, bytes]) -> None:
    """Write several files, all of them or none; ``-`` is standard output, which comes last.

    Everything is written beside its place before the first file is moved into it.
    """
    with ExitStack() as stack:
        for path, content in contents.items():
            if path != "-":
                stack.enter_context(whole_file(path)).write_bytes(content)
    if "-" in contents:
        click.echo(contents["-"], nl=False)


def write_figure(path: str, figure: Any) -> None:
    """Write a picture in the format that the ending tells, whole or not at all."""
    with whole_file(path) as temporary:
        try:
            figure.savefig(temporary, dpi=150, format=Path(path).suffix.lstrip(".").lower() or "png")
        except ValueError as error:
            raise PulensError(f"{path}: the figure cannot be written: {error}.") from error


def check_targets(targets: Mapping[str, str | None], source: str | None = None) -> None:
    """Refuse files that cannot be written or would replace one another, by the options that name them.

    Nor may the file be replaced that is read.
    """
    places: dict[str, str] = {}
    if source is not None and source != "-":
        places[os.path.realpath(source)] = "the file that is read"
    for option, path in targets.items():
        if path is None:
            continue
        if path == "-":
            place = path
        else:
            place = os.path.realpath(path)
            if is_channel(path):
                continue
            if path == "" or Path(path).is_dir():
                raise PulensError(
                    f"{option} must name a file, got {path!r}, which is {'empty' if not path else 'a folder'}."
                )
            if not Path(path).parent.is_dir():
                raise PulensError(f"{path}: cannot be written: the folder {str(Path(path).parent)!r} does not exist.")
        if place in places:
            if path == "-":
                raise PulensError(f"only one of {places[place]} and {option} can go to standard output (-).")
            raise PulensError(
                f"{option} and {places[place]} are both {path!r}, and one would replace the other: name two."
            )
        places[place] = option


def to_json(answer: dict[str, Any]) -> str:
    """JSON that any reader accepts: no nan, no infinity."""
    return json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
