"""A plan in words: how many runs and evaluations, how long they take by measured rates, how much memory they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pulens.benchmark import methods
from pulens.benchmark.memory import run_bytes
from pulens.benchmark.plan import Plan
from pulens.benchmark.rates import conditions, forecast, load_rates


def plan_lines(plan: Plan, rates: Path | None = None, archive: Path | None = None) -> Iterator[str]:
    """Lines for the terminal."""
    runs = plan.runs
    used, sets, seeds = ({getattr(run, name) for run in runs} for name in ("method", "dataset", "seed"))
    references = [name for name in methods.REFERENCES if name in used]
    competing = len(used) - len(references)
    evaluations = competing * len(sets) * conditions(plan)
    yield f"{plan.protocol.name}: {plan.protocol.title}" + (
        f" ({plan.protocol.source})" if plan.protocol.source else ""
    )
    yield (
        f"{competing} methods x {len(sets)} data sets x {conditions(plan)} conditions = {evaluations:,} evaluations; "
        f"with {len(seeds)} seeds"
        + (f" and the references {', '.join(references)}" if references else "")
        + f" {len(runs):,} runs in {len(plan.groups()):,} groups that can be stacked"
    )
    missing = methods.missing()
    if "all" in plan.protocol.methods and missing:
        yield f"not in this version, and not counted: {', '.join(missing)}"
    if archive is not None:
        from pulens.benchmark.archive import read

        stored = read(archive)
        keys = {run.key for run in runs}
        done = sum(row["key"] in keys for row in stored.done)
        failed = sum(row["key"] in keys for row in stored.failed)
        yield f"in {archive}: {done:,} done, {failed:,} failed, {len(runs) - done - failed:,} to do"
        finished = {row["key"] for row in stored.runs}
        runs = tuple(run for run in runs if run.key not in finished)
    source, known = load_rates(rates)
    for device in sorted({rate.device for rate in known}):
        found = forecast(runs, known, device)
        if found.measured + found.scaled == 0:
            continue
        notes = []
        if found.scaled:
            notes.append(f"{found.scaled:,} runs by the rate of similar data")
        if found.unknown:
            notes.append(f"without {found.unknown:,} runs of {', '.join(found.unknown_methods)}: never measured")
        yield f"{device}: {_duration(found.seconds)}" + (f" ({'; '.join(notes)})" if notes else "")
    yield f"rates: {source}"
    largest = max(runs, key=run_bytes, default=None)
    if largest is not None:
        need = f"{run_bytes(largest) / 2**20:,.0f} MB"
        yield f"memory: up to {need} per run of a stack ({largest.method} on {largest.dataset})"


def _duration(seconds: float) -> str:
    """Time in the unit a person plans with.

    >>> _duration(90), _duration(7200)
    ('1.5 minutes', '2.0 hours')
    """
    if seconds < 3600:
        return f"{seconds / 60:.1f} minutes"
    return f"{seconds / 3600:.1f} hours"
