"""A watch in words: the verdict, what to do next, and the tables that the text and the page share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pulens.monitoring.segments import FOR_SEGMENTS
from pulens.monitoring.shift import shift_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pulens.estimate import Estimate
    from pulens.monitoring import Alarm, Change, LabelChange, Pulse, WatchedWindow
    from pulens.notice import Notice

NAMED = 5  # segments in the verdict
CHANGE, SHARE = "change in share", "share of positives"  # names of columns
USABLE = {"ok": "yes", "doubtful": "doubtful", "withheld": "withheld"}
MOVED = {"fit": "scores moved"}  # lines whose names say too little
ROUND = 0.01  # a share of positives from which on three decimals are enough
PROBABLY = 3.0  # evidence from which a change that is not certain is called probable
OFTEN = 3.0  # standard errors of the interval of a watch that is quiet
DOUBTED = 0.05  # p-value of the fit since a change from which moved scores are named beside more positives


def verdict(pulse: Pulse) -> str:
    """What stands, since when; and whether the promise about false alarms can be vouched for."""
    stands = {alarm.line: alarm for alarm in pulse.alarms}
    if not pulse.windows:
        result = "No window has been judged yet."
    elif "fit" in stands:
        result = _fit_words(stands["fit"])
    elif "share" in stands:
        result = _share_words(pulse, stands["share"])
    else:
        result = " ".join(_changing_words(pulse, change) for change in pulse.changes)
        result = result if stands or result else _quiet_words(pulse)
    if "recall" in stands:
        result = f"{result} {_recall_words(pulse, stands['recall'])}".strip()
    result = f"{result} {_labelling_words(pulse)}".strip()
    if any(alarm.has_fallen for alarm in pulse.alarms):
        result += " The evidence has fallen below its bar since; an alarm remains until it is accepted."
    return f"{result} {_segment_words(pulse)}".strip()


def assumed(pulse: Pulse) -> str:
    """What shares of positives, precision, recall and F1 of windows rest on."""
    if pulse.labelling == "practice":
        return "labels favour easy positives, as in practice (alarms do not need it)"
    if pulse.labelling != "random":
        return f"{pulse.labelling} to be labelled (alarms do not need it)"
    from pulens.selection.practice import held_on_real_labels

    held = held_on_real_labels("watch")
    return f"random labels (on real ones {held:.0%} of intervals held; not for alarms)"


def _segment_words(pulse: Pulse) -> str:
    """Which segments are in alarm, clearest first."""
    count = len(pulse.segments)
    if not count:
        return ""
    result = []
    for words, attribute, status in (
        ("in alarm", "alarms", "alarm"),
        ("changing, not yet certain", "changes", "changing"),
    ):
        named = [name for name in pulse.by_evidence if pulse.segments[name].status == status]
        told = [f"{name} ({_stands(getattr(pulse.segments[name], attribute))})" for name in named[:NAMED]]
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        if named:
            result.append(f"{len(named)} of {count} segments {words}: {', '.join(told)}{more}.")
    return " ".join(result) or f"None of {count} segments changes by itself."


def _stands(told: Sequence[Alarm | Change]) -> str:
    return ", ".join(f"{MOVED.get(one.line, one.line)} since {one.since}" for one in told)


def segment_table(pulse: Pulse) -> WindowTable:
    """One row per segment, those in alarm first, then by evidence."""
    columns = ["segment", "windows", "changed", "evidence (log10)", CHANGE, SHARE, "usable"]
    rows: list[tuple[str, list[str]]] = []
    for name in pulse.by_evidence:
        one = pulse.segments[name]
        windows = list(one.windows.values())
        sure = (f"{line} {each.evidence[-1]:.1f}" for line, each in one.lines.items() if np.isfinite(each.evidence[-1]))
        last = windows[-1] if windows else None
        numbers = [""] * 3 if last is None else [cell_of(last.shift, "+"), cell_of(last.prior), USABLE[last.trust]]
        rows.append(
            (one.status, [name, f"{len(windows)}", _stands((*one.alarms, *one.changes)), ", ".join(sure), *numbers])
        )
    return WindowTable(columns, rows)


def band_rows(pulse: Pulse) -> list[list[str]]:
    """Which scores moved since a change: a band, its share of rows before and since, and what the share explains."""
    result = []
    for band in pulse.score_bands:
        low, high = band.low, band.high
        if low is None or high is None:
            name = "all" if high is low else f"below {high:.4g}" if low is None else f"{low:.4g} and more"
        else:
            name = f"{low:.4g} to {high:.4g}"
        result.append([name, *(f"{100 * share:.1f}%" for share in (band.reference, band.since, band.explained))])
    return result


BANDS = ["scores", "reference", "since the change", "if only the share changed"]


NEEDS = "The false-alarm guarantee"  # notices about it begin so


def unvouched(pulse: Pulse) -> Notice | None:
    """The first notice that says why the limit on false alarms is not guaranteed."""
    from pulens.monitoring.notices import UNVOUCHED

    return next((notice for notice in pulse.notices if notice.code in UNVOUCHED), None)


def vouching(pulse: Pulse) -> str | None:
    """A sentence for the first lines where the limit on false alarms is not guaranteed; None where it is."""
    notice = unvouched(pulse)
    if notice is None:
        return None
    alpha = pulse.life.judgement.monitor.settings.alpha
    if pulse.segments:  # all rows have but their part of it
        alpha /= 1 - FOR_SEGMENTS
    why = str(notice)
    why = f"that{why.removeprefix(NEEDS)}" if why.startswith(NEEDS) else f"{why[0].lower()}{why[1:]}"
    return f"False alarms are not guaranteed to stay below {100 * alpha:.3g}%: {why}"


def _when(alarm: Alarm | Change | LabelChange, word: str = "Since") -> str:
    reach = "" if alarm.since_low == alarm.since_high else f" ({alarm.since_low} to {alarm.since_high})"
    return f"{word} about {alarm.since}{reach}"


def _changing_words(pulse: Pulse, change: Change) -> str:
    """What is changing and not yet certain: since when, by how much, how near the bar, what would settle it."""
    surely = "has probably" if 10**change.evidence >= PROBABLY else "may have"
    if change.line == "share":
        moved = "risen" if change.level > 0 else "fallen"
        head = f"The share of positives {surely} {moved} {_when(change, 'since')}: {_level_words(pulse, change)}."
    elif change.line == "fit":
        head = f"The scores themselves {surely} moved {_when(change, 'since')}."
    else:
        head = f"Confirmed positives {surely} changed {_when(change, 'since')}."
    near = f" This is not certain yet: the evidence is {10**change.evidence:.2g}, the alarm needs {10**change.bar:.3g}."
    if change.evidence >= change.bar:
        near = (
            f" The evidence, {10**change.evidence:.2g}, came with one window: the alarm needs {10**change.bar:.3g}, "
            "and the next window must confirm it."
        )
        return head + near
    left = change.settled_after
    if change.line != "share":
        return head + near
    if left is None:
        return f"{head}{near} More windows like those since then would not settle it soon; longer windows would."
    return f"{head}{near} About {left} more window{'s' if left > 1 else ''} like those since then would settle it."


def _level_words(pulse: Pulse, change: Alarm | Change) -> str:
    """The level since a change: the share of positives where there is a class prior, otherwise d."""
    reach, prior = change.interval, pulse.life.judgement.monitor.prior
    assert reach is not None
    if prior is None:
        return (
            f"the change in share is {change.level:+.2f} ({reach.low:+.2f} to {reach.high:+.2f}), negatives are "
            f"{1 - change.level:.2f} times as many"
        )
    new, low, high = pulse.life.judgement.monitor.share_at(change.level, reach.low, reach.high)
    shape = ".3f" if prior.value >= ROUND else ".2g"
    return f"{new:{shape}} ({low:{shape}} to {high:{shape}}) instead of {prior.value:.3g}"


def _fit_words(alarm: Alarm) -> str:
    return (
        f"{_when(alarm)} the scores themselves have moved; this became certain with {alarm.certain}. Numbers from then "
        "on assume that they have not: do not quote them."
    )


def _share_words(pulse: Pulse, alarm: Alarm) -> str:
    more = "more" if alarm.level > 0 else "fewer"
    head = f"there are {more} positives:" if pulse.life.judgement.monitor.prior is None else "the share of positives is"
    level = f"{head} {_level_words(pulse, alarm)}"
    judgement = pulse.life.judgement
    names = list(pulse.windows)
    p_value = judgement.fit_since(names.index(alarm.since), len(names) - 1)
    if p_value is not None and p_value < DOUBTED:
        doubt = (
            f"It looks like {more} positives, but not only that: the windows since then do not fit it (p "
            f"{p_value:.2g}), so the scores may have moved"
        )
    else:
        doubt = (
            f"It looks like {more} positives and nothing else so far; a shift of all scores can look the same for a "
            "few windows"
        )
    return f"{_when(alarm)} {level}. This became certain with {alarm.certain}. {doubt}."


def _labelling_words(pulse: Pulse) -> str:
    """Whether the rows that get a label score differently, and which it was."""
    changed = pulse.label_change
    if changed is None:
        return ""
    head = f"{_when(changed)} the rows that get a label score differently"
    return {
        "labelling": f"{head}, while all rows together do not follow: how labels come about has changed (a campaign, "
        "another reviewer), not the positives.",
        "positives": f"{head}, and all rows together follow: the positives themselves have changed.",
        "unclear": f"{head}; these rows cannot show whether the labelling changed or the positives.",
    }[changed.cause]


def _recall_words(pulse: Pulse, alarm: Alarm) -> str:
    judgement, reach = pulse.life.judgement, alarm.interval
    assert judgement.monitor.flagged is not None
    assert reach is not None
    labelled = judgement.reference_labelled
    known = float(labelled @ judgement.monitor.flagged / labelled.sum())
    return (
        f"{_when(alarm)} confirmed positives look different: {alarm.level:.2f} ({reach.low:.2f} to {reach.high:.2f}) "
        f"of them are found at the threshold instead of {known:.2f}."
    )


def status_of(pulse: Pulse) -> str:
    """The status as a page shows it: ``"open"`` where no line moves, and all windows together may have."""
    if pulse.status != "quiet" or not pulse.windows:
        return pulse.status
    return "quiet" if _is_within(pulse, pulse.life.judgement.monitor.settings.z) else "open"


def _is_within(pulse: Pulse, z: float) -> bool:
    """Whether the windows together leave "no change" within this number of standard errors."""
    judgement = pulse.life.judgement
    together = np.sum([window.counts.population for window in judgement.windows], axis=0)
    shift = shift_of(judgement.monitor.reference, together)
    return bool(abs(shift.value) <= z * shift.error)


def _quiet_words(pulse: Pulse) -> str:
    judgement = pulse.life.judgement
    monitor, settings = judgement.monitor, judgement.monitor.settings
    together = np.sum([window.counts.population for window in judgement.windows], axis=0)
    shift = shift_of(monitor.reference, together)
    z = max(settings.z, OFTEN)  # whoever looks after every window sees "no change" left out of a narrower one by chance
    low, high = shift.value - z * shift.error, shift.value + z * shift.error
    nothing = _is_within(pulse, settings.z)
    count = len(judgement.windows)
    quiet = "No change found" if nothing else "No change is certain yet"
    head = f"{quiet} in {count} window{'s' if count > 1 else ''}."
    if monitor.prior is None or monitor.prior.value <= 0:
        return f"{head} The change in share of all of them together is between {low:+.3f} and {high:+.3f}."
    reading = monitor.readings[0]
    rate = reading.rate("prior", reading.parts(together), noise=settings.label_noise, z=z)
    ends = rate.low / monitor.prior.value, rate.high / monitor.prior.value
    return f"{head} The share of positives is between {ends[0]:.2f} and {ends[1]:.2f} times the reference's."


#: How an alarm is accepted, by how the reader asked.
ACCEPT = {
    "command": "--accept {0} --because '<reason>'",
    "python": '.accept("{0}", because="<reason>")',
    "both": '--accept {0} (in Python .accept("{0}"))',
}
GROUP_BY = {"command": "--group-by <column>", "python": 'group_by="<column>"', "both": "--group-by <column>"}


def next_steps(pulse: Pulse, way: str = "both") -> list[str]:
    """What to do, chosen by what stands; ``way`` is how the reader asked: a ``command`` or ``python``."""
    stands = {alarm.line: alarm for alarm in pulse.alarms}
    if "fit" in stands:
        return [
            f"Look for a changed input, unit, default or model version at {stands['fit'].since} "
            f"({stands['fit'].since_low} to {stands['fit'].since_high}).",
            "Compare the scores since then with the reference's to see which rows moved.",
            "Label a sample of the windows since; do not quote numbers until there is a new reference.",
        ]
    if "share" in stands:
        return [
            "Check 50 flagged rows by hand: precision shows whether the scores moved.",
            "Check capacity and threshold at the new share of positives: evaluate a window's tally.",
            f"Then accept it, and a new reference begins there: {ACCEPT[way].format(stands['share'].since)}.",
        ]
    if "recall" in stands:
        return [
            "Look at the confirmed positives that the model missed, and retrain with them.",
            "Judge windows by their own positives meanwhile (positives='window' or --positives window).",
        ]
    if pulse.changes:
        return [
            "Wait for the next windows, or check 50 flagged rows of the last ones by hand.",
            f"See which segments moved: {GROUP_BY[way]}.",
        ]
    moved = [one for one in pulse.windows.values() if _is_apart(one.labelled_ratio)]
    if len(moved) > len(pulse.windows) / 2:
        return ["The share of labelled rows changed: ask who confirms them; it says nothing about the model."]
    return []


def _is_apart(ratio: Estimate | None) -> bool:
    return ratio is not None and ratio.interval is not None and 1 not in ratio.interval


class WindowTable(NamedTuple):
    """The numbers of windows as text; each row with the window's trust."""

    columns: list[str]
    rows: list[tuple[str, list[str]]]


