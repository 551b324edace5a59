"""What a person should know before using an audit's numbers."""

from __future__ import annotations

from collections.abc import Iterator

from pulens.audits.counts import AuditCounts
from pulens.notice import Notice, Severity

FEW_BELOW = 5  # finds below the threshold under which recall is likely too high
DECIDED_BY_FEW = 3  # finds below under which single answers decide the limits
MANY_UNDECIDED = 0.05


def notices_of(counts: AuditCounts) -> tuple[Notice, ...]:
    """Notices about what was checked and found.

    >>> counts = AuditCounts(rows=[200, 9800], checked=[60, 140], found=[45, 2], flagged=1)
    >>> [notice.code for notice in notices_of(counts)]
    ['few-found-below', 'errors-of-judges']
    """
    return tuple(_notices(counts))


def _notices(counts: AuditCounts) -> Iterator[Notice]:
    checked, undecided = int(counts.checked.sum()), int(counts.undecided.sum())
    if checked and undecided > MANY_UNDECIDED * checked:
        yield Notice(
            Severity.WARNING,
            "many-undecided",
            f"{undecided} of {checked} checked rows are undecided ({undecided / checked:.0%}). Values count them half, "
            "limits hold whatever they are: have a second person decide them to narrow the intervals.",
        )
    left_out = counts.left_out
    if left_out.any():
        yield Notice(
            Severity.WARNING,
            "rows-never-checked",
            f"{int(counts.rows[left_out].sum()):,} rows lie where no row was checked: any number of them can be "
            "positive, so limits that depend on them are bounds. Check some of them at random.",
        )
    below = slice(counts.flagged, counts.strata)
    result, took, rows = (int(kind[below].sum()) for kind in (counts.found, counts.checked, counts.rows))
    if not took or took == rows:  # nothing was looked at, or nothing is left to chance
        return
    if result < FEW_BELOW:
        yield Notice(
            Severity.NOTE,
            "few-found-below",
            f"{result} of {took} rows checked below the threshold {'was' if result == 1 else 'were'} positive: recall "
            "is likely too high as a single number. Read its interval.",
        )
    if result < DECIDED_BY_FEW:
        yield Notice(
            Severity.NOTE,
            "errors-of-judges",
            f"Below the threshold {result} of {took} checked rows were found positive, a share of {result / took:.4f}: "
            "single answers decide the limits, and judges who are wrong about as many rows would move recall as far: "
            f"one who calls 1% of negatives positive would make about {round(rows / 100):,} of the {rows:,} rows there "
            "look missed. Have these answers checked twice, and allow for errors (--reviewer-errors, if_judges_err).",
        )
