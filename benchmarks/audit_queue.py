"""A queue of 200 rows out of 50 million in a Parquet file: how long it takes, and how much memory.

    python benchmarks/audit_queue.py              # 50 million rows: about 900 MB in a temporary folder
    python benchmarks/audit_queue.py 1000000      # or so many

Each plan runs in a process of its own, which reports its peak memory. With an id column DuckDB counts and draws;
without one DuckDB counts, and rows are drawn by their numbers while the file streams by. Goal: a minute and 1 GB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = 50_000_000
BLOCK = 1_000_000
PLAN = """
import json, resource, sys, time
import pulens
start = time.perf_counter()
plan = pulens.plan_audit(sys.argv[1], budget=200, threshold=0.9, id=sys.argv[2] or None)
plan.write(sys.argv[3])
took = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
print(json.dumps({"seconds": took, "processor": used, "megabytes": peak, "rows": len(plan.rows)}))
"""


def write(path: Path, rows: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    kinds = [("score", pa.float64()), ("label", pa.int8()), ("case", pa.int64())]
    with pa.parquet.ParquetWriter(path, pa.schema(kinds)) as writer:
        for begin in range(0, rows, BLOCK):
            size = min(BLOCK, rows - begin)
            positive = rng.random(size) < 0.02
            score = 1 / (1 + np.exp(-rng.normal(4.0 * positive - 2.0)))
            label = (positive & (rng.random(size) < 0.1)).astype(np.int8)
            case = np.arange(begin, begin + size) * 7 + 3
            writer.write_table(pa.table([score, label, case], names=["score", "label", "case"]))


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory(prefix="pulens-") as folder:
        path = Path(folder, "scores.parquet")
        start = time.perf_counter()
        write(path, rows)
        made = time.perf_counter() - start
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB, written in {made:.0f} s")
        for name, id in (("by id, drawn in DuckDB", "case"), ("by row number", "")):
            queue = str(Path(folder, "queue.csv"))
            call = [sys.executable, "-c", PLAN, str(path), id, queue]
            result = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
            print(
                f"{name:<24} {result['rows']} rows in {result['seconds']:6.1f} s "
                f"({result['processor']:.0f} s of processor), peak memory {result['megabytes']:,.0f} MB"
            )


if __name__ == "__main__":
    main()
