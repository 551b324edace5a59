"""A surge that was missed: amber before red, what would settle it, which scores moved, and whether labels changed."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from scipy.stats import norm

import pulens
from pulens.cli import main
from pulens.counts.tally import Tally
from pulens.inputs.tally_files import TallyFile, write_tally_file
from pulens.monitoring.fit import polynomials
from pulens.monitoring.judging import FAR, NEAR
from pulens.monitoring.weights import placements
from pulens.report.watch_text import watch_text

SCORES = np.round(np.linspace(-4, 5.24, 400), 3)
POSITIVE, NEGATIVE = (norm.pdf(SCORES, mean) / norm.pdf(SCORES, mean).sum() for mean in (1.2415, 0.0))  # ROC AUC .81
UNTIL = 60  # days of the reference; the surge begins after 100


def claims(seed: int, total: int = 120) -> tuple[dict[str, Tally], dict[str, Tally]]:
    """Days of some 187 claims: fraud at 9.3% for 100 days, at 16.2% afterwards; a third of it confirmed."""
    rng = np.random.default_rng([seed, 7])

    def day(share: float) -> Tally:
        rows = rng.poisson(187)
        positives = rng.binomial(rows, share)
        own = rng.multinomial(positives, POSITIVE)
        named = rng.binomial(own, 0.345)
        others = rng.multinomial(rows - positives, NEGATIVE) + own - named
        seen = named + others > 0
        return Tally.from_increments(SCORES[seen], named[seen], others[seen])

    result = {str(date(2026, 5, 1) + timedelta(place)): day(0.093 if place < 100 else 0.162) for place in range(120)}
    names = list(result)
    return {name: result[name] for name in names[:UNTIL]}, {name: result[name] for name in names[UNTIL:total]}


def judged(seed: int, total: int = 120, **given: object) -> pulens.Pulse:
    return pulens.watch(*claims(seed, total), class_prior=0.093, threshold=1.4, **given)


@pytest.fixture(scope="module")
def amber() -> pulens.Pulse:
    return judged(0, 112)


@pytest.mark.parametrize("seed", [0, 3, 10])
def test_a_surge_that_was_missed_is_found_and_amber_before_it_is_red(seed):
    result = judged(seed)
    assert result.status == "alarm"
    (alarm,) = result.alarms
    assert alarm.line == "share"
    assert alarm.certain > "2026-08-09"
    assert "2026-08-0" in alarm.since
    run = result.life.judgement.runs["share"]
    assert run.near[run.certain - 1], "amber in the window before"


@pytest.mark.parametrize("seed", [4, 11, 38])
def test_a_surge_that_is_not_certain_is_never_called_quiet(seed):
    assert judged(seed).status == "changing"


@pytest.mark.parametrize("seed", [8, 15])
def test_a_surge_of_two_weeks_and_more_is_found_in_windows_of_weeks(seed):
    """A step is as large in weeks as in days: in errors of a week it is large, and was taken for too large."""
    assert pulens.watch(*by_weeks(seed), class_prior=0.093).status == "alarm"


def by_weeks(seed: int) -> tuple[dict[str, Tally], dict[str, Tally]]:
    """Nine weeks of reference and those after it."""
    days = {name: tally for part in claims(seed) for name, tally in part.items()}
    names = list(days)
    weeks = {names[first]: sum_of([days[name] for name in names[first : first + 7]]) for first in range(0, 113, 7)}
    return dict(list(weeks.items())[:9]), dict(list(weeks.items())[9:])


def sum_of(tallies: list[Tally]) -> Tally:
    return sum(tallies[1:], start=tallies[0])


def test_amber_says_since_when_by_how_much_how_near_and_what_would_settle_it(amber):
    (change,) = amber.changes
    assert (amber.status, amber.alarms) == ("changing", ())
    assert "2026-08-05" <= change.since <= "2026-08-13"
    assert change.since_low <= change.since <= change.since_high
    assert 0.02 < change.interval.low < change.level < change.interval.high < 0.13
    assert change.bar - 1.4 < change.evidence < change.bar
    assert "has probably risen since about 2026-08-" in amber.verdict
    assert "the alarm needs 10." in amber.verdict
    assert f"About {change.settled_after} more window" in amber.verdict
    told = json.loads(json.dumps(amber.to_dict()))
    assert told["status"] == "changing"
    assert told["changes"][0]["settled_after"] == change.settled_after


def test_the_windows_that_would_settle_it_do(amber):
    (change,) = amber.changes
    judgement = amber.life.judgement
    run = judgement.runs["share"]
    values = judgement.followed_share.values[:, 0]
    rows = judgement.rows[run.began[0] :]
    mean = np.average(values[run.began[0] :], weights=rows)
    ahead = judgement.monitor.evidence("share", 200, float(judgement.rows[0]))
    per_row = judgement.monitor.reference.null_variance
    for value, size in zip(values, judgement.rows, strict=True):
        ahead.add(np.array([value]), per_row / size)
    totals = []
    for _ in range(change.settled_after):
        ahead.add(np.array([mean]), float(np.average(per_row / rows, weights=rows)))
        totals.append(ahead.starts().log_total)
    assert [total >= run.log_bar for total in totals] == [False] * (change.settled_after - 1) + [True]


def test_one_window_alone_alarms_only_if_it_is_far_beyond_the_bar():
    reference, windows = claims(0, 75)
    quiet = pulens.watch(reference, windows, class_prior=0.093)
    assert quiet.status == "quiet"
    run = quiet.life.judgement.runs["share"]
    for days, times, expected in (
        (1, 0.9 * FAR, None),
        (1, 1.1 * FAR, 14),
        (7, 1.1 * FAR, None),
        (7, 1.1 * FAR**7, 14),
    ):
        totals = run.log_totals.copy()
        totals[-1] = run.log_bar + np.log(times)
        assert replace(run, log_totals=totals, days=days).certain == expected
    totals[-2:] = run.log_bar + np.log([2 * NEAR + 0.5, 1.5])
    assert replace(run, log_totals=totals).certain == 14


def test_half_of_the_chance_of_a_false_alarm_is_spent_in_as_many_days_however_long_windows_are():
    reference, windows = claims(0, 120)
    daily = pulens.watch(reference, windows).life.judgement
    weekly = pulens.watch(*by_weeks(0)).life.judgement
    assert (daily.monitor.life, weekly.monitor.life) == (40, 40 / 7)
    for judgement, life in ((daily, 40), (weekly, 40 / 7)):
        run, count = judgement.runs["share"], len(judgement.windows)
        later = float(np.exp(judgement.followed_share.evidence.noise.log_changed.max()))
        assert run.unspent[-1] == pytest.approx(later * life / (count + life))


def test_the_size_of_a_change_is_that_of_the_shifts_as_they_are():
    """The test straightens skewed shifts, which makes large ones smaller; what is reported does not."""
    rng = np.random.default_rng(6)

    def rare(count, first, share):
        found = {}
        for place in range(count):
            positive = rng.random(150) < share
            named = (positive & (rng.random(150) < 0.5)).astype(int)
            found[str(date(2026, 1, 1) + timedelta(first + place))] = Tally.from_arrays(
                named, rng.normal(2.5 * positive)
            )
        return found

    found = pulens.watch(rare(40, 0, 0.03), rare(6, 40, 0.15), class_prior=0.03)
    judgement, (alarm,) = found.life.judgement, found.alarms
    values, rows = np.array([shift.value for shift in judgement.shifts]), judgement.rows
    assert judgement.runs["share"].began[0] == 0
    plain, straight = (np.average(each, weights=rows) for each in (values, judgement.monitor.straight(values, rows)))
    assert straight < 0.9 * plain
    assert alarm.level == pytest.approx(plain, rel=0.03)


def test_the_scores_that_moved_are_named(amber):
    bands = amber.score_bands
    assert sum(band.reference for band in bands) == pytest.approx(1)
    assert sum(band.since for band in bands) == pytest.approx(1)
    assert sum(band.explained for band in bands) == pytest.approx(1)
    assert (bands[0].low, bands[-1].high) == (None, None)
    assert [band.high for band in bands[:-1]] == [band.low for band in bands[1:]]
    assert bands[-1].since > bands[-1].reference, "high scores are more frequent"
    assert "moved       scores " in str(amber)
    assert "which scores moved" in watch_text(amber, explain=True)
    assert judged(0, 90).score_bands == ()


def test_amber_ends_with_exit_code_nought_and_a_word(tmp_path, capsys):
    reference, windows = claims(0, 112)
    for folder, tallies in (("reference", reference), ("days", windows)):
        (tmp_path / folder).mkdir()
        for name, tally in tallies.items():
            write_tally_file(tmp_path / folder / f"{name}.tally", TallyFile.of(tally, source=name))
    given = [f"{tmp_path}/reference/*.tally", f"{tmp_path}/days/*.tally", "--class-prior", "0.093"]
    main(["watch", *given, "--quiet"])  # any other exit code would be raised
    printed = capsys.readouterr().out
    assert printed.startswith("2026-08-20 CHANGING share since 2026-08-")
    assert len(printed.splitlines()) == 1


@pytest.mark.parametrize(("total", "status"), [(90, "quiet"), (112, "changing"), (120, "alarm")])
@pytest.mark.parametrize("few", [False, True])
def test_the_answer_is_one_screen_of_a_terminal(total, status, few):
    """24 lines of 80 columns with the verdict first; only the line for a log is longer, and counted as it is shown."""
    reference, windows = claims(0, total)
    if few:  # the promise cannot be vouched for, and the verdict says so
        reference = dict(list(reference.items())[-15:])
    result = pulens.watch(reference, windows, class_prior=0.093, threshold=1.4)
    for way in ("python", "command"):
        *lines, log = watch_text(result, way).splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) + -(-len(log) // 80) <= 24
        assert log == result.log_line
        assert "share of positives" in "\n".join(lines)
        assert few == ("not guaranteed" in " ".join(lines))
        assert "labels_lag=" not in " ".join(lines) or way == "python"
    if not few:
        assert result.status == status
        assert watch_text(result).startswith(
            {"quiet": "No change found", "changing": "The share", "alarm": "Since"}[status]
        )


def test_the_interval_of_a_level_has_the_error_of_labelled_rows_and_of_the_rows_since():
    """Three times as many positives after ten days of 1,000 rows: without it 95% intervals held 87% of the time."""
    held = []
    for seed in range(60):
        rng = np.random.default_rng([12, seed])
        parts = {
            name: {f"2026-{month}-{day:02d}": counted(rng, share) for day in range(1, 11)}
            for name, month, share in (("reference", "01", 0.1), ("windows", "02", 0.3))
        }
        held += [0.2 / 0.9 in alarm.interval for alarm in pulens.watch(**parts).alarms if alarm.line == "share"]
    assert np.mean(held) > 0.92


def counted(rng, share, rows=1000):
    """A day's tally, drawn score by score."""
    positives = rng.binomial(rows, share)
    own, others = rng.multinomial(positives, POSITIVE), rng.multinomial(rows - positives, NEGATIVE)
    named = rng.binomial(own, 0.35)
    return Tally.from_increments(SCORES, named, own - named + others)


