"""A copy of the package with one file more, and nothing else touched: what a catalogue must make do with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pulens


def tree_with(folder: Path, name: str, text: str) -> Path:
    """The package as links to its files below ``folder``, with a file more in one of its rooms."""
    source, home = Path(pulens.__file__).parent, folder / "pulens"
    home.mkdir(parents=True)
    new = Path(name)
    for depth in range(len(new.parts)):
        room = Path(*new.parts[:depth])
        (home / room).mkdir(exist_ok=True)
        for entry in (source / room).iterdir():
            if entry.name not in ("__pycache__", new.parts[depth]):
                (home / room / entry.name).symlink_to(entry)
    (home / new).write_text(text)
    return folder


def run_in(tree: Path, *words: str, cwd: Path, code: int = 0) -> str:
    """What Python says when the package is the one of this tree: standard output, or standard error if it must fail."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    told = subprocess.run([sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True)
    assert told.returncode == code, told.stderr
    return told.stderr if code else told.stdout
