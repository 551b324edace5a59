"""A plan in words: how many runs and evaluations, how long they take by measured rates, how much memory they need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pulens.research.benchmark import methods
from pulens.research.benchmark.memory import run_bytes
from pulens.research.benchmark.plan import Plan, Run
from pulens.research.benchmark.rates import CPU, Forecast, Rate, conditions, forecast, load_rates

if TYPE_CHECKING:
    from pulens.research.benchmark.archive import Archive


def plan_lines(plan: Plan, rates: Path | None = None, archive: Path | None = None) -> Iterator[str]:
    """Lines for the terminal."""
    runs: Sequence[Run] = plan.runs
    yield from _size(plan)
    if archive is not None:
        from pulens.research.benchmark.archive import read

        stored = read(archive)
        yield from _progress(runs, stored, archive)
        finished = {row["key"] for row in stored.runs}
        runs = [run for run in runs if run.key not in finished]
    source, known = load_rates(rates)
    for device in sorted({rate.device for rate in known}):
        yield from _time(runs, known, device)
    yield f"rates: {source}"
    largest = max(runs, key=run_bytes, default=None)
    if largest is not None:
        need = f"{run_bytes(largest) / 2**20:,.0f} MB"
        yield f"memory: up to {need} per run of a stack ({largest.learner} on {largest.dataset})"


def _size(plan: Plan) -> Iterator[str]:
    """What the plan is of, and how many evaluations and runs that makes."""
    protocol, runs = plan.protocol, plan.runs
    used, sets, seeds = ({getattr(run, name) for run in runs} for name in ("learner", "dataset", "seed"))
    references = [name for name in methods.REFERENCES if name in used]
    competing = len(used) - len(references)
    evaluations = competing * len(sets) * conditions(plan)
    yield f"{protocol.name}: {protocol.title}" + (f" ({protocol.source})" if protocol.source else "")
    yield (
        f"{_many(competing, 'learner')} x {_many(len(sets), 'data set')} x {_many(conditions(plan), 'condition')} = "
        f"{_many(evaluations, 'evaluation')}; with {_many(len(seeds), 'seed')}"
        + (f" and the references {', '.join(references)}" if references else "")
        + f" {len(runs):,} runs in {len(plan.groups()):,} groups that can be stacked"
    )


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _progress(runs: Sequence[Run], stored: Archive, folder: Path) -> Iterator[str]:
    """How far an archive has come with these runs, and which of its files say nothing about that."""
    for name, why in stored.damaged.items():
        yield f"left out of {folder}: {name}: {why}"
    keys = {run.key for run in runs}
    done = sum(row["key"] in keys for row in stored.done)
    failed = sum(row["key"] in keys for row in stored.failed)
    yield f"in {folder}: {done:,} done, {failed:,} failed, {len(runs) - done - failed:,} to do"


def _time(runs: Sequence[Run], known: Sequence[Rate], device: str) -> Iterator[str]:
    """How long the runs take on one device, where it was ever measured, and how long those that cannot."""
    if device == CPU:
        result, on_cpu = forecast(runs, known, device), []
    else:  # forests and wrappers use no GPU, whatever there is
        result = forecast([run for run in runs if run.backbone != "none"], known, device)
        on_cpu = [run for run in runs if run.backbone == "none"]
    if result.measured + result.adjusted + result.scaled == 0:
        return
    yield f"{device}: {_cost(result)}"
    if on_cpu:
        besides = forecast(on_cpu, known, CPU)
        rated = [run for run in on_cpu if run.learner not in besides.unknown_learners]
        who = ", ".join(sorted({run.learner for run in rated}))
        if rated:
            cost = _cost(replace(besides, unknown=0))
            yield f"  and on one CPU core: {cost} for {len(rated):,} runs of {who}, which use no GPU"
        if besides.unknown:
            others = ", ".join(besides.unknown_learners)
            yield f"  never measured, and on no GPU: {besides.unknown:,} runs of {others}"


def _cost(result: Forecast) -> str:
    """Time, and how it was come by where that was not by measuring runs like these."""
    notes = []
    if result.adjusted:
        notes.append(f"{result.adjusted:,} runs by their rows and epochs, other settings taken as measured")
    if result.scaled:
        notes.append(f"{result.scaled:,} runs by the rate of similar data")
    if result.unrecorded:
        notes.append("rates that do not say with which epochs they were measured: other settings are not accounted for")
    if result.unknown:
        notes.append(f"without {result.unknown:,} runs of {', '.join(result.unknown_learners)}: never measured")
    return _duration(result.seconds) + (f" ({'; '.join(notes)})" if notes else "")


def _duration(seconds: float) -> str:
    """Time in the unit a person plans with.

    >>> _duration(20), _duration(90), _duration(7200)
    ('20 seconds', '1.5 minutes', '2.0 hours')
    """
    if seconds < 60:
        return "1 second" if seconds < 1.5 else f"{seconds:.0f} seconds"
    if seconds < 3600:
        return f"{seconds / 60:.1f} minutes"
    return f"{seconds / 3600:.1f} hours"
