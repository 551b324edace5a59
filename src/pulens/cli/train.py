"""pulens train"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from pulens.cli._complete import complete_learner
from pulens.cli._options import TrainingPrior
from pulens.scenario import DEFAULT_SCENARIO, Scenario


@click.command(name="train")
@click.argument("file")
@click.option(
    "--method",
    default="boosted_pu",
    show_default=True,
    shell_complete=complete_learner,
    help="Learner: boosted_pu (trees), nnpu, vpu, dist_pu (networks), ... (see docs).",
)
@click.option("--out", required=True, metavar="FOLDER", help="Where the trained learner is written.")
@click.option("--label", default="label", show_default=True, help="Column of labels.")
@click.option("--positive", multiple=True, help="Label value that means labelled positive; others are unlabelled.")
@click.option("--feature", "features", multiple=True, help="Column to learn from. Default: all but the label.")
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option(
    "--class-prior",
    type=TrainingPrior(),
    default=None,
    help="Share of positives in the population: one number, or an estimator (auto, dedpul, ...); a range cannot be "
    "trained with. Default: estimated.",
)
@click.option(
    "--scenario",
    type=click.Choice([str(one) for one in Scenario]),
    default=DEFAULT_SCENARIO,
    show_default=True,
    help="single-set: rows were labelled out of one sample, the unlabelled ones are what is left. case-control: "
    "labelled rows were collected apart, the unlabelled ones alone are a sample of the population.",
)
@click.option("--backbone", default="mlp", show_default=True, help="Of learners with a network: mlp or linear.")
@click.option(
    "--standardise/--no-standardise",
    default=True,
    help="Of learners with a network: scale features to mean 0 and deviation 1 first.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any setting of the learner, e.g. n_estimators=20."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Where chance starts; the same gives the same.",
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="Column that says which rows belong together (a patient, a customer): no feature, and never split where a "
    "network holds rows out or an estimated class prior needs scores out of fold.",
)
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--format", type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow"]), help="File format.")
@click.option("--delimiter", help="Field separator of a CSV file, when it is not a comma.")
def command(file: str, method: str, out: str, **given: Any) -> None:
    """Train a learner on a table of features with PU labels, and write it to a folder.

    \b
    Examples:
      pulens train claims.parquet --class-prior 0.1 --out model
      pulens train claims.csv --label status --positive confirmed --method vpu --out model
      pulens score model new-claims.csv --out scores.csv
    """
    from pathlib import Path

    import numpy as np

    from pulens import learners
    from pulens.cli._settings import read_settings
    from pulens.errors import InputError
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import read_features

    facts = learners.facts(method)
    learner_class = facts.learner
    if facts.told != "nothing":
        raise InputError(
            f"--method {method!r} must be told {facts.told}, which a table of PU labels does not hold: use it from "
            "Python."
        )
    if not hasattr(learner_class, "save"):
        raise InputError(f"{method!r} cannot be saved to a folder; use it from Python.")
    _check_folder(out, facts)  # better now than after an hour of training
    _check_columns(given["label"], given["features"], given["drop"])
    learner = learner_class(**read_settings(learner_class, given))
    cluster = given["cluster"]
    table = read_features(
        file,
        features=given["features"] or None,
        label=given["label"],
        drop=(*given["drop"], *([] if cluster is None else [cluster])),
        coding=LabelCoding(given["positive"] or None),
        format=given["format"],
        delimiter=given["delimiter"],
    )
    assert table.labels is not None
    labelled = int((table.labels == 1).sum())
    _check_labelled(labelled, len(table.labels), file, given)
    told = {} if cluster is None else _told_of_clusters(learner, table, file, given)
    with _plainly_warned():
        learner.fit(table.values, table.labels, **told)
    if hasattr(learner, "network_"):
        learner.columns_ = list(table.names)
    else:  # learners without networks keep scikit-learn's names
        learner.feature_names_in_ = np.array(table.names, dtype=object)
    folder = learner.save(Path(out))
    click.echo(
        f"{type(learner).__name__} learned from {labelled:,} labelled and {len(table.labels) - labelled:,} unlabelled "
        f"rows with {len(table.names):,} features{_kept(learner)}. Written to {folder}."
    )


def _told_of_clusters(learner: Any, table: Any, file: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a learner is told of rows that belong together.

    For one that cannot be told, a class prior that is to be estimated is settled here, from scores of models that saw
    no row of the same cluster.
    """
    from inspect import signature

    from pulens.inputs.features import read_clusters
    from pulens.learners.base.prior import check_estimator_name, estimated_class_prior

    groups = read_clusters(file, given["cluster"], format=given["format"], delimiter=given["delimiter"])
    if "groups" in signature(learner.fit).parameters:
        return {"groups": groups}
    if not isinstance(getattr(learner, "class_prior", None), str):
        return {}
    method = check_estimator_name(learner.class_prior)
    told: dict[str, Any] = {"method": method, "groups": groups}
    learner.class_prior = estimated_class_prior(table.values, table.labels, given["scenario"], given["seed"], **told)
    return {}


