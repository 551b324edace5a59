"""From ten million rows in memory to fifty million in files, beside scikit-learn, pulearn and local PySpark.

    python benchmarks/scale.py [--only memory,growth,duckdb,spark] [--rows 50000000]

memory   10 million rows: pulens, scikit-learn and pulearn (from the registry, in a virtual environment of its own)
growth   CPU seconds from 1e5 to 1e8 rows in memory, and their exponent
duckdb   Parquet files through DuckDB: seconds and peak memory of the whole process
spark    the same files through local PySpark: seconds and peak memory of all its processes

CPU seconds are given beside wall seconds, since other work on the machine lengthens only the latter. Files are
written to a temporary folder and deleted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

PRIOR = 0.1
CHUNK = 5_000_000


def draw(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and continuous scores between 0 and 1; six rows in a hundred are labelled."""
    rng = np.random.default_rng(seed)
    positive = rng.random(count) < 0.15
    labels = (positive & (rng.random(count) < 0.4)).astype(np.int8)
    return labels, 1 / (1 + np.exp(-rng.normal(positive * 1.5 - 1)))


def write_files(folder: Path, rows: int) -> dict[str, Path]:
    """The same rows twice: scores in full, and rounded to four digits."""
    import pyarrow as pa
    import pyarrow.parquet

    schema = pa.schema([("score", pa.float64()), ("label", pa.int8())])
    paths = {name: folder / f"{name}.parquet" for name in ("continuous", "rounded")}
    writers = {name: pa.parquet.ParquetWriter(path, schema) for name, path in paths.items()}
    for seed, start in enumerate(range(0, rows, CHUNK)):
        labels, scores = draw(min(CHUNK, rows - start), seed)
        for name, values in (("continuous", scores), ("rounded", np.round(scores, 4))):
            writers[name].write_table(pa.table({"score": values, "label": labels}, schema=schema))
    for writer in writers.values():
        writer.close()
    return paths


def best_of(rounds: int, work) -> tuple[float, float, object]:
    walls, cpus, answer = [], [], None
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus), answer


def areas(tally) -> tuple[float, float]:
    from pulens.curves import precision_recall_areas
    from pulens.recovery import direct_roc_auc
    from pulens.recovery.assumptions import Assumptions
    from pulens.scenario import Scenario

    assumptions = Assumptions(PRIOR, scenario=Scenario.CASE_CONTROL)
    return direct_roc_auc(tally, assumptions), precision_recall_areas(tally, assumptions).average_precision


def count_and_measure(labels, scores) -> tuple[float, float]:
    from pulens.inputs import read_tally

    return areas(read_tally(labels, scores))


# --- rows in memory ---------------------------------------------------------------------------------------------


def memory(rows: int, folder: Path) -> None:
    from sklearn.metrics import average_precision_score, roc_auc_score

    labels, scores = draw(rows)
    print(f"{rows:,} rows in memory: ROC AUC and average precision, checks included")
    alone = os.environ.get("PULENS_THREADS")
    os.environ["PULENS_THREADS"] = "1"
    single = best_of(3, lambda: count_and_measure(labels, scores))
    os.environ["PULENS_THREADS"] = alone or ""
    ours = best_of(3, lambda: count_and_measure(labels, scores))
    float32 = scores.astype(np.float32)
    half = best_of(3, lambda: count_and_measure(labels, float32))
    peer = best_of(1, lambda: (roc_auc_score(labels, scores), average_precision_score(labels, scores)))
    show("pulens, recovered, one core", single)
    show("pulens, recovered, all cores", ours)
    show("pulens, float32, all cores", half)
    show("scikit-learn, uncorrected", peer, ours)
    pulearn(folder, labels, scores, ours)


PULEARN = """
import json, sys, time
import numpy as np
from pulearn.metrics import pu_average_precision_score, pu_roc_auc_score
labels, scores = np.load(sys.argv[1]), np.load(sys.argv[2])
wall, cpu = time.perf_counter(), time.process_time()
found = pu_roc_auc_score(labels, scores, pi=float(sys.argv[3])), \\
    pu_average_precision_score(labels, scores, pi=float(sys.argv[3]))
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu, [float(value) for value in found]]))
"""


def pulearn(folder: Path, labels, scores, ours) -> None:
    python = folder / "pulearn" / "bin" / "python"
    try:
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True, capture_output=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "pulearn"], check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        print(f"  pulearn could not be installed: {error.stderr.decode()[-200:]}")
        return
    np.save(folder / "labels.npy", labels)
    np.save(folder / "scores.npy", scores)
    command = [python, "-W", "ignore", "-c", PULEARN, folder / "labels.npy", folder / "scores.npy", str(PRIOR)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"  pulearn failed: {done.stderr[-300:]}")
        return
    show("pulearn, corrected (its own process)", tuple(json.loads(done.stdout)), ours)


def show(name: str, measured, ours=None) -> None:
    wall, cpu, (auc, precision) = measured
    ratio = (
        "" if ours is None else f"   pulens takes {ours[1] / cpu:.2f} of its CPU, is {cpu / ours[1]:.1f} times faster"
    )
    print(f"  {name:<38}{wall:8.2f} s{cpu:8.2f} s CPU   AUC {auc:.6f}  AP {precision:.6f}{ratio}")


