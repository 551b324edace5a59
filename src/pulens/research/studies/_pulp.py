"""The experiment of the PULP paper, section 4: does a measure on PU labels rank classifiers as on full labels?

For each data set, task, labelling, share of positives among the unlabelled and number of labels, classifiers are
trained on PU rows and measured on other PU rows, once with the PU labels and once with the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pulens.counts.hypergeometric import tails
from pulens.counts.operating_points import Ranking, average
from pulens.counts.tally import Tally
from pulens.learning.labelling import Mechanism, find, mixture_log_density
from pulens.metrics import METRICS, raw_value
from pulens.recovery.assumptions import UNCORRECTED
from pulens.research.studies._hidden_labels import hide_labels
from pulens.research.studies._pulp_classifiers import classifiers, quietly
from pulens.research.studies._pulp_data import LabelledSet, available
from pulens.research.studies._study import Workbench

# as the paper names them, and which of our metrics each is
MEASURES = {
    "AUC": "roc_auc",
    "F1": "averaged_f1",
    "L&L": "averaged_lee_liu",
    "MI": "averaged_mutual_information",
    "PEAR": "averaged_matthews_correlation",
    "MAP": "average_precision",
    "PULP": "pulp",
    "PseudoF": "averaged_pseudo_f",
}
LOG_PULP = "log PULP"  # ours: the mean of -log P(X >= k), which cannot saturate
# the paper's names: in scenario 1 the least, in scenario 2 the most representative positives are left unlabelled
MECHANISMS: dict[str, Mechanism] = {
    "random": find("completely_at_random"),
    "scenario 1": find("most_representative"),
    "scenario 2": find("least_representative"),
}
SCENARIOS = tuple(MECHANISMS)
UNLABELLED = 400


@dataclass(frozen=True, slots=True)
class MeasuresDesign:
    """How much is tried."""

    priors: tuple[float, ...]
    label_counts: tuple[int, ...]
    tasks: int
    repeats: int
    noise: tuple[float, ...]  # of features, in standard deviations, task by task: tasks of several difficulties

    @classmethod
    def of(cls, bench: Workbench) -> MeasuresDesign:
        if bench.quick:
            return cls((0.1, 0.5), (10, 90), tasks=2, repeats=1, noise=(0.0, 2.0))
        return cls((0.05, 0.15, 0.3, 0.45, 0.6), (10, 30, 90), tasks=3, repeats=1, noise=(0.0, 1.0, 3.0))


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Values of every measure, averaged over repeats: axes label count, scenario, prior, group, classifier, measure.

    A group is one task on one data set. ``full`` was computed with the truth, ``pu`` with the PU labels.
    """

    design: MeasuresDesign
    groups: tuple[tuple[str, int], ...]
    measures: tuple[str, ...]
    full: NDArray[Any]
    pu: NDArray[Any]

    def correlation(self, *, pooled: bool) -> NDArray[Any]:
        """Spearman's correlation over classifiers: axes label count, scenario, prior, measure.

        Pooled over all groups as in the paper, or the mean of the correlations within each group.
        """
        if pooled:
            shape = (*self.full.shape[:3], -1, self.full.shape[-1])
            return spearman(self.full.reshape(shape), self.pu.reshape(shape), axis=3)
        return np.asarray(np.nanmean(self.correlation_by_group(), axis=3))

    def correlation_by_group(self) -> NDArray[Any]:
        return spearman(self.full, self.pu, axis=4)

    def deviation(self) -> NDArray[Any]:
        """Mean absolute deviation: axes label count, scenario, prior, measure."""
        result: NDArray[Any] = np.abs(self.full - self.pu).mean(axis=(3, 4))
        return result

    def spread(self) -> NDArray[Any]:
        """Standard deviation of all values on PU labels, measure by measure, for each label count."""
        result: NDArray[Any] = self.pu.std(axis=(1, 2, 3, 4))
        return result


def spearman(first: NDArray[Any], second: NDArray[Any], axis: int) -> NDArray[Any]:
    """Rank correlation along an axis, ties sharing their mean rank; nan where nothing varies."""
    from scipy.stats import rankdata

    ranks = [rankdata(values.round(12), axis=axis) for values in (first, second)]
    a, b = (values - values.mean(axis=axis, keepdims=True) for values in ranks)
    with np.errstate(invalid="ignore"):
        result: NDArray[Any] = (a * b).sum(axis=axis) / np.sqrt((a * a).sum(axis=axis) * (b * b).sum(axis=axis))
    return result


