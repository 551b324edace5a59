"""Whom does the model miss: a number in every group, all gaps between groups, and how sure they are at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

from pulens.answer import ShownAsText, written
from pulens.estimate import Estimate
from pulens.groups.common_prior import CommonPrior, GroupCrossing
from pulens.groups.grouped_rows import plain_of, title_of
from pulens.keywords import typed

FEWEST_LABELLED = 5  # labelled rows below which a group is shown but not tested


@dataclass(frozen=True)
class GroupRate:
    """One group: its number with an interval that holds for all groups at once, and its share flagged.

    ``untested`` says why it is left out of the comparisons; its interval is then its own.
    """

    name: Any
    labelled: float
    rows: float
    estimate: Estimate
    flagged: float
    untested: str = ""

    @property
    def title(self) -> str:
        return title_of(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        answer = {
            "group": plain_of(self.name),
            "labelled": self.labelled,
            "rows": self.rows,
            self.estimate.metric: self.estimate.to_dict(),
            "share_flagged": None if math.isnan(self.flagged) else self.flagged,
            "tested": not self.untested,
        }
        return {**answer, "untested_because": self.untested} if self.untested else answer


@dataclass(frozen=True)
class Gap:
    """The first group less the second (``None``: all others together), with ends that hold for all pairs at once.

    ``turns_at`` is the class prior, common to both, at which they change places, where the number needs one.
    """

    first: Any
    second: Any
    value: float
    low: float
    high: float
    turns_at: float | None = None
    of_rest: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether 0 is outside."""
        return self.low > 0 or self.high < 0

    @typed
    def to_dict(self, *, needs_prior: bool = False) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        second = {} if self.of_rest else {"second": plain_of(self.second)}
        ends = {"value": self.value, "low": self.low, "high": self.high, "clear": self.is_clear}
        turn = {"turns_at": self.turns_at} if needs_prior and not self.of_rest else {}
        return {"first": plain_of(self.first), **second, **ends, **turn}


