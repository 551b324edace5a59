"""An archive in one small file: the test metrics of every run at the epochs that some selections chose.

It has what tables, ranks and tests need, and nothing of curves and scores: small enough to keep beside a paper.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pulens.errors import InputError, listed
from pulens.research.benchmark.analyse.cells import METRICS, is_defined
from pulens.research.benchmark.archive.format_1 import SUPPORTED_BEFORE
from pulens.research.benchmark.archive.measured import check_metric
from pulens.research.benchmark.archive.reading import CUT_BEFORE, Archive, NoTallyError
from pulens.research.benchmark.archive.row import CURVE
from pulens.research.benchmark.plan import changed_settings
from pulens.research.benchmark.vocabulary import base_name, current

WORDS = ("learner", "title", "family", "dataset", "kind", "scenario", "unlabelled", "mechanism", "mechanism_alias")
FURTHER = ("parameters", "prior_policy", "finished", "device", "device_name", "selection", "settings", "changed")
NUMBERS = ("label_frequency", "seconds", *METRICS)
TOLD = ("uses_truth", "needs_support", "told_class_prior")
WHOLE = ("seed", "epoch", "rows_used", "stack_runs", "stack_peak_memory", *TOLD)
COLUMNS = (*WORDS, *FURTHER, *NUMBERS, *WHOLE)
LATER = frozenset({"needs_support", "settings", "changed", "macro_f1", "told_class_prior"})  # older summaries lack some
SELECTIONS = ("own", "oracle_f1", "oracle_macro_f1", "last")
#: What makes another run of a summary.
IDENTITY = (
    *("learner", "dataset", "mechanism", "parameters", "label_frequency", "seed"),
    *("scenario", "unlabelled", "prior_policy", "rows_used"),
)


def summary_text(archive: Archive, selections: Sequence[str] = SELECTIONS) -> str:
    """CSV with a line per run and selection."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for selection in selections:
        for row in archive.results(selection):
            numbers = {name: f"{row[name]:.6g}" if is_defined(row[name]) else "" for name in NUMBERS}
            told = {name: int(bool(row[name])) for name in TOLD}
            writer.writerow({**row, **numbers, **told, **_settings(row), "selection": selection})
    return text.getvalue()


def _settings(row: Mapping[str, Any]) -> dict[str, str]:
    """Which version of a learner a run is of: a digest of its settings, and those that are not today's defaults."""
    text = row["settings"] or "{}"
    changed = changed_settings(base_name(row["learner"]), json.loads(text))
    words = "; ".join(f"{name}={json.dumps(value)}" for name, value in changed.items())
    return {"settings": hashlib.sha256(text.encode()).hexdigest()[:8], "changed": words}


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
    if len(set(reader.fieldnames)) < len(reader.fieldnames) or not (
        set(COLUMNS) - LATER <= set(reader.fieldnames) <= set(COLUMNS)
    ):
        raise InputError(f"{path} is not a summary of an archive as this version of pulens writes it.")
    return [_typed(row) for row in reader]


def _typed(row: Mapping[str, str]) -> dict[str, Any]:
    result: dict[str, Any] = {name: row.get(name) or None for name in (*WORDS, *FURTHER)}
    result |= {name: float(row[name]) if row.get(name) else None for name in NUMBERS}
    result |= {name: int(row[name]) if row.get(name) else None for name in WHOLE}
    if result["needs_support"] is None:
        result["needs_support"] = result["learner"] in SUPPORTED_BEFORE
    if result["told_class_prior"] is None:
        result["told_class_prior"] = result["learner"] in CUT_BEFORE and result["prior_policy"] == "known"
    return result | {name: bool(result[name]) for name in TOLD}


@dataclass(frozen=True)
class SummaryArchive(Archive):
    """A summary read as an archive: every run with its metrics at the epochs that the summary has, no curves or scores.

    ``folder`` is the summary's file.
    """

    no_scores: ClassVar[str] = "this page is made from a summary, which has none."

    @cached_property
    def _rows(self) -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
        """Lines by run, then by selection."""
        result: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
        for row in read_summary(self.folder):
            result.setdefault(tuple(row[name] for name in IDENTITY), {})[row["selection"]] = row
        return result

    @property
    def damaged(self) -> dict[str, str]:
        return {}

    @cached_property
    def runs(self) -> tuple[dict[str, Any], ...]:
        result = []
        for place, lines in self._rows.items():
            own = lines.get("own") or next(iter(lines.values()))
            key = hashlib.sha256(repr(place).encode()).hexdigest()[:20]
            told = {"key": key, "status": "done", "own_selection": None, "notices": None, "epochs": None}
            result.append({**own, **told, "validation_share": None, "test_share": None})
        return tuple(result)

    @cached_property
    def _choices(self) -> dict[str, dict[str, dict[str, Any]]]:
        lines = zip(self.runs, self._rows.values(), strict=True)
        return {run["key"]: {name: one | {"value": None} for name, one in own.items()} for run, own in lines}

    def choice(self, key: str, selection: str = "own") -> dict[str, Any] | None:
        chosen = self._choices[key].get(current(selection))
        return None if chosen is None else {name: chosen[name] for name in ("selection", "epoch", "value", *METRICS)}

    def metric(self, key: str, name: str, selection: str = "own") -> float:
        word, chosen = check_metric(name), self.choice(key, selection)
        if word not in METRICS:
            raise InputError(f"a summary has {listed(METRICS)} of its runs; {word} takes the archive itself.")
        return float("nan") if chosen is None or chosen[word] is None else float(chosen[word])

    def curve(self, key: str) -> dict[str, Any]:
        return {name: np.empty(0) for name in CURVE}

    def counts(self, key: str, part: str, epoch: int) -> dict[str, Any]:
        raise NoTallyError(f"{self.folder} is a summary: it keeps no scores of its runs.")
