"""A plan in words: how many runs and evaluations, how long they take by measured rates, how much memory they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pulens.benchmark import methods
from pulens.benchmark.memory import run_bytes
from pulens.benchmark.plan import Plan
from pulens.benchmark.rates import CPU, Forecast, conditions, forecast, load_rates


def plan_lines(plan: Plan, rates: Path | None = None, archive: Path | None = None) -> Iterator[str]:
    """Lines for the terminal."""
    runs = plan.runs
    used, sets, seeds = ({getattr(run, name) for run in runs} for name in ("learner", "dataset", "seed"))
    references = [name for name in methods.REFERENCES if name in used]
    competing = len(used) - len(references)
    evaluations = competing * len(sets) * conditions(plan)
    yield f"{plan.protocol.name}: {plan.protocol.title}" + (
        f" ({plan.protocol.source})" if plan.protocol.source else ""
    )
    yield (
        f"{competing} learners x {len(sets)} data sets x {conditions(plan)} conditions = {evaluations:,} evaluations; "
        f"with {len(seeds)} seeds"
        + (f" and the references {', '.join(references)}" if references else "")
        + f" {len(runs):,} runs in {len(plan.groups()):,} groups that can be stacked"
    )
    if archive is not None:
        from pulens.benchmark.archive import read

        stored = read(archive)
        for name, why in stored.damaged.items():
            yield f"left out of {archive}: {name}: {why}"
        keys = {run.key for run in runs}
        done = sum(row["key"] in keys for row in stored.done)
        failed = sum(row["key"] in keys for row in stored.failed)
        yield f"in {archive}: {done:,} done, {failed:,} failed, {len(runs) - done - failed:,} to do"
        finished = {row["key"] for row in stored.runs}
        runs = tuple(run for run in runs if run.key not in finished)
    source, known = load_rates(rates)
    devices = sorted({rate.device for rate in known})
    on_cpu = [run for run in runs if run.backbone == "none"]  # forests and wrappers use no GPU, whatever there is
    for device in devices:
        found = forecast(runs if device == CPU else [run for run in runs if run.backbone != "none"], known, device)
        if found.measured + found.adjusted + found.scaled > 0:
            yield f"{device}: {_cost(found)}"
            if device != CPU and on_cpu:
                besides = forecast(on_cpu, known, CPU)
                who = ", ".join(sorted({run.learner for run in on_cpu}))
                yield f"  and on one CPU core: {_cost(besides)} for {len(on_cpu):,} runs of {who}, which use no GPU"
    yield f"rates: {source}"
    largest = max(runs, key=run_bytes, default=None)
    if largest is not None:
        need = f"{run_bytes(largest) / 2**20:,.0f} MB"
        yield f"memory: up to {need} per run of a stack ({largest.learner} on {largest.dataset})"


def _cost(found: Forecast) -> str:
    """Time, and how it was come by where that was not by measuring runs like these."""
    notes = []
    if found.adjusted:
        notes.append(f"{found.adjusted:,} runs by their rows and epochs, other settings taken as measured")
    if found.scaled:
        notes.append(f"{found.scaled:,} runs by the rate of similar data")
    if found.unrecorded:
        notes.append("rates that do not say with which epochs they were measured: other settings are not accounted for")
    if found.unknown:
        notes.append(f"without {found.unknown:,} runs of {', '.join(found.unknown_learners)}: never measured")
    return _duration(found.seconds) + (f" ({'; '.join(notes)})" if notes else "")


def _duration(seconds: float) -> str:
    """Time in the unit a person plans with.

    >>> _duration(20), _duration(90), _duration(7200)
    ('20 seconds', '1.5 minutes', '2.0 hours')
    """
    if seconds < 60:
        return f"{max(1.0, seconds):.0f} seconds"
    if seconds < 3600:
        return f"{seconds / 60:.1f} minutes"
    return f"{seconds / 3600:.1f} hours"
