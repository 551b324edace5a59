"""Writing results: whole files or none."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pulens.atomic_write import is_channel, whole_file, write_whole, written_together
from pulens.cli._sources import read_by
from pulens.errors import PulensError
from pulens.inputs.addresses import check_name, shown_address


def write_text(path: str, text: str) -> None:
    """Write to a path, or to standard output for ``-``; a file appears complete or not at all."""
    if path == "-":
        write_out(f"{text}\n".encode())
        return
    write_whole(path, text)


def write_parts(path: str, parts: Iterable[str]) -> None:
    """The same for a text that is too long to be held at once."""
    if path == "-":
        for part in parts:
            write_out(part.encode())
        write_out(b"\n")
        return
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for part in parts:
            file.write(part)
        file.write("\n")


def write_out(content: bytes) -> None:
    """Write to standard output: UTF-8 whatever the terminal's encoding, as JSON must be."""
    if hasattr(sys.stdout, "buffer"):
        click.echo(content, nl=False)
    else:  # replaced by something that takes text only
        click.echo(content.decode(), nl=False)


def write_all(contents: Mapping[str, bytes]) -> None:
    """Write several files, all of them or none; ``-`` is standard output, which comes last."""
    with all_or_none(contents):
        pass


@contextmanager
def all_or_none(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Write several files, which take their places when what is done meanwhile went well too; ``-`` comes last."""
    with written_together({path: content for path, content in contents.items() if path != "-"}):
        yield
    if "-" in contents:
        write_out(contents["-"])


def write_texts(texts: Mapping[str, str]) -> None:
    """The same for texts."""
    write_all(as_files(texts))


def as_files(texts: Mapping[str, str]) -> dict[str, bytes]:
    """Texts by path as the bytes of files, which end with the end of a line; a question mark for what is no letter."""
    return {path: f"{text}\n".encode("utf-8", "replace") for path, text in texts.items()}


def check_targets(targets: Mapping[str, str | None], *sources: str, folders: Sequence[str] = ()) -> None:
    """Refuse files that cannot be written or would replace one another, by the options that name them.

    Nor may a file be replaced that is read from the sources (files, folders, globs, databases), or that lies in one of
    the ``folders``, such as a saved model. The one gate for what commands write.
    """
    places: dict[str, str] = {}
    for name in sources:
        check_name(name)
    for option, path in targets.items():
        if path is None:
            continue
        check_name(path)
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
            folder = Path(path).parent if not Path(path).is_symlink() else Path(place).parent
            if not folder.is_dir():
                raise PulensError(f"{path}: cannot be written: the folder {str(folder)!r} does not exist.")
            _check_not_read(option, path, place, sources, folders)
        if place in places:
            if path == "-":
                raise PulensError(f"only one of {places[place]} and {option} can go to standard output (-).")
            raise PulensError(
                f"{option} and {places[place]} are both {path!r}, and one would replace the other: name two."
            )
        places[place] = option


def _check_not_read(option: str, path: str, place: str, sources: Sequence[str], folders: Sequence[str]) -> None:
    source = read_by(sources, place)
    if source is not None:
        if os.path.realpath(source) == place:
            raise PulensError(
                f"{option} and the file that is read are both {path!r}, and one would replace the other: name two."
            )
        raise PulensError(
            f"{option} {path!r} is among the files that are read ({shown_address(source)}), and would replace one "
            "or be read as data next time: name another file."
        )
    for folder in folders:
        inside = os.path.realpath(folder)
        if os.path.isdir(inside) and os.path.commonpath([inside, place]) == inside:
            raise PulensError(f"{option} {path!r} lies in {folder!r}, which is read as a whole: name another place.")


def to_json(answer: dict[str, Any]) -> str:
    """JSON that any reader accepts: no nan, no infinity."""
    text = json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # halves of characters, as a file may spell them: only their escapes are JSON
        text = json.dumps(answer, indent=2, allow_nan=False)
    return text
