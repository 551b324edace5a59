"""Kernels that turn rows into counts at or above each distinct score. They trust their input.

The fast road packs a row's label into the low bits of its score's bit pattern, so that one SIMD sort of plain
integers orders scores and carries the labels along. The bit pattern of a non-negative IEEE float grows with its
value and never uses the sign bit: shifting it out makes room for the label without losing anything.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.counts.sample import LABELLED, NEGATIVE
from pulens.types import Scores

BLOCK = 1 << 16  # rows handled at a time: temporaries stay in cache, and memory stays flat
CACHED = 1 << 14  # and where several temporaries of a block are at work at once
EACH_BYTE = np.uint64(0x0101010101010101)
SHARED_SORT = 1 << 20  # rows from which sorting on several cores pays
INFINITY = 0x7FF << 52  # the bits of an infinite double: what lies below is a finite number
SMALLEST = 5e-324
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
    smallest, largest = extremes(scores)
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


def extremes(values: NDArray[Any]) -> tuple[Any, Any]:
    """The smallest and the largest value, or ``nan`` twice, read from memory once.

    >>> extremes(np.array([2.0, -1.0, 3.0]))
    (np.float64(-1.0), np.float64(3.0))
    """
    if values.size <= BLOCK:
        return values.min(), values.max()
    blocks = [values[start : start + BLOCK] for start in range(0, values.size, BLOCK)]
    ends = np.array([(block.min(), block.max()) for block in blocks])
    return ends[:, 0].min(), ends[:, 1].max()


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
    """Sort packed scores of at least zero as what numpy sorts fastest: doubles, or signed integers, where they fit."""
    width, highest = 8 * packed.itemsize, int(top) << label_bits | (1 << label_bits) - 1
    if packed.dtype == np.uint64 and highest < INFINITY and _sorts_doubles_best():
        sort_in_place(packed.view(np.float64))
    else:
        sort_in_place(packed.view(f"i{packed.itemsize}") if highest < 1 << (width - 1) else packed)


def _sorts_doubles_best() -> bool:
    """Whether doubles are sorted in less time than integers, and none of them is read as zero.

    Vectors of AVX2 have a minimum of doubles but none of wide integers, which costs a third; AVX-512 has both, and is
    as fast with either. Small differences of scores look like subnormal doubles, which a process may be told to ignore.
    """
    return SMALLEST > 0 and _has_vectors()


@cache
def _has_vectors() -> bool:
    known: Any = np.show_config(mode="dicts")
    simd = known.get("SIMD Extensions", {})
    return not {"AVX2", "X86_V3", "X86_V4"}.isdisjoint([*simd.get("baseline", ()), *simd.get("found", ())])


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
    code_mask, shift = np.uint8((1 << label_bits) - 1), bits_type(label_bits)
    filled = 0
    for start in range(0, scores.size, CACHED):
        rows = slice(start, start + CACHED)
        block, codes = bits[rows], labels[rows]
        if below_zero is not None:
            chosen = (scores[rows] < 0) == below_zero
            block, codes = block[chosen], codes[chosen]
        index = packed[filled : filled + block.size]
        if below_zero:  # a negative score's magnitude already grows as the score falls; turn others round
            np.left_shift(block, shift, out=index)
        else:
            np.left_shift(np.subtract(top, block, out=index), shift, out=index)
        index |= (codes.view(np.uint8) & code_mask).astype(bits_type)  # -1 & 3 is 3: labels become 1, 0, 3
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
    shift = bits_type(label_bits)
    sign_bit = bits_type(1 << (8 * dtype.itemsize - 1))
    rows = np.arange(1, min(CACHED, n_rows) + 1, dtype=whole)
    filled = labelled_before = negative_before = 0
    starts = [*range(0, at_least_zero, CACHED), *range(at_least_zero, n_rows, CACHED)]
    for start, end in zip(starts, [*starts[1:], n_rows], strict=True):
        block = packed[start:end]
        key = block >> shift
        is_last = np.empty(key.size, bool)
        np.not_equal(key[1:], key[:-1], out=is_last[:-1])
        is_last[-1] = end in (at_least_zero, n_rows) or packed[end] >> shift != key[-1]
        codes = _codes(block, label_bits)
        running = running_count(codes if negative is None else codes == LABELLED, whole)
        kept = slice(None) if is_last.all() else np.flatnonzero(is_last)
        distinct, here, counted = key[kept], running[kept], rows[: key.size][kept]
        index = slice(filled, filled + distinct.size)
        if start >= at_least_zero:
            np.bitwise_or(distinct, sign_bit, out=bits[index])
        else:
            np.subtract(top, distinct, out=bits[index])
        np.subtract(counted, here, out=unlabelled[index])
        unlabelled[index] += start - labelled_before - negative_before
        np.add(here, labelled_before, out=labelled[index])
        labelled_before += int(running[-1])
        if negative is not None:
            running = running_count(codes == 3, whole)
            unlabelled[index] -= running[kept]
            np.add(running[kept], negative_before, out=negative[index])
            negative_before += int(running[-1])
        filled += distinct.size
    return Counts(
        _fit(bits, filled).view(dtype),
        _fit(labelled, filled),
        _fit(unlabelled, filled),
        None if negative is None else _fit(negative, filled),
    )


def _codes(packed: NDArray[np.unsignedinteger[Any]], label_bits: int) -> NDArray[np.uint8]:
    return (packed & packed.dtype.type((1 << label_bits) - 1)).astype(np.uint8)


def running_count(flags: NDArray[Any], whole: Any) -> NDArray[Any]:
    """How many of the flags, each 0 or 1 in a byte, are set up to each place: ``cumsum`` in half the time.

    A product with a one in every byte adds up eight flags at once; only the totals of eights are summed one by one.

    >>> running_count(np.array([1, 0, 1, 1, 0, 0, 0, 0, 1, 1], np.uint8), np.int32)
    array([1, 1, 2, 3, 3, 3, 3, 3, 4, 5], dtype=int32)
    """
    eights = flags.size // 8 * 8
    if sys.byteorder != "little" or not eights:
        return np.cumsum(flags, dtype=whole)
    within = flags[:eights].view(np.uint64) * EACH_BYTE
    totals = (within >> np.uint64(56)).astype(whole)
    before = np.cumsum(totals)
    before -= totals
    result = np.empty(flags.size, whole)
    np.add(np.repeat(before, 8), within.view(np.uint8), out=result[:eights])
    if eights < flags.size:
        np.cumsum(flags[eights:], out=result[eights:])
        result[eights:] += result[eights - 1]
    return result


def rises(running: NDArray[Any], before: Any) -> NDArray[np.intp]:
    """Places at which a running count is another than at the place before; ``before`` is what it was until then.

    >>> rises(np.array([1, 1, 2]), 0)
    array([0, 2])
    """
    is_other = np.empty(running.size, bool)
    np.not_equal(running[1:], running[:-1], out=is_other[1:])
    is_other[:1] = running[:1] != before
    return np.flatnonzero(is_other)


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
