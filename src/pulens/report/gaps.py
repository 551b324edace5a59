"""Gaps between groups as plain text and Markdown: groups, the sentence, differences, what needs a class prior."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from pulens.groups.grouped_rows import title_of as group_title
from pulens.metrics import METRICS
from pulens.report.lines import MORE, group_in_words, on_one_screen, wrapped
from pulens.report.markdown import plain
from pulens.report.segments import LONGEST_NAME, WIDTH, shortened
from pulens.report.words import title_of

if TYPE_CHECKING:
    from pulens.groups.common_prior import GroupCrossing
    from pulens.groups.gaps import AuditSize, Gap, Gaps, GroupRate

MOST_PAIRS = 15  # differences that text and the first look at a page show one and all
MOST_TESTED = 10  # groups in the short table
MOST_SHORT = 3  # groups without a test there
MOST_UNTESTED = 10  # groups without a test that text shows


def verdict_of(gaps: Gaps) -> str:
    """The gap in a sentence: "north finds 81%, south 64%: 2 to 32 points apart (all pairs considered)."."""
    lead = gaps.lead
    if lead is None:
        least = f"has {_fewest()} labelled rows or more" if _by_labels(gaps) else "can be tested"
        many = len(gaps.tested)
        return f"{'No group' if not many else 'Only one group'} {least}: there is nothing to compare."
    first, second = (_group(gaps, name) for name in (lead.first, lead.second))
    one, other = (group_in_words(gaps.group_by, name_of(name)) for name in (lead.first, lead.second))
    values = f"{_share(gaps, first)}, {other} {_share(gaps, second)}"
    said = f"{one} finds {values}" if _by_labels(gaps) else f"{title_of(gaps.metric)}: {one} {values}"
    considered = "all pairs considered" if len(gaps.columns) == 1 else "all pairs of all columns considered"
    if lead.is_clear:
        return f"{said}: {_apart(gaps, lead)} apart ({considered})."
    return f"{said}, but no gap between groups is clear: the difference is {_apart(gaps, lead)} ({considered})."


def _fewest() -> int:
    from pulens.groups.gaps import FEWEST_LABELLED

    return FEWEST_LABELLED


def _by_labels(gaps: Gaps) -> bool:
    return METRICS[gaps.metric].of_labelled


def in_points(gaps: Gaps) -> bool:
    """Whether the number is a share, so that differences are told in points."""
    facts = METRICS[gaps.metric]
    return facts.lowest == 0 and facts.highest == 1


def _group(gaps: Gaps, name: object) -> GroupRate:
    return next(group for group in gaps.groups if group.name is name or group.name == name)


def name_of(group: object) -> str:
    """A group within a sentence."""
    return shortened(group_title(group), LONGEST_NAME)


def _share(gaps: Gaps, group: GroupRate) -> str:
    value = group.estimate.value
    return f"{value:.0%}" if in_points(gaps) else f"{value:.3g}"


def _apart(gaps: Gaps, gap: Gap) -> str:
    if not in_points(gaps):
        return f"{gap.low:.3g} to {gap.high:.3g}"
    low, high = 100 * gap.low, 100 * gap.high
    if round(low) == 0 and low > 0:
        return f"{low:.1g} to {high:.0f} points"
    return f"{_whole(low)} to {_whole(high)} points"


def _whole(number: float) -> str:
    return f"{round(number) + 0:d}"


def turn_words(gaps: Gaps) -> list[str]:
    """What the class prior decides between the two groups of the verdict."""
    lead, common = gaps.lead, gaps.common_prior
    if lead is None or common is None:
        return []
    one, other = name_of(lead.first), name_of(lead.second)
    words = [_turn(turn, one, other) for turn in gaps.turns]
    ratio = common.ratio_of_precisions(common.names.index(lead.first), common.names.index(lead.second))
    if math.isfinite(ratio):
        words.append(
            f"ratio of precisions, {one} over {other}: {ratio:.3g} times the ratio of their class priors, whatever "
            "they are"
        )
    return words


def _turn(turn: GroupCrossing, one: str, other: str) -> str:
    title = _within(title_of(turn.metric))
    if not turn.leader:
        return f"{title}: equal at small common class priors"
    higher, lower = (one, other) if turn.leader > 0 else (other, one)
    if turn.at is None:
        return f"{title}: higher for {higher} at every common class prior that both allow"
    return f"{title}: higher for {higher} at common class priors below {turn.at:.3g}, for {lower} above"


def audit_words(gaps: Gaps, *, short: bool = False) -> str:
    """How many checked positives would settle the gap; in short for the group that lacks most."""
    audit = gaps.audit
    if audit is None:
        return ""
    words = f"{audit.positives:,} positives per group would settle a gap of {100 * audit.points:.0f} points"
    lacking = {name: many for name, many in audit.missing.items() if many}
    if not lacking:
        return f"{words}; every group has its share of them labelled."
    most = 1 if short else 5
    named = sorted(lacking.items(), key=lambda pair: -pair[1])[:most] if short else list(lacking.items())[:most]
    parts = [f"{name_of(name)} lacks {many:,}{_rows_words(audit, name)}" for name, many in named]
    left = len(lacking) - most
    more = f", {left} more {'group lacks' if left == 1 else 'groups lack'} some too" if left > 0 else ""
    if lacking.keys() <= audit.too_few.keys():
        return f"{words}: {', '.join(parts)}{more}. Only more rows could settle it."
    return f"{words}: {', '.join(parts)}{more}; check unlabelled rows of the group at random."


def _rows_words(audit: AuditSize, name: Any) -> str:
    """How many rows of a group to check, or that even all would not do."""
    if name not in audit.rows:
        return ""
    if name in audit.too_few:
        return f" (its {audit.rows[name]:,} unlabelled rows hold about {audit.too_few[name]:,} in all)"
    return f" (about {audit.rows[name]:,} unlabelled rows to check)"


def needs_words(gaps: Gaps) -> str:
    """What the gaps of this metric rest on."""
    title = _within(title_of(gaps.metric))
    if not gaps.needs_prior:
        return f"Gaps in {title} need no class prior."
    if not gaps.order_needs_prior:
        return f"Gaps in {title} need a class prior per group; at one common to all, the order of groups needs none."
    return f"Gaps in {title} need a class prior per group, and are only as good as those."


def _within(title: str) -> str:
    """A metric's title within a sentence: ROC AUC stays, Recall begins small."""
    return title if title[1:2].isupper() else f"{title[:1].lower()}{title[1:]}"


