"""Kernels that turn rows into counts at or above each distinct score. They trust their input.

The fast road packs a row's label into the low bits of its score's bit pattern, so that one SIMD sort of plain
integers orders scores and carries the labels along. The bit pattern of a non-negative IEEE float grows with its
value and never uses the sign bit: shifting it out makes room for the label without losing anything.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counts.sample import LABELLED, NEGATIVE
from pulens.types import Scores

BLOCK = 1 << 16  # rows handled at a time: temporaries stay in cache, and memory stays flat
SHARED_SORT = 1 << 20  # rows from which sorting on several cores pays
NARROW = range(1 << 20, 1 << 31)  # rows whose running counts are held in 32 bits: half the memory, and no sum overflows


# Freeing a block makes glibc keep that much memory for what is asked for next, instead of handing it back and taking it
# again page by page: intermediate arrays of a megabyte then cost a quarter less. Nothing is touched or kept here.
np.empty(1 << 24, np.uint8)


class Counts(NamedTuple):
    """Distinct scores, highest first, and how many rows of each kind stand at or above each of them."""

    thresholds: Scores
    labelled: NDArray[Any]
    unlabelled: NDArray[Any]
    negative: NDArray[Any] | None


def count_rows(scores: Scores, labels: NDArray[np.int8]) -> Counts:
    """Count rows of weight one."""
    has_negatives = bool((labels == NEGATIVE).any())
    smallest, largest = scores.min(), scores.max()
    if has_negatives and not (smallest >= 0 and largest < 2):
        return _count_apart(scores, labels)
    label_bits = 2 if has_negatives else 1
    top = np.abs(largest).view(_bits_type(scores.dtype))  # of nothing but negative scores it is never read
    if smallest >= 0:
        packed = _pack(scores, labels, label_bits, top, below_zero=None)
        _sort_packed(packed, top, label_bits)
        return _unpack(packed, packed.size, scores.dtype, label_bits, top)
    packed = np.empty(scores.size, _bits_type(scores.dtype))
    upper = _pack(scores, labels, label_bits, top, below_zero=False, out=packed)
    lower = _pack(scores, labels, label_bits, top, below_zero=True, out=packed[upper.size :])
    _sort_packed(upper, top, label_bits)
    sort_in_place(lower)
    return _unpack(packed, upper.size, scores.dtype, label_bits, top)


def count_weighted_rows(scores: Scores, labels: NDArray[np.int8], weights: NDArray[np.float64]) -> Counts:
    """Add up weights instead of counting rows."""
    return _count_by_order(scores, labels, weights, has_negatives=bool((labels == NEGATIVE).any()))


def sort_in_place(values: NDArray[Any]) -> None:
    """Sort on all cores that this process may use: halved by rank until there are enough parts, then part by part.

    Halving costs a pass or two over the values and no memory, and lets other threads run meanwhile. One rank at a time:
    numpy finds a single one in a fraction of the time that several take.

    >>> values = np.array([3.0, 1.0, 2.0])
    >>> sort_in_place(values)
    >>> values
    array([1., 2., 3.])
    """
    workers = cores()
    if values.size < SHARED_SORT or workers < 2:
        values.sort()
        return
    parts = [values]
    with ThreadPoolExecutor(workers) as pool:
        while len(parts) < workers:
            parts = [half for halves in pool.map(_halved, parts) for half in halves]
        list(pool.map(np.ndarray.sort, parts))


def _halved(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Nothing in the first half is larger than anything in the second; both lie where the values did."""
    middle = values.size // 2
    values.partition(middle)
    return values[:middle], values[middle:]


