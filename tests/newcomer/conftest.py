"""A person with a fresh machine, who does what the pages say and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pulens import __version__

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\S[^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Newcomer:
    """Follows pages inside a virtual environment of their own; no checkout, no other package in sight."""

    def __init__(self, place: Path):
        self.place = place
        self.bin = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "PULENS", "VIRTUAL_ENV"))
        }
        self.environment |= {
            "PATH": os.pathsep.join([str(self.bin), self.environment["PATH"]]),
            "COLUMNS": "100",
            "PIP_CONSTRAINT": f"{ROOT / 'constraints' / 'ci.txt'} {place / 'this.txt'}",
            "PIP_FIND_LINKS": f"{known_links()} {place / 'dist'}".strip(),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_COMPILE": "1",  # only what is imported is compiled, then
            "PIP_PROGRESS_BAR": "off",
        }

    def call(self, words: list[str] | str, folder: Path) -> str:
        done = subprocess.run(
            words,
            shell=isinstance(words, str),
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def follow(self, page: str, folder: Path) -> dict[str, str]:
        """Do everything on a page, from top to bottom; what each command and each piece of Python printed.

        Pieces of Python share one session, as they would in a notebook.
        """
        said: dict[str, str] = {}
        notebook = Notebook(self, folder)
        for kind, body in FENCE.findall((DOCS / page).read_text(encoding="utf-8")):
            if kind == "console":
                for line in body.splitlines():
                    if line.startswith("$ "):
                        said[line.removeprefix("$ ")] = self.call(line.removeprefix("$ "), folder)
            elif kind == "python":
                printed = notebook.run(body)
                said[f"python {notebook.pieces}"] = printed
            elif named := re.match(r":caption: (\S+)\n+(.*)", body, re.DOTALL):
                (folder / named[1]).write_text(named[2], encoding="utf-8")
        notebook.close()
        return said


class Notebook:
    """One Python process, started when the first piece is run."""

    SESSION = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    printed, failed = io.StringIO(), False
    with contextlib.redirect_stdout(printed):
        try:
            exec(json.loads(line), names)
        except BaseException:
            failed = True
            traceback.print_exc(file=printed)
    print(json.dumps([failed, printed.getvalue()]), flush=True)
"""

    def __init__(self, person: Newcomer, folder: Path):
        self.person, self.folder = person, folder
        self.pieces = 0
        self.process: subprocess.Popen[str] | None = None

    def run(self, piece: str) -> str:
        if self.process is None:
            self.process = subprocess.Popen(
                [str(self.person.bin / "python"), "-c", self.SESSION],
                cwd=self.folder,
                env=self.person.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        self.pieces += 1
        self.process.stdin.write(json.dumps(piece) + "\n")
        self.process.stdin.flush()
        failed, printed = json.loads(self.process.stdout.readline())
        assert not failed, f"{piece}\n{printed}"
        return printed

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()


def known_links() -> str:
    """Where this machine's pip also looks for wheels; what we add must not hide it."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.find-links"]
    configured = subprocess.run(asked, capture_output=True, text=True, check=False)
    return os.environ.get("PIP_FIND_LINKS") or (configured.stdout.strip() if configured.returncode == 0 else "")


@pytest.fixture(scope="session")
def newcomer(tmp_path_factory):
    """A wheel of this checkout, waiting where ``pip install pulens`` will find it, and an empty environment."""
    if os.environ.get("PULENS_OFFLINE"):
        pytest.skip("PULENS_OFFLINE is set: a newcomer needs the package index")
    place = tmp_path_factory.mktemp("newcomer")
    (place / "this.txt").write_text(f"pulens=={__version__}\n")
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    person = Newcomer(place)
    person.call(["pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place / "dist"), str(ROOT)], place)
    yield person
    subprocess.run(["sh", "-c", 'rm -rf "$0" &', str(place)], check=True)  # more than a gigabyte: nobody waits for it


@pytest.fixture(scope="session")
def started(newcomer) -> tuple[Path, dict[str, str]]:
    """After the start page: a folder with its table, and what was said."""
    folder = newcomer.place / "start"
    folder.mkdir()
    return folder, newcomer.follow("start.md", folder)
