"""Metrics of a comparison with what they are asked at: a cost ratio, the first k rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pulens.errors import PulensError
from pulens.evidence import Design
from pulens.metrics import METRICS, find, leading
from pulens.metrics.parts.metric import Metric

OF_THE_TOP = 3  # measures of the first rows that a comparison adds


def with_parameters(chosen: Mapping[str, Metric], *, named: bool, ranks: bool, **given: Any) -> dict[str, Metric]:
    """The metrics with their parameters bound; those that a parameter adds come first, unless metrics were named.

    Without ``ranks`` (clusters leave out parts of rows that share a score) none is added that weighs them.

    >>> found = with_parameters({"roc_auc": find("roc_auc")}, named=False, ranks=True, cost_ratio=0.04, k=None)
    >>> list(found), found["net_benefit"].parameters
    (['net_benefit', 'roc_auc'], {'cost_ratio': 0.04})
    """
    said = {name: value for name, value in given.items() if value is not None}
    added: dict[str, Metric] = {}
    for parameter in said:
        if not any(parameter in metric.parameters for metric in chosen.values()):
            added |= {name: find(name) for name in _added(parameter) if ranks or not find(name).reads_ranks}
    together = {**chosen, **added} if named else {**added, **chosen}
    return {name: _bound(metric, said) for name, metric in together.items()}


def _added(parameter: str) -> list[str]:
    """Metrics that take a parameter and are shown first; those that need no class prior lead, for they are surer.

    >>> _added("cost_ratio"), _added("k")
    (['net_benefit'], ['recall_at_k', 'precision_at_k', 'ndcg_at_k'])
    """
    if parameter != "k":
        return [name for name, metric in METRICS.items() if parameter in metric.parameters]
    return sorted(leading("top")[:OF_THE_TOP], key=lambda name: METRICS[name].needs_class_prior)


def _bound(metric: Metric, said: Mapping[str, Any]) -> Metric:
    own = {name: value for name, value in said.items() if name in metric.parameters}
    if not own:
        return metric
    many = None if metric.many is None else partial(metric.many, **own)
    return replace(metric, compute=partial(metric.compute, **own), many=many, parameters={**metric.parameters, **own})


def given_parameters(name: str, metric: Metric) -> dict[str, Any]:
    """The parameters that were bound, for whoever takes the metric as it is in the catalogue."""
    return {} if metric is METRICS.get(name) or not isinstance(metric.compute, partial) else metric.compute.keywords


def refuse_first_rows_within(k: object, design: Design) -> None:
    """The top of a list is one of whole rows, and those of cells have weights."""
    if k is not None and design.strata is not None:
        raise PulensError(
            f"k={k!r} compares the first rows of lists where labels are random among all rows: it cannot be combined "
            "with labelled_within= (--within). Leave one of them out."
        )
