"""Kill the runner of a small benchmark at random moments, again and again, and compare with an undisturbed run.

    python benchmarks/faults.py --kills 30
    python benchmarks/faults.py --kills 30 --runners 2 --jobs 2      # two runners at once, each with two workers

Each runner is a process of its own, with Python's and PyTorch's start, and is killed with SIGKILL.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pulens.research.benchmark.archive import differences, read


def command(folder: Path, jobs: int) -> list[str]:
    return [sys.executable, "-m", "pulens", "bench", "run", "smoke", "--archive", str(folder), "--jobs", str(jobs)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--runners", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as place:
        whole, folder = Path(place) / "undisturbed", Path(place) / "disturbed"
        started = time.monotonic()
        subprocess.run(command(whole, given.jobs), check=True)
        usual = time.monotonic() - started
        kills = lost = 0
        while kills < given.kills:
            runners = [
                subprocess.Popen(command(folder, given.jobs), stdout=subprocess.DEVNULL) for _ in range(given.runners)
            ]
            time.sleep(chance.uniform(0.2, 1.0) * usual)
            for runner in runners:
                if runner.poll() is None:
                    os.kill(runner.pid, signal.SIGKILL)
                    kills += 1
                runner.wait()
            files = sorted((folder / "runs").glob("*.parquet"))
            print(f"{kills} kills, {len(files)} files", flush=True)
            if sum(1 for _ in files) and all(runner.returncode == 0 for runner in runners):
                for path in chance.sample(files, min(4, len(files))):  # done too early: give it work again
                    path.unlink()
                    lost += 1
        subprocess.run(command(folder, given.jobs), check=True)
        found = differences(read(whole), read(folder))
        print(f"{kills} kills, {lost} files thrown away: {'the archives are equal' if not found else found[:5]}")
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
