"""The watch from end to end: alarms, trust, maturity, lives, state, bad input, the command, the page."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pyarrow
import pytest

import pulens
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.inputs.tally_files import TallyFile, write_tally_file
from pulens.monitoring.sources import natural
from pulens.monitoring.state import read_state, state_text
from pulens.report.html import HOME
from pulens.report.watch_text import watch_text


def rows(rng, share, n=600, *, labelled=0.3, moved=0.0, positives_at=1.466, decimals=3):
    positive = rng.random(n) < share
    scores = np.round(rng.normal(positive * positives_at + moved), decimals)
    return Tally.from_arrays((positive & (rng.random(n) < labelled)).astype(int), scores)


def days(rng, shares, month="05", **made):
    return {f"2026-{month}-{day:02d}": rows(rng, share, **made) for day, share in enumerate(shares, start=1)}


@pytest.fixture(scope="module")
def reference():
    return days(np.random.default_rng(1), [0.2] * 30, "03")


@pytest.fixture(scope="module")
def doubled():
    return days(np.random.default_rng(2), [0.2] * 6 + [0.4] * 6)


@pytest.fixture(scope="module")
def found(reference, doubled):
    return pulens.watch(reference, doubled, class_prior=0.2, threshold=0.8)


def test_a_doubled_share_is_found_with_its_day_and_size(found):
    assert found.status == "alarm"
    (alarm,) = found.alarms
    assert (alarm.line, alarm.since, alarm.certain) == ("share", "2026-05-07", "2026-05-07")
    assert 0.25 in alarm.interval
    assert found.verdict.startswith("Since about 2026-05-07")
    assert "looks like more positives" in found.verdict
    assert found.vouched


def test_nothing_changed_says_so_and_how_closely(reference):
    quiet = pulens.watch(reference, days(np.random.default_rng(6), [0.2] * 8), class_prior=0.2)
    assert (quiet.status, quiet.alarms) == ("quiet", ())
    assert quiet.verdict.startswith("No change found in 8 windows. The share of positives is between ")
    assert quiet.verdict.endswith(" times the reference's.")
    assert quiet.log_line == "2026-05-08 ok"


def test_a_shift_beyond_one_look_but_not_beyond_a_life_is_not_called_nothing(reference):
    risen = pulens.watch(reference, days(np.random.default_rng(3), [0.22] * 3), class_prior=0.2)
    assert (risen.status, risen.alarms) == ("quiet", ())
    assert risen.verdict.startswith("No change is certain yet in 3 windows. ")


def test_numbers_of_a_window_hold_the_truth(reference, doubled):
    window = pulens.watch(reference, doubled, class_prior=0.2, threshold=0.8, labelling="random")["2026-05-09"]
    assert window.trust == "ok"
    # binormal with a distance of 1.466, threshold 0.8, share 0.4
    recall, alarm = 0.7473, 0.2119
    truth = 0.4 * recall / (0.4 * recall + 0.6 * alarm)
    assert 0.4 in window.prior.interval
    assert truth in window.precision.interval
    assert recall in window.recall.interval
    assert 2 * 0.4 * recall / (0.4 + 0.4 * recall + 0.6 * alarm) in window.f1.interval


def test_without_a_class_prior_the_lines_work_and_metrics_are_absent(reference, doubled):
    free = pulens.watch(reference, doubled, threshold=0.8)
    assert free.alarms[0].line == "share"
    window = free["2026-05-09"]
    assert (window.prior, window.precision, window.f1, window.accuracy) == (None,) * 4
    assert window.flagged is not None
    assert "negatives are" in free.verdict
    assert " d +" not in free.verdict  # a letter that stood for the change in share
    assert "change in share " in " ".join(str(free).split())


def test_a_range_of_class_priors_widens_what_rests_on_it(reference, doubled, found):
    wide = pulens.watch(reference, doubled, class_prior=(0.15, 0.25), threshold=0.8)
    window, exact = wide["2026-05-09"], found["2026-05-09"]
    assert window.precision.interval.width > exact.precision.interval.width
    assert window.shift.value == exact.shift.value


def test_moved_scores_alarm_the_fit_and_grey_the_numbers(reference):
    moved = days(np.random.default_rng(4), [0.2] * 3)
    later = {f"2026-06-{day:02d}": rows(np.random.default_rng(50 + day), 0.2, moved=0.6) for day in range(1, 7)}
    found = pulens.watch(reference, moved | later, class_prior=0.2, threshold=0.8)
    assert "fit" in {alarm.line for alarm in found.alarms}
    assert "scores themselves have moved" in found.verdict
    assert {found[name].trust for name in later} <= {"doubtful", "withheld"}
    assert found["2026-05-01"].trust == "ok"


def test_a_later_larger_change_does_not_move_the_beginning_of_an_alarm(reference):
    windows = days(np.random.default_rng(22), [0.2] * 4 + [0.35] * 5 + [0.8] * 5)
    found = pulens.watch(reference, windows, class_prior=0.2)
    alarm = found.alarms[0]
    assert alarm.line == "share"
    assert alarm.since <= alarm.since_high <= alarm.certain < "2026-05-10"


def test_more_positives_than_rows_are_withheld_with_the_reason(reference):
    rng = np.random.default_rng(5)
    high = Tally.from_arrays(np.zeros(400, int), np.round(rng.normal(3.0, size=400), 3))
    found = pulens.watch(reference, {"2026-05-01": high}, class_prior=0.2, threshold=0.8)
    window = found["2026-05-01"]
    assert window.trust == "withheld"
    assert math.isnan(window.prior.value)
    assert "more positives than rows" in window.prior.undefined_because


def test_small_windows_count_in_the_lines_and_empty_ones_are_skipped(reference):
    rng = np.random.default_rng(6)
    none = Tally.from_increments(*[np.zeros(0)] * 3)
    found = pulens.watch(reference, {"2026-05-01": rows(rng, 0.2, 20), "2026-05-02": none}, class_prior=0.2)
    assert found["2026-05-01"].trust == "withheld"
    assert "fewer than 30" in found["2026-05-01"].prior.undefined_because
    assert list(found.windows) == ["2026-05-01"]
    assert any(notice.code == "empty-window" for notice in found.notices)


def test_labels_that_are_not_there_yet_change_nothing(reference):
    rng = np.random.default_rng(7)
    old = days(rng, [0.2] * 4)
    young = {
        name: Tally(one.thresholds, 0 * one.labelled, one.unlabelled + one.labelled, one.negative)
        for name, one in old.items()
    }
    before, after = (pulens.watch(reference, windows, class_prior=0.2, threshold=0.8) for windows in (old, young))
    for name in old:
        assert before[name].shift == after[name].shift
        assert before[name].f1 == after[name].f1


def test_own_positives_speak_once_they_are_mature(reference):
    rng = np.random.default_rng(8)
    missed = days(rng, [0.2] * 25, positives_at=0.3, n=1000)
    free = pulens.watch(reference, missed, class_prior=0.2, threshold=0.8)
    late = pulens.watch(reference, missed, class_prior=0.2, threshold=0.8, labels_lag="10d")
    by_windows = pulens.watch(reference, missed, class_prior=0.2, threshold=0.8, labels_lag=10)
    assert "recall" not in free.lines
    alarm = next(alarm for alarm in late.alarms if alarm.line == "recall")
    assert alarm.certain >= "2026-05-11"
    assert alarm.level < 0.6
    assert late["2026-05-02"].mature
    assert not late["2026-05-20"].mature
    assert late["2026-05-02"].positives == "window"
    assert late["2026-05-20"].positives == "reference"
    ten = slice(10, None)
    assert by_windows.lines["recall"].evidence[ten] == pytest.approx(late.lines["recall"].evidence[ten])


def test_days_need_names_that_are_days(reference):
    with pytest.raises(InputError, match="does not begin with one"):
        str(pulens.watch(reference, {"first": rows(np.random.default_rng(9), 0.2)}, threshold=0.8, labels_lag="5d"))


def test_label_noise_shrinks_the_change_of_the_share(reference, doubled, found):
    noisy = pulens.watch(reference, doubled, class_prior=0.2, threshold=0.8, label_noise=0.1)
    window = noisy["2026-05-09"]
    assert window.prior.value == pytest.approx(0.2 + (0.9 - 0.2) * window.shift.value)
    assert window.recall.value > found["2026-05-09"].recall.value


def test_where_positives_moved_a_window_is_judged_by_its_own(reference):
    windows = days(np.random.default_rng(20), [0.2, 0.3] * 10, positives_at=0.766, n=3000)
    given = {"class_prior": 0.2, "threshold": 0.8, "labels_lag": 0, "labelling": "random"}
    theirs = pulens.watch(reference, windows, **given)
    own = pulens.watch(reference, windows, positives="window", **given)
    names = list(windows)
    for place, truth in ((0, 0.2), (1, 0.3)):
        chosen = names[place::2]
        assert np.mean([own[name].prior.value for name in chosen]) == pytest.approx(
            truth, abs=0.06
        )  # the reference's error is in all of them
        assert np.mean([theirs[name].prior.value for name in chosen]) < truth - 0.06
        assert np.mean([truth in own[name].prior.interval for name in chosen]) >= 0.5
    with pytest.raises(PulensError, match="say after how long"):
        pulens.watch(reference, windows, positives="window")


def test_moved_scores_are_named_beside_more_positives_before_the_fit_alarms(reference, found):
    assert "nothing else so far" in found.verdict
    rng = np.random.default_rng(21)
    windows = days(rng, [0.2] * 3)
    for day in range(4, 8):
        positive = rng.random(600) < 0.2
        scores = np.round(rng.normal(np.where(positive, 1.466, 0.25)), 3)
        windows[f"2026-05-{day:02d}"] = Tally.from_arrays((positive & (rng.random(600) < 0.3)).astype(int), scores)
    moved = pulens.watch(reference, windows, class_prior=0.2)
    assert [alarm.line for alarm in moved.alarms] == ["share"]
    assert "not only that" in moved.verdict


def test_numbers_are_doubtful_before_the_fit_line_alarms(reference):
    rng = np.random.default_rng(23)
    windows = days(rng, [0.2] * 2) | {f"2026-06-{day:02d}": rows(rng, 0.2, 300, moved=0.35) for day in range(1, 8)}
    found = pulens.watch(reference, windows, class_prior=0.2)
    (alarm,) = found.alarms
    assert alarm.line == "share"
    since = [one for one in found.windows.values() if one.name >= alarm.since]
    assert np.median([one.fit_p for one in since]) > 0.05, "few windows tell by themselves"
    assert {one.trust for one in since} == {"doubtful"}
    assert found["2026-05-01"].trust == "ok"


# --- the promise ----------------------------------------------------------------------------------------------------


def test_one_reference_tally_says_first_that_the_promise_cannot_be_vouched_for(reference, doubled):
    whole = sum(list(reference.values())[1:], start=next(iter(reference.values())))
    found = pulens.watch(whole, doubled, class_prior=0.2)
    first = " ".join(str(found).split("\n\n")[0].splitlines())
    assert not found.vouched
    assert "are not guaranteed" in first
    assert "Give the reference as windows" in first
    assert str(found).count("as long as those watched") == 1  # in the verdict, and not in a note again
    assert found.to_dict()["vouched"] is False


# --- accepting ------------------------------------------------------------------------------------------------------


def test_an_accepted_alarm_begins_a_life_with_the_new_share(reference):
    windows = days(np.random.default_rng(10), [0.2] * 4 + [0.4] * 12)
    found = pulens.watch(reference, windows, class_prior=0.2, threshold=0.8)
    later = found.accept("2026-05-05", "campaign")
    assert (len(later.lives), later.status) == (2, "quiet")
    prior = later.life.judgement.monitor.prior
    assert abs(prior.value - 0.4) < 3 * math.sqrt(prior.variance)
    assert later["2026-05-05"].name == "2026-05-05"
    with pytest.raises(InputError, match="too few for a reference"):
        pulens.watch(reference, {"2026-05-01": rows(np.random.default_rng(11), 0.4)}).accept("2026-05-01")
    with pytest.raises(InputError, match="no window 'May'"):
        found.accept("May")


def test_labels_per_row_are_not_compared_with_a_reference_that_has_none_of_its_own(reference, tmp_path):
    """After an accepted alarm the labelled rows are still those of the first reference."""
    state = tmp_path / "pulse.state"
    windows = days(np.random.default_rng(10), [0.2] * 4 + [0.4] * 12)
    found = pulens.watch(reference, windows, class_prior=0.2, threshold=0.8, state=state)
    assert found["2026-05-16"].labelled_ratio is not None
    state.write_text(state_text(found.accept("2026-05-05", "campaign")))
    later = days(np.random.default_rng(12), [0.4] * 2, "06")
    went_on = pulens.watch(reference, {**windows, **later}, class_prior=0.2, threshold=0.8, state=state)
    assert [window.labelled_ratio for window in went_on.windows.values()] == [None, None]


def test_the_first_windows_are_told_to_be_no_clearance(reference, doubled):
    """Of gas sensors that had drifted, windows that passed as the first of a life were wrong in half of all cases."""
    names = list(doubled)
    for count in (1, 2, 3, 6):
        found = pulens.watch(reference, {name: doubled[name] for name in names[:count]}, class_prior=0.2)
        assert ("first-windows" in [notice.code for notice in found.notices]) is (count < 3)


# --- state ----------------------------------------------------------------------------------------------------------


def test_day_by_day_is_bit_equal_to_judging_at_once(reference, doubled, tmp_path):
    given = {"class_prior": 0.2, "threshold": 0.8, "labels_lag": 2}
    names = list(doubled)
    for count in (1, 4, 5, 12):
        some = {name: doubled[name] for name in names[:count]}
        by_day = pulens.watch(reference, some, state=tmp_path / "pulse.state", **given)
    at_once = pulens.watch(reference, doubled, state=tmp_path / "anew.state", **given)
    assert by_day.to_dict() == at_once.to_dict()
    assert (tmp_path / "pulse.state").read_bytes() == (tmp_path / "anew.state").read_bytes()
    only_new = pulens.watch(reference, {names[-1]: doubled[names[-1]]}, state=tmp_path / "pulse.state", **given)
    assert only_new.to_dict() == at_once.to_dict()


def test_a_state_remembers_its_lives(reference, tmp_path):
    windows = days(np.random.default_rng(12), [0.2] * 2 + [0.4] * 12)
    accepted = pulens.watch(reference, windows, class_prior=0.2, threshold=0.8).accept("2026-05-03", "known")
    path = tmp_path / "pulse.state"
    path.write_text(state_text(accepted))
    later = {"2026-06-01": rows(np.random.default_rng(13), 0.4)}
    found = pulens.watch(reference, later, class_prior=0.2, threshold=0.8, state=path)
    assert (len(found.lives), found.status) == (2, "quiet")
    assert found.lives[0].because == "known"
    assert list(found.windows) == ["2026-06-01"]


def test_a_state_refuses_what_it_was_not_made_of(reference, doubled, tmp_path):
    path = tmp_path / "pulse.state"
    first, second = list(doubled)[:2]
    given = {"class_prior": 0.2, "threshold": 0.8, "state": path}
    pulens.watch(reference, {second: doubled[second]}, **given)
    with pytest.raises(InputError, match=r"threshold=0.8, and now threshold=0.9"):
        pulens.watch(reference, doubled, **{**given, "threshold": 0.9})
    with pytest.raises(InputError, match="another class prior"):
        pulens.watch(reference, {second: doubled[second]}, **{**given, "class_prior": 0.3})
    with pytest.raises(InputError, match="another reference"):
        pulens.watch(dict(list(reference.items())[1:]), {second: doubled[second]}, **given)
    with pytest.raises(InputError, match="lies before the last one"):
        pulens.watch(reference, {first: doubled[first], second: doubled[second]}, **given)
    with pytest.raises(InputError, match="are not those that were judged"):
        pulens.watch(reference, {second: doubled[first]}, **given)
    anew = pulens.watch(reference, {first: doubled[first], second: doubled[second]}, rejudge=True, **given)
    assert list(anew.windows) == [first, second]
    for damaged in ("", "{}", '{"pulens_watch_state": 2}', '{"pulens_watch_state": 1}'):
        path.write_text(damaged)
        with pytest.raises(InputError, match="state"):
            read_state(path)


def test_a_state_that_cannot_be_written_leaves_the_old_one(reference, doubled, tmp_path, monkeypatch):
    path = tmp_path / "pulse.state"
    first, second = list(doubled)[:2]
    pulens.watch(reference, {first: doubled[first]}, state=path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pulens.atomic_write.os.fsync", full)
    with pytest.raises(PulensError, match="No space left"):
        pulens.watch(reference, {second: doubled[second]}, state=path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["pulse.state"]


def test_a_watch_that_is_killed_while_it_writes_leaves_the_old_state_whole(reference, doubled, tmp_path):
    state, place = tmp_path / "pulse.state", tmp_path / "tallies"
    place.mkdir()
    names = list(doubled)[:2]
    for name, tally in {**reference, **{name: doubled[name] for name in names}}.items():
        write_tally_file(place / f"{name}.tally", TallyFile.of(tally, source=name))
    given = ("watch", f"{place}/2026-03-*.tally", f"{place}/{names[0]}.tally")
    dying = (
        "import os, sys, pulens.atomic_write as files\n"
        "from pulens.cli import main\n"
        "files.os.fsync = lambda *_: os.kill(os.getpid(), 9)\n"
        "main(sys.argv[1:])"
    )

    def killed(*words):
        return subprocess.run([sys.executable, "-c", dying, *words, "--state", str(state)], check=False, timeout=120)

    assert killed(*given).returncode == -9
    assert not state.exists()
    main([*given, "--state", str(state)])
    before = state.read_bytes()
    assert killed(*given, f"{place}/{names[1]}.tally").returncode == -9
    assert state.read_bytes() == before
    assert list(read_state(state).windows) == names[:1]


# --- bad input ------------------------------------------------------------------------------------------------------


def test_what_cannot_be_watched_is_refused_by_name(reference, doubled):
    name, tally = next(iter(doubled.items()))
    rng = np.random.default_rng(14)
    unlabelled = Tally.from_arrays(np.zeros(500, int), rng.normal(size=500))
    noise = Tally.from_arrays((rng.random(500) < 0.2).astype(int), rng.normal(size=500))
    cases = [
        (unlabelled, {name: tally}, {}, "no labelled row"),
        (noise, {name: tally}, {}, "do not outscore the rest"),
        (reference, {"a": tally, "b": tally}, {}, "exactly the rows of the window a"),
        (reference, {"a": next(iter(reference.values()))}, {}, "exactly the rows of the reference 2026-03-01"),
        (reference, [], {}, "empty list"),
        (reference, "nowhere/*.tally", {}, "no file of the windows"),
        (reference, None, {}, "give the windows"),
        (reference, {name: tally}, {"by": "day"}, "go with time="),
        (reference, {name: tally}, {"alpha": 0}, "alpha"),
        (reference, {name: tally}, {"life": 0}, "life"),
        (reference, {name: tally}, {"threshold": math.nan}, "threshold"),
        (reference, {name: tally}, {"labels_lag": "soon"}, "labels_lag"),
        (reference, {name: tally}, {"class_priors": 0.2}, "Did you mean 'class_prior'"),
    ]
    for given, windows, options, words in cases:
        with pytest.raises(PulensError, match=words):
            pulens.watch(given, windows, **options)


def test_strange_windows_are_told(reference):
    rng = np.random.default_rng(15)
    constant = Tally.from_arrays(np.zeros(100, int), np.full(100, 9.0))
    found = pulens.watch(reference, {"2026-05-01": constant, "2026-05-02": rows(rng, 0.2)})
    codes = {notice.code for notice in found["2026-05-01"].notices}
    assert {"one-cell", "outside"} <= codes
    two = np.concatenate([np.zeros(98), np.full(2, 9.0)])  # 2% of the rows, and no more than chance gives now and then
    found = pulens.watch(reference, {"2026-05-01": Tally.from_arrays(np.zeros(100, int), two)})
    assert "outside" not in {notice.code for notice in found.notices}
    few = {name: rows(rng, 0.2, 1000, labelled=0.02) for name in ("a", "b")}
    assert any(notice.code == "few-labelled" for notice in pulens.watch(few["a"], {"c": rows(rng, 0.2)}).notices)
    unlike = pulens.watch(reference, {"c": rows(rng, 0.2, labelled=0.01)}, scenario="case-control")
    assert any(notice.code == "other-labelling" for notice in unlike.notices)
    gap = pulens.watch(reference, {f"2026-05-{day:02d}": rows(rng, 0.2) for day in (1, 2, 3, 7)})
    assert any(notice.code == "gaps" for notice in gap.notices)


def test_rows_that_cannot_be_counted_are_refused_as_elsewhere(tmp_path):
    import polars

    good = {"score": [0.1, 0.9, 0.4, 0.7], "label": [0, 1, 0, 1], "day": ["2026-05-01", "2026-05-02"] * 2}
    for column, values, words in (
        ("score", [0.1, float("nan"), 0.4, 0.7], "scores"),
        ("label", [0, 1, 7, 1], "undeclared label value"),
        ("weight", [1.0, -1.0, 1.0, 1.0], "weight"),
    ):
        rows = polars.DataFrame({**good, column: values})
        given = {"time": "day", "reference_until": "2026-05-01", **({"weight": "weight"} if column == "weight" else {})}
        for source in (rows, rows.lazy()):
            with pytest.raises(InputError, match=words):
                pulens.watch(source, **given)


def test_windows_are_ordered_by_time_and_may_not_lie_within_the_reference(reference, doubled):
    backwards = dict(reversed(doubled.items()))
    assert list(pulens.watch(reference, backwards).windows) == list(doubled)
    tally = next(iter(doubled.values()))
    with pytest.raises(InputError, match=r"'2026-03-15' lies within the time of the reference, 2026-03-01 to 2026-03"):
        pulens.watch(reference, {"2026-03-15": tally})
    assert list(pulens.watch(reference, {"2026-03-30 evening": tally}).windows) == ["2026-03-30 evening"]


def test_weights_count_as_rows_and_are_told(reference):
    rng = np.random.default_rng(24)
    positive = rng.random(500) < 0.2
    weighted = Tally.from_arrays(
        (positive & (rng.random(500) < 0.3)).astype(int), np.round(rng.normal(positive * 1.466), 3), np.full(500, 2.0)
    )
    found = pulens.watch(reference, {"2026-05-01": weighted})
    assert found["2026-05-01"].rows == 1000
    assert any(notice.code == "weighted" for notice in found.notices)


def test_bins_that_an_edge_cuts_widen_the_interval(reference, doubled):
    name, tally = next(iter(doubled.items()))
    exact = pulens.watch(reference, {name: tally})[name].shift
    binned = pulens.watch(reference, {name: tally.binned(bits=2)})[name].shift
    assert binned.interval.width > exact.interval.width
    assert exact.value in binned.interval


def test_weak_scores_are_at_best_doubtful():
    rng = np.random.default_rng(16)
    weak = {f"r{day}": rows(rng, 0.3, 2000, positives_at=0.3) for day in range(12)}
    found = pulens.watch(weak, {"w": rows(rng, 0.3, 2000, positives_at=0.3)}, class_prior=0.3)
    assert found["w"].trust == "doubtful"
    assert any(notice.code == "weak-score" for notice in found.notices)


def test_two_distinct_scores_have_no_test_of_fit():
    rng = np.random.default_rng(17)
    reference = {f"r{day}": rows(rng, 0.3, 500, decimals=-1, positives_at=9) for day in range(12)}
    found = pulens.watch(reference, {"w": rows(rng, 0.3, 500, decimals=-1, positives_at=9)})
    assert found["w"].fit_p is None or len(found.life.judgement.monitor.edges) > 2


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory, reference, doubled):
    place = tmp_path_factory.mktemp("tallies")
    for kind, tallies in (("reference", reference), ("days", doubled)):
        (place / kind).mkdir()
        for name, tally in tallies.items():
            write_tally_file(place / kind / f"{name}.tally", TallyFile.of(tally, source=name))
    return place


def run(*words):
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return end.value.code


def test_an_alarm_ends_with_exit_code_three_and_a_line_for_the_log(folder, capsys, found):
    asked = ("watch", f"{folder}/reference/*.tally", f"{folder}/days/*.tally", "--class-prior", "0.2")
    assert run(*asked, "--threshold", "0.8") == 3
    shown = capsys.readouterr().out
    assert shown == f"{watch_text(found, 'command')}\n"
    assert "--accept 2026-05-07 --because '<reason>'" in " ".join(shown.split())
    assert '.accept("2026-05-07", because="<reason>")' in " ".join(str(found).split())
    assert shown.splitlines()[-1].startswith("2026-05-12 ALARM share since 2026-05-07")


def test_a_quiet_watch_prints_nothing_while_nothing_stands(folder, capsys, tmp_path):
    early = [folder / "days" / f"2026-05-{day:02d}.tally" for day in range(1, 6)]
    asked = ("watch", f"{folder}/reference/*.tally", *map(str, early), "--quiet")
    state = tmp_path / "pulse.state"
    main(
        [*asked, "--state", str(state), "--json", str(tmp_path / "pulse.json"), "--html", str(tmp_path / "pulse.html")]
    )
    assert capsys.readouterr().out == ""
    told = json.loads((tmp_path / "pulse.json").read_text())
    assert (told["watch"], told["status"], len(told["windows"])) == (1, "quiet", 5)
    page = (tmp_path / "pulse.html").read_text()
    assert "No change found in 5 windows" in page
    for known in ("http-equiv", 'xmlns="http://www.w3.org/2000/svg"', f'<a href="{HOME}"'):
        page = page.replace(known, "")
    assert "http" not in page, "nothing is fetched, and the only link is that to the project"
    assert read_state(state).status == "quiet"


def test_the_state_alone_tells_what_stands_and_takes_an_acceptance(folder, tmp_path, capsys, reference):
    state = tmp_path / "pulse.state"
    assert run("watch", f"{folder}/reference/*.tally", f"{folder}/days/*.tally", "--state", state) == 3
    before = state.read_bytes()
    assert run("watch", "--state", state) == 3
    assert state.read_bytes() == before
    main(["watch", "--state", str(state), "--accept", "2026-05-07", "--because", "campaign"])
    assert read_state(state).lives[0].because == "campaign"
    assert run("watch", "--state", state, "--accept", "never") == 2
    assert run("watch") == 2
    assert run("watch", "--state", tmp_path / "missing.state") == 2
    capsys.readouterr()


def test_one_table_with_a_column_of_time(tmp_path, capsys):
    import polars

    rng = np.random.default_rng(18)
    parts = []
    for day in range(24):
        positive = rng.random(400) < (0.2 if day < 20 else 0.5)
        moment = f"2026-05-{day + 1:02d}"
        parts.append(
            polars.DataFrame(
                {
                    "score": np.round(rng.normal(positive * 1.5), 3),
                    "label": (positive & (rng.random(400) < 0.3)).astype(int),
                    "day": [moment] * 400,
                    "at": [f"{moment} {hour:02d}:00:00" for hour in rng.integers(0, 24, 400)],
                }
            )
        )
    table = polars.concat(parts)
    given = {"reference_until": "2026-05-15", "class_prior": 0.2}
    by_day = pulens.watch(table, time="day", **given)
    assert by_day.alarms[0].since == "2026-05-21"
    cut = pulens.watch(table, time="at", by="day", **given)
    assert cut.to_dict() == by_day.to_dict()
    table.write_csv(tmp_path / "scores.csv")
    asked = ("watch", tmp_path / "scores.csv", "--time", "day", "--reference-until", "2026-05-15")
    assert run(*asked, "--class-prior", "0.2", "--json", "-") == 3
    assert json.loads(capsys.readouterr().out) == by_day.to_dict()
    import duckdb

    held = duckdb.read_csv(str(tmp_path / "scores.csv"))
    for engine in (held, table.lazy(), table.to_pandas(), tmp_path / "scores.csv"):
        assert pulens.watch(engine, time="day", **given).to_dict() == by_day.to_dict()
    counted = pulens.inputs.read_tallies(table, group_by="day")
    apart = ({day: one for day, one in counted.items() if (day <= "2026-05-15") is old} for old in (True, False))
    assert pulens.watch(*apart, class_prior=0.2).to_dict() == by_day.to_dict()
    for options, words in (
        ({"time": "day"}, "say where the reference ends"),
        ({"time": "day", "reference_until": "2027-01-01"}, "runs from 2026-05-01 to 2026-05-24"),
        ({"time": "day", "reference_until": "2020-01-01"}, "runs from 2026-05-01 to 2026-05-24"),
        ({"time": "label", "by": "week", "reference_until": "2026-05-15"}, "must hold dates"),
        ({"time": "day", "by": "decade", "reference_until": "2026-05-15"}, "by must be one of"),
    ):
        with pytest.raises(PulensError, match=words):
            pulens.watch(table, **options)


def test_json_is_finite_and_names_of_windows_are_escaped_on_the_page(reference):
    rng = np.random.default_rng(19)
    found = pulens.watch(
        reference, {"<b>1</b>": rows(rng, 0.2), "2": rows(rng, 0.2, 10)}, class_prior=0.2, threshold=0.8
    )
    json.dumps(found.to_dict(), allow_nan=False)
    assert "<b>1" not in found.to_html()
    assert "&lt;b&gt;1" in found.to_html()
    assert "<b>1" not in found._repr_html_()


def test_names_of_thousands_of_digits_are_ordered_as_numbers():
    long, longer = "1" * 6000, "1" * 6001
    assert sorted([longer, "20", long, "٣", "0" * 7000 + "4"], key=natural) == [
        "٣",
        "0" * 7000 + "4",
        "20",
        long,
        longer,
    ]


def test_names_that_are_the_same_number_have_one_order(reference, doubled):
    named = dict(zip(["day-1", "day-01", "day-2"], doubled.values(), strict=False))
    turned = dict(reversed(named.items()))
    assert list(pulens.watch(reference, named).windows) == list(pulens.watch(reference, turned).windows)


def test_windows_become_a_table_with_the_ends_of_every_number(found):
    frame = found.to_frame()
    assert frame["window"].to_list() == list(found.windows)
    window = found["2026-05-09"]
    row = {name: frame[name].to_list()[8] for name in frame.columns}
    assert (row["f1"], row["f1_low"], row["f1_high"]) == (
        window.f1.value,
        window.f1.interval.low,
        window.f1.interval.high,
    )
    assert row["evidence_share"] == pytest.approx(window.evidence["share"])
    assert row["trust"] == "ok"


def test_a_notebook_shows_the_verdict_and_names_as_text(reference):
    rng = np.random.default_rng(9)
    shown = pulens.watch(reference, {"<i>": rows(rng, 0.2)}, class_prior=0.2)._repr_html_()
    assert "&lt;i&gt;" in shown
    assert "<i>" not in shown
    assert "No change found" in shown or "No change is certain" in shown


@pytest.mark.parametrize(("class_prior", "label_noise"), [(0.3, 0.0), (0.6, 0.0), (0.3, 0.05)])
def test_recall_of_a_reference_that_rules_its_class_prior_out_is_what_an_evaluation_of_it_says(
    class_prior, label_noise, tmp_path
):
    rng = np.random.default_rng(5)

    def drawn(rows=2000):
        positive = rng.random(rows) < 0.2
        labels = (positive & (rng.random(rows) < 0.4)).astype(int)
        return pyarrow.table({"label": labels, "score": rng.normal(3.0 * positive)})

    reference, window = drawn(), drawn()
    asked = {"class_prior": class_prior, "threshold": 1.5, "label_noise": label_noise, "labelling": "random"}
    there = pulens.evaluate(reference, **asked).at(1.5)
    state = tmp_path / "watch.json"
    found = pulens.watch(reference, {"may": window}, state=state, **asked)
    again = pulens.watch(reference, {"may": window, "next": drawn()}, state=state, **asked)
    for pulse in (found, again):  # from the rows, and from where a state stands
        told = pulse.to_dict()
        recall = pulse.windows["may"].recall
        if there["recall"].undefined_because:
            assert class_prior == 0.6 or label_noise
            assert told["reference"]["recall"] is None
            assert recall.undefined_because
            assert pulse.windows["may"].precision.undefined_because
        else:
            assert told["reference"]["recall"] == pytest.approx(there["recall"].value, abs=1e-12)
            assert recall.value == pytest.approx(there["recall"].value, abs=1e-12)
            assert (recall.interval.low, recall.interval.high) == pytest.approx(
                (there["recall"].interval.low, there["recall"].interval.high)
            )
        assert "labels-not-random" in [notice.code for notice in pulse.notices]
        assert pulse.to_html()
        assert str(pulse)


def test_a_watch_whose_class_prior_fits_says_nothing_of_possible_worlds():
    rng = np.random.default_rng(5)
    positive = rng.random(4000) < 0.2
    labels = (positive & (rng.random(4000) < 0.4)).astype(int)
    rows = pyarrow.table({"label": labels, "score": rng.normal(2.0 * positive)})
    parts = [rows.slice(0, 2000), rows.slice(2000)]
    found = pulens.watch(parts[0], {"may": parts[1]}, class_prior=0.2, threshold=1.0, labelling="random")
    assert "labels-not-random" not in [notice.code for notice in found.notices]
    assert set(found.to_dict()["class_prior"]) == {"value", "low", "high", "variance", "source"}
    there = pulens.evaluate(parts[0], class_prior=0.2, threshold=1.0, labelling="random")
    assert found.to_dict()["reference"]["recall"] == pytest.approx(there["recall"].value)


def test_recall_that_chance_made_impossible_is_cut_as_an_evaluation_cuts_it():
    arrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(2)
    positive = rng.random(3000) < 0.1
    first = np.round(rng.normal(2.5 * positive), 2)
    labels = (positive & (rng.random(3000) < 0.3)).astype(int)
    second = np.round(rng.normal(2.5 * positive), 2)
    tables = [arrow.table({"label": labels, "score": scores}) for scores in (first, second)]
    asked = {"class_prior": 0.105, "threshold": 2.9, "labelling": "random"}
    there = pulens.evaluate(labels, first, **asked).at(2.9)
    assert not there.table.is_possible.all()
    found = pulens.watch(tables[0], {"may": tables[1]}, **asked)
    for recall in (found.to_dict()["reference"]["recall"], found.windows["may"].recall.value):
        assert recall == pytest.approx(there["recall"].value)
    assert found.windows["may"].recall.interval.high == pytest.approx(there["recall"].interval.high)
    labelled_share = np.mean(first[labels == 1] >= 2.9)
    assert there["recall"].value < labelled_share - 1e-3
