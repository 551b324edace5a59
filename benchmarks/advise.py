"""How good is advice from archived runs? Regret with one data set left out, beside nnPU, boosting and chance.

python benchmarks/advise.py                                    # from the table that comes with the package
python benchmarks/advise.py --json advise.json
python benchmarks/advise.py --build --tables runs.jsonl        # make that table from archived runs anew
python benchmarks/advise.py --build --tables runs.jsonl --summary more.csv
python benchmarks/advise.py --build --keep-tables              # networks anew, tables as they were

``--tables`` are runs of benchmarks/tables.py, ``--summary`` what `pulens bench report ARCHIVE --summary FILE` writes,
besides the summary that comes with the package. Regret is test accuracy lost against the best learner of a data set
under a condition: each condition of a data set is asked about with all runs on that data set left out.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from pulens.learning.learners.advice.archived import TABLE, archived, read_table
from pulens.learning.learners.advice.expected import expected_losses, mean_and_interval
from pulens.research.benchmark.vocabulary import base_name

SHIPPED = Path(__file__).parents[1] / "src/pulens/research/benchmark/summary.csv.gz"
# learners whose method or defaults changed after this moment: runs that ended before do not count
MENDED = {
    "lbe": ("2026-11-16T07:09", "labelled rows were dropped from training; its cut was arbitrary"),
    "pan": ("2026-11-16T07:09", "its cut was arbitrary"),
    "cgenpu": ("2026-11-16T08:04", "its cut was arbitrary"),
    "puet": ("2026-11-16T07:57", "the vote called too few rows positive"),
    "elkan_noto": ("2026-11-16T07:43", "the label frequency came from one small part"),
    "weighted_elkan_noto": ("2026-11-16T07:43", "weights came from rows that were trained on"),
}
# training rows of the benchmark's data sets, a tenth for the choice of the epoch taken off, and share of positives
SIZES = {
    "spambase": (3312, 0.394),
    "mushroom": (5849, 0.482),
    "newsgroups20": (10182, 0.565),
    "imdb": (22500, 0.5),
    "connect4": (48641, 0.658),
    "mnist": (54000, 0.493),
    "fashion_mnist": (54000, 0.5),
    "cifar10": (45000, 0.4),
}
# rows of the files that benchmarks/tables.py reads
ROWS = {
    "spambase": 4601,
    "grid_stability": 10000,
    "letter": 20000,
    "bank_marketing": 45211,
    "pendigits": 10992,
    "shuttle": 58000,
    "page_blocks": 5473,
    "wine_quality": 6497,
    "landsat": 6435,
    "avila": 20867,
    "mushroom": 8124,
    "connect4": 67557,
    "pima": 768,
    "concrete": 1030,
    "boston_housing": 506,
    "gas_drift_8of10": 6697,
}
BOOSTING = "HistGradientBoostingClassifier()"
CALLS = {
    "BoostedPU": ("boosted_pu", "BoostedPU", "BoostedPU(class_prior=...)"),
    "NNPU": ("nnpu", "nnPU", "NNPU(class_prior=...)"),
    "ElkanNoto": ("elkan_noto", "Elkan-Noto", "ElkanNoto(class_prior=...)"),
    "WeightedElkanNoto": ("weighted_elkan_noto", "Elkan-Noto, weighted", "WeightedElkanNoto(class_prior=...)"),
    "ElkanNoto, boosting": (
        "elkan_noto around boosting",
        "Elkan-Noto around boosting",
        f"ElkanNoto({BOOSTING}, class_prior=...)",
    ),
    "WeightedElkanNoto, boosting": (
        "weighted_elkan_noto around boosting",
        "Elkan-Noto, weighted, boosting",
        f"WeightedElkanNoto({BOOSTING}, class_prior=...)",
    ),
    "PUBagging": ("pu_bagging", "PU bagging", "PUBagging(class_prior=...)"),
    "PUBagging, boosting": (
        "pu_bagging around boosting",
        "PU bagging around boosting",
        f"PUBagging({BOOSTING}, n_estimators=20, class_prior=...)",
    ),
    "PUET": ("puet", "PUET", "PUET(class_prior=...)"),
    "boosting at the quantile": (
        "naive boosting at the quantile",
        "naive boosting, prior's quantile",
        f"NaiveClassifier({BOOSTING}, class_prior=..., cut='quantile')",
    ),
}
PLACE = ("source", "data_set", "kind", "scenario", "prior_known", "rows", "labelled")
LEAST_COMPARED = 0.8  # of a source's learners must have been run, or the best of a cell is the best of few


# the table


def build(given):
    runs, left_out = [], {}
    for place in (SHIPPED, *map(Path, given.summary)):
        runs += on_most(list(from_summary(place, left_out)), left_out)
    for place in given.tables:
        runs += list(from_tables(place))
    titles, calls = {}, {}
    cells = defaultdict(lambda: defaultdict(list))
    for run in runs:
        titles[run["learner"]], calls[run["learner"]] = run["title"], run["call"]
        cells[run["cell"]][run["learner"]].append(run["accuracy"])
    stored = [
        {
            **dict(zip(PLACE, cell, strict=True)),
            "class_prior": priors_of(runs, cell),
            "seeds": int(np.median([len(values) for values in result.values()])),
            "accuracy": {name: round(float(np.mean(values)), 4) for name, values in sorted(result.items())},
        }
        for cell, result in sorted(cells.items())
    ]
    if given.keep_tables:
        before = json.loads(TABLE.read_text(encoding="utf-8"))
        kept = [cell for cell in before["cells"] if cell["source"] == "tables"]
        for name in sorted({name for cell in kept for name in cell["accuracy"]}):
            titles[name], calls[name] = before["titles"][name], before["calls"][name]
        stored += kept
    stored = comparable(stored)
    has_tables = any(cell["source"] == "tables" for cell in stored)
    answer = {
        "titles": titles,
        "calls": calls,
        "sources": {
            "benchmark": "case-control, labelled rows also among the unlabelled, class prior known, one positive in "
            "ten labelled (Spambase from 1 to 90%), settings of the conventional protocol",
            "tables": described(stored),
        },
        "source_of": {"table": "tables" if has_tables else "benchmark", "text": "benchmark", "picture": "benchmark"},
        "left_out": left_out,
        "cells": stored,
    }
    read_table(answer)
    lines = ",\n".join(json.dumps(cell, separators=(",", ":")) for cell in answer.pop("cells"))
    head = json.dumps(answer, indent=1)[:-2]
    Path(given.out).write_text(f'{head},\n "cells": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(stored)} cells of {len({cell['data_set'] for cell in stored})} data sets, {len(titles)} learners")


def on_most(runs, left_out):
    """Runs of learners that most data sets have runs of; with the others in, hardly a cell would be comparable."""
    there = defaultdict(set)
    for run in runs:
        there[run["learner"]].add(run["cell"][1])
    sets = set().union(*there.values())
    few = {name for name, own in there.items() if len(own) < LEAST_COMPARED * len(sets)}
    for name in few:
        left_out[name] = f"its archived runs are on {len(there[name])} of {len(sets)} data sets"
    return [run for run in runs if run["learner"] not in few]


def from_summary(place, left_out):
    """Runs at the epoch of the learner's own criterion, labels at random; not those of methods that are others now."""
    import csv

    opened = gzip.open if place.suffix == ".gz" else open
    with opened(place, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            learner = row.get("learner") or row["method"]
            if row["selection"] != "own" or row["mechanism"] != "completely_at_random" or row["parameters"] != "{}":
                continue
            if row["family"] == "reference" or row["rows_used"] or row["dataset"] not in SIZES:
                continue
            if base_name(learner) != learner:  # advice is about learners with their defaults
                continue
            if row["needs_support"] == "1":
                left_out[learner] = "it is told true labels of a few rows, which PU data do not have"
                continue
            since, why = MENDED.get(learner, ("", ""))
            if row["finished"] < since:
                left_out[learner] = f"its archived runs are older than its mended version: {why}"
                continue
            rows, share = SIZES[row["dataset"]]
            labelled = round(float(row["label_frequency"]) * share * rows)
            if row["prior_policy"] != "known" or row["scenario"] != "case-control" or labelled < 2:
                continue
            yield {
                "learner": learner,
                "title": row["title"],
                "call": call_of(learner),
                "cell": ("benchmark", row["dataset"], row["kind"], "case-control", True, rows, labelled),
                "class_prior": share,
                "accuracy": float(row["accuracy"]),
            }


def call_of(learner):
    """What to write in Python."""
    from pulens import learners

    facts = learners.facts(learner)
    return f"{facts.learner.__name__}({'class_prior=...' if facts.takes_class_prior else ''})"


def from_tables(place):
    from pulens.learning.learners.advice.archived import KINDS

    for line in Path(place).read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if run["learner"] not in CALLS or "accuracy" not in run:  # told the truth, of other packages, failed
            continue
        learner, title, call = CALLS[run["learner"]]
        rows = min(run["rows"], int(0.65 * ROWS[run["table"]]))
        labelled = max(5, round(run["frequency"] * TYPICAL[run["table"]] * rows))
        yield {
            "learner": learner,
            "title": title,
            "call": call,
            "cell": ("tables", run["table"], KINDS[0], run["scenario"], run["prior"] == "known", rows, labelled),
            "class_prior": TYPICAL[run["table"]],
            "accuracy": run["accuracy"],
        }


# share of positives of each table, so that seeds of one condition fall into one cell
TYPICAL = {
    "spambase": 0.394,
    "grid_stability": 0.362,
    "letter": 0.497,
    "bank_marketing": 0.117,
    "pendigits": 0.312,
    "shuttle": 0.214,
    "page_blocks": 0.102,
    "wine_quality": 0.633,
    "landsat": 0.441,
    "avila": 0.411,
    "mushroom": 0.482,
    "connect4": 0.658,
    "pima": 0.349,
    "concrete": 0.476,
    "boston_housing": 0.413,
    "gas_drift_8of10": 0.445,
}


def priors_of(runs, cell):
    return next(run["class_prior"] for run in runs if run["cell"] == cell)


def comparable(cells):
    """Cells in which all learners of their source were run that have runs on most of its data sets."""
    kept = []
    for source in sorted({cell["source"] for cell in cells}):
        own = [cell for cell in cells if cell["source"] == source]
        learners = sorted({name for cell in own for name in cell["accuracy"]})
        sets = {cell["data_set"] for cell in own}
        there = {name: {cell["data_set"] for cell in own if name in cell["accuracy"]} for name in learners}
        everywhere = {name for name in learners if len(there[name]) >= LEAST_COMPARED * len(sets)}
        full = [cell for cell in own if everywhere <= set(cell["accuracy"])]
        kept += [{**cell, "accuracy": {n: v for n, v in cell["accuracy"].items() if n in everywhere}} for cell in full]
    return kept


def described(cells):
    own = [cell for cell in cells if cell["source"] == "tables"]
    scenarios = " and ".join(sorted({cell["scenario"] for cell in own}))
    known = " and ".join(sorted({"known" if cell["prior_known"] else "estimated" for cell in own}))
    seeds = [cell["seeds"] for cell in own] or [0]
    rows = [cell["rows"] for cell in own] or [0]
    counts = [cell["labelled"] for cell in own] or [0]
    return (
        f"{scenarios}, class prior {known}, {min(rows):,} to {max(rows):,} rows, {min(counts):,} to {max(counts):,} of "
        f"them labelled, {min(seeds)} to {max(seeds)} seeds, learners with their defaults"
    )


# regret


def regrets(table):
    """For each kind and data set the loss of every strategy, mean over the conditions of the data set."""
    result = defaultdict(dict)
    for kind in table.source_of:
        cells = table.of_kind(kind)
        for name in sorted({cell.data_set for cell in cells if cell.condition.kind == kind}):
            others = [cell for cell in cells if cell.data_set != name]
            own = [cell for cell in cells if cell.data_set == name and cell.condition.kind == kind]
            if any(cell.condition.kind == kind for cell in others):
                result[kind][name] = {
                    strategy: float(np.mean([one[strategy] for one in (strategies(cell, others) for cell in own)]))
                    for strategy in strategies(own[0], others)
                }
    return result


def strategies(cell, others):
    losses = cell.losses
    order = [one.learner for one in expected_losses(others, cell.condition) if one.learner in losses]
    threes = [min(losses[name] for name in three) for three in itertools.combinations(sorted(losses), 3)]
    missing = float("nan")
    return {
        "advice, its first": losses[order[0]],
        "advice, the best of its three": min(losses[name] for name in order[:3]),
        "always nnPU": losses.get("nnpu", missing),
        "always boosting (BoostedPU)": losses.get("boosted_pu", missing),
        "one at random": float(np.mean(list(losses.values()))),
        "the best of three at random": float(np.mean(threes)),
    }


def summary(by_data_set):
    result = {}
    for strategy in next(iter(by_data_set.values())):
        values = np.array([one[strategy] for one in by_data_set.values()])
        if np.isnan(values).any():
            result[strategy] = None
            continue
        mean, low, high = mean_and_interval(values)
        result[strategy] = {"mean": mean, "low": max(0.0, low), "high": high, "worst": float(values.max())}
    return result


def show(title, by_data_set):
    print(f"\n## {title}: {len(by_data_set)} data sets ({', '.join(by_data_set)})\n")
    print("| strategy | points of accuracy lost, mean | 95% interval | worst data set |")
    print("| --- | --- | --- | --- |")
    for strategy, one in summary(by_data_set).items():
        if one is None:
            print(f"| {strategy} | not archived | | |")
        else:
            print(
                f"| {strategy} | {100 * one['mean']:.1f} | {100 * one['low']:.1f} to {100 * one['high']:.1f} | "
                f"{100 * one['worst']:.1f} |"
            )
    first = np.array([one["advice, its first"] for one in by_data_set.values()])
    for rival in ("always nnPU", "always boosting (BoostedPU)", "one at random"):
        values = np.array([one[rival] for one in by_data_set.values()])
        if not np.isnan(values).any():
            mean, low, high = mean_and_interval(values - first)
            print(f"\nadvice saves {100 * mean:.1f} ({100 * low:.1f} to {100 * high:.1f}) points against {rival}")


def coverage(draws=4000):
    """How often the interval holds the mean when losses of data sets are exponential, the skewed kind they are."""
    rng = np.random.default_rng(0)
    for n in (3, 5, 8, 16):
        ends = [mean_and_interval(values) for values in rng.exponential(size=(draws, n))]
        held = np.mean([low <= 1 <= high for _, low, high in ends])
        print(f"{n:>3} data sets: the 95% interval of the mean held it in {held:.1%} of {draws:,} draws")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="make the table from archived runs")
    parser.add_argument("--tables", nargs="*", default=[], help="runs of benchmarks/tables.py")
    keep = "take what was measured on tables from the table that comes with the package"
    parser.add_argument("--keep-tables", action="store_true", help=keep)
    parser.add_argument("--summary", nargs="*", default=[], help="more summaries of archives")
    parser.add_argument("--out", default=str(TABLE))
    parser.add_argument("--json", help="write the regrets, data set by data set")
    parser.add_argument("--coverage", action="store_true", help="check the interval by simulation")
    given = parser.parse_args()
    if given.build:
        build(given)
    if given.coverage:
        coverage()
        return
    table = read_table(json.loads(Path(given.out).read_text(encoding="utf-8"))) if given.build else archived()
    result = regrets(table)
    for kind, by_data_set in result.items():
        show(kind, by_data_set)
    show("all kinds", {f"{name} ({kind})": one for kind, by in result.items() for name, one in by.items()})
    if given.json:
        Path(given.json).write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
