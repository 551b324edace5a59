"""The class prior of a segment that one common label frequency implies."""

from __future__ import annotations

import numpy as np
import pytest

import pulens
from pulens.counts.tally import Tally, Totals
from pulens.estimate import Interval
from pulens.priors import ClassPrior
from pulens.priors.implied import error_from_sizes, implied_prior, label_frequency
from pulens.recovery.many import priors_in_redraws
from pulens.scenario import Scenario


def segment(labelled, unlabelled, *, apart=0.0):
    """Scores of labelled rows stand ``apart`` above those of unlabelled ones."""
    scores = np.concatenate([np.arange(labelled) + apart, np.arange(unlabelled)])
    return Tally.from_arrays(np.repeat([1, 0], [labelled, unlabelled]), scores.astype(float))


def whole_prior(value, totals, **options):
    return ClassPrior(value, (value * totals.rows - totals.labelled) / totals.unlabelled, "given", **options)


def test_positives_divide_as_labelled_rows_do():
    whole = Totals(50, 950, 0)
    prior = whole_prior(0.2, whole)
    assert label_frequency(whole, prior) == pytest.approx(0.25)
    result = implied_prior(segment(20, 180), whole, prior)
    assert result.value == pytest.approx(20 / 0.25 / 200)
    assert result.unlabelled == pytest.approx((80 - 20) / 180)
    assert "equally often in every segment" in result.assumption
    parts = [segment(20, 180), segment(30, 770)]
    values = [implied_prior(part, whole, prior).value * part.totals.rows for part in parts]
    assert sum(values) == pytest.approx(0.2 * 1000)


def test_label_noise_cancels_when_it_is_the_same_everywhere():
    whole = Totals(50, 950, 0)
    clean, noisy = (implied_prior(segment(20, 180), whole, whole_prior(0.2, whole), label_noise=n) for n in (0.0, 0.1))
    assert clean.value == noisy.value
    assert noisy.unlabelled == pytest.approx((80 - 0.9 * 20) / 180)


def test_a_segment_that_would_need_more_positives_than_rows_is_refused_with_the_way_out():
    whole = Totals(100, 900, 0)
    with pytest.raises(pulens.PulensError, match=r"implies 120 positives here.*100 rows with 60.*prior of its own"):
        implied_prior(segment(60, 40), whole, whole_prior(0.2, whole))


def test_an_implied_prior_above_what_scores_allow_is_said():
    """Labelled rows far above every unlabelled one: hardly an unlabelled row can be positive."""
    whole = Totals(400, 3600, 0)
    result = implied_prior(segment(100, 300, apart=1000.0), whole, whole_prior(0.3, whole))
    assert [notice.code for notice in result.notices] == ["implied-prior-impossible"]
    assert implied_prior(segment(100, 300), whole, whole_prior(0.3, whole)).notices == ()


def test_the_interval_is_that_of_the_ratio_of_two_posteriors():
    """A slow witness: a million draws of both Jeffreys posteriors."""
    rng = np.random.default_rng(0)
    whole = Totals(60, 1940, 0)
    prior = whole_prior(0.1, whole)
    for labelled, unlabelled in ((5, 95), (20, 280), (40, 960)):
        rows = labelled + unlabelled
        inside = rng.beta(labelled + 0.5, unlabelled + 0.5, 1_000_000)
        outside = rng.beta(60 - labelled + 0.5, 1940 - unlabelled + 0.5, 1_000_000)
        share = rows / 2000
        drawn = 0.1 * inside / (share * inside + (1 - share) * outside)
        low, high = np.quantile(drawn, [0.025, 0.975])
        result = implied_prior(segment(labelled, unlabelled), whole, prior).interval
        assert result.low == pytest.approx(low, rel=0.08)
        assert result.high == pytest.approx(high, rel=0.08)


def test_the_doubt_about_the_class_prior_of_all_rows_is_carried_along():
    whole, part = Totals(500, 9500, 0), segment(100, 900)
    exact = implied_prior(part, whole, whole_prior(0.2, whole))
    reach = {"interval": Interval(0.15, 0.25, 0.95, "audit"), "unlabelled_interval": Interval(0.1, 0.2, 0.95, "audit")}
    doubtful = implied_prior(part, whole, whole_prior(0.2, whole, **reach))
    assert doubtful.value == exact.value
    assert doubtful.interval.low < exact.interval.low < exact.interval.high < doubtful.interval.high
    bare = {"interval": Interval(0.15, 0.25, None, "given"), "unlabelled_interval": Interval(0.1, 0.2, None, "given")}
    ranged = implied_prior(part, whole, whole_prior(0.2, whole, **bare))
    ends = [implied_prior(part, whole, whole_prior(value, whole)).interval for value in (0.15, 0.25)]
    assert ranged.interval.low == pytest.approx(ends[0].low)
    assert ranged.interval.high == pytest.approx(ends[1].high)
    assert ranged.drawn_interval.confidence is None


def test_redraws_move_the_share_with_the_segment_s_own_labelled_rows():
    """With c = .25 and nothing labelled elsewhere held, twice the labelled rows are twice the positives."""
    held = {"label_noise": 0.0, "held": "frequency", "scenario": Scenario.SINGLE_SET}
    redrawn = (np.array([20, 40]), np.array([180, 160]), 0)
    moved = priors_in_redraws(60 / 180, (20, 180, 0), redrawn, **held, elsewhere=1e9)
    assert moved == pytest.approx([60 / 180, (160 - 40) / 160], rel=1e-6)
    # two segments of equal size: the positives are shared out by labelled rows
    moved = priors_in_redraws(60 / 180, (20, 180, 0), (np.array([40]), np.array([160]), 0), **held, elsewhere=20.0)
    assert moved == pytest.approx([(160 * 40 / 60 - 40) / 160])


def test_implied_priors_hold_the_truth_as_often_as_they_say():
    """Four segments of unequal size, 800 samples: each between 92.5 and 97.5%, standard error 0.8 points."""
    rng = np.random.default_rng(5)
    sizes, priors, frequency, rows = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.3, 0.1, 0.2]), 0.3, 4000
    population = float(sizes @ priors)
    held = np.zeros(4)
    for _ in range(800):
        drawn = rng.multinomial(rows, sizes)
        labelled = rng.binomial(rng.binomial(drawn, priors), frequency)
        parts = [Totals(float(hits), float(size - hits), 0.0) for hits, size in zip(labelled, drawn, strict=True)]
        whole = Totals(float(labelled.sum()), float(rows - labelled.sum()), 0.0)
        prior = whole_prior(population, whole)
        error = error_from_sizes(parts, prior)
        for place, part in enumerate(parts):
            tally = Tally(*(np.array([count]) for count in (1.0, part.labelled, part.unlabelled, 0.0)))
            held[place] += priors[place] in implied_prior(tally, whole, prior, size_error=error).interval
    assert ((held / 800 > 0.925) & (held / 800 < 0.975)).all(), held / 800
