"""An archive in one small file: the test metrics of every run at the epochs that some selections chose.

It has what tables, ranks and tests need, and nothing of curves and scores: small enough to keep beside a paper.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pulens.benchmark.analyse.cells import METRICS, is_defined
from pulens.benchmark.archive.format_1 import SUPPORTED_BEFORE
from pulens.benchmark.archive.reading import Archive
from pulens.benchmark.vocabulary import current
from pulens.errors import InputError

WORDS = ("learner", "title", "family", "dataset", "kind", "scenario", "unlabelled", "mechanism", "mechanism_alias")
FURTHER = ("parameters", "prior_policy", "finished", "device", "device_name", "selection")
NUMBERS = ("label_frequency", "seconds", *METRICS)
WHOLE = ("seed", "epoch", "rows_used", "stack_runs", "stack_peak_memory", "uses_truth", "needs_support")
COLUMNS = (*WORDS, *FURTHER, *NUMBERS, *WHOLE)
SELECTIONS = ("own", "oracle_f1", "last")


def summary_text(archive: Archive, selections: Sequence[str] = SELECTIONS) -> str:
    """CSV with a line per run and selection."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for selection in selections:
        for row in archive.results(selection):
            numbers = {name: f"{row[name]:.6g}" if is_defined(row[name]) else "" for name in NUMBERS}
            told = {name: int(bool(row[name])) for name in ("uses_truth", "needs_support")}
            writer.writerow({**row, **numbers, **told, "selection": selection})
    return text.getvalue()


def packed(text: str) -> bytes:
    """The same bytes for the same text, whenever it is packed.

    >>> packed("a") == packed("a")
    True
    """
    return gzip.compress(text.encode(), 9, mtime=0)


def read_summary(path: str | Path | Any) -> list[dict[str, Any]]:
    """Rows as :meth:`pulens.benchmark.archive.Archive.results` gives them, with ``selection`` as it was asked for."""
    content: bytes = path.read_bytes() if hasattr(path, "read_bytes") else Path(path).read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    reader = csv.DictReader(io.StringIO(content.decode()))
    reader.fieldnames = [current(name) for name in reader.fieldnames or ()]  # summaries of format 1 have older names
    if tuple(reader.fieldnames) not in (COLUMNS, COLUMNS[:-1]):  # the oldest lack needs_support
        raise InputError(f"{path} is not a summary of an archive as this version of pulens writes it.")
    return [_typed(row) for row in reader]


def _typed(row: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {name: row[name] or None for name in (*WORDS, *FURTHER)}
    found |= {name: float(row[name]) if row[name] else None for name in NUMBERS}
    found |= {name: int(row[name]) if row.get(name) else None for name in WHOLE}
    if found["needs_support"] is None:
        found["needs_support"] = found["learner"] in SUPPORTED_BEFORE
    return found | {name: bool(found[name]) for name in ("uses_truth", "needs_support")}
