"""Writing a text file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pulens.errors import PulensError


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write beside the target and move into place: a reader never sees half a file.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", "whole")
    ...     Path(f"{folder}/a.txt").read_text()
    'whole\\n'
    """
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
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
