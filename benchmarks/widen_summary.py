"""Put new runs into a summary of an archive, such as the one in the package.

pulens bench report ARCHIVE --summary new.csv.gz                       # of the new runs
python benchmarks/widen_summary.py new.csv.gz other.csv.gz             # into the package's own
python benchmarks/widen_summary.py new.csv.gz --into summary.csv.gz

All lines of a learner on a data set under a mechanism and a label frequency are replaced by the new ones, whatever
their seeds: runs of different versions of a learner are never mixed in a mean. With ``--only-new`` what is there
already stays instead: three new seeds are no gain where ten old ones of the same learner are. Afterwards come
``advise.py --build --keep-tables`` for the advice, ``pulens reproduce bench-table-1 bench-figure-5 bench-figure-6`` for
the pictures of the docs, and the tables of ``docs/learners_measured.md`` and ``docs/choosing.md``, which tests compare
with the summary.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from pathlib import Path

import pulens
from pulens.benchmark.archive.summary import COLUMNS, packed

OWN = Path(pulens.__file__).parent / "benchmark" / "summary.csv.gz"
CONDITION = ("learner", "dataset", "mechanism", "label_frequency")


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def condition(line):
    return tuple(line[name] for name in CONDITION)


def runs(found):
    return len({(*condition(line), line["seed"]) for line in found})


def widened(old, new, only_new):
    """The old lines and the new ones, of a condition only one of the two, in one order whatever came first."""
    if only_new:
        old, new = new, old
    replaced = {condition(line) for line in new}
    kept = [line for line in old if condition(line) not in replaced]
    return sorted(kept + new, key=lambda line: (line["selection"], *condition(line), int(line["seed"])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("new", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, default=OWN)
    parser.add_argument("--only-new", action="store_true", help="keep what is there of conditions that both have")
    given = parser.parse_args()
    found = lines(given.into)
    for path in given.new:
        new = lines(path)
        wider = widened(found, new, given.only_new)
        gone = len(found) + len(new) - len(wider)
        print(f"{path}: {runs(new):,} runs; {gone:,} lines left out, {runs(found):,} runs before, {runs(wider):,} now")
        found = wider
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(found)
    given.into.write_bytes(packed(text.getvalue()))


if __name__ == "__main__":
    main()
