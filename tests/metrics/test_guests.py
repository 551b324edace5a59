"""Installed packages bring metrics; a package that cannot is named in the error."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pulens.catalogue import load_guests
from pulens.errors import PulensError
from pulens.metrics import Metric

GUEST = """
from pulens.metrics import Metric, divide

def false_discovery_rate(table):
    return divide(table.false_positive, table.predicted_positive)

METRIC = Metric(false_discovery_rate, "Share of the flagged that is negative", undefined_because="nothing is flagged")
NUMBER = 7
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Pretend that a package with one module and one entry point is installed."""

    def into(entry: str, source: str = GUEST) -> None:
        about = tmp_path / "guest-0.1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 0.1\n")
        (about / "entry_points.txt").write_text(f"[pulens.metrics]\n{entry}\n")
        (tmp_path / "guest_of_pulens.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)

    yield into
    sys.modules.pop("guest_of_pulens", None)


def load(taken=()):
    return load_guests("pulens.metrics", Metric, taken)


def test_a_package_brings_a_metric(install):
    install("false_discovery_rate = guest_of_pulens:METRIC")
    assert load()["false_discovery_rate"].summary == "Share of the flagged that is negative"


def test_a_metric_of_a_package_is_one_of_the_metrics(install, tmp_path):
    install("false_discovery_rate = guest_of_pulens:METRIC")
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pulens\n"
        "labels, scores = [1, 1, 0, 0, 0], [5, 3, 4, 2, 1]\n"
        "one = pulens.metrics.false_discovery_rate(labels, scores, class_prior=0.5, threshold=3)\n"
        "found = pulens.evaluate(labels, scores, class_prior=0.5, threshold=3, confidence=None, labelling='random')\n"
        "assert found.estimates['false_discovery_rate'].value == one.value\n"
        "print('False discovery rate' in found.explain(), len(found.to_html()) > 10_000)\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert said.stdout == "True True\n", said.stderr


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("recall = guest_of_pulens:METRIC", "package 'guest' brings 'recall' .* where there is one already"),
        ("mine = guest_of_pulens:NOWHERE", "cannot be loaded: AttributeError.*Upgrade or uninstall"),
        ("mine = nowhere_at_all:METRIC", "cannot be loaded: ModuleNotFoundError"),
        ("mine = guest_of_pulens:NUMBER", "must be a Metric, got int"),
        ("my-metric = guest_of_pulens:METRIC", "'my-metric' cannot be a name"),
    ],
)
def test_a_package_that_cannot_is_named(install, entry, complaint):
    install(entry)
    with pytest.raises(PulensError, match=complaint):
        load(taken=("recall",))