def growth(largest: int) -> None:
    print("\ngrowth in memory, CPU seconds (one core)")
    os.environ["PULENS_THREADS"] = "1"
    sizes = [size for size in (10**5, 10**6, 10**7, 10**8) if size <= largest]
    times = []
    for size in sizes:
        labels, scores = draw(size)
        rounds = max(2, min(20, 10**7 // size))
        times.append(best_of(rounds, lambda rows=(labels, scores): count_and_measure(*rows))[1])
        print(f"  {size:>12,} rows {times[-1]:9.3f} s   {1e9 * times[-1] / size:6.1f} ns a row")
    os.environ.pop("PULENS_THREADS")
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    ends = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
    print(f"  exponent {exponent:.3f} (fitted), {ends:.3f} (first to last); target: below 1.1")


# --- rows in files ----------------------------------------------------------------------------------------------

CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from scale import areas
road, path, tolerance = sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
start, cpu = time.perf_counter(), time.process_time()
from pulens.recovery.assumptions import Assumptions
from pulens.inputs import read_tally
from pulens.recovery.binning_error import bin_errors
from pulens.scenario import Scenario
source, ready = path, start
if road == "spark":
    from pyspark.sql import SparkSession
    spark = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
        .config("spark.driver.memory", "2g").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    )
    source, ready = spark.read.parquet(path), time.perf_counter()
tally = read_tally(source, tolerance=tolerance)
found = areas(tally)
bounds = [float(errors.sum()) for errors in bin_errors(tally, Assumptions(0.1, scenario=Scenario.CASE_CONTROL))]
print(json.dumps({
    "wall": time.perf_counter() - start, "started": ready - start, "answer": found, "kept": len(tally),
    "rows": tally.totals.rows, "binned": tally.binning is not None, "bounds": bounds,
}))
"""


def in_a_child(road: str, path: Path, tolerance: float | None) -> dict:
    """Run one road in a process of its own and watch the memory of all processes it starts."""
    command = [sys.executable, "-W", "ignore", "-c", CHILD, str(Path(__file__).parent), road, str(path)]
    child = subprocess.Popen(
        [*command, json.dumps(tolerance)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            peak[0] = max(peak[0], resident(child.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    out, err = child.communicate()
    over.set()
    watcher.join()
    if child.returncode:
        raise SystemExit(f"{road} failed: {err[-2000:]}")
    import resource

    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    result = json.loads(out.splitlines()[-1])
    # the kernel's own record of the largest child so far is sharper than watching, for a single process
    return {**result, "peak": peak[0], "record": largest}


def resident(session: int) -> int:
    """Memory of all processes of a session, shared pages counted for each."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                total += int((entry / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            continue
    return total


def files(paths: dict[str, Path], road: str, runs: list[tuple[str, float | None]], rows: int) -> dict[str, float]:
    walls = {}
    for name, tolerance in runs:
        result = in_a_child(road, paths[name], tolerance)
        if result["rows"] != rows:
            raise SystemExit(f"{road} counted {result['rows']} rows of {rows}")
        asked = "default" if tolerance is None else f"tolerance {tolerance:g}"
        kept = f"{result['kept']:,} {'bins' if result['binned'] else 'distinct scores'}"
        bounds = " and ".join(f"{bound:.1g}" for bound in result["bounds"])
        started = f" (start-up {result['started']:.1f} s)" if road == "spark" else ""
        print(
            f"  {name:<11}{asked:<17}{result['wall']:7.1f} s{started}   peak {result['peak'] / 2**20:6,.0f} MiB\n"
            f"    {kept}, AUC {result['answer'][0]:.9f}  AP {result['answer'][1]:.9f}   (to {bounds})"
        )
        walls[f"{name} {asked}"] = result["wall"]
    return walls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="memory,growth,duckdb,spark")
    parser.add_argument("--rows", type=int, default=50_000_000, help="rows of the files")
    parser.add_argument("--memory-rows", type=int, default=10_000_000)
    parser.add_argument("--largest", type=int, default=10**8, help="largest size of the growth")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    with tempfile.TemporaryDirectory(prefix="pulens-scale-") as name:
        folder = Path(name)
        if "memory" in chosen:
            memory(arguments.memory_rows, folder)
        if "growth" in chosen:
            growth(arguments.largest)
        if not {"duckdb", "spark"} & set(chosen):
            return
        paths = write_files(folder, arguments.rows)
        sizes = ", ".join(f"{key} {path.stat().st_size / 2**20:,.0f} MiB" for key, path in paths.items())
        print(f"\n{arguments.rows:,} rows of Parquet ({sizes}), whole process with imports")
        walls = {}
        if "duckdb" in chosen:
            print("through DuckDB (target: peak below 1,500 MB, that is 1,430 MiB)")
            runs = [("rounded", None), ("continuous", 1e-4), ("continuous", 1e-6), ("continuous", None)]
            walls = files(paths, "duckdb", runs, arguments.rows)
        if "spark" in chosen:
            print("through local PySpark, two cores")
            spark = files(paths, "spark", [("rounded", None), ("continuous", 1e-4)], arguments.rows)
            for run in spark.keys() & walls.keys():
                print(f"  {run}: Spark takes {spark[run] / walls[run]:.1f} times as long as DuckDB")


if __name__ == "__main__":
    main()
