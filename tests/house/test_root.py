"""Nothing lies at the root but what people look for there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "pyproject.toml",
}


def test_what_examples_write_is_not_part_of_the_project():
    """Pages and queues that somebody made by running an example at the root were once committed."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: nothing says which files are part of the project")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {name for name in listed.splitlines() if "/" not in name} <= FILES