def test_the_page_is_amber(amber):
    page = amber.to_html()
    assert 'class="card changing"' in page
    assert "CHANGING, NOT YET CERTAIN" in page
    assert "Recall is assumed constant: the reference" in page


# --- labels ----------------------------------------------------------------------------------------------------------


def days(rng, count, first, *, labelling=lambda score: np.full(score.shape, 0.3), mean=1.5, rows=1500):
    """Days whose positives score around a mean and are labelled by their score."""
    result = {}
    for place in range(count):
        positive = rng.random(rows) < 0.2
        scores = np.round(rng.normal(np.where(positive, mean, 0.0)), 2)
        named = positive & (rng.random(rows) < labelling(scores))
        result[str(date(2026, 1, 1) + timedelta(first + place))] = Tally.from_arrays(named.astype(int), scores)
    return result


def easy(score):
    return np.where(score > 1.5, 0.5, 0.1)


def test_labels_that_come_about_differently_are_no_change_of_the_share():
    rng = np.random.default_rng(3)
    reference, windows = days(rng, 30, 0), days(rng, 10, 30) | days(rng, 20, 40, labelling=easy)
    result = pulens.watch(reference, windows, class_prior=0.2, threshold=1.0, labels_lag=0)
    assert "share" not in {alarm.line for alarm in result.alarms}
    assert result.label_change.cause == "labelling"
    assert result.label_change.since_low <= str(date(2026, 1, 1) + timedelta(40)) <= result.label_change.since_high
    assert abs(result.label_change.followed) < 2 * result.label_change.followed_error
    assert "how labels come about has changed" in result.verdict
    assert result.to_dict()["label_change"]["cause"] == "labelling"


