"""Models compared where labels are random within cells only: rows redrawn together, each cell recovered by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.comparison.answer import Comparison, estimates_of_prior
from pulens.comparison.joint import check_models
from pulens.comparison.order import Order, order_by_prior
from pulens.comparison.parameters import given_parameters
from pulens.comparison.redraws import PairedRedraws, PairedRows
from pulens.comparison.worth import Worth, crossovers
from pulens.counts.sample import PUSample
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, shown
from pulens.estimate import Estimate
from pulens.evaluation.evaluate import best_threshold
from pulens.evidence import Evidence, IntervalOptions
from pulens.frozen import FrozenMapping
from pulens.inference.clustered import ClusterJackknife, Jackknife
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import Resampling
from pulens.inference.measured import Measured
from pulens.inference.prior_uncertainty import PriorUncertainty
from pulens.inference.replicates import Replicates
from pulens.inputs import ReadOptions, read_sample
from pulens.inputs.arrays import listed_values
from pulens.inputs.engines.coded import CodedSegments
from pulens.inputs.engines.counts import in_order
from pulens.inputs.tallies import is_elsewhere, is_tally_file, segments_of
from pulens.keywords import names_of
from pulens.metrics import find
from pulens.metrics.parts.measure import estimate, raw_value
from pulens.metrics.parts.metric import Metric
from pulens.metrics.parts.possible_worlds import find_contradiction
from pulens.metrics.parts.withholding import withhold
from pulens.priors import population_prior
from pulens.scalars import is_missing
from pulens.scenario import Scenario
from pulens.strata import (
    LabellingCells,
    StratifiedEvidence,
    StratifiedIntervalEstimator,
    check_cells,
    read_cells,
    resolve_strata,
    within_cells,
)
from pulens.strata.clustered import added_up
from pulens.strata.intervals import StratumPriorUncertainty
from pulens.strata.priors import PriorSetting, shifted
from pulens.strata.reading import columns_of
from pulens.types import Floats, Places

PRIORS_TRACED = 33
DRAWS = 100  # class priors at which a difference is looked at where they are drawn
OF_BUCKETS_WITHIN = "delete-a-bucket jackknife of the difference, within cells, Student"


@dataclass(frozen=True, eq=False)
class CellRows:
    """Labels, cells and each model's scores, row by row."""

    names: tuple[str, ...]
    labels: NDArray[np.int8]
    scores: Mapping[str, NDArray[Any]]
    codes: NDArray[np.int32]
    cells: tuple[Any, ...]
    columns: tuple[str, ...]

    @property
    def n_labelled(self) -> int:
        return int(np.count_nonzero(self.labels == 1))

    def counted(self, model: str) -> LabellingCells:
        result = {}
        for code, cell in enumerate(self.cells):
            mine = self.codes == code
            result[cell] = Tally.from_sample(PUSample(self.labels[mine], self.scores[model][mine], None))
        return LabellingCells.of(self.columns, result)

    def paired(self, scenario: Scenario) -> PairedRows:
        """The rows to redraw: labelled ones within their cell and the list by itself, or all rows together."""
        apart: list[Any] = [slice(None)]
        if scenario is not Scenario.SINGLE_SET:
            apart = [np.flatnonzero((self.labels == 1) & (self.codes == code)) for code in range(len(self.cells))]
            apart += [np.flatnonzero(self.labels == kind) for kind in (0, -1)]
            apart = [rows for rows in apart if rows.size]
        kinds = np.select([self.labels == 1, self.labels == 0], [0, 1], 2).astype(np.int8)
        return PairedRows(self.names, np.ones(kinds.size, np.int64), kinds, self.codes, self.scores, apart)


