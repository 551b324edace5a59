"""Sparse tables for what needs every number."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from pulens.errors import InputError

LIMIT = 2 << 30  # bytes that a sparse table may take once it is dense


def dense(X: Any, *, bytes_each: int) -> Any:
    """A sparse table with its zeros written out, if that fits in memory; anything else as it came.

    >>> from scipy.sparse import csr_matrix
    >>> dense(csr_matrix([[0, 2]]), bytes_each=8)
    array([[0, 2]])
    """
    if not issparse(X):
        return X
    if bytes_each * X.shape[0] * X.shape[1] > LIMIT:
        raise InputError(
            f"a sparse table of {X.shape[0]:,} x {X.shape[1]:,} does not fit in memory once it is dense. Reduce "
            "its columns first, for example with sklearn.decomposition.TruncatedSVD."
        )
    return X.toarray()