@contextmanager
def _plainly_warned() -> Iterator[None]:
    """A warning that training collapsed is for the reader of the terminal: no file, no line, no class."""
    import warnings

    from pulens.errors import CollapseWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", CollapseWarning)
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
            if issubclass(category, CollapseWarning):
                click.echo(f"pulens: {message}", err=True)
            else:
                shown(message, category, filename, lineno, file, line)

        warnings.showwarning = show  # put back by catch_warnings
        yield


def _kept(learner: Any) -> str:
    return f"; kept epoch {learner.best_epoch_}" if hasattr(learner, "best_epoch_") else ""


def _check_folder(out: str, facts: Any) -> None:
    """Refuse now what could not be written once everything is learned."""
    import os
    from pathlib import Path

    from pulens.errors import InputError
    from pulens.inputs.addresses import check_name
    from pulens.learners.saving.folder import check_target
    from pulens.learners.saving.models import find_skops
    from pulens.learners.saving.networks import find_safetensors

    if not out:
        raise InputError("--out must name a folder, got ''.")
    check_name(out)
    check_target(Path(out))
    above = next(folder for folder in Path(out).absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(f"--out {out!r} cannot be written: {str(above)!r} is not a folder that may be written to.")
    if facts.is_network:
        find_safetensors()
    elif "estimator" in facts.settings:
        find_skops()


def _check_columns(label: str, features: tuple[str, ...], drop: tuple[str, ...]) -> None:
    """Refuse to learn from the labels, and wishes that contradict each other."""
    from pulens.errors import InputError

    for name in features:
        if name == label:
            raise InputError(
                f"--feature {name!r} is the column of labels (--label): a learner would learn who was labelled. "
                "Name other columns, or say with --label where the labels are."
            )
        if name in drop:
            raise InputError(f"--feature {name!r} and --drop {name!r} contradict each other: give one of them.")
        if features.count(name) > 1:
            raise InputError(f"--feature {name!r} was given {features.count(name)} times: name each column once.")


def _check_labelled(labelled: int, rows: int, file: str, given: dict[str, Any]) -> None:
    """Say what the column of labels holds where nothing in it is labelled, or everything."""
    from pulens.errors import InputError, listed
    from pulens.inputs.features import label_values

    if 0 < labelled < rows:
        return
    label = given["label"]
    found = label_values(file, label, format=given["format"], delimiter=given["delimiter"])
    wrong = f"has the label value {listed(given['positive'])}" if given["positive"] else "is labelled positive (1)"
    if labelled:
        wrong = "is unlabelled" if given["positive"] else "is unlabelled (0 or empty)"
    raise InputError(
        f"{file}: no row of column {label!r} {wrong}, and learning needs labelled and unlabelled rows. The column "
        f"holds {listed(found)}: say with --positive which value means labelled positive, or with --label which column "
        "has the labels."
    )
