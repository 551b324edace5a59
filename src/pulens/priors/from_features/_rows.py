"""Checks that the estimators from features share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.counts.sample import NEGATIVE
from pulens.errors import InputError
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import LabelCoding


def check_features(features: Any, labels: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A table of finite numbers, one row per label; labels are 1 (labelled positive) or 0 (unlabelled)."""
    table = np.asarray(features, float)
    kinds = check_kinds(labels)
    if table.ndim != 2 or kinds.ndim != 1 or len(table) != len(kinds):
        raise InputError(
            f"features must be a table with one row per label, got shapes {table.shape} and {kinds.shape}."
        )
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise InputError(f"features must be finite numbers; row {row} holds a missing or infinite value.")
    is_labelled = kinds == 1
    if not is_labelled.any() or is_labelled.all():
        raise InputError("there must be both labelled and unlabelled rows.")
    return table, is_labelled


def check_kinds(labels: Any) -> NDArray[np.int8]:
    """Label codes 1 and 0: known negatives have no place in these estimators, and -1 may not mean one."""
    kinds = LabelCoding().encode(plain_values(labels), is_whole=False)
    if (kinds == NEGATIVE).any():
        raise InputError(
            "labels must be 1 (labelled positive) or 0 (unlabelled) to estimate a class prior from features, got -1. "
            "If -1 means unlabelled, mark these rows 0; if it means known negative, leave them out."
        )
    return kinds