def table_of(windows: list[WatchedWindow], among: list[WatchedWindow] | None = None) -> WindowTable:
    """One row per window, without columns that are empty, or say in other words what another one says.

    The change d is left out where there are shares of positives, recall where it is the reference's in all windows, or
    in all ``among`` which these are.
    """
    columns = ["window", "rows", CHANGE, SHARE, "precision", "recall", "F1", "score shape p", "usable"]
    rows = []
    for one in windows:
        numbers = (one.prior, one.precision, one.recall, one.f1)
        fit = "" if one.fit_p is None else f"{one.fit_p:.2g}"
        rows.append(
            [one.name, f"{one.rows:,.0f}", cell_of(one.shift, "+"), *map(cell_of, numbers), fit, USABLE[one.trust]]
        )
    has_share = any(one.prior is not None for one in windows)
    left = {CHANGE: has_share, "recall": has_share and recall_is_constant(among or windows)}
    kept = [
        place for place, name in enumerate(columns) if any(row[place] for row in rows) and not left.get(name, False)
    ]
    told: list[tuple[str, list[str]]] = [
        (one.trust, [row[place] for place in kept]) for one, row in zip(windows, rows, strict=True)
    ]
    return WindowTable([columns[place] for place in kept], told)


def recall_is_constant(windows: Sequence[WatchedWindow]) -> bool:
    """Whether the recall of every window is the reference's."""
    return bool(windows) and all(one.positives == "reference" for one in windows)


