"""Figure 4 and section 4.2 of PU-Bench: what PU learners cost in time and memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from pulens.learning import learners
from pulens.learning.learners.base.facts import DISAMBIGUATION, GENERATIVE, RISK
from pulens.research.benchmark import datasets, methods
from pulens.research.benchmark.archive import read
from pulens.research.benchmark.methods import plain
from pulens.research.benchmark.rates import CPU, Rate, load_rates, measured_rates
from pulens.research.studies._bench import PLACE, claim, runs
from pulens.research.studies._study import Claim, Outcome, Study, Workbench, pictured

GIB = 2**30
CHEAP, DEAR = ("nnpu", "pusb"), ("pul_cpbf", "holistic_pu", "vae_pu")
SMALL = ("nnpu", "pusb", "vpu", "robust_pu", "dist_pu")
FEW = "no data set with five methods and one of these on one device"
SHOWN = ("newsgroups20", "cifar10", "connect4")  # the paper's three panels
COLOURS = dict(zip((RISK, DISAMBIGUATION, GENERATIVE), ("#1f5fa8", "#c8553d", "#3d8b5f"), strict=True))
Costs = Mapping[str, Mapping[str, float]]  # method -> data set


def run(bench: Workbench) -> Outcome:
    """Reads the rates of the archive that ``PULENS_ARCHIVE`` names, or those that come with pulens."""
    source, rates = rates_of()
    device, mine = _most(rates)
    seconds = {name: {one.dataset: one.seconds for one in own} for name, own in mine.items()}
    memory = {name: {one.dataset: one.memory for one in own} for name, own in mine.items()}
    tables = (
        f"Rates: {source}; those on {device}. A stack's seconds count by its part of a device that it shares, and are "
        "divided by its runs, as is its memory.",
        _table("Seconds a run", seconds, 1),
        _table("GiB a run", memory, GIB),
    )
    cells = runs(bench, "conventional", {}).cells("f1") if bench.out else {}
    scores = {place[:2]: one.mean for place, one in cells.items() if place[2:] == ("S1", 0.1)}
    files = draw(bench.out, seconds, memory, scores)
    return Outcome(tables, claims_of(seconds, memory), files)


@pictured("bench-figure-4", 2, 3, figsize=(12, 7), sharey="col")
def draw(axes: Any, seconds: Costs, memory: Costs, scores: Mapping[tuple[str, str], float]) -> None:
    """Test F1 with one positive in ten labelled over the cost of a run: time above, memory below."""
    for row, (costs, unit, words) in zip(
        axes, ((seconds, 1, "seconds a run"), (memory, GIB, "GiB a run")), strict=True
    ):
        for ax, dataset in zip(row, SHOWN, strict=True):
            for name in (name for name, own in costs.items() if dataset in own and (plain(name), dataset) in scores):
                x, y = costs[name][dataset] / unit, 100 * scores[plain(name), dataset]
                ax.plot(x, y, "o", color=COLOURS[learners.facts(name).family], markersize=5)
                title = methods.find(name).title.partition(" (")[0]
                ax.annotate(title, (x, y), (3, 3), textcoords="offset points", fontsize=6)
            ax.set(xscale="log", xlabel=words, title=datasets.find(dataset).title)
            ax.margins(x=0.15)
            ax.xaxis.set_major_formatter("{x:g}")
            ax.xaxis.set_minor_formatter("")
            ax.grid(alpha=0.25)
        row[0].set_ylabel("test F1 in percent")


def rates_of() -> tuple[str, list[Rate]]:
    """Where rates come from, and the rates."""
    named = os.environ.get(PLACE)
    return (named, measured_rates(read(named))) if named and Path(named).is_dir() else load_rates()


def _most(rates: Sequence[Rate]) -> tuple[str, dict[str, list[Rate]]]:
    """The rates of the paper's methods on the GPU with most of them, by method: one device is not another."""
    mine = [one for one in rates if one.learner in learners.compared() and one.device != CPU]
    devices = [one.device for one in mine]
    device = max(sorted(set(devices)), key=devices.count, default="no GPU")
    return device, {name: [one for one in mine if (one.learner, one.device) == (name, device)] for name in _names(mine)}


def _names(rates: Sequence[Rate]) -> list[str]:
    return sorted({one.learner for one in rates})


def _table(title: str, costs: Costs, unit: float) -> str:
    shown = sorted({dataset for own in costs.values() for dataset in own})
    lines = [title, f"{'':<32}" + "".join(f"{one:>15}" for one in shown)]
    for method, own in costs.items():
        cells = "".join(f"{own[d] / unit:>15.2f}" if d in own else f"{'–':>15}" for d in shown)
        lines.append(f"{methods.find(method).title:<32}{cells}")
    return "\n".join(lines)


def places(costs: Costs, wanted: Sequence[str]) -> list[float]:
    """Where methods stand on each data set that has at least five: 0 is the least cost, 1 the largest.

    >>> places({name: {"mnist": cost} for cost, name in enumerate("abcde")}, ["a", "d"])
    [0.0, 0.75]
    """
    result = []
    for dataset in sorted({dataset for own in costs.values() for dataset in own}):
        there = sorted((m for m in costs if dataset in costs[m]), key=lambda m: costs[m][dataset])
        result += [there.index(m) / (len(there) - 1) for m in wanted if m in there and len(there) > 4]
    return result


def claims_of(seconds: Costs, memory: Costs) -> tuple[Claim, ...]:
    """What section 4.2 says, and what became of it here."""
    return (
        _stands("nnPU and PUSB take least time", places(seconds, CHEAP), cheap=True),
        _stands("PUL-CPBF, Holistic-PU and VAE-PU take most time", places(seconds, DEAR), cheap=False),
        _small(memory),
        _stands("VAE-PU takes most memory", places(memory, ["vae_pu"]), cheap=False),
    )


def _stands(statement: str, result: list[float], *, cheap: bool) -> Claim:
    """Whether methods are among the quarter of least, or of largest, cost."""
    if not result:
        return claim(statement, None, FEW)
    share = 1 - fmean(result) if cheap else fmean(result)
    return claim(
        statement, share >= 0.75, f"{'cheaper' if cheap else 'dearer'} than {share:.0%} of the others on average"
    )


def _small(memory: Costs) -> Claim:
    statement = "nnPU, PUSB, VPU, Robust-PU and Dist-PU take less than a gigabyte"
    values = {(m, d): value / GIB for m in SMALL if m in memory for d, value in memory[m].items()}
    if not values:
        return claim(statement, None, "no rates of them on one device")
    name, dataset = max(values, key=lambda place: values[place])
    under = sum(value < 1 for value in values.values())
    most = f"{values[name, dataset]:.1f} GiB ({methods.find(name).title} on {dataset})"
    told = f"{under} of {len(values)} cells; at most {most}"
    return claim(statement, under == len(values), told)


STUDY = Study("Time and memory of PU learners", "PU-Bench, Figure 4 and section 4.2", run)
