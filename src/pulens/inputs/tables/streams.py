"""Files as streams: opened, decompressed, decoded, and one gate for what goes wrong while they are read."""

from __future__ import annotations

import bz2
import codecs
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
from pulens.inputs.addresses import shown_address

LONGEST_LINE = 64 << 20  # characters; a file without line ends would be one line
UTF_16, UTF_32 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
UNMARKED = "encoding='utf-16-le' or 'utf-16-be' (--encoding utf-16-le on the command line)"
COMPRESSIONS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


def name_of(path: str | Path) -> str:
    return "standard input" if str(path) == "-" else shown_address(str(path))


@contextmanager
def explained_file(name: str, kind: str, place: Callable[[], str] = lambda: "") -> Iterator[None]:
    """The one gate for what goes wrong while a file is read: every error names the file, on one line."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    except (UnicodeDecodeError, OSError, EOFError, lzma.LZMAError, zlib.error, csv.Error) as error:
        said = str(error) if not isinstance(error, UnicodeDecodeError) else _not_this_encoding(error, kind)
        raise InputError(f"{name} could not be read as {kind}{place()}: {' '.join(said.split())}") from error


def _not_this_encoding(error: UnicodeDecodeError, kind: str) -> str:
    """What to add, or to do, where a file is not in the encoding that it was taken to have."""
    if not error.encoding.startswith("utf-8"):
        return f"{error.reason} (it is not {error.encoding})"
    said = f"{error.reason} (it must be UTF-8)"
    if kind not in ("csv", "tsv"):
        return said
    if b"\0" in error.object:
        return f"{said}. It has zero bytes, as UTF-16 without a mark has: say {UNMARKED}."
    return (
        f"{said}. Files that Excel saves as CSV are often windows-1252: say encoding='windows-1252' (--encoding "
        "windows-1252 on the command line), or save the file as CSV UTF-8."
    )


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
            raise InputError(f"{name_of(path)}: there is no such file.{_neighbours(Path(path))}") from None
        except IsADirectoryError:
            raise InputError(f"{path}: this is a folder; give a file.") from None
        except OSError as error:
            raise InputError(f"{name_of(path)}: cannot be opened: {error.strerror or error}.") from error
        except ValueError as error:  # a zero byte in the name
            raise InputError(f"{shown(name_of(path))}: cannot be opened: {error}.") from error
    try:
        head = raw.peek(6)[:6]
    except OSError as error:
        raise InputError(f"{name_of(path)}: cannot be read: {error.strerror or error}.") from error
    for magic, opener in COMPRESSIONS.items():
        if head.startswith(magic):
            raw = stack.enter_context(opener(raw, "rb"))
            break
    return _as_utf8(raw)


def _as_utf8(raw: Any) -> IO[bytes]:
    """The stream itself, or where its first bytes say UTF-16 the same text in UTF-8."""
    try:
        head = raw.peek(4)[:4]
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:  # a damaged file: whoever reads it says so
        return io.BufferedReader(DamagedStream(error))
    if head.startswith(UTF_16) and head not in UTF_32:
        return io.BufferedReader(RecodedStream(raw, "utf-16"))
    opened: IO[bytes] = raw
    return opened


class DamagedStream(io.RawIOBase):
    """What can be read of a stream that failed at its first byte: why. Some decompressors say so only once."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise self._error


class RecodedStream(io.RawIOBase):
    """Text of another encoding as bytes of UTF-8, a piece at a time."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._stream, self._left = stream, b""
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = self._stream.read(1 << 16)
            self._left = self._decoder.decode(piece, final=not piece).encode()
            if not piece:
                break
        many = min(len(buffer), len(self._left))
        buffer[:many], self._left = self._left[:many], self._left[many:]
        return many


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
def as_text(stream: IO[bytes], encoding: str | None = None) -> Iterator[io.TextIOWrapper]:
    """Text of a stream that somebody else will close; what its first bytes say of UTF-16 counts before the rest."""
    is_recoded = isinstance(getattr(stream, "raw", None), RecodedStream)
    text = io.TextIOWrapper(stream, "utf-8-sig" if is_recoded or _is_utf_8(encoding) else encoding, newline="")
    try:
        yield text
    finally:
        if not stream.closed:  # what is closed needs no letting go
            text.detach()


def _is_utf_8(encoding: str | None) -> bool:
    return encoding is None or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


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
