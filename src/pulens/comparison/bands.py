"""How sure each model's own number is at class priors that are supposed to be known: the bands of a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pulens.comparison.parameters import given_parameters
from pulens.errors import PulensError, shown
from pulens.estimate import Interval
from pulens.evidence import Evidence
from pulens.inference.kernels.redraws import compress
from pulens.inference.kernels.resampling import Resampling
from pulens.inputs.arrays import listed_values
from pulens.metrics import among, find
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.metric import Metric
from pulens.priors import ClassPrior
from pulens.priors.class_prior import unlabelled_prior
from pulens.scalars import real
from pulens.selection import Favouring, Practice, estimator_of, read_under

MOST_REDRAWS = 400  # a band is looked at: its ends need fewer redraws than an interval that is quoted


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """The rows of each model, from which the interval of a metric follows at any class prior.

    A band holds the doubt of the sample alone: along the axis the class prior is a supposition. Two bands may overlap
    where the difference is clear, since the models' errors on the same rows go together.
    """

    evidences: Mapping[str, Evidence]
    thresholds: Mapping[str, float]
    metrics: Mapping[str, Metric]
    resampling: Resampling
    uneven: Practice | Favouring | None = None  # how labels favour easy positives

    def over(self, name: str, class_priors: Iterable[float]) -> dict[str, list[Interval | None]]:
        """The interval of each model's metric at every class prior.

        >>> from pulens import compare
        >>> models = {"a": [4, 3, 2, 1, 0, 5], "b": [4, 3, 1, 2, 5, 0]}
        >>> found = compare([1, 1, 0, 0, 0, 0], models, class_prior=0.5, redraws=100)
        >>> [len(ends) for ends in found.bands.over("roc_auc", [0.4, 0.5]).values()]
        [2, 2]
        """
        priors = [real(prior) for prior in listed_values(class_priors)]
        if not all(0 <= prior <= 1 for prior in priors):
            raise PulensError(
                f"class_priors must be shares of positives, such as [0.2, 0.3], got {shown(class_priors)}."
            )
        facts = self.metrics[among(self.metrics, name)]
        if facts.ignores_class_prior and priors:  # the same everywhere: once is enough
            return {model: [self._at(name, model, priors[0])] * len(priors) for model in self.evidences}
        return {model: [self._at(name, model, prior) for prior in priors] for model in self.evidences}

    def _at(self, name: str, model: str, class_prior: float) -> Interval | None:
        metric, evidence = self.metrics[name], self.evidences[model]
        threshold = self.thresholds[model] if metric.needs_threshold else None
        if threshold is None:  # a ranking at fewer places: what that changes in a width is nothing to see
            evidence = evidence.with_tally(compress(evidence.tally))
        share = unlabelled_prior(class_prior, evidence.tally.totals, evidence.scenario, evidence.label_noise)
        exact = replace(evidence, class_prior=ClassPrior(class_prior, share, "tried"), prior_held="population")
        rougher = replace(self.resampling, redraws=min(self.resampling.redraws, MOST_REDRAWS))
        asked, read = given_parameters(name, metric), read_under(exact, self.uneven)
        return estimate(
            name, find(name), read, threshold=threshold, doubts=estimator_of(read, rougher), **asked
        ).interval