def heading_of(gaps: Gaps) -> str:
    """What is shown, at which threshold, how sure."""
    at = "" if gaps.threshold is None else f" at threshold {gaps.threshold_words}"
    return (
        f"{title_of(gaps.metric)} by {gaps.group_by}{at}; worst first, {gaps.confidence:.0%} intervals for all at once."
    )


def gaps_text(gaps: Gaps, way: str = "python", *, explain: bool = False) -> str:
    """The verdict, the groups, how sure it is and what would settle it; pairs and class priors on request."""
    blocks = [wrapped(f"{verdict_of(gaps)} {equal_words(gaps)}", 0)]
    blocks += [group_lines(gaps, most=MOST_UNTESTED if explain else MOST_SHORT, explain=explain)]
    blocks += [[*wrapped(heading_of(gaps), 0), *wrapped(needs_words(gaps), 0), *wrapped(assumed_words(gaps), 0)]]
    if explain and gaps.differences:
        blocks += [pair_lines(gaps)]
    turns = turn_words(gaps) if explain else []
    if turns:
        blocks += [["at one class prior common to both groups:", *chain(*(_wrapped(f"- {words}") for words in turns))]]
    notes = [f"{note[:1].upper()}{note[1:]}." for note in gaps.notes]
    blocks += [
        _wrapped(words) for words in (audit_words(gaps, short=not explain), *(notes if explain else _needed(notes)))
    ]
    where = MORE[way] if way == "command" else "see .differences"
    last = [] if explain or not gaps.differences else [f"Every pair: {where}."]
    return "\n".join(on_one_screen([*blocks, last], "", spread=explain))