@dataclass(frozen=True, eq=False)
class NamedModels:
    """Models whose rows were counted, not kept."""

    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StratifiedRequest:
    """What is compared: what :func:`pulens.comparison.procedure.differences` asks for."""

    rows: CellRows | NamedModels
    metrics: Mapping[str, Metric]
    thresholds: Mapping[str, float]
    by_model: Mapping[str, StratifiedEvidence]
    resampling: Resampling

    @property
    def within(self) -> StratifiedEvidence:
        """Of the first model: counts differ between models, but neither the cells nor their class priors."""
        return next(iter(self.by_model.values()))

    @property
    def evidence(self) -> Evidence:
        return self.within.evidence

    @property
    def middle(self) -> float:
        return self.evidence.class_prior.unlabelled

    def doubt(self, metric: Measured) -> PriorUncertainty:
        return PriorUncertainty(self.evidence, not metric.ignores_class_prior)

    @cached_property
    def _all(self) -> list[PriorSetting]:
        """The class priors' own values first, then those of a range."""
        priors = self.within.priors
        order = np.nan_to_num(self.within.recalls(float(np.median(self.within.cells.whole.thresholds))), nan=0.5)
        result = priors.settings(order, self.within.cells.totals[:, 1]) if priors.treatment == "range" else []
        return [PriorSetting(priors.shares, priors.draws), *result]

    def settings(self, metric: Measured) -> list[int]:
        """Places of the settings; the first is the class prior's own value."""
        return list(range(len(self._all) if self.doubt(metric).treatment == "range" else 1))

    def own(self, metric: Measured) -> int:
        return 0

    def value(self, metric: Metric, evidence: Evidence, model: str) -> float:
        threshold = self.thresholds[model] if metric.needs_threshold else None
        return raw_value(metric, evidence.tally, evidence.assumptions, threshold)

    def observed(self, metric: Metric) -> Floats:
        """The metric at its settings (rows) for every model (columns)."""
        shares = [self._all[index].shares for index in self.settings(metric)]
        models = self.by_model.items()
        return np.array([[self.value(metric, own.combined(at), model) for model, own in models] for at in shares])

    def without_buckets(self, metric: Metric) -> tuple[dict[str, Jackknife], StratumPriorUncertainty]:
        """Every model's metric without each bucket of clusters, not clipped, and what is known of the class priors."""
        estimators = {model: StratifiedIntervalEstimator(own, self.resampling) for model, own in self.by_model.items()}
        targets = {
            model: own.target(metric, self.thresholds[model] if metric.needs_threshold else None)
            for model, own in estimators.items()
        }
        first, target = next(iter(estimators.values())), next(iter(targets.values()))
        doubt = StratumPriorUncertainty(
            self.within, lambda: first.order(target), not metric.ignores_class_prior, read=DRAWS
        )

        def of(model: str) -> Jackknife:
            method, own = ClusterJackknife(estimators[model], targets[model]), self.by_model[model]
            return method.at(
                lambda setting: self.value(metric, own.combined(setting.shares), model), method.replicates, doubt
            )

        return {model: of(model) for model in self.by_model}, doubt

    def recovered(self, above: Floats, setting: int, numbers: Places | None) -> Replicates:
        asked = self._all[setting]
        alpha = asked.shares[None]
        if numbers is not None and asked.draws is not None:
            alpha = asked.draws[numbers % asked.draws.shape[0]]
        return added_up(self.within, above, above[:, :, -2], alpha)


def compare_within(
    labels: Any,
    scores: Any,
    within: Any,
    question: IntervalOptions,
    metrics: Mapping[str, Metric],
    thresholds: Any,
    split: str,
    reading: dict[str, Any],
    cost_ratio: float | None = None,
) -> Comparison:
    """What :func:`pulens.compare` gives with ``labelled_within``; ``thresholds`` makes those of the models' names.

    Rows are redrawn; where they belong together they are counted per cell and bucket, and nothing is redrawn.
    """
    from pulens.comparison.clustered import differences_of_clusters
    from pulens.comparison.procedure import differences

    resampling = question.resampling
    assert resampling is not None
    rows: CellRows | NamedModels
    if reading.get("cluster") is not None:
        counted = _counted_by_bucket(labels, scores, within, reading)
        rows = NamedModels(tuple(counted))
    else:
        rows = read_cell_rows(labels, scores, within, reading)
        counted = {model: rows.counted(model) for model in rows.names}
        check_cells(counted[rows.names[0]])
    by_model, prior_by = _settled(counted, question, split)
    at, weighted = thresholds(rows.names), {model: own.weighted for model, own in by_model.items()}
    is_chosen = cost_ratio is not None and all(map(math.isnan, at.values()))
    if is_chosen:
        at = {model: best_threshold(own, "net_benefit", cost_ratio=cost_ratio) for model, own in weighted.items()}
    asked = StratifiedRequest(rows, metrics, at, by_model, resampling)
    if isinstance(rows, NamedModels):
        result = {
            name: differences_of_clusters(
                name, metric, *asked.without_buckets(metric), resampling.confidence, OF_BUCKETS_WITHIN
            )
            for name, metric in metrics.items()
        }
    else:
        observed = {name: asked.observed(metric) for name, metric in metrics.items()}
        tallies = {model: cells.whole for model, cells in counted.items()}
        redraws = PairedRedraws(asked, rows.paired(Scenario(question.scenario)), tallies, resampling)
        result = differences(asked, observed, redraws.found(observed))
    worth = None
    if cost_ratio is not None:
        pairs = crossovers(None, weighted, at, cost_ratio, resampling.confidence)
        worth = Worth(cost_ratio, FrozenMapping(at), is_chosen, pairs)
    return Comparison(
        rows.names,
        asked.evidence,
        resampling,
        _estimates(asked, by_model, resampling),
        FrozenMapping(result),
        FrozenMapping({name: _order(asked, name, by_model) for name in metrics}),
        FrozenMapping({name: metric.higher_is_better for name, metric in metrics.items()}),
        prior_by=prior_by,
        worth=worth,
        within=asked.within.cells.columns,
    )


