"""In which order drawn rows are checked: mixed over the strata, so that a person may stop after any of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pulens.audits.counts import Counts
from pulens.splitmix import GOLDEN, WORD, mix

__all__ = ["queue_order", "start_of"]


def start_of(seed: int, batch: int, stratum: int) -> float:
    """A number in [0, 1) that depends on nothing but these three.

    >>> 0 <= start_of(0, 1, 0) < 1, start_of(0, 1, 0) == start_of(0, 1, 1)
    (True, False)
    """
    word = mix(mix(seed * GOLDEN + 2) + (batch << 32 | stratum) * GOLDEN)
    return (word & WORD) / 2.0**64


def queue_order(counts: Counts, seed: int, batch: int = 1) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Stratum of each row of the queue, and its place among the rows drawn in that stratum.

    Row i of the n in stratum k has the key (i - v)/n with one random v for each stratum, and rows are sorted by their
    keys: whoever stops early has checked every stratum in its planned proportion, within about one row.

    >>> strata, places = queue_order(np.array([4, 2]), seed=0)
    >>> strata.tolist(), places.tolist()
    ([0, 1, 0, 0, 1, 0], [0, 0, 1, 2, 1, 3])
    """
    strata = np.repeat(np.arange(len(counts)), counts)
    indices = np.concatenate([np.arange(count) for count in counts]) if len(counts) else np.zeros(0)
    starts = np.array([start_of(seed, batch, stratum) for stratum in range(len(counts))])
    keys = (indices + 1 - starts[strata]) / np.asarray(counts, float)[strata]
    order = np.lexsort((strata, keys))
    return strata[order], indices[order].astype(np.intp)
