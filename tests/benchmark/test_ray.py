"""The same plan on a Ray cluster, one of its workers killed: the same archive."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from pulens.research.benchmark.archive import differences, read
from pulens.research.benchmark.run import Options, run_plan

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'pulens[ray]'")


@pytest.fixture(scope="module")
def cluster():
    """A local cluster of two workers; where none can start, the reason is told."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        except Exception as error:
            pytest.skip(f"no local Ray cluster can be started here: {error}")
    yield
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.everything(guards=("src/pulens/research/benchmark/on_ray.py", "tests/benchmark/test_ray.py"))
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_with_a_killed_worker_changes_nothing(smoke, undisturbed, tmp_path, cluster):
    folder = tmp_path / "archive"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_plan, smoke, folder, Options(ray="auto"))
        victim = None
        while victim is None and not running.done():
            busy = [process for process in workers() if seconds(process) > 1.0]  # importing PyTorch, or training
            victim = busy[0] if busy else None
            time.sleep(0.05)
        if victim is not None:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        summary = running.result()
    assert victim is not None
    assert (summary.done, summary.failed) == (20, 0)
    assert differences(undisturbed, read(folder)) == []


def workers() -> list[int]:
    """Processes in which our own cluster is doing one of our stacks."""
    result = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"ray::_do_there" in path.read_bytes() and os.getpid() in ancestors(int(path.parent.name)):
                result.append(int(path.parent.name))
    return result


def ancestors(process: int) -> list[int]:
    result = []
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        result.append(process)
    return result


def seconds(process: int) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0
