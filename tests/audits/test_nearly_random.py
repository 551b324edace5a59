"""Labels that may favour one side: no preference is the sharper column, and a larger one is never narrower."""

from __future__ import annotations

import numpy as np
import pytest

from pulens.audits import AuditCounts
from pulens.audits.if_random import if_random_estimates
from pulens.audits.nearly_random import nearly_random_estimates
from pulens.errors import AssumptionError


def matching(labelled: list[int]) -> AuditCounts:
    return AuditCounts(
        rows=[40, 400, 49_560],
        checked=[40, 60, 100],
        found=[36, 1, 0],
        labelled=labelled,
        flagged=1,
        scenario="case-control",
    )


def test_no_preference_is_the_sharper_column() -> None:
    counts = matching([40, 6, 4])
    ours, theirs = nearly_random_estimates(counts, factor=1), if_random_estimates(counts)
    for name, result in ours.items():
        assert result.interval is not None
        assert theirs[name].interval is not None
        assert (result.interval.low, result.interval.high) == (theirs[name].interval.low, theirs[name].interval.high)


def test_a_larger_preference_is_never_narrower_and_values_stay() -> None:
    counts = matching([40, 6, 4])
    narrow, wide = (nearly_random_estimates(counts, factor=factor)["recall"] for factor in (2, 4))
    assert narrow.interval is not None
    assert wide.interval is not None
    assert wide.interval.low < narrow.interval.low < narrow.value == wide.value
    assert wide.interval.high > narrow.interval.high


def test_labels_at_the_worst_preference_lead_back_to_the_truth() -> None:
    # 60% of the positives are flagged and labelled three times as often: 900 and 200 labels say recall .82
    counts = AuditCounts(
        rows=[10**5, 10**8], checked=[100, 100], found=[30, 0], labelled=[900, 200], flagged=1, scenario="case-control"
    )
    interval = nearly_random_estimates(counts)["recall"].interval
    assert interval is not None
    assert interval.low == pytest.approx(0.563, abs=0.006)
    assert 0.6 in interval


def test_what_is_assumed_is_said_and_what_cannot_be_is_refused() -> None:
    result = nearly_random_estimates(matching([40, 6, 4]))["f1"]
    assert result.basis == "bounds"
    assert result.rests_on == ("labels favour positives on either side of the threshold at most 3:1",)
    assert np.isnan(nearly_random_estimates(matching([0, 0, 0]))["f1"].value)
    with pytest.raises(AssumptionError, match="factor must lie between 1"):
        nearly_random_estimates(matching([40, 6, 4]), factor=0.5)
