"""Models compared on rows that belong together: every difference without one bucket of clusters at a time.

Buckets are the same for all models, so what a cluster does to all of them cancels in the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from pulens.comparison.joint import JointCounts, by_model, read_models
from pulens.comparison.paired import Difference
from pulens.counts.buckets import BucketTally
from pulens.counts.joint import JointTally
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.clustered import ClusterJackknife, Jackknife
from pulens.inference.intervals import interval_estimator
from pulens.inference.kernels.holm import holm
from pulens.inference.kernels.jackknife import FEWEST_BUCKETS, student_quantile
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Target
from pulens.inference.policy import ends_in_doubt
from pulens.inference.prior_uncertainty import holding
from pulens.inputs import ReadOptions, read_buckets
from pulens.metrics.parts.measure import raw_value
from pulens.metrics.parts.metric import Metric
from pulens.selection.shifts import WithShifts
from pulens.strata import LabellingCells, read_cells
from pulens.types import Floats

Shifts = Callable[[float], tuple[float, Floats]]


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredModels:
    """Rows counted by cluster once for each model's score."""

    counted: Mapping[str, BucketTally | LabellingCells]
    agreement: Callable[[], Floats]  # how far each pair of models ranks the labelled rows alike

    joint: ClassVar[None] = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.counted)


def read_clustered_models(
    source: Any, scores: Any, strata: Any = None, **reading: Any
) -> ClusteredModels | JointCounts:
    """Labels and a mapping of scores, or a table, file or database and the names of its columns of scores."""
    alone = {name: said for name, said in reading.items() if name != "cluster"}
    columns = reading.pop("score", None)
    refuse_counts_and_weights(source, reading)

    def read(values: Any = None, **named: Any) -> BucketTally | LabellingCells:
        if strata is None:
            return read_buckets(source, values, **reading, **named)
        return read_cells(source, values, strata, ReadOptions(**reading, **named))

    counted = by_model(scores, columns, read)
    if all(isinstance(one, BucketTally) and one.holds_single_rows for one in counted.values()):
        return read_models(source, scores, **alone)  # clusters of one row each are none
    return ClusteredModels(counted, lambda: read_models(source, scores, **alone).agreement())


def refuse_counts_and_weights(source: Any, reading: Mapping[str, Any]) -> None:
    """Rows are needed, each of them one observation."""
    for name in ("weight", "weights"):
        if reading.get(name) is not None:
            raise PulensError("models cannot be compared on weighted rows: leave the weights out, or repeat the rows.")
    if isinstance(source, Tally | JointTally | BucketTally) or str(source).endswith(".tally"):
        raise InputError(
            "counts of one score do not say how models differ within clusters, and a joint tally holds no buckets: "
            "give the rows, with cluster= (--cluster) and the columns of scores."
        )


def differences_of_clusters(
    name: str,
    metric: Metric,
    evidences: Mapping[str, Evidence],
    thresholds: Mapping[str, float],
    resampling: Resampling,
    shifts: Mapping[tuple[str, str], Shifts] | None = None,
) -> tuple[Difference, ...]:
    """All pairs of models; over a range of class priors the worst p-value counts.

    Numbers are not clipped: two models beyond the possible still have an order. ``shifts`` is what the labelling adds
    to the difference of each pair, where it is in doubt.
    """
    models: dict[str, Jackknife] = {}
    for model, evidence in evidences.items():
        at = thresholds[model] if metric.needs_threshold else None

        def value(setting: Any, evidence: Evidence = evidence, at: float | None = at) -> float:
            return raw_value(metric, *evidence.rows_at(setting), at)

        estimator = interval_estimator(evidence, resampling)
        method = ClusterJackknife(estimator, estimator.target(Target(metric, value, at)))
        known = estimator.known_of_prior(method.target).of_contrast()
        models[model] = method.at(value, method.replicates, next(iter(models.values())).doubt if models else known)
    pairs = list(combinations(models, 2))
    result = []
    for pair in pairs:
        less = models[pair[0]].less(models[pair[1]])
        every = less if shifts is None else WithShifts(less, shifts[pair])
        result.append(_pair(metric, less, every, resampling.confidence, estimator.words["contrast"]))
    adjusted = holm([part[3] for part in result])
    reason = metric.undefined_because or "it is undefined without some clusters"
    if less.buckets < FEWEST_BUCKETS:
        reason = f"labelled or other rows lie in fewer than {FEWEST_BUCKETS} clusters"
    return tuple(
        Difference(name, first, second, *part, corrected, reason if part[1] is None else None)
        for (first, second), part, corrected in zip(pairs, result, adjusted, strict=True)
    )


def _pair(
    metric: Metric, jackknife: Jackknife, every: Jackknife | WithShifts, confidence: float, method: str
) -> tuple[float, Interval | None, float, float]:
    """Difference, its interval, the chance that the first is better, and the p-value of no difference.

    ``every`` is the jackknife with every source of uncertainty.
    """
    doubt = jackknife.doubt
    own = doubt.own_setting
    value = every.value(own)
    low, high, named = ends_in_doubt(every, doubt, confidence)
    if any(math.isnan(number) for number in (value, low, high)):
        return math.nan, None, math.nan, 1.0
    low, high = holding(value, low, high)
    shares: Sequence[Any] = [own] if doubt.treatment != "range" else [own, *jackknife.over(doubt)]
    seen = np.array([every.value(share) for share in shares])
    if doubt.treatment == "drawn":
        # the end nearer to no difference: p is the level at which it would just touch that
        reach = student_quantile(jackknife.freedom, (1 - confidence) / 2)
        errors = np.array([(value - low if value > 0 else high - value) / reach])
    else:
        errors = np.array([every.error(share) for share in shares])
    better, p_value = chances(value, seen, errors, jackknife.freedom, higher_is_better=metric.higher_is_better)
    return value, Interval(low, high, confidence, named.replace(jackknife.method, method)), better, p_value


def chances(
    value: float, seen: Floats, errors: Floats, freedom: float, *, higher_is_better: bool
) -> tuple[float, float]:
    """The chance that the first model is better, and the p-value of no difference at any of the class priors ``seen``.

    >>> [round(each, 3) for each in chances(0.2, np.array([0.2]), np.array([0.1]), 30.0, higher_is_better=True)]
    [0.973, 0.055]
    """
    from pulens.special import ndtr, ndtri, stdtr

    known = ~np.isnan(seen) & (errors > 0)
    away = np.divide(np.abs(seen), errors, out=np.zeros(seen.size), where=known)
    near = stdtr(freedom, -away)
    length = float(np.ptp(seen[~np.isnan(seen)])) / float(errors.max()) if errors.max() > 0 else 0.0
    p_value = float(np.max(np.minimum(near + ndtr(ndtri(near) - length), 1.0)))
    if len({float(np.sign(number)) for number in seen[known]}) > 1:
        p_value = 1.0  # a difference whose sign turns within the range of priors is none
    sign = 1 if higher_is_better else -1
    better = float(stdtr(freedom, sign * value / errors[0])) if errors[0] > 0 else 0.5 + 0.5 * np.sign(sign * value)
    return float(better), p_value
