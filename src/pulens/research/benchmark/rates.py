"""What runs cost, as measured: kept with the package, made from archives, used to say how long a plan will take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, listed, shown
from pulens.research.benchmark import datasets
from pulens.research.benchmark.archive import Archive
from pulens.research.benchmark.plan import Plan, Run
from pulens.research.benchmark.schedule import lengths, rows_of, work
from pulens.research.benchmark.vocabulary import base_name, with_current_names

FILE = "rates.json"
CPU = "cpu"  # the device of rates that were measured on one core


@dataclass(frozen=True)
class Rate:
    """Seconds of training per run of a stack, with the watching, and where that was seen."""

    learner: str
    dataset: str
    kind: str
    device: str
    seconds: float
    memory: float  # bytes of the stack's peak, per run
    runs: int
    stack: float  # runs per stack
    rows: int | None = None  # of the data set that were used; None: not recorded, taken for all of them
    settings: Mapping[str, Any] | None = None  # those that say how long training is; None: not recorded

    def seconds_for(self, run: Run) -> float:
        """Seconds of a run of this learner: by the rows it passes through, or by rows alone where that is not known."""
        rows, own = self.rows or datasets.find(self.dataset).rows, rows_of(run)
        if self.settings is None:
            return self.seconds * own / rows
        return self.seconds * work(run.settings, own) / work(self.settings, rows)

    def is_of(self, run: Run) -> bool:
        """Whether it was measured on runs as long as this one."""
        same_rows = (self.rows or datasets.find(self.dataset).rows) == rows_of(run)
        return self.dataset == run.dataset and same_rows and self.settings in (None, lengths(run.settings))


@dataclass(frozen=True)
class Forecast:
    """What a plan will cost by measured rates; runs without any rate are counted, not guessed."""

    seconds: float
    measured: int
    adjusted: int  # runs of other rows or epochs than were measured on this data set
    scaled: int  # runs whose rate was taken over from other data sets of the kind
    unknown: int
    unknown_learners: tuple[str, ...]
    device: str
    unrecorded: bool = False  # some rates do not say which settings they were measured with


def shares(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How much of a device each stack had, by the moment it started: stacks at work together have equal parts of it.

    >>> at = ["2026-01-01T00:00:00+00:00", "2026-01-01T00:00:10+00:00", "2026-01-01T00:00:20+00:00"]
    >>> shares([{"started": at[0], "finished": at[2]}, {"started": at[1], "finished": at[2]}])[at[0]]
    0.75
    """
    spans: dict[str, tuple[float, float]] = {}  # the runs of a stack start together and are written down in turn
    for row in rows:
        first, last = (datetime.fromisoformat(row[name]).timestamp() for name in ("started", "finished"))
        spans[row["started"]] = first, max(last, spans.get(row["started"], (first, last))[1])
    ends = sorted({end for span in spans.values() for end in span})
    pieces = [(a, b, sum(first <= a and b <= last for first, last in spans.values())) for a, b in pairwise(ends)]
    result = {}
    for started, (first, last) in spans.items():
        own = sum((b - a) / busy for a, b, busy in pieces if first <= a and b <= last)
        result[started] = own / (last - first) if last > first else 1.0
    return result


def measured_rates(archive: Archive) -> list[Rate]:
    """Rates of an archive: the median over the stacks of each learner and data set.

    A GPU is shared by the stacks that run on it together, so a stack's seconds count by its part of the device.
    """
    parts = shares([row for row in archive.done if str(row["device"]).startswith("cuda")])
    cells: dict[tuple[str, str, str, str, int, str], list[Mapping[str, Any]]] = {}
    for row in archive.done:
        device = row["device_name"] if str(row["device"]).startswith("cuda") else CPU
        used = row["rows_used"] or datasets.find(row["dataset"]).rows
        long = json.dumps(lengths(json.loads(row["settings"])), sort_keys=True)
        cells.setdefault((base_name(row["learner"]), row["dataset"], row["kind"], device, used, long), []).append(row)
    result = []
    for (learner, dataset, kind, device, used, long), rows in sorted(cells.items()):
        whole = [
            parts.get(row["started"], 1.0)
            * (row["stack_seconds"] + (row["stack_watching_seconds"] or 0))
            / row["stack_runs"]
            for row in rows
        ]
        memory = [row["stack_peak_memory"] / row["stack_runs"] for row in rows]
        sizes = [row["stack_runs"] for row in rows]
        result.append(
            Rate(
                learner,
                dataset,
                kind,
                device,
                float(f"{median(whole):.4g}"),
                float(f"{median(memory):.4g}"),
                len(rows),
                float(f"{median(sizes):.4g}"),
                used,
                json.loads(long),
            )
        )
    return result


