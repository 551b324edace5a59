"""Runs for the studies of PU-Bench: from an archive, from a summary that is shipped, or a few made here and now."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import Any

from pulens.learning import learners
from pulens.research.benchmark.analyse.cells import SeedSummary, is_defined, summarise
from pulens.research.benchmark.analyse.conditions import newest
from pulens.research.benchmark.archive import read
from pulens.research.benchmark.archive.summary import read_summary
from pulens.research.benchmark.datasets import DataUnavailableError, load
from pulens.research.benchmark.methods import REFERENCES, plain
from pulens.research.benchmark.plan import expand
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.run import run_plan
from pulens.research.benchmark.vocabulary import base_name
from pulens.research.studies._study import Claim, Verdict, Workbench

PLACE = "PULENS_ARCHIVE"
SHIPPED = "summary.csv.gz"
Row = Mapping[str, Any]
Place = tuple[str, str, str, float]  # method, data set, strategy, label frequency


@dataclass(frozen=True)
class Runs:
    """Rows of two selections, by what they are told: PU labels (``own``) or the truth (``oracle_f1``)."""

    own: tuple[Row, ...]
    oracle: tuple[Row, ...]
    source: str
    is_quick: bool = False  # made here, shorter than the protocol's: they decide nothing

    def cells(self, metric: str, *, oracle: bool = False) -> dict[Place, SeedSummary]:
        """Means over seeds by method (without the marks in which spellings differ), data set and condition."""
        values: dict[Place, list[float]] = {}
        groups: dict[tuple[str, float], list[Row]] = {}
        for row in self.oracle if oracle else self.own:
            groups.setdefault((row["mechanism_alias"] or row["mechanism"], row["label_frequency"]), []).append(row)
        for (strategy, frequency), rows in groups.items():
            for row in newest(rows)[0]:
                if is_defined(row[metric]):
                    place = plain(row["learner"]), row["dataset"], strategy, frequency
                    values.setdefault(place, []).append(float(row[metric]))
        return {place: summarise(own) for place, own in values.items()}

    def seeds(self, metric: str, *, oracle: bool = False) -> dict[tuple[str, str], dict[int, float]]:
        """Values by seed under Table 1's condition, of the methods that claims are judged on."""
        rows = [row for row in (self.oracle if oracle else self.own) if is_table_1(row)]
        values: dict[tuple[str, str], dict[int, float]] = {}
        for row in newest(rows)[0]:
            if is_defined(row[metric]):
                values.setdefault((plain(row["learner"]), row["dataset"]), {})[row["seed"]] = float(row[metric])
        places = {(*place, "S1", 0.1): summarise(list(own.values())) for place, own in values.items()}
        chosen = {place[:2]: one for place, one in judged(places).items()}
        published = {(base_name(method), dataset): own for (method, dataset), own in values.items() if "(" in method}
        return {place: published.get(place) or values[place] for place in chosen}

    @property
    def families(self) -> dict[str, str]:
        return {plain(row["learner"]): row["family"] for row in self.own}

    @property
    def titles(self) -> dict[str, str]:
        """Names for tables, which say who read true labels of support rows."""
        return {plain(row["learner"]): row["title"] + _support(row) for row in self.own}

    @property
    def told(self) -> frozenset[str]:
        """Methods that are trained with true classes."""
        return frozenset(plain(row["learner"]) for row in self.own if row["uses_truth"])


def is_table_1(row: Mapping[str, Any]) -> bool:
    """Whether a run is of Table 1's condition: labels at random, one positive in ten."""
    return bool((row["mechanism_alias"] or row["mechanism"]) == "S1" and abs(row["label_frequency"] - 0.1) < 1e-9)


def _support(row: Mapping[str, Any]) -> str:
    return " (true support labels)" if row["needs_support"] and "support labels" not in row["title"] else ""


