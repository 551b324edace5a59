"""Table 1 of PU-Bench: accuracy of PU learners under the conventional setting, ours beside the published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, median

from pulens.atomic_write import write_whole
from pulens.research.benchmark.analyse.cells import SeedSummary
from pulens.research.benchmark.methods import DISAMBIGUATION, GENERATIVE, RISK
from pulens.research.benchmark.published import table_1
from pulens.research.benchmark.vocabulary import base_name
from pulens.research.studies._bench import Runs, claim, judged, lacking, mean, runs, verdicts
from pulens.research.studies._study import Claim, Outcome, Study, Workbench

QUICK = {
    "methods": ["nnpu", "vpu", "dist_pu", "pn"],
    "settings": {
        "vpu": {"all": {"epochs": 10, "steps_per_epoch": 10}},
        **{name: {"all": {"epochs": 20}} for name in ("nnpu", "dist_pu", "pn")},
    },
}
NEAR = 3.0  # points of accuracy
Table = Mapping[tuple[str, str], SeedSummary]


def run(bench: Workbench) -> Outcome:
    """Reads the archive that ``PULENS_ARCHIVE`` names; with --quick a few runs are made on data at hand."""
    result = runs(bench, "conventional", QUICK)
    own, oracle = conventional(result), conventional(result, oracle=True)
    tables = (
        f"Runs: {result.source}.",
        *(_table("own selection", own, result), _table("oracle", oracle, result), _near(oracle, result)),
    )
    published = (conventional(result, oracle=told, published=True) for told in (False, True))
    claims = verdicts(result, claims_of(result, *published))
    files: tuple[Path, ...] = ()
    if bench.out is not None:
        path = bench.out / "bench_table_1.txt"
        write_whole(path, "\n\n".join([*tables, *map(str, claims)]))
        files = (path,)
    return Outcome(tables, claims, files)


def conventional(result: Runs, *, oracle: bool = False, published: bool = False) -> dict[tuple[str, str], SeedSummary]:
    """Accuracies at one positive in ten labelled, at random; of methods as published where there are such runs."""
    cells = result.cells("accuracy", oracle=oracle)
    kept = {place: one for place, one in cells.items() if place[2] == "S1" and abs(place[3] - 0.1) < 1e-9}
    return {(m, d): one for (m, d, _, _), one in (judged(kept) if published else kept).items()}


def _near(oracle: Table, result: Runs) -> str:
    """How many cells of every method are within two points of the published, and how far it is on average."""
    published = table_1()
    gaps: dict[str, list[float]] = {}
    for (method, dataset), one in oracle.items():
        if (place := (base_name(method), dataset)) in published:
            gaps.setdefault(method, []).append(100 * one.mean - published[place].accuracy)
    lines = ["Cells within 2 points of the published (epoch by F1 on TRUE validation labels), and the mean difference"]
    for method, own in sorted(gaps.items()):
        near = sum(abs(gap) <= 2 for gap in own)
        lines.append(f"{result.titles[method]:<40}{near:>3} of {len(own)}{fmean(own):>+8.1f}")
    return "\n".join(lines)


def _table(title: str, table: Table, result: Runs) -> str:
    datasets, published = sorted({dataset for _, dataset in table}), table_1()
    words = {
        "own selection": "epoch selected by each method's own criterion, from PU labels",
        "oracle": "epoch selected by F1 on TRUE validation labels, as published",
    }[title]
    lines = [f"Accuracy in percent, {words}", f"{'':<32}" + "".join(f"{one:>15}" for one in datasets)]
    means = {name: mean(one.mean for (m, _), one in table.items() if m == name) for name, _ in table}
    for name in sorted(means, key=lambda name: (name in result.told, -means[name])):
        mark = " (true classes)" if name in result.told else ""
        shown = "".join(f"{str(table[name, d]) if (name, d) in table else '–':>15}" for d in datasets)
        lines.append(f"{result.titles[name] + mark:<32}{shown}")
        beside = [published.get((name, d)) for d in datasets]
        if any(beside):
            cells = "".join(f"{'' if one is None else f'{one.accuracy:.2f} ± {one.sd:.2f}':>15}" for one in beside)
            lines.append(f"{'  published':<32}{cells}".rstrip())
    return "\n".join(lines)


def claims_of(result: Runs, own: Table, oracle: Table) -> tuple[Claim, ...]:
    """What the paper says of the table, and what became of it here."""
    return (
        *(_numbers(oracle), _no_winner(result, own), _nnpu(result, own), _generative(result, own)),
        *(_variance(result, own), _surpasses(result, oracle)),
        _best("Dist-PU has the highest accuracy on CIFAR-10", result, oracle, "distpu", "cifar10"),
        _best("Dist-PU has the highest accuracy on ADNI", result, oracle, "distpu", "adni"),
        _best("LaGAM-PU has the highest accuracy on Spambase", result, oracle, "lagam", "spambase"),
        _best("PUL-CPBF has the highest accuracy on Connect-4", result, oracle, "pulcpbf", "connect4"),
    )


def _numbers(oracle: Table) -> Claim:
    published = table_1()
    gaps = {place: 100 * one.mean - published[place].accuracy for place, one in oracle.items() if place in published}
    statement = f"The accuracies themselves, within {NEAR:g} points in four of five cells"
    if not gaps:
        return claim(statement, None, "no method and data set of the table has a run")
    near = sum(abs(gap) <= NEAR for gap in gaps.values())
    worst = sorted(gaps, key=lambda place: -abs(gaps[place]))[:5]
    told = ", ".join(f"{method} on {dataset} {gaps[method, dataset]:+.1f}" for method, dataset in worst)
    words = f"{near} of {len(gaps)} cells; mean difference {fmean(gaps.values()):+.1f} points; largest: {told}"
    return claim(statement, near >= 0.8 * len(gaps), words)


def _order(result: Runs, table: Table, dataset: str) -> list[str]:
    """Methods on a data set, best first; those told the truth left out."""
    there = [m for m, d in table if d == dataset and m not in result.told]
    return sorted(there, key=lambda name: -table[name, dataset].mean)


def _no_winner(result: Runs, table: Table) -> Claim:
    datasets = sorted({dataset for _, dataset in table})
    statement = "No single method is best on all data sets"
    orders = {d: order for d in datasets if len(order := _order(result, table, d)) >= 3}
    if len(orders) < 2:
        return claim(statement, None, f"{len(orders)} data sets with three methods or more")
    told = ", ".join(f"{result.titles[order[0]]} on {d}" for d, order in orders.items())
    return claim(statement, len({order[0] for order in orders.values()}) > 1, told)


def _nnpu(result: Runs, table: Table) -> Claim:
    statement = "nnPU remains highly competitive and often outperforms newer methods"
    orders = [order for d in {d for _, d in table} if "nnpu" in (order := _order(result, table, d)) and len(order) > 4]
    if not orders:
        return claim(statement, None, lacking(result, ["nnpu"]) or "fewer than five methods")
    beaten = [(len(order) - 1 - order.index("nnpu")) / (len(order) - 1) for order in orders]
    return claim(statement, fmean(beaten) >= 0.5, f"it beats {fmean(beaten):.0%} of the others on average")


def _generative(result: Runs, table: Table) -> Claim:
    statement = "Generative methods lag behind and rarely enter the top two"
    own = [name for name, family in result.families.items() if family == GENERATIVE]
    orders = [order for d in {d for _, d in table} if len(order := _order(result, table, d)) > 4]
    if not own or not orders:
        return claim(statement, None, "no runs of generative methods beside others" if not own else "too few methods")
    entered = sum(name in order[:2] for order in orders for name in own)
    of = sum(name in order for order in orders for name in own)
    middle = _family_means(result, table)
    told = ", ".join(f"{family} {100 * value:.1f}" for family, value in middle.items())
    is_last = middle[GENERATIVE] == min(middle.values())
    return claim(statement, is_last and entered <= 0.1 * of, f"in the top two {entered} of {of} times; means: {told}")


def _family_means(result: Runs, table: Table) -> dict[str, float]:
    """Mean accuracy of each family, over methods and data sets alike."""
    gathered: dict[str, list[float]] = {}
    for (method, _), one in table.items():
        if result.families[method] in (RISK, DISAMBIGUATION, GENERATIVE):
            gathered.setdefault(result.families[method], []).append(one.mean)
    return {family: fmean(values) for family, values in gathered.items()}


def _variance(result: Runs, table: Table) -> Claim:
    statement = "Risk estimators vary more from seed to seed than disambiguation-guided methods"
    spread = {
        family: [one.sd for (m, _), one in table.items() if result.families[m] == family and one.n > 2]
        for family in (RISK, DISAMBIGUATION)
    }
    if min(map(len, spread.values())) < 3:
        return claim(statement, None, "too few methods of both families with three seeds")
    risk, guided = (median(spread[family]) for family in (RISK, DISAMBIGUATION))
    return claim(
        statement, risk > guided, f"median standard deviation {100 * risk:.2f} against {100 * guided:.2f} points"
    )


def _surpasses(result: Runs, table: Table) -> Claim:
    statement = "LBE-PU surpasses the supervised PN on MNIST"
    gone = lacking(result, ["lbe", "pn"], "mnist")
    if gone or ("lbe", "mnist") not in table or ("pn", "mnist") not in table:
        return claim(statement, None, gone or "no runs of both on mnist")
    lbe, pn = table["lbe", "mnist"], table["pn", "mnist"]
    return claim(statement, lbe.mean > pn.mean, f"{lbe} against {pn}")


def _best(statement: str, result: Runs, table: Table, method: str, dataset: str) -> Claim:
    gone = lacking(result, [method], dataset)
    order = _order(result, table, dataset)
    if gone or method not in order or len(order) < 5:
        return claim(statement, None, gone or "fewer than five methods there")
    place = order.index(method) + 1
    best = result.titles[order[0]]
    return claim(
        statement,
        place == 1,
        f"place {place} of {len(order)} with {table[method, dataset]}; best: {best} {table[order[0], dataset]}",
    )


STUDY = Study("Accuracy of PU learners, one positive in ten labelled", "PU-Bench, Table 1", run)