def untied(scores: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Places from 0 for the lowest score, ties broken at random: the paper sorts, and so breaks ties somehow."""
    places = np.empty(scores.size)
    places[np.lexsort((rng.random(scores.size), scores))] = np.arange(scores.size)
    return places


def measure_all(labels: NDArray[Any], scores: NDArray[Any]) -> list[float]:
    """Every measure of a ranking, rows without a label counting as negatives."""
    tally = Tally.from_arrays(labels, scores)
    result = [raw_value(METRICS[name], tally, UNCORRECTED) for name in MEASURES.values()]
    ranking = Ranking.of(tally, LOG_PULP)
    rows, labelled = ranking.rows, ranking.hits
    return [*result, average(ranking, lambda i, k: -tails(k, rows, labelled, i).log_at_least, "grouped")]


def run(bench: Workbench, sets: Sequence[LabelledSet] | None = None) -> Results:
    """Train, measure, average. Every task draws its own random numbers, so sets may be run one by one."""
    design = MeasuresDesign.of(bench)
    chosen = available(np.random.default_rng(bench.seed)) if sets is None else sets
    groups = tuple((data.name, task) for data in chosen for task in range(design.tasks))
    scorers = classifiers()
    measures = (*MEASURES, LOG_PULP)
    shape = (len(design.label_counts), len(SCENARIOS), len(design.priors), len(groups), len(scorers), len(measures))
    full, pu = np.zeros(shape), np.zeros(shape)
    for place, (data, task) in enumerate((data, task) for data in chosen for task in range(design.tasks)):
        for repeat in range(design.repeats):
            bench.progress(f"{data.name}, task {task + 1} of {design.tasks}, repeat {repeat + 1} of {design.repeats}")
            rng = np.random.default_rng([bench.seed, crc32(data.name.encode()), task, repeat])
            for where, truth, seen in _task(data, task, design, list(scorers.values()), rng):
                full[where[0], where[1], where[2], place, where[3]] += np.array(truth) / design.repeats
                pu[where[0], where[1], where[2], place, where[3]] += np.array(seen) / design.repeats
    return Results(design, groups, measures, full, pu)


def representativeness(features: Any, *, components: int = 5, dimensions: int = 10) -> Any:
    """How typical each positive is: density of a Gaussian mixture, in few dimensions, covariances full."""
    from sklearn.decomposition import PCA

    reduced = PCA(min(dimensions, *features.shape), random_state=0).fit_transform(features)
    return mixture_log_density(reduced, components=components, covariance="full")


def _task(
    data: LabelledSet, task: int, design: MeasuresDesign, scorers: list[Callable[..., Any]], rng: np.random.Generator
) -> Any:
    """One split into training and test rows, all labellings of it, all classifiers."""
    kinds = np.unique(data.classes)
    if data.positive_classes == 1:
        is_positive = data.classes == 1
    else:
        # the same classes in every repeat of a task
        chosen = np.random.default_rng(task).permutation(kinds)[: data.positive_classes]
        is_positive = np.isin(data.classes, chosen)
    features = data.features + design.noise[task] * data.features.std() * rng.normal(size=data.features.shape)
    halves = np.array_split(rng.permutation(len(features)), 2)
    density = []
    for half in halves:
        result = np.zeros(half.size)
        result[is_positive[half]] = representativeness(features[half][is_positive[half]])
        density.append(result)
    for a, n_labelled in enumerate(design.label_counts):
        for b, mechanism in enumerate(MECHANISMS.values()):
            for c, prior in enumerate(design.priors):
                train, test = (
                    hide_labels(
                        is_positive[half],
                        result,
                        mechanism=mechanism,
                        n_labelled=n_labelled,
                        n_unlabelled=UNLABELLED,
                        unlabelled_prior=prior,
                        rng=rng,
                    )
                    for half, result in zip(halves, density, strict=True)
                )
                train_rows, test_rows = features[halves[0][train.rows]], features[halves[1][test.rows]]
                seed = int(rng.integers(1 << 30))
                for d, scorer in enumerate(scorers):
                    scores = untied(quietly(scorer, train_rows, train.labels, test_rows, seed), rng)
                    yield (
                        (a, b, c, d),
                        measure_all(test.is_positive.astype(np.int8), scores),
                        measure_all(test.labels, scores),
                    )


__all__ = ["LOG_PULP", "MEASURES", "SCENARIOS", "MeasuresDesign", "Results", "run"]
