"""Shared by the benchmark's tests: the smoke protocol, run once undisturbed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the benchmark trains networks: pip install 'pulens[torch]'")
pytest.importorskip("pyarrow", reason="the archive is Parquet: pip install 'pulens[bench]'")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Tiny tensors; also, results must not depend on how many cores a machine has."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def smoke():
    from pulens.benchmark.plan import expand
    from pulens.benchmark.protocol import load_protocol

    return expand(load_protocol("smoke"))


@pytest.fixture(scope="session")
def undisturbed(smoke, tmp_path_factory):
    """The archive of an ordinary run of the smoke protocol."""
    from pulens.benchmark.archive import read
    from pulens.benchmark.run import run_plan

    folder = tmp_path_factory.mktemp("undisturbed") / "archive"
    summary = run_plan(smoke, folder)
    assert (summary.done, summary.failed, summary.left) == (20, 0, 0)
    return read(folder)