def assumed_words(gaps: Gaps) -> str:
    """How labels are taken to have come about; empty where a note says that they are taken for random."""
    if gaps.labelling == "practice":
        return "Assumes that easy positives are labelled first, as in practice."
    return "" if gaps.labelling == "random" else f"Assumes {gaps.labelling} to be labelled."


def _needed(notes: list[str]) -> list[str]:
    """Of the notes the one that the numbers rest on, and any on what was asked for."""
    return [note for note in notes if not note.startswith("Gaps in")][:2]


def equal_words(gaps: Gaps) -> str:
    """The test that all groups are equal, in words."""
    p = gaps.p_value_equal
    if p is None:
        return ""
    if p < 0.001:
        return "If all groups were equal, a gap this large would occur less than 0.1% of the time."
    return f"If all groups were equal, a gap this large would occur {100 * p:.2g}% of the time."


def _wrapped(words: str) -> list[str]:
    return textwrap.wrap(words, WIDTH, subsequent_indent="  ")


def group_lines(gaps: Gaps, *, most: int = MOST_UNTESTED, explain: bool = True) -> list[str]:
    """A line per group: labelled rows, the number with its interval, the share flagged, the gap to all others."""
    rest = {id(gap.first): gap for gap in gaps.against_rest}
    shown, left = shown_groups(gaps, most)
    tested = [group for group in shown if not group.untested]
    cut = 0 if explain else max(len(tested) - MOST_TESTED, 0)
    if cut:
        half = MOST_TESTED // 2
        kept = {id(group) for group in (*tested[:half], *tested[-half:])}
        shown = [group for group in shown if group.untested or id(group) in kept]
    names = [f"{group.title}{' *' if group.untested else ''}" for group in shown]
    sizes = (9, 9, 14, 9, 18 if in_points(gaps) else 26)
    width = min(max((len(name) for name in (*names, gaps.group_by)), default=8), WIDTH - sum(sizes))
    title = title_of(gaps.metric)
    head = (
        gaps.group_by,
        "labelled",
        title if len(title) <= 8 else "value",
        f"{gaps.confidence:.0%}",
        "flagged",
        "vs others",
    )

    def joined(name: str, *cells: str) -> str:
        cut = shortened(name, width)
        return (cut.ljust(width) + "".join(f"{cell:>{size}}" for cell, size in zip(cells, sizes, strict=True))).rstrip()

    lines = [joined(*head)]
    lines += [joined(name, *_cells(gaps, group, rest)) for group, name in zip(shown, names, strict=True)]
    if any(group.untested for group in shown):
        lines += _wrapped(f"* shown, not tested: {_why(shown)}.")
    if left:
        lines.append(f"{left:,} more groups are not tested; all of them are in the JSON.")
    if cut:
        lines.append(f"{cut:,} more groups in between: --explain")
    return lines


def _cells(gaps: Gaps, group: GroupRate, rest: dict[int, Gap]) -> tuple[str, ...]:
    """The numbers of a group."""
    interval, gap = group.estimate.interval, rest.get(id(group.name))
    ends = "" if interval is None else f"{interval.low:.3f}-{interval.high:.3f}"
    value = "undefined" if math.isnan(group.estimate.value) else f"{group.estimate.value:.3f}"
    flagged = "" if math.isnan(group.flagged) else f"{group.flagged:.3f}"
    return f"{group.labelled:,.10g}", value, ends, flagged, "" if gap is None else _signed(gaps, gap)


def _why(groups: Sequence[GroupRate]) -> str:
    reasons = list(dict.fromkeys(group.untested for group in groups if group.untested))
    return "; ".join(reasons[:3]) + (f"; and {len(reasons) - 3} other reasons" if len(reasons) > 3 else "")


def shown_groups(gaps: Gaps, most: int = MOST_UNTESTED) -> tuple[list[GroupRate], int]:
    """All groups that are tested, and some of the others; how many are left out."""
    untested = [group for group in gaps.groups if group.untested]
    kept = {id(group) for group in untested[:most]}
    shown = [group for group in gaps.groups if not group.untested or id(group) in kept]
    return shown, len(gaps.groups) - len(shown)


