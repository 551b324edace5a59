"""scikit-learn's own checks of an estimator, and those that cannot hold here."""

from __future__ import annotations

from sklearn.utils.estimator_checks import check_estimator

CODING = "labels are 1 and 0 unless positive= declares otherwise; this check uses labels such as 1 and 2 undeclared"
OTHER_LABELS = {
    "check_estimators_dtypes": CODING,
    "check_fit2d_1feature": CODING,
    "check_classifier_data_not_an_array": CODING,
    "check_classifiers_classes": "what the labels 'one' and 'two' mean is never guessed",
}

BATCHES = "rows are held out and batches drawn at random: a row that stands there twice is drawn otherwise"
WEIGHTED = {
    **{
        f"check_sample_weights_{what}": CODING for what in ("pandas_series", "not_an_array", "shape", "not_overwritten")
    },
    **{f"check_sample_weight_equivalence_on_{kind}_data": BATCHES for kind in ("dense", "sparse")},
}


def failed_checks(learner, expected=OTHER_LABELS):
    """Names and errors of the checks that failed though they should not."""
    found = check_estimator(learner, on_fail=None, on_skip=None, expected_failed_checks=expected)
    return {result["check_name"]: result["exception"] for result in found if result["status"] == "failed"}
