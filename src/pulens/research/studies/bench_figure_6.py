"""Figures 6 and 14 to 16 of PU-Bench: F1 of PU learners when labels depend on the row."""

from __future__ import annotations

from pathlib import Path

from pulens.research.benchmark.analyse.cells import SeedSummary
from pulens.research.benchmark.methods import RISK
from pulens.research.studies._bench import Runs, claim, judged, lacking, mean, runs, verdicts
from pulens.research.studies._study import Claim, Outcome, Study, Workbench

QUICK = {
    "methods": ["nnpu", "pusb", "vpu"],
    "conditions": [{"mechanisms": ["S1", "S2", "S3", "S4"], "label_frequencies": [0.05, 0.5]}],
    "seeds": [1, 2],
    "settings": {
        "vpu": {"all": {"epochs": 5, "steps_per_epoch": 10}},
        **{name: {"all": {"epochs": 15}} for name in ("nnpu", "pusb")},
    },
}
RANDOM, BIASED = "S1", ("S2", "S3", "S4")
LOW, HIGH = 0.05, 0.5
AWARE = ("pusb", "lbe")  # made for biased labels
MeanScores = dict[tuple[str, str, float], SeedSummary]  # method, strategy, label frequency


def run(bench: Workbench) -> Outcome:
    """Reads the archive that ``PULENS_ARCHIVE`` names; with --quick a few runs are made on data at hand."""
    result = runs(bench, "selection-bias", QUICK)
    dataset, scores = scores_of(result)
    tables = (
        f"Runs: {result.source}. The figure was published without numbers.",
        *(_table(result, scores, dataset, c) for c in (LOW, HIGH)),
        elsewhere(result),
    )
    files = (
        () if bench.out is None or not scores else (draw(result, scores, dataset, bench.out / "bench_figure_6.png"),)
    )
    return Outcome(tables, verdicts(result, claims_of(result, scores_of(result, published=True)[1])), files)


def scores_of(result: Runs, dataset: str | None = None, *, published: bool = False) -> tuple[str, MeanScores]:
    """F1 on a data set: the named one; CIFAR-10, or where it has half of the conditions or fewer the one with most."""
    cells = {place: one for place, one in result.cells("f1").items() if place[3] in (LOW, HIGH)}
    cells = judged(cells) if published else cells
    counted: dict[str, int] = {}
    for _, name, strategy, _ in cells:
        counted[name] = counted.get(name, 0) + (strategy in BIASED)
    if not any(counted.values()):
        return "no data set", {}
    most = max(sorted(counted), key=lambda name: counted[name])
    chosen = dataset or ("cifar10" if 2 * counted.get("cifar10", 0) > counted[most] else most)
    return chosen, {(m, s, c): one for (m, d, s, c), one in cells.items() if d == chosen}


def elsewhere(result: Runs) -> str:
    """The claims on every data set with biased labels, a line each: figures 14 to 16 are figure 6 on those."""
    lines = ["The same on every data set (Figures 14 to 16)"]
    for dataset in sorted({place[1] for place in result.cells("f1") if place[2] in BIASED}):
        claims = claims_of(result, scores_of(result, dataset, published=True)[1])
        told = (f"{number} {one.verdict}: {one.because}" for number, one in enumerate(claims, 1))
        lines += [dataset, *(f"  {line}" for line in told if "not testable" not in line)]
    return "\n".join(lines)


def _table(result: Runs, scores: MeanScores, dataset: str, frequency: float) -> str:
    lines = [
        f"F1 in percent on {dataset}, label frequency {frequency:g}",
        f"{'':<32}" + "".join(f"{name:>15}" for name in (RANDOM, *BIASED)),
    ]
    for method in sorted({m for m, _, c in scores if c == frequency}):
        shown = [scores.get((method, strategy, frequency)) for strategy in (RANDOM, *BIASED)]
        cells = "".join(f"{'–' if one is None else str(one):>15}" for one in shown)
        lines.append(f"{result.titles[method]:<32}{cells}")
    return "\n".join(lines)


def losses(scores: MeanScores, frequency: float) -> dict[str, list[float]]:
    """What each method loses by each biased strategy that it was run under, beside labels at random."""
    result: dict[str, list[float]] = {}
    for (method, strategy, c), one in scores.items():
        plain = scores.get((method, RANDOM, frequency))
        if strategy in BIASED and c == frequency and plain is not None:
            result.setdefault(method, []).append(plain.mean - one.mean)
    return result


def claims_of(result: Runs, scores: MeanScores) -> tuple[Claim, ...]:
    """What section 5.2 says, and what became of it here."""
    low = {name: own for name, own in losses(scores, LOW).items() if name not in result.told}
    high = {name: own for name, own in losses(scores, HIGH).items() if name not in result.told}
    return (
        _universal(low),
        _resilient(result, low),
        _anomaly(result, low),
        _narrows(low, high),
        _plentiful(result, scores),
    )


