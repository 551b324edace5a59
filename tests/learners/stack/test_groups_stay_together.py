"""Rows that belong together are held out together, in networks, folds and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from pulens.learners import NNPU

from pulens.errors import InputError, PulensError
from pulens.learning.learners.stack import division, fitting
from pulens.sklearn import scorer

OPTIONS = {"backbone": "linear", "epochs": 1, "random_state": 0, "progress": False}


def patients(many: int = 40, visits: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features and labels of several visits of each patient."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(many), visits)
    features = rng.normal(size=(patient.size, 2)) + rng.normal(size=(many, 2))[patient]
    return features, (features[:, 0] + rng.normal(size=patient.size) > 0.8).astype(int), patient


@pytest.fixture
def divisions(monkeypatch):
    """What every fit trains on and holds out."""
    seen = []

    def watched(*given):
        seen.append(division.divide(*given))
        return seen[-1]

    monkeypatch.setattr(fitting, "divide", watched)
    return seen


def test_a_network_holds_out_whole_groups(divisions):
    features, labels, patient = patients()
    NNPU(class_prior=0.4, **OPTIONS).fit(features, labels, groups=[f"p{one}" for one in patient])
    (held, codes), part = divisions[0].held_out[0], divisions[0].training[0]
    kept = np.concatenate([part.labelled, part.unlabelled])
    assert set(patient[held]).isdisjoint(patient[kept])
    assert held.size + kept.size == patient.size
    assert 0.05 < held.size / patient.size < 0.2
    assert set(codes) == {0, 1}
    NNPU(class_prior=0.4, **OPTIONS).fit(features, labels)
    one_by_one = divisions[1].held_out[0][0]
    assert set(patient[one_by_one]) & set(np.delete(patient, one_by_one))


def test_an_estimated_class_prior_is_told_of_the_groups_of_its_rows(divisions, monkeypatch):
    features, labels, patient = patients()
    told = []

    def estimated(rows, kinds, *_, method, groups):
        told.append((rows, groups))
        return 0.4

    monkeypatch.setattr(fitting, "estimated_class_prior", estimated)
    NNPU(class_prior="auto", standardise=False, **OPTIONS).fit(features, labels, groups=patient)
    rows, groups = told[0]
    whose = {tuple(row): one for row, one in zip(features.astype(np.float32).tolist(), patient, strict=True)}
    assert [whose[tuple(row)] for row in rows.tolist()] == groups.tolist()


def test_groups_must_be_one_id_per_row_and_more_than_one_of_each_kind():
    features, labels, patient = patients()
    with pytest.raises(InputError, match="one id per row, got 3 ids for 240 rows"):
        NNPU(class_prior=0.4, **OPTIONS).fit(features, labels, groups=[1, 1, 2])
    only = np.where(patient == 0, 1, 0)
    with pytest.raises(PulensError, match="at least 2 groups each"):
        NNPU(class_prior=0.4, **OPTIONS).fit(features, only, groups=patient)


def test_cross_validation_of_a_learner_keeps_groups_together():
    """Learners and scorers are scikit-learn's kind: its splitters by group do the rest."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_validate

    features, labels, patient = patients()
    result = cross_validate(
        LogisticRegression(),
        features,
        labels,
        groups=patient,
        cv=GroupKFold(3),
        scoring=scorer("roc_auc", class_prior=0.5),
        return_indices=True,
    )
    for train, test in zip(result["indices"]["train"], result["indices"]["test"], strict=True):
        assert set(patient[train]).isdisjoint(patient[test])
    assert np.isfinite(result["test_score"]).all()


def test_a_scorer_says_where_clusters_belong():
    with pytest.raises(PulensError, match="changes intervals alone"):
        scorer("roc_auc", class_prior=0.5, cluster="patient")
