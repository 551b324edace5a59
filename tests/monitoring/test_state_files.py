"""State files from outside: every part is what it must be, or the file is refused with a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally
from pulens.errors import InputError
from pulens.monitoring.state import read_state, sum_of

HUGE = 10**400  # Python's own whole numbers have no limit, those of arrays do


def rows(rng, share):
    positive = rng.random(400) < share
    return Tally.from_arrays((positive & (rng.random(400) < 0.4)).astype(int), np.round(rng.normal(1.5 * positive), 1))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    rng = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("state") / "pulse.state"
    reference = {f"ref-{day}": rows(rng, 0.3) for day in range(4)}
    days = {f"day-{day}": rows(rng, 0.3) for day in range(3)}
    pulens.watch(reference, days, threshold=0.5, class_prior=0.3, labels_lag=1, state=path)
    return path.read_text()


def changed(written, *keys, value):
    told = json.loads(written)
    del told["checksum"]
    inside = told
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return told | {"checksum": sum_of(told)}


DAY = ("lives", 0, "windows", 0)


@pytest.mark.parametrize(
    ("keys", "value", "words"),
    [
        (("edges",), [1.0, 1.0], "edges must rise"),
        (("edges", 0), HUGE, "edges must be a finite number"),
        (("edges",), {}, "edges must be a list"),
        (("reference", "labelled", 0), HUGE, "finite number"),
        (("reference", "labelled", 0), -1, "must lie between 0"),
        (("reference", "labelled"), [1], "needs"),
        (("reference", "windows"), [], "must have windows"),
        (("reference", "windows", 0, 0), float("nan"), "finite number"),
        (("lives",), [], "without a life"),
        (("lives", 0, "accepted_from"), "nope", "no window 'nope'"),
        (("lives", 0, "accepted_from"), "day-0", "without a life"),
        (("lives", 0, "prior"), {}, "a class prior must have"),
        (("lives", 0, "prior", "value"), 2, "must lie between 0 and 1"),
        (("lives", 0, "prior", "low"), 0.9, "must lie between 0.9"),
        (("lives", 0, "log_totals"), {"share": [0.0] * 9}, "more than the 3 windows"),
        (("lives", 0, "log_totals"), {"nope": []}, "must tell of lines"),
        (("lives", 0, "log_totals", "share", 0), "x", "finite number"),
        ((*DAY, "population", 0), HUGE, "finite number"),
        ((*DAY, "labelled", 0), -5, "must lie between 0"),
        ((*DAY, "across"), [[1, 3, 2]], "across"),
        ((*DAY, "outside"), -1, "outside"),
        ((*DAY, "name"), "day-1", "same name"),
        (("settings", "alpha"), 7, "alpha"),
        (("settings", "nope"), 7, "nope"),
        (("settings", "life"), 5e-324, "life must be a number of days"),
        (("settings", "life"), 2**63, "life must be a number of days"),
        ((*DAY, "labelled", 0), 2**63, "must lie between 0 and 9.0072e+15"),
        (("settings", "life"), "x" * 9000, "damaged"),
    ],
)
def test_a_state_with_an_impossible_part_is_refused_by_name(written, tmp_path, keys, value, words):
    path = tmp_path / "pulse.state"
    path.write_text(json.dumps(changed(written, *keys, value=value)))
    with pytest.raises(InputError, match="damaged state of a watch") as error:
        read_state(path)
    assert words in str(error.value)


def test_a_state_that_was_changed_by_one_digit_is_refused(written, tmp_path):
    path = tmp_path / "pulse.state"
    path.write_text(written)
    assert read_state(path).status == "quiet"
    told = json.loads(written)
    told["lives"][0]["log_totals"]["share"][0] += 0.5
    path.write_text(json.dumps(told))
    with pytest.raises(InputError, match="changed since it was written"):
        read_state(path)


@pytest.mark.parametrize("checksum", ["absent", None, "", "44f7b576a804f451"])
@pytest.mark.parametrize("part", ["as written", "totals", "windows"])
def test_a_state_without_its_checksum_is_refused_with_the_way_out(written, tmp_path, part, checksum):
    path, told = tmp_path / "pulse.state", json.loads(written)
    life = told["lives"][0]
    if part == "totals":
        life["log_totals"] = {name: [0.0] * len(values) for name, values in life["log_totals"].items()}
    if part == "windows":
        life["windows"].reverse()
    told["checksum"] = checksum
    if checksum == "absent":
        del told["checksum"]
    path.write_text(json.dumps(told))
    with pytest.raises(InputError, match="checksum") as error:
        read_state(path)
    assert "Put back the file that was written, or judge every window again" in str(error.value)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"pulens_watch_state": 1' + "0" * 5000 + "}", "\x00", '"\\ud800"'])
def test_a_state_that_no_json_reader_likes_is_refused(text, tmp_path):
    path = tmp_path / "pulse.state"
    path.write_text(text)
    with pytest.raises(InputError, match=r"pulse\.state"):
        read_state(path)