def rates_text(archive: Archive, source: str) -> str:
    """The rates file of an archive, with the name of its source."""
    rates = [vars(rate) for rate in measured_rates(archive)]
    if not rates:
        raise InputError(f"{archive.folder} has no finished run to measure rates by.")
    lines = ",\n".join(f"  {json.dumps(rate)}" for rate in rates)
    return f'{{"source": {json.dumps(source)}, "rates": [\n{lines}\n]}}'


def load_rates(path: Path | None = None) -> tuple[str, list[Rate]]:
    """Where rates come from, and the rates; by default those shipped with the package."""
    text = (
        (resources.files("pulens.research.benchmark") / FILE).read_text(encoding="utf-8")
        if path is None
        else read_bounded(path)
    )
    try:
        stored = parse_json(text, str(path or FILE))
        return str(stored["source"]), [
            _checked(Rate(**with_current_names(_names_of(rate), Rate.__dataclass_fields__, str(path or FILE))))
            for rate in stored["rates"]
        ]
    except InputError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path or FILE}: not a file of rates: {error}.") from error


def _names_of(rate: Any) -> Mapping[str, Any]:
    if not isinstance(rate, dict):
        raise ValueError(f"a rate must be names with values ({listed(Rate.__dataclass_fields__)}), got {shown(rate)}")
    return rate


def _checked(rate: Rate) -> Rate:
    """A rate whose numbers can be added up."""
    for name in ("learner", "dataset", "kind", "device"):
        if not isinstance(getattr(rate, name), str):
            raise ValueError(f"{name} must be a word, got {shown(getattr(rate, name))}")
    if rate.settings is not None and not isinstance(rate.settings, dict):
        raise ValueError(f"settings must be names with numbers, got {shown(rate.settings)}")
    numbers = {name: getattr(rate, name) for name in ("seconds", "memory", "runs", "stack")}
    numbers |= {"rows": rate.rows or 0, **lengths(rate.settings or {})}
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e18:
            raise ValueError(f"{name} must be a number of at least 0, got {shown(value)}")
    return rate


def forecast(runs: Sequence[Run], rates: Sequence[Rate], device: str) -> Forecast:
    """Add rates up over the runs of a plan, for one device."""
    own: dict[tuple[str, str], list[Rate]] = {}
    kinds: dict[tuple[str, str], list[Rate]] = {}
    for rate in rates:
        if rate.device == device:
            own.setdefault((rate.learner, rate.dataset), []).append(rate)
            kinds.setdefault((rate.learner, rate.kind), []).append(rate)
    alike: dict[tuple[str, str, int | None, str], list[Run]] = {}
    for run in runs:
        long = json.dumps(lengths(run.settings), sort_keys=True)
        alike.setdefault((run.learner, run.dataset, run.rows, long), []).append(run)
    seconds, counted, unrecorded = 0.0, [0, 0, 0, 0], False
    unknown: set[str] = set()
    for (learner, dataset, _, _), same in alike.items():
        run, here = same[0], own.get((learner, dataset), [])
        fitting = [rate for rate in here if rate.is_of(run)]
        used = fitting or here or kinds.get((learner, datasets.find(dataset).kind), [])
        place = 0 if fitting else 1 if here else 2 if used else 3
        counted[place] += len(same)
        if used:
            seconds += len(same) * median(rate.seconds_for(run) for rate in used)
            unrecorded |= any(rate.settings is None for rate in used)
        else:
            unknown.add(learner)
    measured, adjusted, scaled, without = counted
    return Forecast(seconds, measured, adjusted, scaled, without, tuple(sorted(unknown)), device, unrecorded)


def conditions(plan: Plan) -> int:
    """Distinct labelling conditions of a plan."""
    return len({(run.mechanism, run.label_frequency, tuple(sorted(run.parameters.items()))) for run in plan.runs})