def _settled(
    counted: Mapping[str, LabellingCells], question: IntervalOptions, split: str
) -> tuple[dict[str, StratifiedEvidence], Mapping[str, float]]:
    """The models' cells with class priors that all share, and what each model's scores say of the class prior."""
    scenario = Scenario(question.scenario)
    by_model = {
        model: StratifiedEvidence(cells, resolve_strata(cells, question, split), question.label_noise, scenario)
        for model, cells in counted.items()
    }
    lowest = min(by_model.values(), key=lambda result: result.class_prior.unlabelled)  # as without cells
    told = estimates_of_prior(list(by_model), list(by_model.values()))
    return {model: replace(result, priors=lowest.priors) for model, result in by_model.items()}, told


def _counted_by_bucket(labels: Any, scores: Any, within: Any, reading: dict[str, Any]) -> dict[str, LabellingCells]:
    """Of rows that belong together the counts per cell and bucket for each model."""
    from pulens.comparison.clustered import refuse_counts_and_weights

    columns = reading.pop("score", None)
    refuse_counts_and_weights(labels, reading)
    if isinstance(scores, Mapping):
        check_models([str(name) for name in scores])
        asked_of = {str(name): (values, ReadOptions(**reading)) for name, values in scores.items()}
    else:
        if columns is None or isinstance(columns, str):
            raise PulensError(f"a comparison needs at least two columns of scores, got {columns!r}.")
        columns = names_of("score", columns)
        check_models(list(columns))
        asked_of = {name: (None, ReadOptions(**reading, score=name)) for name in columns}
    return {model: read_cells(labels, values, within, said) for model, (values, said) in asked_of.items()}


def _estimates(
    asked: StratifiedRequest, by_model: Mapping[str, StratifiedEvidence], resampling: Resampling
) -> Mapping[str, Mapping[str, Estimate]]:
    doubts = {model: StratifiedIntervalEstimator(found, resampling) for model, found in by_model.items()}
    plain = {model: own.evidence for model, own in by_model.items() if len(own.cells) == 1}  # one cell is no cells
    against = {model: find_contradiction(evidence) for model, evidence in plain.items()}

    def found(name: str, metric: Metric, model: str) -> Estimate:
        at = asked.thresholds[model] if metric.needs_threshold else None
        facts, given = find(name), given_parameters(name, metric)
        if model in plain:
            known: Any = {
                "doubts": IntervalEstimator(plain[model], resampling),
                "contradiction": against[model],
                **given,
            }
            return withhold(estimate(name, facts, plain[model], threshold=at, **known), facts)
        own = estimate(name, facts, by_model[model].weighted, threshold=at, doubts=doubts[model], **given)
        return withhold(within_cells(own, by_model[model], doubts[model], **given), facts)

    return FrozenMapping(
        {
            name: FrozenMapping({model: found(name, metric, model) for model in asked.rows.names})
            for name, metric in asked.metrics.items()
        }
    )


