"""What a person should know before believing a watch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from pulens.errors import shown
from pulens.monitoring.judging import Judgement
from pulens.monitoring.monitor import WEAK_AREA, Monitor
from pulens.monitoring.noise import day_of
from pulens.monitoring.numbers import WatchedWindow
from pulens.notice import Notice, Severity

FEW_LABELLED = 30
FEW_WINDOWS = 3  # below, the fit of windows together has hardly begun to speak
MANY_SEGMENTS = 20  # above, dividing the chance of a false alarm by their number makes alarms slow
#: Windows of a reference that tell its noise well enough.
ENOUGH_WINDOWS = 30
#: Autocorrelation of reference windows, rows' own noise included, beyond which the promise was not kept.
ALIKE = 0.35

CLEARLY = 3.0  # standard errors by which labelled rows per row must differ to be named

#: Notices that say that the promise about false alarms cannot be vouched for.
UNVOUCHED = frozenset({"noise-unknown", "noise-few-windows", "noise-alike"})


def notices_of(judgement: Judgement, windows: Iterable[WatchedWindow]) -> list[Notice]:
    """About the reference, the noise, and every window."""
    monitor = judgement.monitor
    result = [*_about_noise(monitor), *_about_reference(monitor)]
    result += _about_first_windows(judgement)
    if judgement.windows:
        labelled = sum(window.counts.n_labelled for window in judgement.windows)
        if monitor.flagged is not None and monitor.settings.lag is None and labelled:
            words = (
                "Own labels of the windows are not used: say after how long they are complete (labels_lag='90d', or a "
                "number of windows; --labels-lag 90d), and recall over time will appear."
            )
            result.append(Notice(Severity.NOTE, "labels-not-used", words))
        result += [*_labels_with_share(judgement), *_gaps(judgement)]
    return result + _once(notice for window in windows for notice in window.notices)


def about_segments(control: str, watched: int, unjudged: Mapping[str, str]) -> list[Notice]:
    """About how segments share the chance of a false alarm, and those that are not watched."""
    result = []
    if watched > MANY_SEGMENTS and control == "family":
        words = (
            f"{watched} segments share the chance of any false alarm, which makes each slow: control='fdr' bounds the "
            "share of false ones among those in alarm instead."
        )
        result.append(Notice(Severity.NOTE, "many-segments", words))
    if unjudged:
        name, reason = next(iter(unjudged.items()))
        words = f"{len(unjudged)} segments are not watched, the first of them {shown(name)}: {reason}"
        result.append(Notice(Severity.NOTE, "segments-not-watched", words))
    return result


def _once(notices: Iterable[Notice]) -> list[Notice]:
    """Each kind of notice once, of its first window; every window has its own."""
    kinds: dict[str, list[Notice]] = {}
    for notice in notices:
        kinds.setdefault(notice.code, []).append(notice)
    result = []
    for first, *more in kinds.values():
        words = f"{first} Likewise {len(more)} more window{'s' if len(more) > 1 else ''}." if more else str(first)
        result.append(Notice(first.severity, first.code, words))
    return result


def _about_first_windows(judgement: Judgement) -> list[Notice]:
    """Of sensors that had drifted, windows that passed as the first of a life were wrong in half of all cases."""
    if not 0 < len(judgement.windows) < FEW_WINDOWS or judgement.is_later_life:
        return []
    count = len(judgement.windows)
    words = (
        f"{count} window{' was' if count == 1 else 's were'} judged so far: it often takes several to show that the "
        "scores moved and not the share of positives. Until then, trust numbers marked ok less."
    )
    return [Notice(Severity.NOTE, "first-windows", words)]


def _about_noise(monitor: Monitor) -> list[Notice]:
    noise, count = monitor.noise("share"), monitor.reference_rows.size
    if not noise.is_known:
        words = (
            f"The false-alarm guarantee needs {ENOUGH_WINDOWS} reference windows as long as those watched, you gave "
            f"{count}: day-to-day noise is learnt from the watched windows alone. Give the reference as windows."
        )
        return [Notice(Severity.WARNING, "noise-unknown", words)]
    result = []
    if noise.windows < ENOUGH_WINDOWS:
        words = (
            f"The false-alarm guarantee needs {ENOUGH_WINDOWS} reference windows, you gave {noise.windows}. Give more, "
            "or say noise='slow' (--noise slow)."
        )
        result.append(Notice(Severity.WARNING, "noise-few-windows", words))
    usual = monitor.settings.noise
    bound = {"default": ALIKE, "independent": 1 / np.sqrt(noise.windows), "slow": ALIKE}[usual]
    if noise.correlation > bound:
        words = (
            f"Neighbouring reference windows are alike (autocorrelation {noise.correlation:.2f}): use longer windows, "
            "such as whole weeks, a longer reference"
            + ("." if usual == "slow" else ", or say noise='slow' (--noise slow).")
        )
        result.append(Notice(Severity.WARNING, "noise-alike", words))
    return result


def _about_reference(monitor: Monitor) -> list[Notice]:
    result = []
    labelled = monitor.reference.n_labelled
    if monitor.area < WEAK_AREA:
        words = (
            f"The score is weak: a labelled row outscores a row of the population in {monitor.area:.2f} of pairs "
            f"(below {WEAK_AREA}). A different population looks like more positives, so every window is marked "
            "doubtful."
        )
        result.append(Notice(Severity.WARNING, "weak-score", words))
    prior = monitor.prior
    if prior is not None and prior.ruled_out:
        words = (
            f"In the reference {prior.ruled_out}. Recall assumes labelling as near to random as the rows allow; "
            "pulens evaluate of the reference says what would fit."
        )
        result.append(Notice(Severity.SERIOUS, "labels-not-random", words))
    if labelled < FEW_LABELLED:
        recall = monitor.recall
        width = "" if recall is None else f" Recall is known to within {recall[2] - recall[1]:.2f}."
        words = f"Only {labelled:,.0f} labelled rows in the reference.{width}"
        result.append(Notice(Severity.WARNING, "few-labelled", words))
    if not monitor.features.shape[1]:
        words = (
            "Fewer than three distinct scores: any change looks like more positives, and no test can show otherwise."
        )
        result.append(Notice(Severity.WARNING, "no-fit", words))
    return result


def _labels_with_share(judgement: Judgement) -> list[Notice]:
    """In case-control labels picked out of the population change it: fewer positives are left among the unlabelled."""
    run = judgement.runs["share"]
    is_told = run.began is not None and run.starts is not None and (run.certain is not None or run.is_changing)
    if judgement.monitor.settings.scenario != "case-control" or judgement.is_later_life or not is_told:
        return []
    assert run.began is not None
    assert run.starts is not None
    first, level = run.began[0], float(run.starts.levels[run.starts.heaviest, 0])
    own = np.array([window.counts.n_labelled for window in judgement.windows])
    named = judgement.monitor.reference.n_labelled + own[:first].sum(), own[first:].sum()
    rows = judgement.monitor.reference.rows + judgement.rows[:first].sum(), judgement.rows[first:].sum()
    if not all(named):
        return []
    change = float(np.log(named[1] / rows[1]) - np.log(named[0] / rows[0]))
    if abs(change) < CLEARLY * np.sqrt(1 / named[0] + 1 / named[1]) or change * level > 0:
        return []
    words = (
        f"Labelled rows per row changed {np.exp(change):.2g} times at the same time, and the share of positives the "
        "other way. In case-control the population is the unlabelled rows: if labels are picked out of them, that "
        "alone does it, and scenario='single-set' (--scenario single-set) is right."
    )
    return [Notice(Severity.WARNING, "labels-with-share", words)]


def _gaps(judgement: Judgement) -> list[Notice]:
    """Missing windows are told, never filled."""
    days = [day_of(window.name) for window in judgement.windows]
    if len(days) < 3 or any(day is None for day in days):
        return []
    steps = np.diff([day.toordinal() for day in days if day is not None])
    usual = float(np.median(steps))
    wide = np.flatnonzero(steps > 1.5 * usual)
    if not wide.size:
        return []
    names = [window.name for window in judgement.windows]
    first = int(wide[0])
    words = f"{wide.size} gap{'s' if wide.size > 1 else ''} between windows, the first from {names[first]} to "
    return [
        Notice(Severity.NOTE, "gaps", f"{words}{names[first + 1]}: windows are missing there and were not filled in.")
    ]