def runs(bench: Workbench, protocol: str, quick: Mapping[str, Any]) -> Runs:
    """What ``PULENS_ARCHIVE`` names (an archive's folder or a summary file), what is shipped, or a quick run."""
    named = os.environ.get(PLACE)
    if named:
        place = Path(named)
        return from_rows(read_summary(place), named) if place.is_file() else from_archive(place)
    shipped = resources.files("pulens.research.benchmark") / SHIPPED
    if shipped.is_file():
        return from_rows(read_summary(shipped), "the summary that comes with pulens")
    if not bench.quick:
        raise DataUnavailableError(
            f"this study reads an archive: make one with `pulens bench run {protocol} --archive results` and set "
            f"{PLACE}=results, or say --quick for a few runs here and now."
        )
    return live(bench, protocol, quick)


def from_archive(folder: Path) -> Runs:
    result = read(folder)
    return Runs(tuple(result.results("own")), tuple(result.results("oracle_f1")), str(folder))


def from_rows(rows: Iterable[Row], source: str) -> Runs:
    kept = list(rows)
    own, oracle = (tuple(row for row in kept if row["selection"] == name) for name in ("own", "oracle_f1"))
    return Runs(own, oracle, source)


def live(bench: Workbench, protocol: str, changes: Mapping[str, Any]) -> Runs:
    """A few short runs on data at hand: enough to see the parts work, not to judge methods."""
    dataset = _at_hand()
    seeds = [bench.seed + place for place in (1, 2, 3)]
    plan = expand(load_protocol(protocol, **{"datasets": [dataset], "seeds": seeds, "rows": 1500, **changes}))
    with tempfile.TemporaryDirectory() as folder:
        bench.progress(f"{len(plan.runs)} runs on {dataset}")
        run_plan(plan, folder)
        result = from_archive(Path(folder))
    words = f"{len(plan.runs)} short trainings on 1,500 rows of {dataset}, made now; they say nothing about methods"
    return Runs(result.own, result.oracle, words, is_quick=True)


def _at_hand() -> str:
    try:
        load("spambase")
    except DataUnavailableError:
        return "digits"
    return "spambase"


def judged(cells: Mapping[Place, SeedSummary]) -> dict[Place, SeedSummary]:
    """What claims of the paper are judged on: its methods, as their authors have them where there are such runs.

    The authors' version of a method stands in for ours on a data set if it has runs under each condition of ours.
    """
    places: dict[tuple[str, str], dict[tuple[str, float], SeedSummary]] = {}
    for (method, dataset, *condition), one in cells.items():
        places.setdefault((method, dataset), {})[tuple(condition)] = one  # type: ignore[index]
    known = {plain(name) for name in (*learners.compared(), *REFERENCES)}
    result: dict[Place, SeedSummary] = {}
    for (method, dataset), own in sorted(places.items()):
        base = base_name(method)
        ours = places.get((base, dataset), {})
        if base in known and (method == base or ours.keys() <= own.keys()):
            result |= {(base, dataset, *condition): one for condition, one in own.items()}
    return result


def claim(statement: str, holds: bool | None, because: str) -> Claim:
    """A verdict: None where what the statement is about is not among the runs."""
    verdict: Verdict = "not testable here" if holds is None else "reproduced" if holds else "differs"
    return Claim(statement, verdict, because)


def verdicts(result: Runs, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims as they are, or undecided where runs were made quickly; what was seen is still told."""
    if not result.is_quick:
        return tuple(claims)
    undecided = (one for one in claims if one.verdict == "not testable here")
    seen = (one for one in claims if one.verdict != "not testable here")
    words = "runs this short decide nothing; seen: "
    return (*(Claim(one.statement, "not testable here", words + one.because) for one in seen), *undecided)


def lacking(runs: Runs, methods: Sequence[str] = (), dataset: str | None = None) -> str:
    """Which of the methods and data a claim is about have no run; empty if all have."""
    there = {(plain(row["learner"]), row["dataset"]) for row in runs.own}
    known_methods, known_data = {method for method, _ in there}, {data for _, data in there}
    gone = [name for name in methods if name not in known_methods]
    gone += [dataset] if dataset is not None and dataset not in known_data else []
    return f"no runs of {', '.join(gone)}" if gone else ""


def mean(values: Iterable[float]) -> float:
    kept = list(values)
    return fmean(kept) if kept else float("nan")
