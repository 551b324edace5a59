"""A watch under labels that favour easy positives: alarms stay, numbers of windows allow for it, and say so."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pulens
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.errors import PulensError
from pulens.inputs.tally_files import TallyFile, write_tally_file

RECALL = 0.7473  # at 0.8, of scores at a distance of 1.466


def rows(rng, share, n=800, *, easy=3.0):
    """Positives that score high are labelled most: up to ``easy`` times as often."""
    positive = rng.random(n) < share
    scores = np.round(rng.normal(positive * 1.466), 3)
    chance = 0.15 * easy ** np.clip((scores - 0.5) / 2, 0, 1) if easy > 1 else 0.3
    return Tally.from_arrays((positive & (rng.random(n) < chance)).astype(int), scores)


@pytest.fixture(scope="module")
def reference():
    rng = np.random.default_rng(1)
    return {f"2026-03-{day:02d}": rows(rng, 0.2) for day in range(1, 31)}


@pytest.fixture(scope="module")
def windows():
    rng = np.random.default_rng(2)
    return {f"2026-05-{day:02d}": rows(rng, 0.2 if day < 5 else 0.35) for day in range(1, 11)}


GIVEN = {"class_prior": 0.2, "threshold": 0.8}


def test_alarms_do_not_depend_on_what_is_said_of_labels(reference, windows):
    told = [pulens.watch(reference, windows, **GIVEN, labelling=each) for each in ("random", "practice", 3)]
    for one in told[1:]:
        assert one.alarms == told[0].alarms
        for line, run in one.life.judgement.runs.items():
            assert np.array_equal(run.log_totals, told[0].life.judgement.runs[line].log_totals)


def test_numbers_hold_the_truth_where_easy_positives_are_labelled_first(reference, windows):
    practice, random = (pulens.watch(reference, windows, **GIVEN, labelling=each) for each in (None, "random"))
    assert (practice.labelling, random.labelling) == ("practice", "random")
    last = practice["2026-05-10"]
    flagged = 0.35 * RECALL + 0.65 * 0.2119
    truths = {
        "prior": 0.35,
        "recall": RECALL,
        "precision": 0.35 * RECALL / flagged,
        "f1": 0.7 * RECALL / (0.35 + flagged),
    }
    for name, truth in truths.items():
        found = getattr(last, name)
        assert truth in found.interval
        assert found.interval.guarantee.startswith("calibrated on ")
        assert found.basis == "labelling in practice"
    flattered = random["2026-05-10"].recall.value - RECALL
    assert flattered > 0.05, "labels that favour high scores flatter recall"
    assert abs(last.recall.value - RECALL) < flattered
    assert last.shift == random["2026-05-10"].shift


def test_every_answer_says_which_labelling_it_takes(reference, windows):
    practice, random = (pulens.watch(reference, windows, **GIVEN, labelling=each) for each in ("practice", "random"))
    assert (practice.to_dict()["labelling"], random.to_dict()["labelling"]) == ("practice", "random")
    assert practice.to_dict()["assumptions"][0] == "easy positives labelled first, as in practice"
    assert "labels favour easy positives, as in practice" in str(practice)
    assert "random labels" in str(random)
    assert "labels favour easy positives, as in practice" in practice.to_html()


def test_a_factor_bounds_what_labelling_can_do(windows):
    rng = np.random.default_rng(3)
    reference = {f"2026-03-{day:02d}": rows(rng, 0.2, easy=1.0) for day in range(1, 31)}
    narrow, wide = (pulens.watch(reference, windows, **GIVEN, labelling=each)["2026-05-10"] for each in (1.5, 4))
    random = pulens.watch(reference, windows, **GIVEN, labelling="random")["2026-05-10"]
    for name in ("recall", "precision", "f1"):
        widths = [getattr(one, name).interval.width for one in (random, narrow, wide)]
        assert widths == sorted(widths)
        assert getattr(narrow, name).value == pytest.approx(getattr(random, name).value, abs=1e-9)


def test_what_labelling_does_needs_a_class_prior(reference, windows):
    plain = pulens.watch(reference, windows, threshold=0.8)
    assert plain.labelling == "random"
    with pytest.raises(PulensError, match="none is given: give class_prior="):
        pulens.watch(reference, windows, threshold=0.8, labelling="practice")
    with pytest.raises(PulensError, match="labelling must be 'practice', 'random' or a factor"):
        pulens.watch(reference, windows, **GIVEN, labelling="easy")
    noisy = pulens.watch(reference, windows, **GIVEN, label_noise=0.05)
    assert noisy.labelling == "random"


def test_a_state_gives_the_same_numbers_and_an_accepted_alarm_keeps_the_labelling(reference, windows, tmp_path):
    state = tmp_path / "pulse.state"
    first = dict(list(windows.items())[:6])
    pulens.watch(reference, first, **GIVEN, state=state)
    later = pulens.watch(reference, windows, **GIVEN, state=state)
    assert later.to_dict() == pulens.watch(reference, windows, **GIVEN).to_dict()
    accepted = later.accept("2026-05-05", "campaign")
    assert accepted.labelling == "practice"
    recall = accepted.life.judgement.monitor.recall
    assert recall == pytest.approx(later.life.judgement.monitor.recall, abs=1e-9), "the positives stay"
    with pytest.raises(PulensError, match="written with labelling=None, and now labelling='random'"):
        pulens.watch(reference, windows, **GIVEN, state=state, labelling="random")


def test_a_range_of_class_priors_is_wider_than_its_middle(reference, windows):
    middle = pulens.watch(reference, windows, **GIVEN)["2026-05-10"]
    wide = pulens.watch(reference, windows, class_prior=(0.15, 0.25), threshold=0.8)["2026-05-10"]
    for name in ("prior", "precision", "recall", "f1"):
        assert getattr(wide, name).interval.width > getattr(middle, name).interval.width


def test_the_command_takes_it(reference, windows, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, tallies in (("reference", reference), ("days", windows)):
        (tmp_path / kind).mkdir()
        for name, tally in tallies.items():
            write_tally_file(tmp_path / kind / f"{name}.tally", TallyFile.of(tally, source=name))
    told = {}
    for labelling in ("practice", "random", "3"):
        asked = ["--class-prior", "0.2", "--threshold", "0.8", "--labelling", labelling, "--json", "-", "-q"]
        with pytest.raises(SystemExit) as end:
            main(["watch", "reference/*.tally", "days/*.tally", *asked])
        assert end.value.code == 3
        told[labelling] = json.loads(capsys.readouterr().out)["labelling"]
    assert told == {"practice": "practice", "random": "random", "3": "high scores up to 3 times as likely"}