def _signed(gaps: Gaps, gap: Gap) -> str:
    """A difference with its interval in few characters."""
    scale, digits = (100, 0) if in_points(gaps) else (1, 2)
    numbers = (f"{round(scale * number, digits) + 0:+.{digits}f}" for number in (gap.value, gap.low, gap.high))
    value, low, high = numbers
    return f"{value} ({low} to {high})"


def pair_lines(gaps: Gaps) -> list[str]:
    """The differences of pairs: all of a few, of many those that are clear."""
    clear = [gap for gap in gaps.differences if gap.is_clear]
    shown = gaps.differences if len(gaps.differences) <= MOST_PAIRS else clear[:MOST_PAIRS]
    verb = "differs" if len(clear) == 1 else "differ"
    told = f"{len(clear) or 'none'} of {len(gaps.differences):,} pairs {verb} clearly"
    if len(gaps.differences) == 1:
        told = "the two groups differ clearly" if clear else "the two groups do not differ clearly"
    head = f"{told}{':' if shown else '.'}"
    left = max(len(clear) - len(shown), 0)
    return [head, *(_pair_line(gaps, gap) for gap in shown), *([f"  and {left:,} more, in the JSON"] if left else [])]


def _pair_line(gaps: Gaps, gap: Gap) -> str:
    scale, digits = (100, 0) if in_points(gaps) else (1, 3)
    value, low, high = (f"{round(scale * end, digits) + 0:.{digits}f}" for end in (gap.value, gap.low, gap.high))
    one, other = (shortened(group_title(name), (WIDTH - 34) // 2) for name in (gap.first, gap.second))
    unit = "" if not in_points(gaps) else " point" if value == "1" else " points"
    turn = "" if gap.turns_at is None else f", turns at {gap.turns_at:.3g}"
    return f"{'!' if gap.is_clear else ' '} {one} over {other}: {value}{unit}, {low} to {high}{turn}"


def gaps_markdown(result: Sequence[Gaps], *, title: str | None = None) -> str:
    """The groups, the verdict, the differences; one part per column."""
    lines = [f"# {plain(title or f'Gaps by {result[0].group_by}')}"]
    for gaps in result:
        lines += ["", f"## {plain(gaps.group_by)}", "", plain(verdict_of(gaps)), ""]
        lines += [f"{plain(words)}  " for words in (heading_of(gaps), equal_words(gaps), needs_words(gaps)) if words]
        lines += ["", *_group_table(gaps), "", *_pair_table(gaps), ""]
        lines += [f"- {plain(words)}" for words in (*turn_words(gaps), audit_words(gaps), *gaps.notes) if words]
    return "\n".join(lines)


def _group_table(gaps: Gaps) -> list[str]:
    shown, left = shown_groups(gaps, most=200)
    lines = [f"| group | labelled | {plain(title_of(gaps.metric))} | share flagged | tested |"]
    lines += ["| --- | ---: | ---: | ---: | --- |"]
    for group in shown:
        interval = group.estimate.interval
        doubt = "" if interval is None else f" ({interval.low:.3f} to {interval.high:.3f})"
        value = "undefined" if math.isnan(group.estimate.value) else f"{group.estimate.value:.3f}{doubt}"
        flagged = "" if math.isnan(group.flagged) else f"{group.flagged:.3f}"
        cells = (group.title, f"{group.labelled:,.10g}", value, flagged, group.untested or "yes")
        lines.append(f"| {' | '.join(map(plain, cells))} |")
    return [*lines, "", f"{left:,} more groups are in the JSON."] if left else lines


def _pair_table(gaps: Gaps) -> list[str]:
    if not gaps.differences:
        return []
    lines = ["| first | second | difference | from | to | clear |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for gap in gaps.differences[:200]:
        numbers = (f"{number:.3f}" for number in (gap.value, gap.low, gap.high))
        cells = (group_title(gap.first), group_title(gap.second), *numbers, "yes" if gap.is_clear else "no")
        lines.append(f"| {' | '.join(map(plain, cells))} |")
    return lines
