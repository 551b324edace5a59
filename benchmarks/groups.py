"""Groups, cells of labelling and rows that belong together: every study, one after the other.

    python benchmarks/groups.py                    all of them, as the documentation quotes them (hours)
    python benchmarks/groups.py --quick            the same with few sets: does each run, and is it near?
    python benchmarks/groups.py --only clusters    those whose command holds this word

Each study is a script of its own (``groups_cells.py``, ``groups_gaps.py``, ``groups_clusters.py``,
``groups_together.py``) and can be run alone; what each prints says what it measured. Files that a study needs are given
with ``--data``, a folder that holds ``bank_marketing.parquet`` and ``newsgroups20_text.parquet``; without it studies on
real rows are left out, and that is said.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
BANK = "DATA/bank_marketing.parquet"
#: script, words for a full run, words for a quick one; DATA stands for the folder of real tables
STUDIES = (
    ("cells", "known --sets 300", "known --sets 10"),
    ("cells", "estimated --sets 60", "estimated --sets 2"),
    ("cells", "f1 --sets 300", "f1 --sets 10"),
    ("cells", "clusters --sets 200", "clusters --sets 5"),
    ("cells", f"bank --sets 20 --which {BANK}", f"bank --sets 1 --which {BANK}"),
    ("gaps", "--sets 600", "--sets 20"),
    ("gaps", f"--only bank --bank {BANK} --labellings 500", f"--only bank --bank {BANK} --labellings 20"),
    ("gaps", "--only clusters --sets 300", "--only clusters --sets 10"),
    ("clusters", "coverage 120", "coverage 5"),
    ("clusters", "chosen 60", "chosen 2"),
    ("clusters", "prior 40", "prior 1"),
    ("clusters", "writers 200 DATA", "writers 5 DATA"),
    ("clusters", "obuchowski", "obuchowski"),
    ("clusters", "duckdb 100000000", "duckdb 1000000"),
    ("together", "calibrate", "calibrate --sets 2"),
    ("together", "compare", "compare --sets 2"),
    ("together", "decide", "decide --sets 2"),
    ("together", "reviews", "reviews --sets 2"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few sets of each")
    parser.add_argument("--only", default="", help="studies whose command holds this word")
    parser.add_argument("--data", type=Path, help="folder of real tables")
    asked = parser.parse_args()
    failed = []
    for script, full, quick in STUDIES:
        words = quick if asked.quick else full
        command = f"groups_{script}.py {words}"
        if asked.only not in command:
            continue
        if "DATA" in words and asked.data is None:
            sys.stdout.write(f"\n== {command}: left out, --data was not given\n")
            continue
        sys.stdout.write(f"\n== {command}\n")
        sys.stdout.flush()
        given = words.replace("DATA", str(asked.data)).split()
        began = time.monotonic()
        ended = subprocess.run([sys.executable, str(HERE / f"groups_{script}.py"), *given], check=False)
        sys.stdout.write(f"-- {time.monotonic() - began:.0f} s, exit code {ended.returncode}\n")
        failed += [command] if ended.returncode else []
    if failed:
        sys.exit(f"failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
