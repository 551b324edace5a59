"""pulens train"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._options import TRAINING_PRIOR, offers, written_options
from pulens.cli.fit import POSITIVE

if TYPE_CHECKING:
    from pathlib import Path

    from pulens.inputs.features import FeatureTable


@click.command(name="train")
@click.argument("file")
@offers(
    "learner* out* label* positive* features* drop* id* COLUMN_KINDS class_prior* scenario backbone standardise "
    "settings* seed cluster* device",
    out={"required": True, "metavar": "FOLDER", "help": "Where to write the trained learner."},
    positive=POSITIVE,
    features="Column to learn from.  [default: all but the label]",
    id="Column that identifies rows: not learned from.",
    class_prior={
        "type": TRAINING_PRIOR,
        "help": "Share of positives in the population: one number, or an estimator (auto, dedpul, ...); of boosted_pu "
        "also a range to keep the estimate in, 0.1:0.3. Default: estimated.",
    },
    backbone={"default": "mlp", "show_default": True, "help": "Of learners with a network: mlp or linear."},
    standardise={
        "flags": ("--standardise/--no-standardise",),
        "default": True,
        "help": "Of learners with a network: scale features to mean 0 and deviation 1 first.",
    },
    seed={"type": click.IntRange(min=0)},
    cluster="Column of groups whose rows are alike (a patient, a customer): not learned from, and never split where "
    "rows are held out.",
    device={"default": "auto", "show_default": True, "help": "auto, cpu or cuda."},
)
@written_options
def command(file: str, learner: str, out: str, **given: Any) -> None:
    """Train a learner on a table of features with PU labels, and write it to a folder.

    Columns of numbers, truth values, dates (2026-12-31) and categories are taken as they are, with gaps; identifiers
    and free text are left out, and told. To see how good the learner is on rows that it had not seen: pulens fit.

    \b
    Examples:
      pulens train claims.parquet --class-prior 0.1 --out model
      pulens train claims.csv --label status --positive confirmed --learner vpu --out model
      pulens score model new-claims.csv --out scores.csv
    """
    from pathlib import Path

    from pulens.cli._columns import check_feature_names, check_method, check_model_folder, column_settings
    from pulens.cli._plainly import plainly_warned
    from pulens.cli._settings import read_settings

    facts = check_method(learner)
    check_model_folder(out, facts)  # better now than after an hour of training
    check_feature_names(given["label"], given["features"], given["drop"])
    settings = read_settings(facts.learner, given)
    _check_prior(settings.get("class_prior"), facts.learner)
    model = facts.learner(**settings)
    columns = column_settings(given)
    table = None if any(columns.values()) else _numbers_alone(file, given)
    with plainly_warned():
        if table is None:
            _train_on_columns(model, file, columns, given, Path(out))
        else:
            _train_on_numbers(model, file, table, given, Path(out))


def _numbers_alone(file: str, given: dict[str, Any]) -> FeatureTable | None:
    """A table of numbers without gaps, read a part at a time; ``None`` for any other."""
    from pulens.errors import InputError
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import read_features

    beside = [name for name in (given["cluster"], given["id"]) if name is not None]
    try:
        return read_features(
            file,
            features=given["features"] or None,
            label=given["label"],
            drop=(*given["drop"], *beside),
            coding=LabelCoding(given["positive"] or None),
            format=given["format"],
            delimiter=given["delimiter"],
        )
    except InputError:  # other columns, or a mistake, which the other road tells
        return None


def _train_on_numbers(learner: Any, file: str, table: FeatureTable, given: dict[str, Any], out: Path) -> None:
    import numpy as np

    from pulens.inputs.features import label_values
    from pulens.learning.learners.base.labels import check_both_kinds

    assert table.labels is not None
    label, written = given["label"], {name: given[name] for name in ("format", "delimiter")}
    held = partial(label_values, file, label, **written)
    labelled = check_both_kinds(table.labels, given["positive"], label, held, file)
    told = {} if given["cluster"] is None else _told_of_clusters(learner, table, file, given)
    learner.fit(table.values, table.labels, **told)
    if hasattr(learner, "network_"):
        learner.columns_ = list(table.names)
    else:  # learners without networks keep scikit-learn's names
        learner.feature_names_in_ = np.array(table.names, dtype=object)
    folder = learner.save(out)
    _say(learner, labelled, len(table.labels) - labelled, f"{len(table.names):,} features", folder)


def _train_on_columns(learner: Any, file: str, columns: dict[str, Any], given: dict[str, Any], out: Path) -> None:
    """Columns of several kinds, or with gaps: what they are is written beside the learner."""
    from pulens.inputs.clusters import cluster_codes
    from pulens.inputs.typed_columns import Typing
    from pulens.learning.fitting.door import read_rows, rows_notices
    from pulens.learning.fitting.folds import fit_one
    from pulens.learning.learners.tables.pipeline import save_pipeline, table_pipeline

    cluster = given["cluster"]
    rows = read_rows(
        file,
        label=given["label"],
        positive=list(given["positive"]) or None,
        beside=(given["id"], cluster),
        features=given["features"] or None,
        drop=given["drop"],
        typing=Typing(missing=columns["missing"], dates=columns["dates"]),
        categories=columns["categories"],
        delimiter=given["delimiter"],
        format=given["format"],
    )
    labelled = rows.labels == 1
    groups = None if cluster is None else cluster_codes(rows.raw[cluster], cluster)[1]
    model = fit_one(table_pipeline(learner, **columns), rows.features, labelled, groups)
    folder = save_pipeline(model, out)
    for notice in rows_notices(rows, model):
        click.echo(f"pulens: {notice}", err=True)
    columns_said = f"{len(model[0].columns_):,} columns"
    _say(model[-1], int(labelled.sum()), int((~labelled).sum()), columns_said, folder, type(learner).__name__)


def _say(learner: Any, labelled: int, unlabelled: int, columns: str, folder: Path, name: str = "") -> None:
    """What was learned, where it is, and the command that uses it."""
    from shlex import quote

    from pulens.report.lines import pasteable, wrapped

    said = (
        f"{name or type(learner).__name__} learned from {labelled:,} labelled and {unlabelled:,} unlabelled rows with "
        f"{columns}{_kept(learner)}. {_rescued(learner)}Written to {folder}."
    )
    step = pasteable(f"pulens score {quote(str(folder))} new.csv --out scores.csv", 1)
    click.echo("\n".join([*wrapped(said, 0), f"next:{step[0]}", *step[1:]]))


def _check_prior(prior: Any, learner_class: Any) -> None:
    """A range is for learners that keep an estimate in it."""
    from pulens.errors import AssumptionError
    from pulens.learning.fitting.priors import takes_range
    from pulens.priors import names

    if isinstance(prior, tuple) and not takes_range(learner_class):
        seen = ":".join(f"{end:g}" for end in prior)
        raise AssumptionError(
            f"--class-prior must be one number such as 0.2, or an estimator ({', '.join(names())}), got {seen!r}: a "
            "learner trains with one class prior, not with a range. Train once with each end and compare, give the "
            "range to pulens evaluate or pulens fit, or train boosted_pu, which keeps its estimate in a range."
        )


def _told_of_clusters(learner: Any, table: Any, file: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a learner is told of rows that belong together.

    For one that cannot be told, a class prior that is to be estimated is settled here, from scores of models that saw
    no row of the same cluster.
    """
    from inspect import signature

    from pulens.inputs.features import read_clusters
    from pulens.learning.learners.base.prior import check_estimator_name, estimated_class_prior

    groups = read_clusters(file, given["cluster"], format=given["format"], delimiter=given["delimiter"])
    if "groups" in signature(learner.fit).parameters:
        return {"groups": groups}
    if not isinstance(getattr(learner, "class_prior", None), str):
        return {}
    method = check_estimator_name(learner.class_prior)
    told: dict[str, Any] = {"method": method, "groups": groups}
    learner.class_prior = estimated_class_prior(table.values, table.labels, given["scenario"], given["seed"], **told)
    return {}


def _kept(learner: Any) -> str:
    return f"; kept epoch {learner.best_epoch_}" if hasattr(learner, "best_epoch_") else ""


def _rescued(learner: Any) -> str:
    from pulens.learning.learners.base.rescues import said

    rescues = getattr(learner, "rescues_", ())
    return f"{said(rescues)} " if rescues else ""
