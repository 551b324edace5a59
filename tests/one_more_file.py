"""A copy of the package with one file more, and nothing else touched: what a catalogue must make do with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pulens

# several command lines in one process: what is asked is what the package knows, not how a process ends
COMMANDS = """
import contextlib, io, json, sys
from pulens.cli import main

told = []
for words in json.loads(sys.argv[1]):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            code = end.code or 0
    told.append([code, *(stream.buffer.getvalue().decode() for stream in (out, err))])
print(json.dumps(told))
"""


class Told(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def tree_with(folder: Path, name: str, text: str, source: Path = Path(pulens.__file__).parent) -> Path:
    """The package as links to its files below ``folder``, with one file of its own in one of its rooms."""
    home, new = folder / "pulens", Path(name)
    home.mkdir(parents=True)
    for depth in range(len(new.parts)):
        room = Path(*new.parts[:depth])
        (home / room).mkdir(exist_ok=True)
        for entry in (source / room).iterdir():
            if entry.name not in ("__pycache__", new.parts[depth]):
                (home / room / entry.name).symlink_to(entry)
    (home / new).write_text(text, encoding="utf-8")
    return folder


def run_in(tree: Path, *words: str, cwd: Path) -> str:
    """What Python prints when the package is the one of this tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    told = subprocess.run([sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    return told.stdout


def commands_in(tree: Path, *commands: Sequence[str], cwd: Path) -> list[Told]:
    """How command lines end, one after the other, when the package is the one of this tree."""
    told = run_in(tree, "-c", COMMANDS, json.dumps([list(words) for words in commands]), cwd=cwd)
    return [Told(*one) for one in json.loads(told)]