def cell_of(estimate: Estimate | None, sign: str = "") -> str:
    if estimate is None:
        return ""
    if estimate.undefined_because:
        return "withheld"
    reach = estimate.interval
    doubt = "" if reach is None else f" ({reach.low:{sign}.2f} to {reach.high:{sign}.2f})"
    return f"{estimate.value:{sign}.2f}{doubt}"


def frame_columns(pulse: Pulse) -> dict[str, list[Any]]:
    """One row per window: its numbers with the ends of their intervals, its trust, the evidence of each line."""
    windows = list(pulse.windows.values())
    result: dict[str, list[Any]] = {
        "window": [one.name for one in windows],
        "rows": [one.rows for one in windows],
        "labelled": [one.labelled for one in windows],
        "trust": [one.trust for one in windows],
        "mature": [one.mature for one in windows],
        "fit_p": [math.nan if one.fit_p is None else one.fit_p for one in windows],
    }
    for name in ("shift", "prior", "precision", "recall", "f1", "accuracy", "flagged", "labelled_ratio"):
        numbers = [_value_and_ends(getattr(one, name)) for one in windows]
        for place, column in enumerate((name, f"{name}_low", f"{name}_high")):
            result[column] = [each[place] for each in numbers]
    for name, line in pulse.lines.items():
        result[f"evidence_{name}"] = [float(value) for value in line.evidence]
    return result


def _value_and_ends(estimate: Estimate | None) -> tuple[float, float, float]:
    """A number with the ends of its interval, nan where there are none."""
    if estimate is None:
        return math.nan, math.nan, math.nan
    reach = None if estimate.undefined_because else estimate.interval
    return estimate.value, *((math.nan, math.nan) if reach is None else (reach.low, reach.high))
