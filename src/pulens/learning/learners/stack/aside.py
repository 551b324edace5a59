"""Labelled and unlabelled rows that a method watches instead of training on them."""

from __future__ import annotations

from pulens.errors import InputError
from pulens.learning.learners.stack.division import without_copies
from pulens.learning.learners.stack.rows import Part, StackedRows
from pulens.learning.learners.stack.streams import Streams


def set_aside(
    data: StackedRows, share: float, streams: Streams, *, copies: bool = True
) -> tuple[StackedRows, StackedRows]:
    """Two parts of every run's rows: a random share of labelled and of unlabelled ones goes to the second.

    Without ``copies`` the first keeps no unlabelled row that equals a labelled one of the second.
    """
    rows = data.rows.cpu().numpy()
    parts: tuple[list[Part], list[Part]] = ([], [])
    for run, rng in enumerate(streams.generators("support", (0, 0))):
        first, last = data.n_labelled[run], data.n_rows[run]
        if first < 2 or last - first < 2:
            raise InputError(
                f"at least 2 labelled and 2 unlabelled rows are needed to set some aside, got n_samples={last} with "
                f"{first} labelled."
            )
        groups = []
        for group in (rows[run, :first], rows[run, first:last]):
            taken = min(max(1, round(share * len(group))), len(group) - 1)
            mixed = rng.permutation(group)
            groups.append((mixed[taken:], mixed[:taken]))
        for part, labelled, unlabelled in zip(parts, *groups, strict=True):
            part.append(Part(labelled, unlabelled))
    if not copies:
        pairs = zip(*parts, strict=True)
        parts = [without_copies(part, other.labelled, data.table) for part, other in pairs], parts[1]
    return StackedRows(data.table, parts[0], data.scenario), StackedRows(data.table, parts[1], data.scenario)
