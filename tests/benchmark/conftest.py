"""Shared by the benchmark's tests: the smoke protocol, run once undisturbed."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the benchmark trains networks: pip install 'pulens[torch]'")
pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")

from torch_threads import one_thread  # noqa: F401


@pytest.fixture(scope="session")
def smoke():
    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import load_protocol

    return expand(load_protocol("smoke"))


@pytest.fixture(scope="session")
def undisturbed(smoke, tmp_path_factory):
    """The archive of an ordinary run of the smoke protocol."""
    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.run import run_plan

    folder = tmp_path_factory.mktemp("undisturbed") / "archive"
    summary = run_plan(smoke, folder)
    assert (summary.done, summary.failed, summary.left) == (20, 0, 0)
    return read(folder)
