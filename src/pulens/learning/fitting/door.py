"""The door: a table with labels in some rows becomes a model, and the evaluation of rows it had not seen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pulens.errors import AssumptionError, InputError, shown
from pulens.evaluation.evaluate import evaluate
from pulens.evidence import IntervalOptions
from pulens.inputs.clusters import cluster_codes
from pulens.inputs.columns import LabelCoding, array_row, file_row, find_column
from pulens.inputs.tables.formats import format_of
from pulens.inputs.tables.streams import explained_file
from pulens.inputs.tables.whole import Table, read_table
from pulens.inputs.typed_columns import CATEGORY, TypedTable, Typing, raw_columns, typed_table
from pulens.keywords import names_of
from pulens.learning.fitting import training_noise
from pulens.learning.fitting.answer import JudgedModel
from pulens.learning.fitting.folds import Progress, deal_folds, fit_one, unseen_scores
from pulens.learning.fitting.leaks import leak_notices
from pulens.learning.fitting.priors import training_prior
from pulens.learning.learners.base.labels import check_both_kinds, refuse_known_negatives
from pulens.learning.learners.base.rescues import Rescue
from pulens.metrics.parts.measure import check_threshold
from pulens.notice import Notice, Severity, worst_first
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.scenario import DEFAULT_SCENARIO
from pulens.selection import check_labelling
from pulens.types import LabelValues, RowsLike, Values


def fit(
    table: RowsLike,
    labels: Values | None = None,
    *,
    label: str = "label",
    positive: LabelValues | None = None,
    id: str | None = None,
    features: Sequence[str] | None = None,
    drop: Collection[str] = (),
    categories: Sequence[str] = (),
    missing: Sequence[str] = (),
    dates: Mapping[str, str] | None = None,
    cluster: str | None = None,
    method: str | object = "boosted_pu",
    class_prior: GivenPrior | ClassPrior | str | None = None,
    scenario: str = DEFAULT_SCENARIO,
    audit: object = None,
    folds: int = 5,
    seed: int = 0,
    threshold: float | None = None,
    confidence: float | None = 0.95,
    redraws: int = 2000,
    delimiter: str | None = None,
    format: str | None = None,
    labelling: str | float | None = None,
    tell: Callable[[str], None] | None = None,
) -> JudgedModel:
    """Train a learner on a table with PU labels, and show how good it is on rows that it had not seen.

    Parameters
    ----------
    table
        A frame, the path of a file, or an array, with ``labels``. Columns of numbers, truth values, dates and
        categories are taken as they are, gaps too; identifiers and free text are left out and told.
    labels
        One label per row, where the table has no column of labels.
    label, positive
        The column of labels, and the value (or values) that mean labelled positive; everything else is unlabelled.
    id, drop, features
        Columns that name rows, that are left out, or that alone are learned from.
    categories, missing, dates
        As of :class:`pulens.learners.TableColumns`.
    cluster
        Column that says which rows belong together: they stay in one fold, and intervals allow for them.
    method
        A learner's name, or a learner with your own settings such as ``NNPU(epochs=20)``.
    class_prior, scenario, audit, threshold, confidence, redraws, seed, labelling
        As of :func:`pulens.evaluate`. The learner trains with the same class prior; a range is kept inside.
    folds
        Number of folds; each is scored by a model of the others.
    delimiter, format
        How a file is written, if its name and first lines do not show it.

    Returns
    -------
    JudgedModel
        The fitted pipeline (``model``), its out-of-fold ``scores`` and their ``evaluation``.

    Notes
    -----
    Every row's score is by a model that was fitted to the other folds, its columns too; the model that is kept is
    fitted to all rows with the same settings. Intervals are for that model on new rows: wider than those of
    :func:`pulens.evaluate`, which takes scores for given (:mod:`pulens.fitting.training_noise`).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(300) < 0.4
    >>> table = {"age": rng.normal(40 + 10 * positive, 5), "job": np.where(positive, "clerk", "none")}
    >>> table["status"] = np.where(positive & (rng.random(300) < 0.5), "confirmed", "")
    >>> from pulens.learners import BoostedPU
    >>> quick = BoostedPU(n_estimators=4, iterations=5, random_trees=10)
    >>> found = fit(table, label="status", positive="confirmed", method=quick, class_prior=0.4, folds=2)
    >>> found.columns, bool(found.evaluation.estimates["roc_auc"].value > 0.9)
    ({'age': 'number', 'job': 'category'}, True)

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> unused = ["claim", "customer", "risk_v1", "risk_v2", "fraud"]
    >>> found = fit(table, label="outcome", positive="fraud", drop=unused, method=quick, class_prior=0.2, folds=2)
    >>> found.columns
    {'region': 'category', 'day': 'date', 'amount': 'number'}
    """
    features = None if features is None else names_of("features", features)
    drop, categories, missing = names_of("drop", drop), names_of("categories", categories), names_of("missing", missing)
    _check_dates(dates)
    rows = read_rows(
        table, labels, label=label, positive=positive, beside=(id, cluster), features=features, drop=drop,
        typing=Typing(missing=tuple(missing), dates=dates), categories=categories, delimiter=delimiter, format=format,
    )  # fmt: skip
    asked: dict[str, Any] = {"class_prior": class_prior, "scenario": scenario, "audit": audit}
    asked |= {"confidence": confidence, "redraws": redraws, "seed": seed}
    _check_question(asked, threshold, rows.labels)
    check_labelling("practice" if labelling is None else labelling)
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise AssumptionError(f"folds must be a whole number of at least 2, got {folds!r}.")
    labelled = rows.labels == 1
    learner, told = _learner(method, class_prior, scenario, audit, seed, rows)
    groups = None if cluster is None else cluster_codes(rows.raw[cluster], cluster)[1]
    from pulens.learning.learners.tables.pipeline import table_pipeline
    from pulens.learning.learners.tables.table_columns import planned_columns

    model = table_pipeline(learner, missing=tuple(missing), dates=dates, categories=tuple(categories))
    notices = [*told, *_of_ids(rows, id, cluster), *leak_notices(rows.features, labelled)]
    # decided once for all folds: an identifier counts rows only where none is missing
    left_out = planned_columns(rows.features)[1]
    notices += column_notices(left_out)
    used = rows.features.chosen([name for name in rows.features.names if name not in left_out])
    fold = deal_folds(labelled, int(folds), seed, groups)
    progress = Progress(int(folds) + 2, tell or (lambda _: None))
    scores, rescues = unseen_scores(model, used, labelled, fold, groups, progress)
    progress.step("Training on all rows")
    fitted = fit_one(model, used, labelled, groups)
    notices += _of_rescues(rescues, getattr(fitted[-1], "rescues_", ()))
    progress.step("Judging")
    together: dict[str, Any] = {} if groups is None else {"cluster": groups}
    evaluation = evaluate(
        rows.labels.astype(int), scores, threshold=threshold, labelling=labelling, **asked, **together
    )
    if evaluation.resampling is not None:
        evaluation = evaluation.with_errors_times(training_noise.FACTOR)
        notices.append(training_noise.NOTICE)
    evaluation = replace(evaluation, beside=worst_first(notices))
    return JudgedModel(fitted, evaluation, scores, fold, rows.labels, worst_first(notices), left_out)


def _check_dates(dates: Any) -> None:
    if dates is not None and not (
        isinstance(dates, Mapping) and all(isinstance(word, str) for both in dates.items() for word in both)
    ):
        raise InputError(f"dates must say how columns are written, {{'day': '%d.%m.%Y'}}, got {shown(dates)}.")


def _check_question(asked: dict[str, Any], threshold: float | None, labels: NDArray[np.int8]) -> None:
    """Refuse before the training what the evaluation would refuse after it."""
    question = IntervalOptions(**asked)
    if threshold is not None:
        check_threshold(threshold)
    if asked["audit"] is not None or not isinstance(asked["class_prior"], str | None):
        question.evidence(labels.astype(int), np.zeros(labels.size))


@dataclass(frozen=True, eq=False)
class LearningRows:
    """A table to learn from: its typed features, the codes of its labels, and all columns as they came."""

    features: TypedTable
    labels: NDArray[np.int8]
    raw: dict[str, Any]


def read_rows(
    table: Any,
    labels: Any = None,
    *,
    label: str | None,
    positive: Any = None,
    beside: Collection[str | None] = (),
    features: Sequence[str] | None = None,
    drop: Collection[str] = (),
    typing: Typing,
    categories: Sequence[str] = (),
    delimiter: str | None = None,
    format: str | None = None,
) -> LearningRows:
    """Read features and labels; ``beside`` are columns that are kept and not learned from."""
    is_file = isinstance(table, str | Path)
    if is_file and str(table) == "-":
        raise InputError("features cannot be read from standard input; give a file.")
    held: Any = read_table(table, delimiter, format) if is_file else table
    asked = replace(typing, kinds=dict.fromkeys(categories, CATEGORY), row_name=file_row if is_file else array_row)
    with explained_file(str(table), format_of(table, format)) if is_file else nullcontext():
        raw = raw_columns(held)
        apart = [name for name in beside if name is not None]
        with_label = [] if labels is not None or label is None else [label]
        for name in (*with_label, *apart, *(features or ()), *drop, *categories, *(typing.dates or {})):
            find_column(name, raw, delimiter=held.delimiter if isinstance(held, Table) else None)
        for name in features or ():
            if name in (*with_label, *apart, *drop):
                raise InputError(f"column {name!r} cannot be learned from: it is the label or an id, or left out.")
        given = labels if labels is not None else _as_list(raw[with_label[0]])
        coding = LabelCoding(positive)
        codes = coding.encode(given, row_name=asked.row_name, is_whole=False)
        refuse_known_negatives(codes, "fit")
        check_both_kinds(codes, coding.positive, label, partial(list, given))
        typed = typed_table(raw, asked, features, () if features else (*with_label, *apart, *drop))
    if len(typed) != codes.size:
        raise InputError(f"there are {len(typed):,} rows but {codes.size:,} labels.")
    return LearningRows(typed, codes, raw)


def _as_list(column: Any) -> Any:
    from pulens.inputs.arrays import plain_values
    from pulens.inputs.tables.whole import plain

    return plain(column) if hasattr(column, "to_pylist") else plain_values(column)


def _learner(
    method: Any, class_prior: Any, scenario: str, audit: Any, seed: int, rows: LearningRows
) -> tuple[Any, tuple[Notice, ...]]:
    """The learner with its class prior, and what is to be said about that."""
    from pulens.learning import learners

    labelled, count = int((rows.labels == 1).sum()), rows.labels.size
    if not isinstance(method, str) and (isinstance(method, type) or not hasattr(method, "get_params")):
        raise InputError(f"method must be a learner's name, or a learner such as NNPU(epochs=20), got {shown(method)}.")
    learner = learners.find(method)() if isinstance(method, str) else clone(method)
    facts = learners.facts(type(learner).__name__)
    if facts.told != "nothing":
        raise InputError(
            f"method {type(learner).__name__} must be told {facts.told}: train it from Python, row by row."
        )
    prior, told = training_prior(class_prior, audit, scenario, labelled, count, type(learner))
    settings = learner.get_params(deep=False)
    if prior is None:
        prior = settings.get("class_prior", None) if not isinstance(method, str) else None
    wanted = {"class_prior": prior, "scenario": scenario}
    if settings.get("random_state") is None:
        wanted["random_state"] = seed
    learner.set_params(**{name: value for name, value in wanted.items() if name in settings and value is not None})
    if "class_prior" in settings and learner.class_prior is None and facts.takes_class_prior:
        learner.set_params(class_prior="auto")
    return learner, told


def rows_notices(rows: LearningRows, model: Any) -> tuple[Notice, ...]:
    """What to know about the columns of a model: those that give the labels away, and those left out."""
    return worst_first([*leak_notices(rows.features, rows.labels == 1), *column_notices(model[0].left_out_)])


def column_notices(left_out: Mapping[str, str]) -> Iterator[Notice]:
    """A note for each column that nothing was learned from."""
    for name, why in left_out.items():
        yield Notice(Severity.NOTE, "left-out-column", f"Column {name!r} {why}. Nothing was learned from it.")


def _of_rescues(of_folds: Sequence[tuple[Rescue, ...]], kept: tuple[Rescue, ...]) -> Iterator[Notice]:
    """Models of folds that were trained in another way than the kept one: the numbers are theirs."""
    own = {one.kind for one in kept}
    others = [kinds for rescues in of_folds if (kinds := {one.kind for one in rescues}) != own]
    if others:
        ways = ", ".join(sorted({kind.replace("_", " ") for kinds in others for kind in kinds ^ own}))
        yield Notice(
            Severity.WARNING,
            "folds-trained-otherwise",
            f"{len(others)} of {len(of_folds)} models of folds, which the numbers are made of, were trained in another "
            f"way than the kept one ({ways}). Say rescue='none' to train all alike (--set rescue=none).",
        )


def _of_ids(rows: LearningRows, id: str | None, cluster: str | None) -> Iterator[Notice]:
    """Ids that repeat: rows of one person in several folds."""
    if id is None or cluster is not None:
        return
    values = [str(value) for value in _as_list(rows.raw[id])]
    repeated = len(values) - len(set(values))
    if repeated:
        yield Notice(
            Severity.WARNING,
            "ids-repeat",
            f"{len(set(values)):,} ids stand in {len(values):,} rows of {id!r}: rows of one id are in several folds, "
            f"so a model may know them. Keep them together: --cluster {id} (cluster= in Python).",
        )
