"""Two years of daily windows from one Parquet file, counted by DuckDB where it lies: seconds and memory.

    python benchmarks/watch_rows.py [--rows 50_000_000] [--decimals 4]

The file (a time, a score, a label; some 20 bytes a row) is made first, in a folder that is removed at the end. Scores
have so many decimals; --decimals 17 keeps every bit of them, so that nearly every row has a score of its own.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import duckdb

import pulens

MADE = """
COPY (
    SELECT
        TIMESTAMP '2024-01-01' + to_microseconds(CAST(random() * 760 * 86400 * 1e6 AS BIGINT)) AS scored_at,
        round(1 / (1 + exp(1.5 - 2.2 * CAST(positive AS INT) - 1.3 * sqrt(-2 * ln(1 - u)) * cos(6.2831853 * v))),
            {decimals}) AS score,
        CAST(positive AND w < 0.3 AS TINYINT) AS label
    FROM (SELECT random() < 0.05 AS positive, random() AS u, random() AS v, random() AS w FROM range({rows}))
) TO '{path}' (FORMAT parquet)
"""


def made(path: Path, rows: int, decimals: int) -> None:
    with duckdb.connect(config={"memory_limit": "2GB"}) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(MADE.format(path=path, rows=rows, decimals=decimals))


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--decimals", type=int, default=4)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read is None:
        import subprocess

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scores.parquet"
            made(path, given.rows, given.decimals)
            print(f"{given.rows:,} rows in {path.stat().st_size / 2**20:,.0f} MB, scores of {given.decimals} decimals")
            sys.exit(subprocess.run([sys.executable, __file__, "--read", str(path)], check=False).returncode)
    before, begin, used = memory(), time.perf_counter(), time.process_time()
    found = pulens.watch(
        str(given.read), time="scored_at", by="day", reference_until="2024-01-30", class_prior=0.05, threshold=0.5
    )
    told = found.status, len(found.windows)
    print(
        f"{told[1]} windows, {told[0]}: {time.perf_counter() - begin:.1f} s ({time.process_time() - used:.1f} s of "
        f"processor), {memory():,.0f} MB at most ({before:,.0f} MB before reading)"
    )
