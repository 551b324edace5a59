"""pulens train"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from pulens.cli._options import Prior


@click.command(name="train")
@click.argument("file")
@click.option("--method", default="nnpu", show_default=True, help="Learner: nnpu, vpu, dist_pu, ... (see docs).")
@click.option("--out", required=True, metavar="FOLDER", help="Where the trained learner is written.")
@click.option("--label", default="label", show_default=True, help="Column of labels.")
@click.option("--positive", multiple=True, help="Label value that means labelled positive; others are unlabelled.")
@click.option("--feature", "features", multiple=True, help="Column to learn from. Default: all but the label.")
@click.option("--drop", multiple=True, help="Column to leave out.")
@click.option(
    "--class-prior", type=Prior(), default=None, help="Share of positives in the population. Default: estimated."
)
@click.option(
    "--scenario",
    type=click.Choice(["case-control", "single-set"]),
    default="case-control",
    show_default=True,
    help="case-control: unlabelled rows are a sample of the population. single-set: labelled rows were picked out of "
    "the sample, unlabelled ones are what is left.",
)
@click.option("--backbone", default="mlp", show_default=True, help="Network: mlp or linear.")
@click.option("--standardise/--no-standardise", default=True, help="Scale features to mean 0 and deviation 1 first.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any setting of the learner, e.g. epochs=20."
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--format", type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow"]), help="File format.")
@click.option("--delimiter", help="Field separator of a CSV file, when it is not a comma.")
def command(file: str, method: str, out: str, **given: Any) -> None:
    """Train a learner on a table of features with PU labels, and write it to a folder.

    \b
    Examples:
      pulens train claims.parquet --method nnpu --class-prior 0.1 --out model
      pulens train claims.csv --label status --positive confirmed --method vpu --out model
      pulens score model new-claims.csv --out scores.csv
    """
    from pathlib import Path

    import numpy as np

    from pulens import learners
    from pulens.errors import InputError
    from pulens.inputs.columns import LabelCoding
    from pulens.inputs.features import read_features
    from pulens.learners._saving import check_target

    learner_class = learners.find(method)
    if not hasattr(learner_class, "save"):
        raise InputError(f"{method!r} cannot be saved to a folder; use it from Python.")
    check_target(Path(out))  # better now than after an hour of training
    learner = learner_class(**_settings(learner_class, given))
    table = read_features(
        file,
        features=given["features"] or None,
        label=given["label"],
        drop=given["drop"],
        coding=LabelCoding(given["positive"] or None),
        format=given["format"],
        delimiter=given["delimiter"],
    )
    with _plainly_warned():
        learner.fit(table.values, table.labels)
    if hasattr(learner, "network_"):
        learner.columns_ = list(table.names)
    else:  # learners without networks keep scikit-learn's names
        learner.feature_names_in_ = np.array(table.names, dtype=object)
    folder = learner.save(Path(out))
    assert table.labels is not None
    labelled = int((table.labels == 1).sum())
    click.echo(
        f"{type(learner).__name__} learned from {labelled:,} labelled and {len(table.labels) - labelled:,} unlabelled "
        f"rows with {len(table.names):,} features{_kept(learner)}. Written to {folder}."
    )


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


def _settings(learner_class: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Options and NAME=VALUE pairs as arguments of the learner."""
    from pulens.errors import InputError, listed

    settings = {
        "scenario": given["scenario"],
        "backbone": given["backbone"],
        "standardise": given["standardise"],
        "random_state": given["seed"],
        "device": given["device"],
    }
    if given["class_prior"] is not None:
        settings["class_prior"] = given["class_prior"]
    known = learner_class().get_params()
    settings = {name: value for name, value in settings.items() if name in known}  # not all have a network
    for pair in given["settings"]:
        name, equals, text = pair.partition("=")
        if not equals or name not in known:
            raise InputError(f"--set must be NAME=VALUE with a name of {listed(known, limit=40)}; got {pair!r}.")
        settings[name] = _value(name, text, known[name])
    return settings


def _value(name: str, text: str, default: Any) -> Any:
    """Text as the kind of value the setting has."""
    from pulens.errors import InputError

    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise InputError(f"--set {name} must be true or false, got {text!r}.")
        return text.lower() == "true"
    if isinstance(default, tuple) and default:
        try:
            return tuple(type(default[0])(part) for part in text.split(","))
        except ValueError:
            shown = ",".join(map(str, default))
            raise InputError(f"--set {name} must be numbers such as {shown}, got {text!r}.") from None
    kinds: dict[type, Any] = {int: int, float: float, type(None): int}
    try:
        return kinds.get(type(default), str)(text)
    except ValueError:
        raise InputError(f"--set {name} must be a number such as {default!r}, got {text!r}.") from None
