"""Raw results of long studies, kept in the output folder: killed runs go on, and figures can be drawn elsewhere."""

from __future__ import annotations

from pathlib import Path

from pulens.errors import PulensError
from pulens.research.studies._study import Workbench


def store_path(bench: Workbench, name: str, suffix: str) -> Path | None:
    """A name of its own for every depth and seed, so that a quick run never overwrites a long one.

    >>> store_path(Workbench(quick=True, out=Path("figures"), seed=3), "runs", ".json").as_posix()
    'figures/runs-quick-seed-3.json'
    """
    if bench.out is None:
        return None
    return bench.out / f"{name}{'-quick' if bench.quick else ''}-seed-{bench.seed}{suffix}"


def unreadable(store: Path, error: Exception | None = None) -> PulensError:
    """What to say of a file that is not what this version writes."""
    seen = f" ({type(error).__name__}: {error})" if error else ""
    return PulensError(
        f"{store} does not hold results of this study as this version computes them{seen}. Remove it to compute them "
        "again, or give another folder with --out."
    )
