"""Which files differ from the branch that this one left: tests of every learner wait for a change of the learners."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def git(*words: str) -> str | None:
    """What git prints, or None where it refuses or is missing."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def changed_files() -> list[str] | None:
    """Paths that differ from the commit where this branch left the main one; None where that cannot be known.

    ``PULENS_SINCE`` names another commit. On the main branch itself nothing says what is new, so the answer is None.
    """
    head = git("rev-parse", "HEAD")
    for name in filter(None, (os.environ.get("PULENS_SINCE"), "origin/main", "main")):
        base = git("merge-base", "HEAD", name)
        if base is not None and (base != head or name == os.environ.get("PULENS_SINCE")):
            changed, new = git("diff", "--name-only", base), git("ls-files", "--others", "--exclude-standard")
            return None if changed is None or new is None else [*changed.splitlines(), *new.splitlines()]
    return None


def any_changed(*folders: str) -> bool:
    """Whether something in these folders changed, or may have."""
    changed = changed_files()
    return changed is None or any(path.startswith(folders) for path in changed)
