"""Files as streams: opened, decompressed, decoded, and one gate for what goes wrong while they are read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from pulens.errors import InputError, shown

LONGEST_LINE = 64 << 20  # characters; a file without line ends would be one line
COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


def name_of(path: str | Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


@contextmanager
def explained_file(name: str, kind: str, place: Callable[[], str] = lambda: "") -> Iterator[None]:
    """The one gate for what goes wrong while a file is read: every error names the file, on one line."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except (UnicodeDecodeError, OSError, EOFError, lzma.LZMAError, zlib.error, csv.Error) as error:
        said = str(error) if not isinstance(error, UnicodeDecodeError) else f"{error.reason} (it must be UTF-8)"
        raise InputError(f"{name} could not be read as {kind}{place()}: {' '.join(said.split())}") from error


def open_stream(path: str | Path, stack: ExitStack) -> IO[bytes]:
    """A binary stream, decompressed if its first bytes say so."""
    if str(path) == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InputError("standard input is closed: give a file, or something to read on standard input.")
        raw: Any = io.BufferedReader(sys.stdin.buffer)
    else:
        try:
            raw = stack.enter_context(open(path, "rb"))  # noqa: SIM115  (the stack closes it)
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such file.{_neighbours(Path(path))}") from None
        except IsADirectoryError:
            raise InputError(f"{path}: this is a folder; give a file.") from None
        except OSError as error:
            raise InputError(f"{path}: cannot be opened: {error.strerror or error}.") from error
        except ValueError as error:  # a zero byte in the name
            raise InputError(f"{shown(str(path))}: cannot be opened: {error}.") from error
    try:
        head = raw.peek(6)[:6]
    except OSError as error:
        raise InputError(f"{name_of(path)}: cannot be read: {error.strerror or error}.") from error
    for magic, opener in COMPRESSIONS.items():
        if head.startswith(magic):
            decompressed: IO[bytes] = stack.enter_context(opener(raw, "rb"))
            return decompressed
    opened: IO[bytes] = raw
    return opened


def _neighbours(path: Path) -> str:
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f" The folder {str(path.parent)!r} does not exist either."
    try:
        names = [entry.name for entry in path.parent.iterdir()][:10_000]
    except OSError:
        return ""
    near = get_close_matches(path.name, names, n=1)
    return f" Did you mean {str(path.parent / near[0])!r}?" if near else ""


@contextmanager
def as_text(stream: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """Text of a stream that somebody else will close."""
    text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
    try:
        yield text
    finally:
        if not stream.closed:  # what is closed needs no letting go
            text.detach()


def lines_of(text: IO[str]) -> Iterator[str]:
    """Lines of a file, none of them longer than can be held."""
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise InputError(
                f"line {number:,} is longer than {LONGEST_LINE >> 20} million characters, and a line holds one row: is "
                "it a table?"
            )
        yield line