def cores() -> int:
    """Cores this process may use, at most eight; ``PULENS_THREADS`` says otherwise. Results do not depend on it."""
    asked = os.environ.get("PULENS_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, 8)


def _count_apart(scores: Scores, labels: NDArray[np.int8]) -> Counts:
    """Sort all scores, labelled ones and known negatives apart: for scores without room for two label bits."""
    ordered = scores + scores.dtype.type(0)  # a copy, in which -0.0 is 0.0
    sort_in_place(ordered)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    distinct = ordered[first]
    at_or_above = ordered.size - first[::-1]

    def running(code: int) -> NDArray[np.int64]:
        chosen = scores[labels == code]
        sort_in_place(chosen)  # neighbours are looked up one after the other
        counted = np.bincount(np.searchsorted(distinct, chosen), minlength=distinct.size)
        return np.cumsum(counted[::-1], dtype=np.int64)

    labelled, negative = running(LABELLED), running(NEGATIVE)
    return Counts(np.ascontiguousarray(distinct[::-1]), labelled, at_or_above - labelled - negative, negative)


def _bits_type(dtype: np.dtype[Any]) -> type[np.unsignedinteger[Any]]:
    return np.uint32 if dtype.itemsize == 4 else np.uint64


def _sort_packed(packed: NDArray[np.unsignedinteger[Any]], top: np.unsignedinteger[Any], label_bits: int) -> None:
    """Sort packed scores of at least zero: as signed integers where they fit, which AVX2 compares without a detour."""
    width = 8 * packed.itemsize
    fits = int(top) < 1 << (width - 1 - label_bits)
    sort_in_place(packed.view(f"i{packed.itemsize}") if fits else packed)


def _pack(
    scores: Scores,
    labels: NDArray[np.int8],
    label_bits: int,
    top: np.unsignedinteger[Any],
    *,
    below_zero: bool | None,
    out: NDArray[np.unsignedinteger[Any]] | None = None,
) -> NDArray[np.unsignedinteger[Any]]:
    """Integers that sort like the scores, highest score first, with the label code in the low bits.

    ``below_zero`` takes only the scores below zero, only the others, or (``None``) all of them. Others are packed by
    how far their bit pattern lies below ``top``, that of the highest score; the sign bit of -0.0 is shifted out.
    """
    bits_type = _bits_type(scores.dtype)
    packed = np.empty(scores.size, bits_type) if out is None else out
    bits = np.ascontiguousarray(scores).view(bits_type)
    code_mask, shift = np.int8((1 << label_bits) - 1), bits_type(label_bits)
    filled = 0
    for start in range(0, scores.size, BLOCK):
        rows = slice(start, start + BLOCK)
        block, codes = bits[rows], labels[rows] & code_mask  # -1 & 3 is 3: labels become 1, 0, 3
        if below_zero is not None:
            chosen = (scores[rows] < 0) == below_zero
            block, codes = block[chosen], codes[chosen]
        if not below_zero:  # a negative score's magnitude already grows as the score falls; turn others round
            block = np.subtract(top, block)
        index = packed[filled : filled + block.size]
        np.left_shift(block, shift, out=index)
        np.bitwise_or(index, codes.view(np.uint8), out=index)
        filled += block.size
    return packed[:filled]


def _unpack(
    packed: NDArray[np.unsignedinteger[Any]],
    at_least_zero: int,
    dtype: np.dtype[Any],
    label_bits: int,
    top: np.unsignedinteger[Any],
) -> Counts:
    """Walk sorted packed rows once: keep the last row of each run of equal scores with its running counts.

    The first ``at_least_zero`` rows have scores of at least zero. Thresholds are written over the packed rows, which
    are never fewer: no further array of that size is needed.
    """
    bits_type, n_rows = _bits_type(dtype), packed.size
    bits = packed  # thresholds end up here, as bit patterns
    whole: Any = np.int32 if n_rows in NARROW else np.int64
    labelled, unlabelled = np.empty(n_rows, whole), np.empty(n_rows, whole)
    negative = np.empty(n_rows, whole) if label_bits == 2 else None
    code_mask, shift = bits_type((1 << label_bits) - 1), bits_type(label_bits)
    sign_bit = bits_type(1 << (8 * dtype.itemsize - 1))
    filled = labelled_before = negative_before = 0
    starts = [*range(0, at_least_zero, BLOCK), *range(at_least_zero, n_rows, BLOCK)]
    for start, end in zip(starts, [*starts[1:], n_rows], strict=True):
        block = packed[start:end]
        key = block >> shift
        codes = (block & code_mask).astype(np.uint8)
        is_last = np.empty(key.size, bool)
        np.not_equal(key[1:], key[:-1], out=is_last[:-1])
        is_last[-1] = end in (at_least_zero, n_rows) or packed[end] >> shift != key[-1]
        kept = np.flatnonzero(is_last)
        all_kept = kept.size == key.size
        index = slice(filled, filled + kept.size)
        distinct = key if all_kept else key[kept]
        if start >= at_least_zero:
            distinct |= sign_bit
        else:
            np.subtract(top, distinct, out=distinct)
        bits[index] = distinct
        running = np.cumsum(codes == LABELLED, dtype=whole)
        np.add(running if all_kept else running[kept], labelled_before, out=labelled[index])
        np.subtract(kept, labelled[index] - (start + 1), out=unlabelled[index])
        labelled_before += int(running[-1])
        if negative is not None:
            running = np.cumsum(codes == 3, dtype=whole)
            np.add(running[kept], negative_before, out=negative[index])
            unlabelled[index] -= negative[index]
            negative_before += int(running[-1])
        filled += kept.size
    return Counts(
        _fit(bits, filled).view(dtype),
        _fit(labelled, filled),
        _fit(unlabelled, filled),
        None if negative is None else _fit(negative, filled),
    )


def _fit(values: NDArray[Any], size: int) -> NDArray[Any]:
    """The filled part; copied when keeping the whole buffer alive would waste more than it saves."""
    return values[:size] if size > 0.75 * values.size else values[:size].copy()


def _count_by_order(
    scores: Scores, labels: NDArray[np.int8], weights: NDArray[np.float64] | None, *, has_negatives: bool
) -> Counts:
    order = np.argsort(scores, kind="stable")[::-1]
    ordered = scores[order]
    is_last = np.empty(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    is_last[-1:] = True
    kept = np.flatnonzero(is_last)
    ordered_labels = labels[order]
    ordered_weights = None if weights is None else weights[order]

    def running(code: int) -> NDArray[Any]:
        chosen = ordered_labels == code
        if ordered_weights is None:
            return np.cumsum(chosen, dtype=np.int64)[kept]
        counted: NDArray[Any] = np.cumsum(np.where(chosen, ordered_weights, 0.0))[kept]
        return counted

    return Counts(
        ordered[kept] + 0.0,  # -0.0 and 0.0 are one threshold: show it as 0.0
        running(LABELLED),
        running(0),
        running(NEGATIVE) if has_negatives else None,
    )
