"""Kernels that turn rows into counts at or above each distinct score. They trust their input.

The fast road packs a row's label into the low bits of its score's bit pattern, so that one SIMD sort of plain
integers orders scores and carries the labels along. The bit pattern of a non-negative IEEE float grows with its
value and never uses the sign bit: shifting it out makes room for the label without losing anything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pulens.sample import LABELLED, NEGATIVE

Scores = NDArray[np.floating[Any]]
BLOCK = 1 << 16  # rows handled at a time: temporaries stay in cache, and memory stays flat


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
        return _count_by_order(scores, labels, None, has_negatives=True)
    label_bits = 2 if has_negatives else 1
    codes = labels & 3 if has_negatives else labels == LABELLED  # -1 & 3 is 3: labels become 1, 0, 3
    if smallest >= 0:
        packed = _pack(scores, codes, label_bits, negative_scores=False)
        packed.sort()
        return _unpack([packed], [False], scores.dtype, label_bits)
    below_zero = scores < 0
    parts = []
    for mask, negative_scores in ((~below_zero, False), (below_zero, True)):
        part = _pack(scores[mask], codes[mask], label_bits, negative_scores=negative_scores)
        part.sort()
        parts.append(part)
    return _unpack(parts, [False, True], scores.dtype, label_bits)


def count_weighted_rows(scores: Scores, labels: NDArray[np.int8], weights: NDArray[np.float64]) -> Counts:
    """Add up weights instead of counting rows."""
    return _count_by_order(scores, labels, weights, has_negatives=bool((labels == NEGATIVE).any()))


def _bits_type(dtype: np.dtype[Any]) -> type[np.unsignedinteger[Any]]:
    return np.uint32 if dtype.itemsize == 4 else np.uint64


def _pack(
    scores: Scores, codes: NDArray[Any], label_bits: int, *, negative_scores: bool
) -> NDArray[np.unsignedinteger[Any]]:
    """Integers that sort like the scores, highest score first, with the label code in the low bits."""
    bits_type = _bits_type(scores.dtype)
    packed = np.empty(scores.size, bits_type)
    bits = np.ascontiguousarray(scores).view(bits_type)
    shift = bits_type(label_bits)
    for start in range(0, scores.size, BLOCK):
        rows = slice(start, start + BLOCK)
        # a negative score's magnitude already grows as the score falls; others are turned round
        block = bits[rows] if negative_scores else np.invert(bits[rows])
        np.left_shift(block, shift, out=packed[rows])
        packed[rows] |= codes[rows].astype(bits_type)
    return packed


def _unpack(
    parts: list[NDArray[np.unsignedinteger[Any]]],
    negative_scores: list[bool],
    dtype: np.dtype[Any],
    label_bits: int,
) -> Counts:
    """Walk sorted packed rows once: keep the last row of each run of equal scores with its running counts."""
    bits_type = _bits_type(dtype)
    n_rows = sum(part.size for part in parts)
    # as small as the packed rows allow: pages of these arrays that no distinct score fills are never touched
    thresholds = np.empty(n_rows, dtype)
    labelled = np.empty(n_rows, np.int64)
    unlabelled = np.empty(n_rows, np.int64)
    negative = np.empty(n_rows, np.int64) if label_bits == 2 else None
    code_mask, shift = bits_type((1 << label_bits) - 1), bits_type(label_bits)
    sign_bit = bits_type(1 << (8 * dtype.itemsize - 1))
    filled = rows_before = labelled_before = negative_before = 0
    for part, below_zero in zip(parts, negative_scores, strict=True):
        for start in range(0, part.size, BLOCK):
            block = part[start : start + BLOCK]
            key = block >> shift
            is_last = np.empty(key.size, bool)
            np.not_equal(key[1:], key[:-1], out=is_last[:-1])
            following = start + BLOCK
            is_last[-1] = following >= part.size or part[following] >> shift != key[-1]
            codes = (block & code_mask).astype(np.uint8)
            kept = np.flatnonzero(is_last)
            place = slice(filled, filled + kept.size)
            at_or_above = np.cumsum(codes == LABELLED, dtype=np.int64)
            running_negative = np.cumsum(codes == 3, dtype=np.int64) if negative is not None else None
            if kept.size == key.size:
                bits, hits = key, at_or_above
            else:
                bits, hits = key[kept], at_or_above[kept]
            if below_zero:
                bits |= sign_bit
            else:
                np.invert(bits << shift, out=bits)
                bits >>= shift
            thresholds[place] = bits.view(dtype)
            np.add(hits, labelled_before, out=labelled[place])
            np.subtract(kept + (rows_before + 1), labelled[place], out=unlabelled[place])
            if negative is not None and running_negative is not None:
                np.add(running_negative[kept], negative_before, out=negative[place])
                unlabelled[place] -= negative[place]
                negative_before += int(running_negative[-1])
            labelled_before += int(at_or_above[-1])
            rows_before += key.size
            filled += kept.size
    return Counts(
        _fit(thresholds, filled),
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
    is_last[-1] = True
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
