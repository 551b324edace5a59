"""The documentation's table of learners, from an archive of the conventional protocol, as Markdown.

python benchmarks/results_table.py ARCHIVE              # accuracy: own epoch (oracle's epoch) / published
python benchmarks/results_table.py ARCHIVE --metric f1
python benchmarks/results_table.py ARCHIVE --costs      # seconds and memory per run
"""

from __future__ import annotations

import argparse
from statistics import fmean

from pulens.benchmark import methods

from pulens.research.benchmark.archive import read
from pulens.research.benchmark.published import table_1

TITLES = {
    "spambase": "Spambase",
    "mushroom": "Mushroom",
    "newsgroups20": "20 Newsgroups",
    "imdb": "IMDb",
    "connect4": "Connect-4",
    "mnist": "MNIST",
    "fashion_mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
}
BASELINES = ("upu", "elkan_noto", "weighted_elkan_noto", "pu_bagging")  # not in paper 004's table


def gathered(archive, selection):
    found = {}
    for row in archive.results(selection):
        found.setdefault((row["learner"], row["dataset"]), []).append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--metric", default="accuracy")
    parser.add_argument("--costs", action="store_true")
    given = parser.parse_args()
    archive, published = read(given.archive), table_1()
    own, oracle = gathered(archive, "own"), gathered(archive, "oracle_f1")
    datasets = [name for name in TITLES if any(place[1] == name for place in own)]
    order = [name for name in (*methods.everything(), *BASELINES) if any(place[0] == name for place in own)]
    print("| | " + " | ".join(TITLES[name] for name in datasets) + " |")
    print("| --- |" + " --- |" * len(datasets))
    for method in order:
        cells = []
        for dataset in datasets:
            rows = own.get((method, dataset))
            if not rows:
                cells.append("")
                continue
            if given.costs:
                seconds = fmean(row["seconds"] for row in rows)
                memory = fmean(row["stack_peak_memory"] / row["stack_runs"] for row in rows)
                where = "" if str(rows[0]["device"]).startswith("cuda") else " (CPU)"
                cells.append(f"{seconds:.0f} s, {memory / 1e6:.0f} MB{where}")
                continue
            cell = f"{100 * fmean(row[given.metric] for row in rows):.1f}"
            best = oracle.get((method, dataset))
            if best and len({row["epochs"] for row in rows} | {1}) > 1:
                cell += f" ({100 * fmean(row[given.metric] for row in best):.1f})"
            beside = published.get((methods.plain(method), dataset))
            cells.append(cell + ("" if beside is None else f" / {beside.accuracy:.1f}"))
        print(f"| {methods.find(method).title} | " + " | ".join(cells) + " |")
    seeds = sorted({len(rows) for rows in own.values()})
    print(f"\nseeds per cell: {seeds}; runs: {len(archive.done)}; failed: {len(archive.failed)}")


if __name__ == "__main__":
    main()
