"""How much memory is left, so that what cannot be held is refused and not begun."""

from __future__ import annotations

import sys
from pathlib import Path

from pulens.errors import InputError

ROW_BYTES = 48  # a row in memory: label, score and weight, a copy to sort, counts of each kind


def check_room(needed: float, what: str, way_out: str) -> None:
    """Refuse what needs more memory than there is, saying how much.

    >>> check_room(1e18, "this", "Read less.")
    Traceback (most recent call last):
    ...
    pulens.errors.InputError: this needs about 1,000,000,000.0 GB of memory, and ... GB are free. Read less.
    """
    free = free_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{what} needs about {needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free. {way_out}"
        )


def free_memory() -> int | None:
    """Bytes that this process may still take, where the system tells."""
    result = [_free_in_machine(), _free_in_group(), _free_in_limit()]
    known = [number for number in result if number is not None]
    return max(0, min(known)) if known else None


def _free_in_machine() -> int | None:
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _free_in_group() -> int | None:
    """What a container may still take; files that the system keeps in memory can be given up."""
    folder = Path("/sys/fs/cgroup")
    most, used = (next(iter(_lines(folder / name)), "") for name in ("memory.max", "memory.current"))
    if not (most.isdigit() and used.isdigit()):
        return None
    kept = [int(line.split()[1]) for line in _lines(folder / "memory.stat") if line.startswith("inactive_file ")]
    return int(most) - int(used) + sum(kept)


def _free_in_limit() -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    pages = next(iter(_lines("/proc/self/statm")), "").split()
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return limit - int(pages[0]) * resource.getpagesize()


def _lines(path: str | Path) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
