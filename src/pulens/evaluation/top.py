"""The first k rows of a list, or of every query's list: what they hold, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pulens.answer import Answer, ShownAsText
from pulens.decisions.hits import Prediction, predicted_hits
from pulens.errors import PulensError
from pulens.estimate import Estimate
from pulens.evidence import Evidence
from pulens.frozen import FrozenMapping
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import Resampling
from pulens.inputs.queries import Queries
from pulens.metrics import METRICS, look_up
from pulens.metrics.parts.confirmed import not_below
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.possible_worlds import Contradiction
from pulens.metrics.parts.top_of_list import RankedList, is_unlabelled_list, rows_of
from pulens.metrics.parts.top_per_query import FirstRowsOfQueries
from pulens.metrics.parts.withholding import withhold

LONGEST_LADDER = 5  # of a ladder
SHORTEST = 20  # rows that are worth a step of a ladder
RULED_OUT = "these rows rule out random labels at this class prior, which this number needs"
FEW = 5  # labelled rows among the first k below which that is said


class FirstRows(Mapping[str, Estimate], Answer, ShownAsText):
    """Measures of the first rows of one list or of many, by name."""

    estimates: Mapping[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        return look_up(self.estimates, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)


@dataclass(frozen=True, repr=False)
class Top(FirstRows):
    """Measures of the first k rows of a list, by name.

    ``of`` is the length of the list, on which DCG depends; ``hits`` is how many positives stand among these very rows.
    """

    _keys = ("k", "share", "of", "per", "sentence", "hits", "labelled", "labelled_in_list=known", "estimates")
    per: ClassVar[None] = None

    k: float
    of: float
    estimates: Mapping[str, Estimate]
    hits: Prediction | None
    labelled: float
    known: float = 0.0  # labelled rows among them, where the list holds those

    @property
    def share(self) -> float:
        return self.k / self.of

    @property
    def sentence(self) -> str:
        """What to expect of whoever checks these rows."""
        from pulens.report.words import percent

        check = f"Check {self.k:,.10g} rows:"
        if self.hits is None:
            return f"{check} how many of them are positive is not known."
        recall = self.estimates["recall_at_k"]
        known = f" ({self.known:,.0f} of them labelled already)" if self.known >= 0.5 else ""
        share = "" if recall.undefined_because else f", {percent(recall.value)} of all positives"
        estimate = f"{self.hits.expected:,.0f}{known}{share}"
        if self.hits.low is None:
            return f"{check} expect about {estimate}."
        low, high = f"{self.hits.low:,.0f}", f"{self.hits.high:,.0f}"
        expected = f"{check} expect {low if low == high else f'{low} to {high}'} positives"
        if math.isnan(self.hits.expected) or self.is_cut:
            return f"{expected}{known}{share}."
        return f"{expected}; the estimate is {estimate}."

    @property
    def is_cut(self) -> bool:
        """Whether every row would be positive though the interval doubts it: no estimate, but where it was cut."""
        hits = self.hits
        if hits is None or hits.low is None or hits.high is None or math.isnan(hits.expected):
            return False
        return f"{hits.low:,.0f}" != f"{hits.high:,.0f}" and hits.expected >= self.k - 0.5

    @property
    def few_words(self) -> str:
        """Said where all of it rests on a handful of labelled rows; otherwise empty."""
        if self.labelled >= FEW:
            return ""
        return f"only {self.labelled:.3g} labelled rows are among them: these numbers depend on them"

    def __str__(self) -> str:
        lines = [self.sentence, f"the first {self.k:,.10g} of {self.of:,.10g} rows ({self.share:.2%})"]
        if self.hits is not None:
            lines.append(f"  positives among them (a prediction): {self.hits}")
        lines += [f"  {result}" for result in self.estimates.values()]
        if self.few_words:
            lines.append(f"  {self.few_words}")
        return "\n".join(lines)


def top(
    evidence: Evidence,
    k: Any,
    *,
    doubts: IntervalEstimator | None = None,
    contradiction: Contradiction | None = None,
    only: Collection[str] | None = None,
) -> Top:
    """Precision, recall, enrichment, DCG and NDCG of the first k rows, k in rows or as a share of the list.

    ``only`` leaves measures out; precision and recall, which the sentence is about, are always there.

    >>> from pulens.evidence import gather
    >>> labels, scores = [1, 1, 1, 0, 0, 0, 0, 0], [.85, .65, .45, .9, .7, .5, .3, .2]
    >>> print(top(gather(labels, scores, unlabelled_prior=0.2), 4)["precision_at_k"])
    precision_at_k 0.667
    """
    ranked = RankedList.of(evidence.tally, evidence.assumptions)
    try:
        rows = rows_of(k, ranked.rows, "the top")
    except PulensError as error:
        raise PulensError(str(error).replace("k of the top", "the top of the list (--top)")) from None
    given: dict[str, Any] = {"doubts": doubts, "contradiction": contradiction, "k": k}
    result = {}
    # the jackknife of clusters leaves out parts of rows that share a score: ranks need whole ones
    is_whole = not evidence.tally.is_weighted and evidence.buckets is None
    for name in sorted(METRICS, key=lambda name: (METRICS[name].highest, name)):  # shares first, then amounts
        asked = only is None or name in (*only, "precision_at_k", "recall_at_k")
        if asked and "k" in METRICS[name].parameters and (is_whole or not METRICS[name].reads_ranks):
            result[name] = estimate(name, METRICS[name], evidence, **given)
    labelled = float(ranked.kinds[0] @ ranked.membership(rows))
    known = 0.0 if is_unlabelled_list(evidence.tally, evidence.assumptions) else labelled
    proved = known if ranked.proves_labelled else 0.0
    precision = result["precision_at_k"]
    if proved:
        precision = replace(precision, interval=not_below(precision.interval, proved / rows))
        result["precision_at_k"] = precision
    hits = None if precision.undefined_because else predicted_hits(round(rows), precision).at_least(proved)
    result = {name: withhold(each, METRICS[name]) for name, each in result.items()}
    hits = None if hits is None else hits.told(result["precision_at_k"])
    return Top(rows, ranked.rows, FrozenMapping(result), hits, labelled, known)


@dataclass(frozen=True, repr=False)
class TopOfQueries(FirstRows):
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

    def __str__(self) -> str:
        from pulens.report.top import queries_text

        return queries_text(self)

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


def ladder_of(rows: float, most: int = LONGEST_LADDER) -> tuple[int, ...]:
    """Round numbers of rows to check, up to a fifth of a list, far enough apart to choose between.

    >>> ladder_of(1500), ladder_of(1_000_000), ladder_of(30)
    ((20, 50, 100, 200), (20, 200, 2000, 20000, 200000), ())
    """
    powers = range(1, max(len(str(int(rows))), 1))
    steps = [digit * 10**power for power in powers for digit in (1, 2, 5)]
    fitting = [step for step in steps if SHORTEST <= step <= rows / 5]
    if len(fitting) <= most:
        return tuple(fitting)
    return tuple(fitting[round(index * (len(fitting) - 1) / (most - 1))] for index in range(most))
