"""Put new runs into a summary of an archive, such as the one in the package.

pulens bench report ARCHIVE --summary new.csv.gz                       # of the new runs
python benchmarks/widen_summary.py new.csv.gz other.csv.gz             # into the package's own
python benchmarks/widen_summary.py new.csv.gz --into summary.csv.gz

Two versions of a learner (``variant`` of a protocol) have names of their own and stay beside each other. All lines of a
learner on a data set under a mechanism and a label frequency are replaced by the new ones, whatever
their seeds: runs of different versions of a learner are never mixed in a mean. With ``--only-new`` what is there
already stays instead: three new seeds are no gain where ten old ones of the same learner are. With ``--more-seeds`` new
seeds join old ones of the same settings; runs of other settings replace them as ever. Afterwards come
``advise.py --build --keep-tables`` for the advice, ``pulens reproduce bench-table-1 bench-figure-5 bench-figure-6`` for
the pictures of the docs, and the tables of ``learners_measured.md`` and ``choosing.md`` in
``docs/research``, which tests compare
with the summary.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from pathlib import Path

import pulens
from pulens.research.benchmark.archive.summary import COLUMNS, packed

OWN = Path(pulens.__file__).parent / "research" / "benchmark" / "summary.csv.gz"
CONDITION = ("learner", "dataset", "mechanism", "label_frequency")


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def condition(line):
    return tuple(line[name] for name in CONDITION)


def runs(result):
    return len({(*condition(line), line["seed"]) for line in result})


def with_macro_f1(line):
    """A line with macro-F1, which lines older than that metric lack: accuracy, precision and recall imply it.

    As shares of rows: TP = r c, FP = TP (1 - p) / p, FN = (1 - r) c with c = (1 - a) / (r (1 - p) / p + 1 - r).
    """
    given = [float(line[name]) if line[name] else None for name in ("accuracy", "precision", "recall")]
    accuracy, precision, recall = given
    if line.get("macro_f1") or accuracy is None or recall is None or (recall > 0 and not precision):
        return line
    wrong = recall * (1 - precision) / precision + 1 - recall if recall else 1.0
    if accuracy == 1:
        return line | {"macro_f1": "1"}
    if not recall and precision is not None:  # the share of positives cannot be told
        return line
    share = (1 - accuracy) / wrong
    hits, alarms = recall * share, recall * share * (1 - precision) / precision if recall else 0.0
    missed, rest = share - hits, 1 - share - alarms
    result = (
        (hits / (2 * hits + alarms + missed) + rest / (2 * rest + alarms + missed)) if 2 * rest + alarms + missed else 0
    )
    return line | {"macro_f1": f"{result:.6g}"}


def widened(old, new, only_new=False, more_seeds=False):
    """The old lines and the new ones, of a condition only one of the two, in one order whatever came first."""
    if only_new:
        old, new = new, old
    replaced = {condition(line) for line in new}
    versions = {(condition(line), line["settings"]) for line in new}
    seeds = {(condition(line), line["seed"]) for line in new}

    def joins(line):
        same = (condition(line), line["settings"]) in versions and (condition(line), line["seed"]) not in seeds
        return more_seeds and bool(line["settings"]) and same

    kept = [line for line in old if condition(line) not in replaced or joins(line)]
    return sorted(kept + new, key=lambda line: (line["selection"], *condition(line), int(line["seed"])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("new", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, default=OWN)
    parser.add_argument("--only-new", action="store_true", help="keep what is there of conditions that both have")
    parser.add_argument("--more-seeds", action="store_true", help="new seeds join old ones of the same settings")
    given = parser.parse_args()
    result = lines(given.into)
    for path in given.new:
        new = lines(path)
        wider = widened(result, new, given.only_new, given.more_seeds)
        gone = len(result) + len(new) - len(wider)
        print(f"{path}: {runs(new):,} runs; {gone:,} lines left out, {runs(result):,} runs before, {runs(wider):,} now")
        result = wider
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(with_macro_f1(line) for line in result)
    given.into.write_bytes(packed(text.getvalue()))


if __name__ == "__main__":
    main()
