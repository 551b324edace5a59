"""Floors that no threshold keeps, and floors kept where only labelled rows are flagged."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import pulens

LABELS = np.repeat([1, 0], [15, 100])
APART = np.concatenate([np.linspace(5, 6, 15), np.linspace(0, 4, 100)])


@pytest.mark.parametrize("class_prior", [0.1, 0.05, 0.03, 0.02])
def test_precision_is_undefined_with_its_reason_where_nothing_of_the_population_is_flagged(class_prior):
    result = pulens.decide(
        LABELS, APART, scenario="case-control", class_prior=class_prior, precision_at_least=0.5, labelling="random"
    )
    assert result.threshold == 5  # whatever rounding leaves of rates that cancel
    assert math.isnan(result.precision.value)
    assert result.precision.undefined_because
    assert "precision undefined: nothing is predicted positive" in " ".join(str(result).split())
    assert result.to_html()


@pytest.mark.parametrize("class_prior", [0.1, 0.05])
def test_rows_that_chance_explains_do_not_rule_a_class_prior_out(class_prior):
    for asked in ({"precision_at_least": 0.5}, {"recall_at_least": 0.5}):
        result = pulens.decide(
            LABELS, APART, scenario="case-control", class_prior=class_prior, **asked, labelling="random"
        )
        assert "Do not act on this" not in str(result)


@pytest.mark.parametrize("rate", ["precision", "recall"])
def test_floors_at_a_class_prior_that_the_rows_rule_out_say_so(rate):
    result = pulens.decide(
        LABELS, APART, scenario="case-control", class_prior=0.3, **{f"{rate}_at_least": 0.5}, labelling="random"
    )
    assert result.threshold is None
    said = " ".join(str(result).split())
    assert f"These rows rule out class prior 0.3 with random labels, and no {rate} can be guaranteed" in said
    assert "best lower end" not in said


def test_a_recall_floor_is_kept_by_the_recall_that_is_shown():
    result = pulens.decide(
        LABELS, APART, scenario="case-control", class_prior=0.1, recall_at_least=0.5, labelling="random"
    )
    assert result.recall.value >= 0.5 - 1e-12


def test_the_best_lower_end_that_is_told_is_below_the_floor_that_no_threshold_keeps():
    rng = np.random.default_rng(15)
    told = 0
    for _ in range(40):
        labels = (rng.random(300) < 0.4).astype(int)
        scores = rng.normal(size=300) + labels
        top = np.argsort(-scores)[:60]
        labels[top] = (np.arange(60) % 5 == 0).astype(int)  # precision rises again further down
        result = pulens.decide(labels, scores, class_prior=0.5, precision_at_least=0.6, labelling="random")
        said = re.search(r"best lower end seen is ([0-9.]+)\.", " ".join(str(result).split()))
        if said is not None:
            told += 1
            assert float(said[1]) < 0.6
    assert told > 5
