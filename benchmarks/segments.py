"""A table of many segments, beside a loop that filters the rows of each and evaluates them; both in this process.

CPU time of all threads, so that a busy machine does not change the ratio. The loop is timed on a few segments.
Usage: python benchmarks/segments.py [--segments 1000] [--rows 1000] [--loops 20] [--estimated 100]
"""

from __future__ import annotations

import argparse
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
    parser.add_argument("--loops", type=int, default=20, help="segments that the loop evaluates")
    parser.add_argument("--estimated", type=int, default=100, help="segments whose class prior is estimated")
    asked = parser.parse_args()
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
        found = pulens.evaluate_by(part, "segment", **{**SHARED, **options})
        text = str(found)
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
        str(pulens.evaluate(rows, class_prior=float(prior[place]), **SHARED))
    loop = (time.process_time() - started) / asked.loops
    name = "a loop of pulens.evaluate over filtered rows"
    print(f"{name:<48}{loop * asked.segments:8.2f} s  {1000 * loop:7.2f} ms each")
    print(f"the loop takes {loop / given:.0f} times as long")


if __name__ == "__main__":
    main()
