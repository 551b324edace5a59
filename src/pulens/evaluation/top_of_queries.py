"""The first k rows of every query: what they hold on average, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulens.answer import Answer
from pulens.errors import PulensError
from pulens.estimate import Estimate
from pulens.evidence import Evidence
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.resampling import Resampling
from pulens.inputs.queries import Queries
from pulens.metrics import look_up
from pulens.metrics.parts.possible_worlds import Contradiction
from pulens.metrics.parts.top_per_query import FirstRowsOfQueries

RULED_OUT = "these rows rule out random labels at this class prior, which this number needs"


@dataclass(frozen=True)
class TopOfQueries(Answer):
    """Measures of the first k rows of every query's list, by name.

    ``k`` is their number (on average, where k was a share), ``of`` all rows of all lists, ``looked_at`` those among the
    first k. ``left_out`` queries have labelled rows but no rows of the list; ``short`` ones fewer rows than k.
    """

    _keys = (
        *("k", "share", "of", "per", "queries", "queries_with_labels=with_labels", "queries_shorter_than_k=short"),
        *("queries_left_out=left_out", "labelled", "estimates"),
    )

    k: float
    of: float
    looked_at: float
    per: str
    queries: int
    with_labels: int
    short: int
    left_out: int
    labelled: float
    estimates: Mapping[str, Estimate]
    rows: FirstRowsOfQueries
    resampling: Resampling | None = None
    is_ruled_out: bool = False

    @property
    def share(self) -> float:
        """How much of all lists is looked at."""
        return self.looked_at / self.of

    def __getitem__(self, name: str) -> Estimate:
        return look_up(self.estimates, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        each = f"the first {self.k:,.10g} rows" if self.k % 1 == 0 else f"the first rows ({self.k:,.3g} on average)"
        lines = [
            f"{each} of each of {self.queries:,} queries by {self.per} ({self.share:.2%} of {self.of:,.10g} rows)",
            f"  {self.with_labels:,} of these have labelled rows",
        ]
        if self.short:
            lines.append(f"  {self.short:,} have fewer rows than that: places that are missing count against precision")
        if self.left_out:
            lines.append(f"  {self.left_out:,} more have labelled rows but no list, and were left out")
        return "\n".join([*lines, *(f"  {result}" for result in self.estimates.values())])

    __repr__ = __str__

    def less(self, other: TopOfQueries) -> Mapping[str, Estimate]:
        """What these numbers are more than those of another score on the same rows, at the same k.

        A query is left out of both at once: what two scores find hard alike does not blur their difference.

        >>> import pulens
        >>> rows = {"label": [1, 0, 0, 1, 0, 0], "a": [3, 2, 1, 3, 1, 2], "b": [1, 2, 3, 3, 2, 1], "q": list("uuuvvv")}
        >>> import polars
        >>> one, two = (
        ...     pulens.evaluate(polars.DataFrame(rows), score=name, per="q", class_prior=0.5).top(1, per="q")
        ...     for name in "ab"
        ... )
        >>> one.less(two)["recall_at_k"].value
        0.5
        """
        if self.k != other.k:
            raise PulensError(f"the first {self.k:g} and the first {other.k:g} rows cannot be compared: ask for one k.")
        said = RULED_OUT if self.is_ruled_out else ""
        return FrozenMapping(self.rows.less(other.rows, self.resampling, said))


def top_of_queries(
    evidence: Evidence,
    queries: Queries,
    k: Any,
    *,
    resampling: Resampling | None = None,
    contradiction: Contradiction | None = None,
) -> TopOfQueries:
    """Averages over positives and over queries of the first k rows of each query's list.

    >>> from pulens.evidence import gather
    >>> from pulens.inputs import ReadOptions
    >>> from pulens.inputs.queries import read_queries
    >>> labels, scores, ids = [1, 0, 0, 1, 0, 0], [3, 2, 1, 1, 3, 2], list("aaabbb")
    >>> evidence = gather(labels, scores, class_prior=0.5)
    >>> found = top_of_queries(evidence, read_queries(labels, scores, ids, ReadOptions()), 1)
    >>> found["recall_at_k"].value, found["precision_at_k"].value
    (0.5, 0.75)
    """
    rows = FirstRowsOfQueries(evidence, queries.tallies, k)
    first = rows.first
    return TopOfQueries(
        k=float(first.mean()),
        of=float(rows.lengths.sum()),
        looked_at=float(first.clip(max=rows.lengths).sum()),
        per=queries.column,
        queries=rows.queries,
        with_labels=rows.with_labels,
        short=int((first > rows.lengths).sum()),
        left_out=len(queries) - rows.queries,
        labelled=rows.labelled_hits,
        estimates=FrozenMapping(rows.estimates(resampling, "" if contradiction is None else RULED_OUT)),
        rows=rows,
        resampling=resampling,
        is_ruled_out=contradiction is not None,
    )
