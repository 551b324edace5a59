"""A table of many segments, beside a loop that filters the rows of each and evaluates them; both in this process.

CPU time of all threads, so that a busy machine does not change the ratio. The loop is timed on a few segments.
Usage: python benchmarks/segments.py [--segments 1000] [--rows 1000] [--loops 20] [--estimated 100]
       python benchmarks/segments.py --many 1000 --many 10000 --many 100000 [--rows 100]

With ``--many`` so many segments are read from a Parquet file, beside the road that takes one after another, which is
timed on a part; the peak of memory is that of the process, so give one number at a time to know it for each.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from typing import Any

import numpy as np
import polars

import pulens

SHARED = {"scenario": "single-set", "threshold": 1.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1000, help="rows of each segment")
    parser.add_argument("--many", type=int, action="append", help="segments read from Parquet; again for more sizes")
    parser.add_argument("--loops", type=int, default=20, help="segments that the loop evaluates")
    parser.add_argument("--estimated", type=int, default=100, help="segments whose class prior is estimated")
    asked = parser.parse_args()
    if asked.many:
        for many in asked.many:
            time_together(many, 100 if asked.rows == 1000 else asked.rows)
        return
    rng = np.random.default_rng(0)
    prior = rng.uniform(0.1, 0.4, asked.segments)
    segment = np.repeat(np.arange(asked.segments), asked.rows)
    positive = rng.random(segment.size) < prior[segment]
    labels = (positive & (rng.random(segment.size) < 0.3)).astype(int)
    table = polars.DataFrame({"score": rng.normal(1.5 * positive), "label": labels, "segment": segment})
    pulens.evaluate_by(table.head(2 * asked.rows), "segment", class_prior=0.25, **SHARED)  # imports

    def timed(name: str, many: int, **options: Any) -> float:
        part = table.head(many * asked.rows)
        started = time.process_time()
        result = pulens.evaluate_by(part, "segment", **{**SHARED, **options})
        text = str(result)
        spent = time.process_time() - started
        print(f"{name:<48}{spent:8.2f} s  {1000 * spent / many:7.2f} ms each  {text.count(chr(10)):,} lines")
        return spent / many

    print(f"{asked.segments:,} segments of {asked.rows:,} rows, the table printed")
    each = dict(enumerate(prior.tolist()))
    given = timed("class priors given", asked.segments, class_prior=each)
    timed("the same, one threshold chosen on all rows", asked.segments, class_prior=each, threshold=None)
    timed("class priors implied", asked.segments, class_prior=float(prior.mean()))
    timed(f"class priors estimated ({asked.estimated} segments)", asked.estimated)

    started = time.process_time()
    for place in range(asked.loops):
        rows = table.filter(polars.col("segment") == place)
        str(pulens.evaluate(rows, class_prior=float(prior[place]), **SHARED, labelling="random"))
    loop = (time.process_time() - started) / asked.loops
    name = "a loop of pulens.evaluate over filtered rows"
    print(f"{name:<48}{loop * asked.segments:8.2f} s  {1000 * loop:7.2f} ms each")
    print(f"the loop takes {loop / given:.0f} times as long")


def time_together(many: int, rows: int, part: int = 200) -> None:
    """All segments of a Parquet file together, and some of them one by one."""
    rng = np.random.default_rng(0)
    prior = rng.uniform(0.1, 0.4, many)
    segment = np.repeat(np.arange(many), rows)
    positive = rng.random(segment.size) < prior[segment]
    labels = (positive & (rng.random(segment.size) < 0.3)).astype(np.int8)
    table = polars.DataFrame(
        {"score": rng.normal(1.5 * positive), "label": labels, "segment": segment, "prior": prior[segment]}
    )
    few = table.head(part * rows)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        table.write_parquet(path)
        del table, segment, positive, labels
        print(f"{many:,} segments of {rows:,} rows from Parquet")
        for name, options in {
            "implied": {"class_prior": 0.25},
            "given": {"class_prior_column": "prior"},
        }.items():
            began, wall = time.process_time(), time.perf_counter()
            str(pulens.evaluate_by(path, "segment", scenario="single-set", **options))
            spent, wall = time.process_time() - began, time.perf_counter() - wall
            began = time.process_time()
            pulens.evaluate_by(few, "segment", scenario="single-set", one_by_one=True, **options)
            alone = (time.process_time() - began) / min(part, many) * many
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"  class priors {name:<8} {spent:8.1f} s of processor, {wall:.1f} s in all, peak {peak:,.0f} MB; "
                f"one by one {alone:,.0f} s, {alone / spent:.0f} times as long"
            )


if __name__ == "__main__":
    main()
