"""A learner behind the columns of a table, as scikit-learn's Pipeline; saved to a folder without pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pulens.atomic_write import whole_folder
from pulens.bounded_text import parse_json, read_bounded
from pulens.errors import InputError, PulensError
from pulens.learning.learners.saving.checks import check_number, damaged
from pulens.learning.learners.saving.folder import COLUMNS, check_target
from pulens.learning.learners.tables.planned import PlannedColumn
from pulens.learning.learners.tables.table_columns import TableColumns

FORMAT = 1
STEPS = ("columns", "learner")


def table_pipeline(learner: Any, **columns: Any) -> Pipeline:
    """A learner that takes tables of mixed columns: ``TableColumns`` prepared for it, then the learner.

    Gaps are filled for learners that take none, and columns scaled for those that measure distances and do not scale
    themselves; ``columns`` are settings of :class:`TableColumns`.

    >>> from pulens.learners import BoostedPU, ElkanNoto
    >>> [table_pipeline(one).named_steps["columns"].fill for one in (BoostedPU(), ElkanNoto())]
    [False, True]
    """
    tags = learner.__sklearn_tags__()
    fill = not tags.input_tags.allow_nan
    scale = fill and not hasattr(learner, "_program")  # networks standardise by themselves
    return Pipeline([("columns", TableColumns(**{"fill": fill, "scale": scale, **columns})), ("learner", learner)])


def save_pipeline(pipeline: Pipeline, path: str | Path) -> Path:
    """Write a fitted :func:`table_pipeline` to a folder, whole or not at all; :func:`pulens.learners.load` reads it."""
    folder = Path(path)
    if tuple(name for name, _ in pipeline.steps) != STEPS or not isinstance(pipeline[0], TableColumns):
        raise InputError("only pipelines of table_pipeline can be saved: TableColumns, then a learner of pulens.")
    columns, learner = pipeline[0], pipeline[1]
    check_is_fitted(columns)
    check_target(folder)
    text = json.dumps(_facts(columns), indent=1, allow_nan=False) + "\n"
    with whole_folder(folder) as temporary:
        try:
            learner.save(temporary)
        except PulensError as error:  # the folder that it names is not the one that was asked for
            error.args = (str(error).replace(str(temporary), str(folder)),)
            raise
        (temporary / COLUMNS).write_text(text, encoding="utf-8")
    return folder


def _facts(columns: TableColumns) -> dict[str, Any]:
    numbers = {"median_": columns.fill, "mean_": columns.scale, "deviation_": columns.scale}
    return {
        "format": FORMAT,
        "settings": {
            "categories": list(columns.categories),
            "missing": list(columns.missing),
            "dates": None if columns.dates is None else dict(columns.dates),
            "fill": bool(columns.fill),
            "scale": bool(columns.scale),
        },
        "columns": [column.to_dict() for column in columns.columns_],
        "left_out": dict(columns.left_out_),
        "names": [str(name) for name in columns.feature_names_in_],
        "gaps": [bool(gap) for gap in columns.gaps_],
        "numbers": {name: getattr(columns, name).tolist() for name, there in numbers.items() if there},
    }


def restored_pipeline(folder: Path, learner: Any) -> Pipeline:
    """The columns that a folder holds before its learner; every fact is looked at."""
    place = folder / COLUMNS
    facts = parse_json(read_bounded(place), f"{place} could not be read")
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise damaged(place, f"it does not say format {FORMAT}")
    try:
        columns = _restored(facts, place)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise damaged(place, f"{type(error).__name__}: {error}") from error
    made, width = len(columns.get_feature_names_out()), _width(learner)
    if made != width:
        raise damaged(place, f"it makes {made:,} columns of numbers, and the learner takes {width:,}")
    return Pipeline([("columns", columns), ("learner", learner)])


def _width(learner: Any) -> int:
    return int(np.prod(learner.row_shape_)) if hasattr(learner, "row_shape_") else int(learner.n_features_in_)


def _restored(facts: dict[str, Any], place: Path) -> TableColumns:
    settings = facts["settings"]
    if not _are_settings(settings):
        raise damaged(place, "settings are not those of a table")
    columns = TableColumns(**settings)
    columns.columns_ = tuple(PlannedColumn.from_dict(one) for one in facts["columns"])
    names, left_out = facts["names"], facts["left_out"]
    used = [column.name for column in columns.columns_]
    if not _are_words(names) or not isinstance(left_out, dict) or not _are_words([*left_out, *left_out.values()]):
        raise damaged(place, "names of columns must be words")
    if not used or len(set(used)) != len(used) or not {*used, *left_out} <= set(names):
        raise damaged(place, "its columns are not those that it names, each once")
    columns.left_out_ = left_out
    columns.feature_names_in_ = np.array(names, dtype=object)
    columns.n_features_in_ = len(names)
    made = sum(len(column.outputs) for column in columns.columns_)
    gaps, numbers = facts["gaps"], facts["numbers"]
    if not isinstance(gaps, list) or len(gaps) != made or not all(isinstance(gap, bool) for gap in gaps):
        raise damaged(place, f"gaps must say of {made:,} columns whether they had any")
    columns.gaps_ = np.array(gaps)
    wanted = {"median_": columns.fill * made, "mean_": columns.scale * (made + sum(gaps))}
    wanted["deviation_"] = wanted["mean_"]
    if not isinstance(numbers, dict) or set(numbers) != {name for name, size in wanted.items() if size}:
        raise damaged(place, "numbers must hold the medians, means and deviations that fill and scale ask for")
    for name, values in numbers.items():
        if not isinstance(values, list) or len(values) != wanted[name]:
            raise damaged(place, f"{name} must hold {wanted[name]:,} numbers")
        least = 0.0 if name == "deviation_" else -np.inf
        setattr(columns, name, np.array([check_number(place, name, value, above=least) for value in values]))
    return columns


def _are_settings(settings: Any) -> bool:
    if not isinstance(settings, dict) or set(settings) != {"categories", "missing", "dates", "fill", "scale"}:
        return False
    dates = settings["dates"]
    ok = _are_words(settings["categories"]) and _are_words(settings["missing"])
    ok = ok and (dates is None or (isinstance(dates, dict) and _are_words([*dates, *dates.values()])))
    return ok and all(isinstance(settings[name], bool) for name in ("fill", "scale"))


def _are_words(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
