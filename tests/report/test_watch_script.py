"""The page of a watch and Python find the same numbers at any class prior: node runs the page's script."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from page_scripts import answers_of
from pulens.counts.tally import Tally
from pulens.report.watch_live import live_data

METRICS = ("prior", "precision", "recall", "f1")
DRIVER = """
const watchLive = require(process.argv[1] + "/watch_live.js");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const at = ({ live, size, prior }) => watchLive.of(live, size)(watchLive.nearest(live.priors, prior));
console.log(JSON.stringify(cases.map(at)));
"""


def rows(rng, share, n=400, positives_at=1.5):
    positive = rng.random(n) < share
    labels = (positive & (rng.random(n) < 0.3)).astype(int)
    return Tally.from_arrays(labels, np.round(rng.normal(positive * positives_at), 2))


@pytest.fixture(scope="module")
def windows():
    rng = np.random.default_rng(0)
    shares = [0.2, 0.45, 0.05, 0.9, 0.0, 0.2]
    usual = {f"w{place}": rows(rng, share) for place, share in enumerate(shares)}
    return usual | {"w6": rows(rng, 0.2, 35), "w7": Tally.from_arrays(np.zeros(50, int), np.full(50, -1.0))}


@pytest.fixture(scope="module")
def reference():
    rng = np.random.default_rng(1)
    return {f"r{place:02d}": rows(rng, 0.2) for place in range(8)}


OPTIONS = {
    "single set": {},
    "random labels": {"labelling": "random"},
    "a factor": {"labelling": 3},
    "case-control": {"scenario": "case-control"},
    "label noise": {"label_noise": 0.1},
    "no threshold": {"threshold": None},
    "confidence": {"confidence": 0.8},
}


def agrees(said, python):
    """How many numbers of a page are those of a watch; all of them must be."""
    checked = 0
    for place, window in enumerate(python.windows.values()):
        for name in METRICS:
            truth = getattr(window, name)
            if truth is None or truth.undefined_because or truth.basis == "possible worlds":
                continue
            ends = (truth.value, truth.interval.low, truth.interval.high)
            assert said["values"][name][place] == pytest.approx(ends, abs=2e-5)
            checked += 1
    return checked


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_numbers_at_another_class_prior_are_those_of_python(reference, windows, options):
    given = {"threshold": 0.8} | options
    live = live_data(pulens.watch(reference, windows, class_prior=0.2, **given))
    assert 0.2 in live["priors"]
    checked = 0
    priors = [live["priors"][place] for place in (1, 4, 7, 10)]
    cases = [{"live": live, "size": len(windows), "prior": prior * 1.001} for prior in priors]
    for said, prior in zip(answers_of(DRIVER, cases), priors, strict=True):
        assert said["prior"] == prior
        checked += agrees(said, pulens.watch(reference, windows, class_prior=prior, **given))
    assert checked > 15


@pytest.mark.parametrize("options", [{}, {"positives": "window"}])
def test_windows_that_their_own_positives_judge_have_the_same_numbers_too(reference, options):
    rng = np.random.default_rng(2)
    moved = {f"w{place:02d}": rows(rng, 0.2, 2000, positives_at=0.2) for place in range(6)}
    given = {"threshold": 0.8, "labels_lag": 1, "labelling": "random", **options}
    home = pulens.watch(reference, moved, class_prior=0.2, **given)
    assert any(window.positives == "window" for window in home.windows.values())
    live = live_data(home)
    prior = live["priors"][-2]
    (said,) = answers_of(DRIVER, [{"live": live, "size": len(moved), "prior": prior}])
    assert agrees(said, pulens.watch(reference, moved, class_prior=prior, **given)) > 10


def test_a_watch_without_a_class_prior_has_nothing_to_move(reference, windows):
    assert live_data(pulens.watch(reference, windows, threshold=0.8)) is None
