"""YAML and JSON from outside, read within bounds: a small file must not ask for endless time or memory."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from pulens.errors import InputError

MOST_BYTES = 64 << 20  # of one file; a network's training history takes a few kilobytes
MOST_DEPTH = 40  # of lists and mappings inside one another; ours need five
MOST_VALUES = 100_000  # of YAML, every alias counted with all that it stands for
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


def read_bounded(path: str | os.PathLike[str], *, most: int = MOST_BYTES) -> str:
    """A text file that is not too large to be what it is said to be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.json").write_text("[1, 2]")
    ...     read_bounded(Path(folder, "a.json"))
    '[1, 2]'
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}.") from error
    if len(content) > most:
        raise InputError(f"{path}: is larger than {most:,} bytes, and no such file needs as many.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read: it is not UTF-8 text, see byte {error.start:,}.") from error


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text.

    >>> parse_json("[" * 100_000, "a.json")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: a.json: lists and mappings are nested more than 40 deep, and 40 is the most.
    """
    depth = 0
    for mark in _MARKS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark.group(), 0)
        if depth > MOST_DEPTH:
            raise InputError(_too_deep(where))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of more digits than Python reads
        raise InputError(f"{where}: not readable as JSON: {error}.") from error


def check_yaml(text: str, where: str) -> None:
    """Refuse a YAML text that is too deep, refers to itself, or means far more than it says.

    Nothing is built for it: the parts of the text are counted one after the other.

    >>> check_yaml("a: &a [1, 2]" + chr(10) + "b: [*a, *a]", "a.yaml")
    >>> doubled = [f"l{i}: &l{i} [*l{i - 1}, *l{i - 1}]" for i in range(1, 30)]
    >>> check_yaml(chr(10).join(["l0: &l0 [1]", *doubled]), "a.yaml")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: a.yaml, line 16: with its aliases (*name) written out the text has more than 100,000 \
values, and 100,000 is the most.
    """
    import yaml

    if len(text) > MOST_BYTES:
        raise InputError(f"{where}: has {len(text):,} characters, and {MOST_BYTES:,} is the most.")
    total = 0
    open_parts: list[tuple[str | None, int]] = []  # anchor, and the total where the part began
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_parts.append((event.anchor, total))
            if len(open_parts) > MOST_DEPTH:
                raise InputError(_too_deep(f"{where}, line {event.start_mark.line + 1}"))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_parts.pop()
            if anchor is not None:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_parts):
                raise InputError(
                    f"{where}, line {event.start_mark.line + 1}: *{event.anchor} refers to itself, which would never "
                    "end. Write the value out."
                )
            total += sizes.get(event.anchor, 1)
        if total > MOST_VALUES:
            raise InputError(
                f"{where}, line {event.start_mark.line + 1}: with its aliases (*name) written out the text has more "
                f"than {MOST_VALUES:,} values, and {MOST_VALUES:,} is the most."
            )


def _too_deep(where: str) -> str:
    return f"{where}: lists and mappings are nested more than {MOST_DEPTH} deep, and {MOST_DEPTH} is the most."