def _order(asked: StratifiedRequest, name: str, by_model: Mapping[str, StratifiedEvidence]) -> Order:
    """Over class priors of all rows, the cells' log odds moving together."""
    metric, own, totals = asked.metrics[name], asked.within, asked.evidence.tally.totals
    shares = np.clip(own.priors.shares, 1e-6, 1 - 1e-6)
    logits, rows = np.log(shares / (1 - shares))[None], own.cells.totals[:, 1]
    reach = asked.evidence.class_prior.unlabelled_interval
    most = float(own.priors.caps @ rows / rows.sum())
    low, high = (0.001, most) if reach is None else (max(reach.low, 1e-3 * reach.high), reach.high)

    def value(model: str, prior: float) -> float:
        at = shifted(logits, rows, np.ones(shares.size), np.array([prior]))[0]
        return asked.value(metric, by_model[model].combined(at), model)

    return order_by_prior(
        name,
        value,
        asked.rows.names,
        np.linspace(low, max(high, low + 1e-6), PRIORS_TRACED),
        lambda prior: population_prior(prior, totals, asked.evidence.scenario),
        higher_is_better=metric.higher_is_better,
    )


def read_cell_rows(labels: Any, scores: Any, within: Any, reading: dict[str, Any]) -> CellRows:
    """Rows in memory: labels and a mapping of scores with a cell for each row, a frame, or a file with its columns."""
    columns = reading.pop("score", None)
    asked = ReadOptions(**reading)
    for name in ("weight", "weights", "table", "where", "tolerance"):
        if getattr(asked, name) is not None:
            raise InputError(
                f"{name}= is not known to a comparison within cells, which redraws rows one by one. Leave it out, or "
                "evaluate each model with labelled_within=."
            )
    if isinstance(scores, Mapping):
        named: tuple[str, ...] = ("cell",)
        samples = {str(name): read_sample(labels, values, **asked.rows) for name, values in scores.items()}
        segments = _segments_of_values(within)
    else:
        columns = () if columns is None else names_of("score", columns)
        _refuse_without_rows(labels, columns)
        named = columns_of(names_of("labelled_within", within), asked)
        samples = {name: read_sample(labels, **replace(asked, score=name).rows) for name in columns}
        is_file = isinstance(labels, str | Path)
        segments = _segments_of_file(labels, named, asked) if is_file else segments_of(labels, named)
    first = next(iter(samples.values()))
    if segments.size != first.labels.size:
        raise InputError(f"labelled_within holds {segments.size:,} cells for {first.labels.size:,} rows.")
    if len(samples) < 2:
        raise PulensError(f"a comparison needs at least two models, got {len(samples)}.")
    ordered = in_order(segments.names)
    index = {name: number for number, name in enumerate(ordered)}
    codes = np.array([index[name] for name in segments.names], np.int32)[segments.codes]
    scored = {name: sample.scores for name, sample in samples.items()}
    # redraws must not depend on the order in which the rows stand
    order = np.lexsort((*scored.values(), first.labels, codes))
    scored = {name: values[order] for name, values in scored.items()}
    return CellRows(tuple(samples), first.labels[order], scored, codes[order], tuple(ordered), named)


def _refuse_without_rows(source: Any, columns: tuple[str, ...]) -> None:
    if len(columns) < 2:
        raise PulensError(f"a comparison needs at least two columns of scores, got {shown(list(columns))}.")
    standard_input = isinstance(source, str) and source == "-"
    if standard_input or is_tally_file(source) or isinstance(source, Tally) or is_elsewhere(source):
        raise InputError(
            "a comparison within cells redraws rows one by one, and needs them in memory: a frame or a plain file. "
            "Counts, databases, folders and standard input have none."
        )


def _segments_of_values(within: Any) -> CodedSegments:
    """A cell for each row; None and nan are no cell."""
    values = listed_values(within)
    result = (None if is_missing(value) else value for value in values)
    return CodedSegments.of(np.fromiter(result, object, len(values)))


def _segments_of_file(path: Any, names: tuple[str, ...], reading: ReadOptions) -> CodedSegments:
    from pulens.inputs.columns import CROSSED, NULL, is_null
    from pulens.inputs.tables.whole import read_table

    table = read_table(path, format=reading.format, delimiter=reading.dialect)
    columns = [[None if is_null(value) else value for value in table.column(name)] for name in names]
    if len(columns) > 1:
        rows = zip(*columns, strict=True)
        columns = [[CROSSED.join(NULL if value is None else str(value) for value in row) for row in rows]]
    return CodedSegments.of_columns(columns)
