"""Figure 5 of PU-Bench: what PU learners make of few and of many labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from pulens.research.benchmark.analyse.cells import SeedSummary
from pulens.research.benchmark.methods import DISAMBIGUATION, GENERATIVE, REFERENCE, RISK
from pulens.research.studies._bench import Runs, claim, judged, lacking, mean, runs, verdicts
from pulens.research.studies._study import Claim, Outcome, Study, Workbench

QUICK = {
    "methods": ["nnpu", "vpu", "pn"],
    "conditions": [{"mechanisms": ["S1"], "label_frequencies": [0.05, 0.1, 0.3, 0.9]}],
    "seeds": [1, 2],
    "settings": {
        "vpu": {"all": {"epochs": 5, "steps_per_epoch": 10}},
        **{name: {"all": {"epochs": 15}} for name in ("nnpu", "pn")},
    },
}
Curves = dict[tuple[str, str], dict[float, SeedSummary]]  # method and data set -> label frequency


def run(bench: Workbench) -> Outcome:
    """Reads the archive that ``PULENS_ARCHIVE`` names; with --quick a few runs are made on data at hand."""
    result = runs(bench, "label-frequency", QUICK)
    curves = curves_of(result)
    tables = (f"Runs: {result.source}. The figure was published without numbers.", *_tables(result, curves))
    files = () if bench.out is None or not curves else (draw(result, curves, bench.out / "bench_figure_5.png"),)
    return Outcome(tables, verdicts(result, claims_of(result, curves_of(result, published=True))), files)


def curves_of(result: Runs, metric: str = "accuracy", *, published: bool = False) -> Curves:
    """Means over seeds by label frequency, labels at random; of methods as published where they have such curves."""
    curves: Curves = {}
    random = {place: one for place, one in result.cells(metric).items() if place[2] == "S1"}
    for (method, dataset, _, frequency), one in (judged(random) if published else random).items():
        curves.setdefault((method, dataset), {})[frequency] = one
    return {place: dict(sorted(own.items())) for place, own in curves.items() if len(own) > 1}


def _tables(result: Runs, curves: Curves) -> list[str]:
    shown = []
    for dataset in sorted({dataset for _, dataset in curves}):
        mine = {method: own for (method, d), own in curves.items() if d == dataset}
        frequencies = sorted({frequency for own in mine.values() for frequency in own})
        lines = [f"Accuracy on {dataset} by label frequency", f"{'':<32}" + "".join(f"{c:>8g}" for c in frequencies)]
        for method, own in sorted(mine.items(), key=lambda item: (item[0] in result.told, item[0])):
            cells = "".join(f"{100 * own[c].mean:>8.2f}" if c in own else f"{'–':>8}" for c in frequencies)
            lines.append(f"{result.titles[method]:<32}{cells}")
        shown.append("\n".join(lines))
    return shown


def enough(curve: dict[float, SeedSummary], share: float = 0.95) -> float:
    """The lowest label frequency from which on a share of the best mean is kept."""
    best, reached = max(one.mean for one in curve.values()), max(curve)
    for frequency in sorted(curve, reverse=True):
        if curve[frequency].mean < share * best:
            break
        reached = frequency
    return reached


def gain(curve: dict[float, SeedSummary]) -> float | None:
    """Points won from about one positive in ten labelled to nine in ten; None without both."""
    low = [c for c in curve if abs(c - 0.1) < 0.011]
    high = [c for c in curve if c >= 0.5]
    return curve[max(high)].mean - curve[low[-1]].mean if low and high else None


def claims_of(result: Runs, curves: Curves) -> tuple[Claim, ...]:
    """What section 5.1 says, and what became of it here."""
    return (_saturates(result, curves), _early(result, curves), *_gains(result, curves), _unstable(result, curves))


def _saturates(result: Runs, curves: Curves) -> Claim:
    statement = "Most risk estimators and disambiguation-guided methods saturate: 95% of their best by c = 0.1"
    mine = [
        enough(own)
        for (method, _), own in curves.items()
        if result.families[method] in (RISK, DISAMBIGUATION) and method not in result.told and min(own) < 0.1 < max(own)
    ]
    if len(mine) < 2:
        return claim(statement, None, "too few curves from below c = 0.1 to above")
    early = sum(c <= 0.1 + 1e-9 for c in mine)
    return claim(statement, early > len(mine) / 2, f"{early} of {len(mine)} curves")


def _early(result: Runs, curves: Curves) -> Claim:
    statement = "VPU and P3Mix-C approach their peak on CIFAR-10 with c of 0.03 to 0.05"
    mine = {name: enough(curves[name, "cifar10"]) for name in ("vpu", "p3mixc") if (name, "cifar10") in curves}
    if len(mine) < 2:
        return claim(statement, None, lacking(result, ["vpu", "p3mixc"], "cifar10") or "no curves of both on cifar10")
    told = ", ".join(f"{result.titles[name]} keeps 95% of its best from c = {c:g}" for name, c in mine.items())
    return claim(statement, max(mine.values()) <= 0.05 + 1e-9, told)


def _gains(result: Runs, curves: Curves) -> list[Claim]:
    gains: dict[str, list[float]] = {}
    for (method, _), own in curves.items():
        won = gain(own)
        if won is not None and method not in result.told:
            gains.setdefault(method, []).append(won)
    means = {method: mean(own) for method, own in gains.items()}
    few = "fewer than three methods with curves from c = 0.1 to 0.5 or more" if len(means) < 3 else ""
    return [_generative_gain(result, means, few), _late_gain(result, means, few)]


def _generative_gain(result: Runs, means: dict[str, float], few: str) -> Claim:
    generative = [value for name, value in means.items() if result.families[name] == GENERATIVE]
    others = [value for name, value in means.items() if result.families[name] != GENERATIVE]
    statement = "Generative methods improve little as labels grow in number"
    if few or not generative or not others:
        return claim(statement, None, few or "no runs of generative methods beside others")
    told = f"mean gain {100 * mean(generative):+.1f} points, others {100 * mean(others):+.1f}"
    return claim(statement, mean(generative) <= max(0.02, mean(others)), told)


def _late_gain(result: Runs, means: dict[str, float], few: str) -> Claim:
    statement = "LBE-PU gains late, as more labels become available"
    if few or "lbe" not in means:
        return claim(statement, None, lacking(result, ["lbe"]) or few)
    middle = median(means.values())
    told = f"gain {100 * means['lbe']:+.1f} points from c = 0.1 on, the median method {100 * middle:+.1f}"
    return claim(statement, means["lbe"] > middle, told)


def _unstable(result: Runs, curves: Curves) -> Claim:
    statement = "PUL-CPBF and Holistic-PU fluctuate at low label frequencies"
    spread: dict[str, list[float]] = {}
    for (method, _), own in curves.items():
        for frequency, one in own.items():
            if frequency < 0.1 and one.n > 2 and method not in result.told:
                spread.setdefault(method, []).append(one.sd)
    named = [name for name in ("pulcpbf", "holisticpu") if name in spread]
    if len(named) < 2 or len(spread) < 5:
        gone = lacking(result, ["pulcpbf", "holisticpu"])
        return claim(statement, None, gone or "fewer than five methods with three seeds below c = 0.1")
    middle = median(mean(own) for own in spread.values())
    told = ", ".join(f"{result.titles[name]} {100 * mean(spread[name]):.2f}" for name in named)
    told = f"standard deviation over seeds: {told}, the median method {100 * middle:.2f} points"
    return claim(statement, all(mean(spread[name]) > middle for name in named), told)


LINES = {"naivequantile": "-.", "naivenetwork": (0, (1, 4))}  # of references; ":" unless they are told true classes


def _draw_panel(result: Runs, mine: Mapping[str, Any], family: str, ax: Any) -> None:
    """The methods of a family on one data set; invisible where there are none."""
    ax.grid(alpha=0.25)
    shown = [method for method in mine if result.families[method] == family]
    references = [method for method in mine if result.families[method] == REFERENCE and method not in shown]
    for method in [*shown, *references]:
        look: dict[str, Any] = {"marker": "o", "markersize": 3}
        if method in references:
            look = {"color": "0.4", "linestyle": "--" if method in result.told else LINES.get(method, ":")}
        values = [100 * one.mean for one in mine[method].values()]
        ax.plot(list(mine[method]), values, label=result.titles[method], **look)
    ax.set_visible(bool(shown))
    if shown:
        # below: with twenty lines there is no free corner
        ax.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)


def draw(result: Runs, curves: Curves, path: Path) -> Path:
    """A row per data set, a column per family of methods, a line per method; the references in every panel."""
    from pulens.plots.backend import pyplot, write_figure

    plt = pyplot()
    longest = max(len(own) for own in curves.values())  # two or three label frequencies are no curve beside fourteen
    datasets = sorted({dataset for (_, dataset), own in curves.items() if 2 * len(own) > longest})
    there = {result.families[method] for method, _ in curves}
    families = [family for family in (RISK, DISAMBIGUATION, GENERATIVE) if family in there] or [REFERENCE]
    figure, axes = plt.subplots(
        len(datasets),
        len(families),
        figsize=(1 + 3.4 * len(families), 0.6 + 4.2 * len(datasets)),
        squeeze=False,
        sharey="row",
        layout="constrained",
    )
    for row, dataset in zip(axes, datasets, strict=True):
        mine = {method: own for (method, where), own in sorted(curves.items()) if where == dataset}
        for ax, family in zip(row, families, strict=True):
            ax.set(xscale="log", xlabel="label frequency", title=f"{dataset}: {family}")
            _draw_panel(result, mine, family, ax)
        row[0].set_ylabel("accuracy in percent")
    write_figure(path, figure)
    plt.close(figure)
    return path


STUDY = Study("PU learners with few and with many labels", "PU-Bench, Figure 5", run)
