"""Metrics of a comparison with what they are asked at: a cost ratio, the first k rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pulens.errors import PulensError
from pulens.metrics import METRICS, find
from pulens.metrics.parts.metric import Metric

#: what a comparison adds where the parameter is given and no metric that takes it is named
ADDED = {"cost_ratio": ("net_benefit",), "k": ("recall_at_k", "precision_at_k", "ndcg_at_k")}


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
            added |= {name: find(name) for name in ADDED[parameter] if ranks or not find(name).reads_ranks}
    together = {**chosen, **added} if named else {**added, **chosen}
    return {name: _bound(metric, said) for name, metric in together.items()}


def _bound(metric: Metric, said: Mapping[str, Any]) -> Metric:
    own = {name: value for name, value in said.items() if name in metric.parameters}
    if not own:
        return metric
    return replace(metric, compute=partial(metric.compute, **own), parameters={**metric.parameters, **own})


def given_parameters(name: str, metric: Metric) -> dict[str, Any]:
    """The parameters that were bound, for whoever takes the metric as it is in the catalogue."""
    return {} if metric is METRICS.get(name) or not isinstance(metric.compute, partial) else metric.compute.keywords


def refuse_parameters_within(**given: Any) -> None:
    """Net benefit and the top of a list are compared where labels are random among all rows."""
    for name, value in given.items():
        if value is not None:
            raise PulensError(
                f"{name}={value!r} compares models where labels are random among all rows: it is not known beside "
                "labelled_within= (--within). Leave one of them out."
            )