def _universal(low: dict[str, list[float]]) -> Claim:
    statement = "With few labels every method loses by biased labelling (VAE-PU aside)"
    mine = {name: mean(own) for name, own in low.items() if name != "vaepu"}
    if len(mine) < 2:
        return claim(statement, None, "no runs with random and with biased labels at c = 0.05")
    losing = sum(value > 0 for value in mine.values())
    told = f"{losing} of {len(mine)} methods lose, {100 * mean(mine.values()):.1f} points of F1 on average"
    return claim(statement, losing == len(mine), told)


def _resilient(result: Runs, low: dict[str, list[float]]) -> Claim:
    statement = "With few labels PUSB and LBE-PU lose less than risk estimators that assume random labels"
    aware = [mean(low[name]) for name in AWARE if name in low]
    others = [mean(own) for name, own in low.items() if result.families[name] == RISK and name not in AWARE]
    if not aware or not others:
        return claim(statement, None, lacking(result, AWARE) or "no runs at c = 0.05 to compare")
    gone = lacking(result, AWARE)
    told = f"{100 * mean(aware):.1f} points against {100 * mean(others):.1f}" + (f"; {gone}" if gone else "")
    return claim(statement, mean(aware) < mean(others), told)


def _anomaly(result: Runs, low: dict[str, list[float]]) -> Claim:
    statement = "VAE-PU does better with biased labels than with random ones"
    if "vaepu" not in low:
        return claim(statement, None, lacking(result, ["vaepu"]) or "no runs of it at c = 0.05")
    return claim(statement, mean(low["vaepu"]) < 0, f"it loses {100 * mean(low['vaepu']):.1f} points of F1")


def _narrows(low: dict[str, list[float]], high: dict[str, list[float]]) -> Claim:
    statement = "With many labels the gap between random and biased labels narrows, though it does not vanish"
    both = low.keys() & high.keys()
    if len(both) < 2:
        return claim(statement, None, "no runs at both label frequencies with random and with biased labels")
    few, many = (mean(mean(own[name]) for name in both) for own in (low, high))
    told = f"{100 * few:.1f} points at c = 0.05, {100 * many:.1f} at c = 0.5, over {len(both)} methods"
    return claim(statement, 0 < many < few, told)


def _plentiful(result: Runs, scores: MeanScores) -> Claim:
    statement = "With many labels VPU can outperform methods made for biased labels"
    gaps = []
    for strategy in BIASED:
        vpu = scores.get(("vpu", strategy, HIGH))
        aware = [one.mean for name in AWARE if (one := scores.get((name, strategy, HIGH))) is not None]
        if vpu is not None and aware:
            gaps.append((strategy, vpu.mean - max(aware)))
    if not gaps:
        return claim(statement, None, lacking(result, ["vpu", *AWARE]) or "no runs of them at c = 0.5")
    told = ", ".join(f"{strategy} {100 * gap:+.1f} points" for strategy, gap in gaps)
    return claim(statement, any(gap > 0 for _, gap in gaps), f"VPU minus the best of those run: {told}")


def draw(result: Runs, scores: MeanScores, dataset: str, path: Path) -> Path:
    """A line per method, best first: full marks with few labels, hollow ones with many."""
    from pulens.plots.backend import pyplot, write_figure

    plt = pyplot()

    def known(name: str) -> float:
        values = [one.mean for (method, _, frequency), one in scores.items() if method == name and frequency == LOW]
        return mean(values) if values else 0.0

    names = sorted({method for method, _, _ in scores}, key=known)
    strategies = (RANDOM, *BIASED)
    figure, ax = plt.subplots(figsize=(8, 1.2 + 0.32 * len(names)), layout="constrained")
    for place, strategy in enumerate(strategies):
        for frequency, filled in ((LOW, True), (HIGH, False)):
            places = [k for k, name in enumerate(names) if (name, strategy, frequency) in scores]
            ax.plot(
                [100 * scores[names[k], strategy, frequency].mean for k in places],
                [k + (1.5 - place) * 0.16 for k in places],
                "osD^"[place],
                color=f"C{place}",
                markersize=5,
                markerfacecolor=f"C{place}" if filled else "none",
                label=f"{strategy}, c = {frequency:g}",
            )
    ax.set(yticks=range(len(names)), xlabel="F1 in percent", title=dataset)
    ax.set_yticklabels([result.titles[name] for name in names])
    ax.grid(axis="y", alpha=0.25)
    ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    write_figure(path, figure)
    plt.close(figure)
    return path


STUDY = Study("PU learners when labels are biased", "PU-Bench, Figure 6", run)
