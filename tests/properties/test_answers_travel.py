"""Every answer can be copied, pickled and dumped with joblib, before and after it was looked at."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import pkgutil
import re
from collections.abc import Mapping

import joblib
import numpy as np
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pulens
from pulens import calibration
from pulens.audits.judges import ReviewerErrors
from pulens.calibration.reviewed import reviewed_reliability
from pulens.calibration.verdict import calibration_verdict
from pulens.evaluation.reviews import ReviewOptions, row_reviews
from pulens.evaluation.top import FirstRows
from pulens.frozen import FrozenMapping
from pulens.inputs import ReadOptions
from pulens.monitoring import Change, LabelChange

ROOMS_WITHOUT_ANSWERS = ("answer", "backbones", "benchmark", "cli", "demo", "learners", "report", "studies", "testing")


# no labels drawn at random could look like this with 20% positives
CONTRADICTED = np.repeat([1, 0], [100, 1000]), np.repeat([2, 1, 2, 1], [95, 5, 100, 900])


def rows_of(seed):
    """A table with one column of segments and two of scores, each a probability."""
    rng = np.random.default_rng(seed)
    positive = rng.random(400) < 0.3
    labels = (positive & (rng.random(400) < 0.5)).astype(int)
    labels[:40], labels[40:44] = 1, 0
    good, poor = (1 / (1 + np.exp(-rng.normal(slope * (2 * positive - 1)))) for slope in (1.0, 0.5))
    return polars.DataFrame({"label": labels, "score": good, "other": poor, "site": ["x", "y"] * 200})


def answers_of(rows, prior):
    """One answer of every kind that holds numbers, looked at as people look at them."""
    labels, scores, other = (rows[name].to_numpy() for name in ("label", "score", "other"))
    given_prior = {"class_prior": prior, "scenario": "case-control"}
    evaluation = pulens.evaluate(labels, scores, **given_prior, redraws=100, labelling="random")
    comparison = pulens.compare(labels, {"a": scores, "b": other}, **given_prior, redraws=100, labelling="random")
    same = {} if prior == "auto" else {"same_prior": True}
    segments = pulens.evaluate_by(rows, "site", **given_prior, **same, redraws=100, labelling="random")
    both = pulens.estimate_prior_and_noise(labels, scores, scenario="case-control")
    result = [
        pulens.evaluate(labels, scores, **given_prior, redraws=100, labelling="random"),  # not looked at
        evaluation,
        evaluation.at(0.5),
        evaluation.estimates["recall"],
        evaluation.estimates["recall"].interval,
        evaluation.roc,
        evaluation.bounds(),
        evaluation.sensitivity("recall", factor=2),
        evaluation.robustness("recall > 0.1"),
        pulens.evaluate(
            labels, scores, **{**given_prior, "class_prior": 0.3}, cluster=np.arange(400) % 40, labelling="random"
        ).clusters,
        comparison,
        comparison.differences["roc_auc"][0],
        comparison.order["roc_auc"],
        segments,
        segments.segments["x"],
        evaluation.other_scenario,
        pulens.evaluate(
            *CONTRADICTED, class_prior=0.2, scenario="case-control", redraws=100, labelling="random"
        ).contradiction,
        both,
        both.class_prior,
        both.label_noise,
        calibration.reliability(labels, scores, **given_prior, labelling="random"),
        calibration.reliability(labels, scores, **given_prior, labelling="random").bins[0],
        calibration_verdict(calibration.reliability(labels, scores, **given_prior, labelling="random")),
        calibration_verdict(calibration.reliability(labels, scores, **given_prior, labelling="random")).tests[0],
        calibration.recalibrate(labels, scores, **given_prior, labelling="random"),
        calibration.recalibrate(labels, scores, **given_prior, labelling="random").map,
        calibration.expected_calibration_error(labels, scores, **given_prior, labelling="random"),
        calibration.brier_score(labels, scores, **given_prior, labelling="random"),
        calibration.brier_score(labels, scores, **given_prior, labelling="random").decomposition,
        calibration.classwise_calibration_error(
            np.where(labels == 1, "a", None), scores[:, None], classes=["a"], class_prior=[0.3], scenario="case-control"
        ),
        calibration.evaluation_bound(0.3, 100, 1000, 10),
        calibration.sample_size_for_error(0.05, 0.3),
        pulens.synthesise(scores[:, None], labels, label_frequency=0.5, scenario="case-control"),
        pulens.synthesise(scores[:, None], labels, label_frequency=0.5, scenario="case-control").train,
        pulens.comparison.Crossing("a", "b", 0.25, 0.2),
    ]
    for answer in result[1:]:
        str(answer)
        told(answer)
    return result


def answers_beyond(rows, folder):
    """The same of audits, cells, groups, decisions and windows, with all that their parts hold."""
    rows = rows.with_columns(sex=polars.Series(["f", "m", "m", "f"] * 100))
    labels, scores = rows["label"].to_numpy(), rows["score"].to_numpy()
    pulens.plan_audit(rows, threshold=0.5, budget=40).write(folder / "queue.csv")
    queue = polars.read_csv(folder / "queue.csv", schema_overrides={"answer": polars.String})
    queue = queue.with_columns(
        answer=polars.Series(["yes", "no"] * 20), other=polars.Series(["yes", "no", "no", "no"] * 10)
    )
    queue.write_csv(folder / "queue.csv")
    audit = pulens.read_audit(folder / "queue.csv", second="other", reviewer_errors=(0.01, 0.05))
    checked = {"reviews": folder / "queue.csv", "threshold": 0.5}
    whole = pulens.evaluate(rows, class_prior=(0.25, 0.35), threshold=0.5, labelling="random")
    by_site = pulens.evaluate_by(rows, "site", class_prior=0.3, same_prior=True, threshold=0.5, labelling="random")
    days = {str(day): rows.sample(200, seed=day) for day in range(30)}
    risen = {str(30 + day): rows.filter(polars.col("score") > 0.6).sample(60, seed=day) for day in range(3)}
    result = [
        pulens.plan_audit(rows, threshold=0.5, budget=40),
        audit,
        audit.forecast,
        audit.labelling,
        ReviewerErrors.of((0.01, 0.05)),
        pulens.audits.from_counts(rows=[50, 300], checked=[20, 20], found=[9, 1], flagged=1),
        pulens.evaluate(
            np.where((scores > 0.6) & (labels == 0), -1, labels),
            scores,
            reviewed_above=0.6,
            threshold=0.7,
            labelling="random",
        ),
        pulens.compare(rows, score=["score", "other"], redraws=100, **checked, labelling="random"),
        reviewed_reliability(
            row_reviews(rows, None, ReadOptions(), ReviewOptions(reviews=folder / "queue.csv"), scenario="single-set"),
            scores,
        ),
        pulens.evaluate(
            rows, class_prior={"x": 0.3, "y": 0.35}, threshold=0.5, labelled_within="site", labelling="random"
        ).cells,
        pulens.estimate_prior_within(rows, labelled_within="site"),
        by_site.gaps("recall"),
        pulens.evaluate_by(
            rows.with_row_index("visit").with_columns(patient=polars.col("visit") // 8),
            "site",
            class_prior={"x": 0.3, "y": 0.35},
            threshold=0.5,
            cluster="patient",
            labelling="random",
        ).clusters,
        pulens.gaps_by(rows, ["site", "sex"], "recall", threshold=0.5, labelling="random"),
        whole.decide(cost_miss=5, cost_alarm=1, volume=100, redraws=100, labelling="random"),
        whole.decision_curve(),
        whole.top(20),
        pulens.evaluate(
            rows.with_row_index("place").with_columns(query=polars.col("place") // 40),
            class_prior=0.3,
            per="query",
            labelling="random",
        ).top(5, per="query"),
        pulens.compare(
            rows, score=["score", "other"], class_prior=0.3, cost_ratio=0.2, k=20, redraws=100, labelling="random"
        ),
        pulens.watch(days, risen, class_prior=0.3, threshold=0.5),
        Change("share", "day 2", "day 1", "day 3", 0.1, None, 0.5, 1.0, 3),
        LabelChange("day 2", "day 1", "day 3", 2.5, "labelling", 0.1, 0.2),
        pulens.fit(rows, label="label", class_prior=0.3, folds=2, method="elkan_noto"),
    ]
    for answer in result:
        str(answer)
        told(answer)
    return list(parts_of(result))


def parts_of(held, seen=None):
    """One of every kind that says `to_dict` within answers."""
    seen = set() if seen is None else seen
    if id(held) in seen or isinstance(held, str | bytes | int | float | np.ndarray | None):
        return
    seen.add(id(held))
    if hasattr(held, "to_dict"):
        yield held
    if isinstance(held, Mapping):
        inside = list(held.values())
    elif isinstance(held, list | tuple):
        inside = list(held)
    elif type(held).__module__.startswith("pulens."):
        names = getattr(type(held), "__dataclass_fields__", ())
        inside = [getattr(held, name) for name in names] + list(getattr(held, "__dict__", {}).values())
    else:
        return
    for each in inside:
        yield from parts_of(each, seen)


def told(answer):
    return answer.to_dict() if hasattr(answer, "to_dict") else str(answer)


def through_joblib(answer):
    file = io.BytesIO()
    joblib.dump(answer, file)
    file.seek(0)
    return joblib.load(file)


WAYS = {
    "pickle": lambda answer: pickle.loads(pickle.dumps(answer)),
    "joblib": through_joblib,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
PRIORS = st.sampled_from([0.3, (0.2, 0.4), "auto"])


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 1000), PRIORS)
def test_an_answer_that_travelled_says_the_same(seed, prior):
    for answer in answers_of(rows_of(seed), prior):
        for way, send in WAYS.items():
            there = send(answer)
            assert type(there) is type(answer)
            np.testing.assert_equal(told(there), told(answer), err_msg=f"{type(answer).__name__} by {way}")


@pytest.fixture(scope="module")
def beyond(tmp_path_factory):
    return answers_beyond(rows_of(0), tmp_path_factory.mktemp("audit"))


def test_answers_beyond_the_papers_travel_too(beyond):
    first = {type(answer): answer for answer in reversed(beyond)}
    for answer in first.values():
        for way, send in WAYS.items():
            there = send(answer)
            assert type(there) is type(answer)
            np.testing.assert_equal(told(there), told(answer), err_msg=f"{type(answer).__name__} by {way}")


def test_no_kind_of_answer_is_forgotten_here(beyond):
    """Every class of the evaluation road that says `to_dict` is sent above."""
    known = set()
    for module in pkgutil.walk_packages(pulens.__path__, "pulens."):
        room = re.sub(r"^pulens\.(learning|research)\.", "pulens.", module.name).split(".")[1]
        if room in (*ROOMS_WITHOUT_ANSWERS, "__main__"):
            continue
        for result in vars(importlib.import_module(module.name)).values():
            if isinstance(result, type) and result.__module__ == module.name and hasattr(result, "to_dict"):
                known.add(result)
    sent = {type(answer) for answer in [*answers_of(rows_of(0), 0.3), *beyond]}
    assert known - sent == {FirstRows}  # what the first rows of a list and those of queries have in common


def test_an_evaluation_leaves_its_redraws_behind():
    """What was drawn to find the intervals is many times the answer, and is found again where it is needed."""
    rows = rows_of(1)
    options = {"class_prior": 0.3, "scenario": "case-control", "redraws": 2000}
    evaluation = pulens.evaluate(rows["label"].to_numpy(), rows["score"].to_numpy(), **options, labelling="random")
    before = len(pickle.dumps(evaluation))
    expected = evaluation.at(0.4).to_dict()
    there = pickle.loads(pickle.dumps(evaluation))
    assert len(pickle.dumps(evaluation)) < 3 * before
    assert there.at(0.4).to_dict() == expected


def test_numbers_of_an_answer_cannot_be_changed():
    frozen = FrozenMapping({"a": 1})
    with pytest.raises(TypeError):
        frozen["a"] = 2
    with pytest.raises(AttributeError, match="cannot be changed"):
        frozen._items = {}
    assert frozen == {"a": 1}
    assert frozen | {"b": 2} == {"b": 2} | frozen == {"a": 1, "b": 2}