@dataclass(frozen=True)
class AuditSize:
    r"""Checked positives per group that would settle a gap, :math:`2 (c/d)^2 x(1-x)`, and what that takes.

    A difference of two shares of :math:`n` positives each is known to within :math:`c\sqrt{2x(1-x)/n}`; :math:`c` is
    the critical value of the gaps, 1.96 for two groups. ``positives`` is the larger number of the two groups of the
    verdict; ``missing`` says how many each group lacks next to its labelled rows, and ``rows`` how many unlabelled rows
    have to be checked for that, where a class prior says how many of them are positive. That is never more than the
    group has: ``too_few`` holds the groups where even all of them would not do, with the positives to expect.
    """

    points: float
    positives: int
    missing: Mapping[Any, int]
    rows: Mapping[Any, int]
    too_few: Mapping[Any, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        groups = [
            {
                "group": plain_of(name),
                "missing": many,
                "rows_to_check": self.rows.get(name),
                "enough_rows": name not in self.too_few if name in self.rows else None,
            }
            for name, many in self.missing.items()
        ]
        return {"points": self.points, "positives_per_group": self.positives, "groups": groups}


@dataclass(frozen=True, repr=False)
class Gaps(ShownAsText):
    """How far groups are apart in one number, for all pairs at once; see :meth:`pulens.Evaluations.gaps`.

    ``groups`` stand with the worst first, ``differences`` with clearest first. ``p_value_equal`` is the chance that
    the largest standardised difference is as large where all groups are equal. ``columns`` are the columns that were
    asked for in one call: all intervals hold for all of them at once.
    """

    #: What completion offers.
    _offered = (
        *("against_rest", "audit", "confidence", "differences", "group_by", "groups", "largest", "metric"),
        *("needs_prior", "notes", "p_value_equal", "plot", "tested", "threshold", "to_dict", "to_frame", "to_html"),
        *("to_markdown", "turns", "verdict"),
    )

    group_by: str
    metric: str
    confidence: float
    threshold: float | None
    threshold_words: str
    groups: tuple[GroupRate, ...]
    differences: tuple[Gap, ...]
    against_rest: tuple[Gap, ...]
    rest_weighed_by: Literal["labelled rows", "positives"]
    together: Estimate | None
    critical_value: float | None
    p_value_equal: float | None
    needs_prior: bool
    order_needs_prior: bool
    common_prior: CommonPrior | None
    audit: AuditSize | None
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    buckets: int | None = None  # of clusters, where some rows belong together
    labelling: str = "random"  # how positives are taken to have come by their labels, in every group

    @property
    def tested(self) -> tuple[GroupRate, ...]:
        return tuple(group for group in self.groups if not group.untested)

    @property
    def lead(self) -> Gap | None:
        """The pair to name first: the one whose gap is surest to be large, or else the largest."""
        if not self.differences:
            return None
        clearest = max(self.differences, key=lambda gap: gap.low)
        return clearest if clearest.low > 0 else max(self.differences, key=lambda gap: gap.value)

    @property
    def largest(self) -> Gap | None:
        """Highest less lowest; its ends are the largest ends over pairs, at least 0.

        It is above 0 even where groups are equal: ``p_value_equal`` is the test.
        """
        if not self.differences:
            return None
        widest = max(self.differences, key=lambda gap: gap.value)
        low = max(0.0, *(gap.low for gap in self.differences))
        high = max(max(gap.high, -gap.low) for gap in self.differences)
        return replace(widest, low=min(low, widest.value), high=high, turns_at=None)

    @property
    def turns(self) -> tuple[GroupCrossing, ...]:
        """Where the groups of :attr:`lead` change places while one class prior, common to both, moves."""
        lead, common = self.lead, self.common_prior
        if lead is None or common is None:
            return ()
        return common.turns_of(common.names.index(lead.first), common.names.index(lead.second))

    @property
    def verdict(self) -> str:
        """The gap in a sentence."""
        from pulens.report.gaps import verdict_of

        return verdict_of(self)

    def __str__(self) -> str:
        from pulens.report.gaps import gaps_text

        return gaps_text(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"gaps": self.content()}

    def content(self) -> dict[str, Any]:
        """What stands under ``"gaps"`` in the JSON."""
        largest = self.largest
        return {
            "metric": self.metric,
            "group_by": self.group_by,
            "columns": list(self.columns),
            "threshold": None if self.threshold is None or not math.isfinite(self.threshold) else self.threshold,
            "confidence": self.confidence,
            "simultaneous": True,
            "critical_value": self.critical_value,
            "p_value_equal": self.p_value_equal,
            "groups": [group.to_dict() for group in self.groups],
            "differences": [gap.to_dict(needs_prior=self.needs_prior) for gap in self.differences],
            "largest": None if largest is None else largest.to_dict(),
            "against_rest": [gap.to_dict() for gap in self.against_rest],
            "rest_weighed_by": self.rest_weighed_by,
            "all_groups": None if self.together is None else self.together.to_dict(),
            "needs_prior": self.needs_prior,
            "order_needs_prior": self.order_needs_prior,
            "at_a_common_prior": self._common(),
            "audit": None if self.audit is None else self.audit.to_dict(),
            "buckets": self.buckets,
            "labelling": self.labelling,
            "verdict": self.verdict,
            "notes": list(self.notes),
        }

    def _common(self) -> dict[str, Any] | None:
        """The pair that the verdict is about, at one class prior for both."""
        lead, common = self.lead, self.common_prior
        if lead is None or common is None:
            return None
        first, second = common.names.index(lead.first), common.names.index(lead.second)
        ratio = common.ratio_of_precisions(first, second)
        turns = [{"metric": turn.metric, "turns_at": turn.at} for turn in self.turns]
        return {
            "first": plain_of(lead.first),
            "second": plain_of(lead.second),
            "possible_up_to": float(min(common.largest[first], common.largest[second])),
            "ratio_of_precisions": ratio if math.isfinite(ratio) else None,
            "turns": turns,
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """The differences as a table of Polars, pandas or PyArrow, the library of the rows unless one is named."""
        from pulens.inputs.frames import frame_of

        columns: dict[str, list[Any]] = {
            "first": [title_of(gap.first) for gap in self.differences],
            "second": [title_of(gap.second) for gap in self.differences],
            **{name: [getattr(gap, name) for gap in self.differences] for name in ("value", "low", "high")},
            "clear": [gap.is_clear for gap in self.differences],
        }
        return frame_of(columns, backend, self)

    def plot(self, axes: Any = None) -> Any:
        """Groups with their intervals, and the differences of pairs; returns both axes."""
        from pulens.plots import draw_gaps

        return draw_gaps(self, axes)

    @typed
    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The tables as Markdown; written to ``path`` if given."""
        from pulens.report.gaps import gaps_markdown

        return written(path, gaps_markdown((self,), title=title))

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page; written to ``path`` if given."""
        from pulens.report.gaps_page import gaps_page

        return written(path, gaps_page((self,), title=title))


class GapsByColumn(Mapping[str, Gaps], ShownAsText):
    """The gaps of several columns, asked for in one call: intervals hold for all groups of all columns at once."""

    def __init__(self, found: Mapping[str, Gaps]) -> None:
        self._found = dict(found)

    def __getitem__(self, column: str) -> Gaps:
        return self._found[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return "\n\n".join(str(gaps) for gaps in self.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"columns": list(self), "gaps_by_column": {column: gaps.content() for column, gaps in self.items()}}

    @typed
    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The tables of all columns as Markdown; written to ``path`` if given."""
        from pulens.report.gaps import gaps_markdown

        return written(path, gaps_markdown(tuple(self.values()), title=title))

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page with a part for each column; written to ``path`` if given."""
        from pulens.report.gaps_page import gaps_page

        return written(path, gaps_page(tuple(self.values()), title=title))
