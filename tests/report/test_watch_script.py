"""The page of a watch and Python find the same numbers at any class prior: node runs the page's script."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from page_scripts import answers_of
from pulens.counts.tally import Tally
from pulens.report.watch_live import live_data, parts_table

METRICS = ("prior", "precision", "recall", "f1", "accuracy")
DRIVER = """
const rates = require(process.argv[1] + "/watch_rates.js");
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = cases.map(({ world, table, prior, metrics, own }) => {
  const parts = Float64Array.from(table.flat().map((x) => (x === null ? NaN : x)));
  for (const [k, one] of Object.entries(own || {})) rates.fillOwn(parts, Number(k) * rates.WIDTH, one, prior);
  const least = rates.lowest(world, prior);
  return table.map((row, k) => ({
    found: Object.fromEntries(metrics.map((name) => [name, rates.rate(name, world, parts, k * rates.WIDTH, prior)])),
    withheld: row[0] < least(row[4]),
  }));
});
console.log(JSON.stringify(answers));
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
    "case-control": {"scenario": "case-control"},
    "label noise": {"label_noise": 0.1},
    "no threshold": {"threshold": None},
    "confidence": {"confidence": 0.8},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_numbers_at_another_class_prior_are_those_of_python(reference, windows, options):
    given = {"threshold": 0.8} | options
    metrics = METRICS if given["threshold"] is not None else METRICS[:1]
    cases, expected = [], []
    home = pulens.watch(reference, windows, class_prior=0.2, **given)
    for prior in (0.07, 0.12, 0.2, 0.35, 0.6):
        table = [[None if np.isnan(x) else x for x in row] for row in parts_table(list(home.windows.values()))]
        world = live_data(home)["world"]
        cases.append({"world": world, "table": table, "prior": prior, "metrics": metrics})
        expected.append(pulens.watch(reference, windows, class_prior=prior, **given))
    checked = 0
    for answer, python in zip(answers_of(DRIVER, cases), expected, strict=True):
        for said, window in zip(answer, python.windows.values(), strict=True):
            assert said["withheld"] == (window.trust == "withheld" and window.shift.value < 0 and window.rows >= 30)
            for name in metrics:
                truth = getattr(window, name)
                if truth.undefined_because or truth.basis == "possible worlds":  # the page supposes random labels
                    continue
                if name == "recall" and not given.get("label_noise"):
                    assert said["found"][name][0] == pytest.approx(truth.value, abs=1e-9)
                    continue
                ends = (truth.value, truth.interval.low, truth.interval.high)
                assert said["found"][name] == pytest.approx(ends, abs=1e-9)
                checked += 1
    assert checked > 20


def test_windows_that_their_own_positives_judge_have_the_same_numbers_too(reference):
    rng = np.random.default_rng(2)
    moved = {f"w{place:02d}": rows(rng, 0.2, 2000, positives_at=0.2) for place in range(6)}
    given = {"threshold": 0.8, "labels_lag": 1}
    home = pulens.watch(reference, moved, class_prior=0.2, **given)
    assert any(window.positives == "window" for window in home.windows.values())
    table = [[None if np.isnan(x) else x for x in row] for row in parts_table(list(home.windows.values()))]
    case = {"world": live_data(home)["world"], "table": table, "prior": 0.3, "metrics": METRICS}
    (answer,) = answers_of(DRIVER, [case])
    for said, window in zip(
        answer, pulens.watch(reference, moved, class_prior=0.3, **given).windows.values(), strict=True
    ):
        if not window.f1.undefined_because:
            ends = (window.f1.value, window.f1.interval.low, window.f1.interval.high)
            assert said["found"]["f1"] == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("scenario", ["single-set", "case-control"])
def test_windows_judged_by_their_own_positives_on_request_move_with_the_class_prior(reference, scenario):
    rng = np.random.default_rng(3)
    moved = {f"w{place:02d}": rows(rng, 0.2, 900, positives_at=0.9) for place in range(5)}
    given = {"threshold": 0.8, "labels_lag": 1, "positives": "window", "scenario": scenario}
    home = pulens.watch(reference, moved, class_prior=0.2, **given)
    live = live_data(home)
    assert len(live["own"]) == 4
    table = [[None if np.isnan(x) else x for x in row] for row in parts_table(list(home.windows.values()))]
    priors = (0.12, 0.2, 0.35)
    cases = [
        {"world": live["world"], "table": table, "prior": prior, "metrics": METRICS, "own": live["own"]}
        for prior in priors
    ]
    checked = 0
    for prior, answer in zip(priors, answers_of(DRIVER, cases), strict=True):
        truth = pulens.watch(reference, moved, class_prior=prior, **given)
        for said, window in zip(answer, truth.windows.values(), strict=True):
            for name in ("prior", "precision", "f1", "accuracy"):
                result = getattr(window, name)
                if not result.undefined_because:
                    ends = (result.value, result.interval.low, result.interval.high)
                    assert said["found"][name] == pytest.approx(ends, abs=1e-9)
                    checked += 1
    assert checked > 40


def test_a_watch_without_a_class_prior_has_nothing_to_move(reference, windows):
    assert live_data(pulens.watch(reference, windows, threshold=0.8)) is None
