"""Files and folders that appear complete or not at all: written beside their place, moved into it at the end."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pulens.errors import PulensError, shown

AnyPath = str | os.PathLike[str]


@contextmanager
def whole_file(target: AnyPath) -> Iterator[Path]:
    """A path to write to; what was written takes the target's place only when everything went well.

    A file that is replaced keeps its mode and owner, and one behind a symbolic link is replaced where it lies. A new
    file has the mode that the umask gives.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.txt") as path:
    ...         _ = path.write_text("whole")
    ...     [entry.name for entry in Path(folder).iterdir()]
    ['a.txt']
    """
    with words_for(target):
        goes_on = is_channel(target)
        place = Path(target) if goes_on else behind_links(target)
        old = None if goes_on else _status(place)
        if old is not None and not os.access(place, os.W_OK):  # replacing it would need the folder's permission only
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary = _beside(Path(tempfile.gettempdir(), place.name) if goes_on else place)
        mode = 0o666 if old is None and not goes_on else 0o600  # nobody else reads what takes a private file's place
        try:
            os.close(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))
            yield temporary
            if goes_on:  # a file in its place would take /dev/null away from everybody
                with temporary.open("rb") as written, place.open("wb") as channel:
                    shutil.copyfileobj(written, channel)
                temporary.unlink()
                return
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())  # a full disk must show before the old file is replaced
            _keep_access(temporary, old)
            temporary.replace(place)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def whole_folder(target: AnyPath) -> Iterator[Path]:
    """The same for a folder; an older folder in its place is moved aside first and removed last.

    What stands at the target is replaced with all that it holds: check before what that is.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for words in ("old", "new"):
    ...         with whole_folder(f"{folder}/model") as made:
    ...             _ = (made / "a.txt").write_text(words)
    ...     Path(f"{folder}/model/a.txt").read_text(), [entry.name for entry in Path(folder).iterdir()]
    ('new', ['model'])
    """
    check_replaceable(target)
    with words_for(target):
        place = behind_links(os.path.realpath(target))  # "." and "..": beside the folder itself, never inside it
        place.parent.mkdir(parents=True, exist_ok=True)
        old, temporary = _status(place), _beside(place)
        try:
            temporary.mkdir(0o777 if old is None else 0o700)
            yield temporary
            for written in temporary.rglob("*"):
                if written.is_file():
                    with written.open("rb+") as file:
                        os.fsync(file.fileno())  # a full disk must show before the old folder is touched
                _keep_access(written, _status(place / written.relative_to(temporary)))
            _keep_access(temporary, old)
            _swap(temporary, place)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def check_replaceable(target: AnyPath) -> None:
    """Refuse a folder that somebody stands in: replacing it would pull the ground away."""
    with words_for(target):
        place, here = os.path.realpath(target), os.path.realpath(os.curdir)
    if os.path.exists(place) and os.path.commonpath([place, here]) == place:
        raise PulensError(
            f"{target}: this is the folder you are in{'' if place == here else ', or one above it'}, and it would be "
            "replaced with all that it holds. Name a folder of its own."
        )


def _swap(made: Path, place: Path) -> None:
    """Put a folder in the place of another; whatever goes wrong, one of the two stands there."""
    if not place.exists():
        made.replace(place)
    elif _exchange(made, place):
        shutil.rmtree(made, ignore_errors=True)  # which is the old one now
    else:
        _replace_in_two_steps(made, place)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step, so that a kill finds the one or the other; False where that is not \
possible."""
    import ctypes
    import sys

    try:
        library = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(one), os.fsencode(other)
        if sys.platform == "linux":
            here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
            return bool(library.renameat2(here, names[0], here, names[1], exchange) == 0)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, 2) == 0)  # RENAME_SWAP
    except (OSError, AttributeError, TypeError):
        pass  # no such library, or an old one
    return False


def _replace_in_two_steps(made: Path, place: Path) -> None:
    """For disks that cannot exchange: killed between the steps, the old folder lies next to its place."""
    beside = _beside(place)
    beside.mkdir(0o700)
    aside = beside / "replaced"
    try:
        place.replace(aside)
        made.replace(place)
    except BaseException:
        if aside.exists() and not place.exists():
            aside.replace(place)
        raise
    finally:
        if place.exists():
            shutil.rmtree(beside, ignore_errors=True)


def write_whole(path: AnyPath, text: str) -> None:
    """Write a text file whole or not at all; what UTF-8 has no bytes for, such as half a pair, as its escape.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/a.txt", "whole")
    ...     Path(f"{folder}/a.txt").read_text()
    'whole\\n'
    """
    with whole_file(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


@contextmanager
def written_together(contents: Mapping[AnyPath, bytes]) -> Iterator[None]:
    """Write several files, all of them or none, which take their places when what is done meanwhile went well too.

    Everything is on the disk, next to its place, before the first file is moved into it.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_together({f"{folder}/a": b"1", f"{folder}/b": b"2"}):
    ...         pass
    ...     sorted(entry.name for entry in Path(folder).iterdir())
    ['a', 'b']
    """
    with ExitStack() as stack:
        for path, content in contents.items():
            with stack.enter_context(whole_file(path)).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # a full disk must show before any old file is replaced
        yield


def is_channel(target: AnyPath) -> bool:
    """Whether a path stands for something that passes text on, such as a pipe or ``/dev/null``, and not for a file.

    >>> is_channel(os.devnull), is_channel("scores.csv")
    (True, False)
    """
    place = Path(target).absolute()
    is_device = place.parent in (Path("/dev"), Path("/dev/fd"))  # /dev/stdout may lead to an ordinary file
    return os.path.exists(place) and not os.path.isdir(place) and (is_device or not os.path.isfile(place))


@contextmanager
def words_for(target: AnyPath) -> Iterator[None]:
    """What the operating system refuses, said of the path that the user named."""
    try:
        if not _is_name(os.fspath(target)):
            raise OSError(errno.EINVAL, "it names no file")
        yield
    except OSError as error:
        words = str(target)
        named = words if words.isprintable() and words else shown(words)
        raise PulensError(f"{named}: cannot be written: {error.strerror or error}.") from error


def behind_links(target: AnyPath) -> Path:
    """The place of the file that a path leads to by symbolic links, whether there is one or not."""
    place = Path(target)
    if not place.name:
        raise OSError(errno.EINVAL, "it names no file")
    if place.is_symlink():
        place = Path(os.path.realpath(target))
    if place.is_symlink():  # links that lead to one another lead nowhere
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return place


def _is_name(text: str) -> bool:
    """Whether the operating system could have a file of that name."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _beside(place: Path) -> Path:
    """A name beside a path that nothing has."""
    return place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}")


def _status(place: Path) -> os.stat_result | None:
    return place.stat() if place.exists() else None


def _keep_access(made: Path, old: os.stat_result | None) -> None:
    """Give a file or folder the owner, group and mode of the one whose place it takes, as far as the system allows."""
    if old is None:
        return
    mode, new = stat.S_IMODE(old.st_mode), made.stat()
    if hasattr(os, "chown"):
        for name, numbers in (("st_uid", (old.st_uid, -1)), ("st_gid", (-1, old.st_gid))):
            if getattr(old, name) != getattr(new, name):
                with suppress(PermissionError):  # only root gives files away
                    os.chown(made, *numbers)
        if made.stat().st_gid != old.st_gid:  # what its group might do is not for this one
            mode &= ~0o070 | (mode & 0o007) << 3
    made.chmod(mode)