def test_labels_picked_out_of_the_population_do_not_pass_for_a_change_of_the_share():
    rng = np.random.default_rng(8)
    campaign = days(rng, 10, 30) | days(rng, 10, 40, labelling=lambda score: np.full(score.shape, 0.7))
    reference = days(rng, 30, 0)
    wrong = pulens.watch(reference, campaign, scenario="case-control")
    assert wrong.alarms[0].level < 0, "positives were taken out of the unlabelled rows"
    assert "labels-with-share" in {notice.code for notice in wrong.notices}
    assert "scenario='single-set'" in str(wrong)
    right = pulens.watch(reference, campaign, scenario="single-set")
    assert right.alarms == ()
    assert "labels-with-share" not in {notice.code for notice in right.notices}


def test_positives_that_moved_are_told_from_labels_that_come_about_differently():
    rng = np.random.default_rng(4)
    reference, windows = days(rng, 30, 0), days(rng, 10, 30) | days(rng, 20, 40, mean=2.3)
    result = pulens.watch(reference, windows, class_prior=0.2, threshold=1.0, labels_lag=0)
    assert result.label_change.cause == "positives"
    assert "the positives themselves have changed" in result.verdict
    unknown = pulens.watch(reference, windows, threshold=1.0, labels_lag=0)
    assert unknown.label_change.cause == "unclear"


def test_labels_that_stay_are_not_mentioned():
    told = 0
    for seed in range(6):
        rng = np.random.default_rng([5, seed])
        result = pulens.watch(days(rng, 30, 0), days(rng, 30, 30), class_prior=0.2, threshold=1.0, labels_lag=0)
        told += result.label_change is not None
    assert told == 0
    young = pulens.watch(days(rng, 30, 0), days(rng, 5, 30, labelling=easy), class_prior=0.2, threshold=1.0)
    assert young.label_change is None, "nobody said when labels are complete"


def test_columns_of_labelled_scores_are_standard_over_them():
    p = np.array([3.0, 0, 5, 9, 2]) / 19
    result = polynomials(2 * placements(p) - 1, 3, p)
    np.testing.assert_allclose(p @ result, 0, atol=1e-12)
    np.testing.assert_allclose((p[:, None] * result).T @ result, np.eye(result.shape[1]), atol=1e-9)
