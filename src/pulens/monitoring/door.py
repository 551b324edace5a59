"""The door: ``pulens.watch``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from pulens.atomic_write import AnyPath, write_whole
from pulens.errors import InputError, PulensError, shown
from pulens.evidence import Design
from pulens.inputs import READING
from pulens.keywords import forwards_keywords, names_of
from pulens.locks import locked
from pulens.monitoring.answer import Pulse, WatchLife
from pulens.monitoring.cells import edges_of, reduce_to_cells
from pulens.monitoring.judging import Judgement, ReducedWindow
from pulens.monitoring.monitor import AGES, KnownPrior, Monitor, WatchSettings, check_reference
from pulens.monitoring.noise import days_apart
from pulens.monitoring.segment_priors import segment_priors, whole_prior
from pulens.monitoring.segments import controlled, settings_apart
from pulens.monitoring.sources import (
    Named,
    TimeColumns,
    Windows,
    check_apart,
    combined,
    digests,
    named_tallies,
    natural,
    tallies_over_time,
)
from pulens.monitoring.state import read_state, state_text
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior
from pulens.priors.given import GivenPrior
from pulens.scenario import DEFAULT_SCENARIO, Scenario
from pulens.types import Clusters, Floats, RowsLike

SETTINGS = tuple(one.name for one in fields(WatchSettings))
CROSSED = " / "  # between the names of columns that tell segments together
COARSE = 10  # distinct scores below which two windows may well have the same counts by chance


@forwards_keywords(READING)
def watch(
    reference: RowsLike,
    windows: RowsLike | None = None,
    *,
    time: str | None = None,
    by: str | None = None,
    reference_until: object = None,
    timezone: str = "UTC",
    group_by: str | Sequence[str] | None = None,
    control: str = "family",
    confirmed_at: str | None = None,
    class_prior: GivenPrior | ClassPrior | str | Mapping[Any, Any] | None = None,
    audit: object = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    threshold: float | None = None,
    alpha: float = 0.05,
    life: float = 40.0,
    confidence: float = 0.95,
    noise: str = "default",
    labels_lag: str | int | None = None,
    positives: str = "reference",
    labelling: str | float | None = None,
    state: AnyPath | None = None,
    rejudge: bool = False,
    cluster: Clusters | None = None,
    **reading: Any,
) -> Pulse:
    r"""Follow a deployed classifier from positive and unlabelled rows, one tally per window.

    If only the share of positives changes, the window's scores are a mixture of the reference's population and of its
    labelled positives, U1 = (1-d) U0 + d P, so that for every function h of the score

    .. math:: d = (E_{U1} h - E_{U0} h) / (E_P h - E_{U0} h) = (a_1 - a_0) / (1 - a_0)

    needs no class prior. Three lines are followed over time: the ``share`` of positives (d), the ``fit`` (what d does
    not explain) and the ``recall`` of the windows' own positives; each alarms when the likelihood ratio of "changed
    once, some time" against "never" reaches its bar, so that looking every day does not raise false alarms, and is
    ``changing``, not yet certain, when it comes near.

    Parameters
    ----------
    reference, windows
        Tallies, ``.tally`` files, globs (in natural order of their names), mappings of names to tallies, sequences.
        A reference of several windows tells the day-to-day noise: give 30 or more.
    time, by, reference_until, timezone
        Instead of ``windows``, one table with a column of time: its values are the windows, or ``by`` cuts it into
        ``hour``, ``day``, ``week`` (from Monday) or ``month``, in UTC or another ``timezone``, where the rows are: one
        GROUP BY counts all windows. Rows up to ``reference_until`` are the reference.
    group_by, control
        Columns of that table whose values are watched apart too (``found.segments``). Half of ``alpha`` is for all
        rows, half for the segments: ``"family"`` divides it among them, ``"fdr"`` bounds the expected share of false
        ones among the segments in alarm, which is quicker where they are many. The class prior of a segment is given
        in a mapping, estimated (``"auto"``) or implied by one label frequency.
    confirmed_at
        A column of that table with the time at which a label was confirmed: own labels of a window are then compared
        with labels of the reference of the same age, in days after the window: the first of 7, 14, 30, 60, 90 and 180
        that reaches ``labels_lag`` (30 days if nothing is said). The labelled rows of the reference that weigh scores
        are those known when the watch begins.
    class_prior, audit, label_noise, scenario
        As in :func:`pulens.evaluate`, about the reference. Without a class prior the lines work all the same, and
        precision, F1 and accuracy are absent; ``class_prior="auto"`` estimates it.
    threshold
        The deployed one: predicted positive is ``score >= threshold``. Without it there is no metric at a threshold.
    alpha, life
        The chance of any false alarm over a whole life, approximately (variances are the reference's), and after how
        many days half of it is spent (windows, where their names tell no day or they are shorter than one).
    confidence
        Level of the intervals.
    noise
        What windows may scatter beyond their rows: ``"default"`` for noise that neighbouring days share,
        ``"independent"`` for noise of each window alone, ``"slow"`` for more noise that lasts longer. How much of it
        there is every window says.
    labels_lag
        After how long a window's own labels are complete: ``"90d"`` or a number of windows. Before, they are not used.
    positives
        ``"window"`` judges windows whose own labels are complete by these positives, where positives moved; the
        reference's class prior is then needed even for the change of the share.
    labelling
        How positives came to be labelled, as in :func:`pulens.evaluate`: ``"practice"`` (the default where there is a
        class prior), ``"random"``, or a factor. Shares of positives, precision, recall and F1 depend on it; alarms do
        not, as long as labelling stays as it was in the reference, since it divides d and its error alike.
    state
        A file that is read if it is there and written whole: a new day then costs one window. Another watch on the
        same file waits until this one has finished, and is refused after a minute.
    rejudge
        Judge every window again, whatever the state says.
    cluster
        Refused, with the reason: see docs/concepts/limits.md.

    Returns
    -------
    Pulse
        ``status`` (quiet, changing or alarm), the alarms, and a row of numbers for each window.

    Examples
    --------
    >>> import numpy as np
    >>> from pulens import Tally
    >>> rng = np.random.default_rng(0)
    >>> def rows(share, n=1000):
    ...     positive = rng.random(n) < share
    ...     return Tally.from_arrays((positive & (rng.random(n) < 0.3)).astype(int), rng.normal(positive * 1.5))
    >>> reference = {f"ref-{day}": rows(0.2) for day in range(30)}
    >>> found = watch(reference, {f"day-{day}": rows(0.2 if day < 3 else 0.4) for day in range(6)}, class_prior=0.2)
    >>> found.status, found.alarms[0].line, found.alarms[0].since
    ('alarm', 'share', 'day-3')

    A table, with the names of its columns:

    >>> import pandas
    >>> from pulens.testing import claims
    >>> table = pandas.DataFrame(claims())
    >>> columns = {"score": "risk_v2", "label": "outcome", "positive": "fraud"}
    >>> found = watch(table, time="day", reference_until="2026-06-04", **columns)
    >>> found.status, list(found.windows)[-1]
    ('quiet', '2026-06-09')
    """
    Design(cluster=cluster).check("watch")
    others = ("reference", "windows", "reading", "cluster")
    named = {name: value for name, value in locals().items() if name not in (*others, "others")}
    with nullcontext() if state is None else locked(state):
        pulse = judged(reference, windows, **named, **reading)
        if state is not None:
            write_whole(state, state_text(pulse))
    return pulse


def judged(
    reference: Any,
    windows: Any,
    *,
    time: str | None,
    by: str | None,
    reference_until: Any,
    timezone: str,
    group_by: Any,
    class_prior: Any,
    audit: object,
    state: AnyPath | None,
    rejudge: bool,
    **named: Any,
) -> Pulse:
    """The answer of :func:`watch`, its state read but not written."""
    columns = _columns(group_by)
    named["group_by"] = CROSSED.join(columns) or None
    settings = WatchSettings(**{name: named.pop(name) for name in SETTINGS if name in named})
    if settings.labelling is not None and settings.labels is not None and class_prior is None and audit is None:
        raise PulensError(
            f"labelling={shown(settings.labelling)} is about numbers that need a class prior, and none is given: give "
            "class_prior= (a number, a range, or 'auto'), or leave labelling out; alarms do not depend on it."
        )
    kept = None if state is None or rejudge or not os.path.exists(state) else read_state(Path(state))
    given = {"class_prior": class_prior, "audit": audit, "kept": kept}
    if time is None:
        said = {"by": by, "reference_until": reference_until, "group_by": group_by}
        _refuse_without_time(windows, said, settings)
        read = Windows(named_tallies(reference, "reference", **named), named_tallies(windows, "windows", **named))
        return judge_tallies(settings, read, **given)
    if windows is not None:
        raise PulensError(
            "give windows or time=, the column of one table that says which window a row is in, and not both."
        )
    cut = TimeColumns(
        time=time,
        by=by,
        reference_until=reference_until,
        timezone=timezone,
        group_by=columns,
        confirmed_at=settings.confirmed_at,
    )
    whole, parts = tallies_over_time(reference, cut, **named)
    return judge_segments(settings, whole, parts, **given) if columns else judge_tallies(settings, whole, **given)


def _columns(group_by: Any) -> tuple[str, ...]:
    """The columns that tell segments, one name or several."""
    if group_by is None:
        return ()
    result = names_of("group_by", group_by)
    if not result or not all(result) or len(set(result)) < len(result):
        raise PulensError(f"group_by names a column, or several different ones, got {shown(group_by)}.")
    return result


def _refuse_without_time(windows: Any, said: dict[str, Any], settings: WatchSettings) -> None:
    """What is about one table with a column of time cannot be obeyed without it."""
    said["confirmed_at"] = settings.confirmed_at
    beside = [f"{name}=" for name, value in said.items() if value is not None]
    if beside:
        raise PulensError(
            f"{' and '.join(beside)} can only go with time=, the column of a table that says which window a row is in."
        )
    if windows is None:
        raise PulensError(
            "give the windows to judge, or time=, the column of one table that says which window a row is in."
        )


def judge_segments(
    settings: WatchSettings,
    whole: Windows,
    parts: Mapping[str, Windows | str],
    *,
    class_prior: Any = None,
    audit: object = None,
    kept: Pulse | None = None,
) -> Pulse:
    """All rows together and every segment by itself, with one promise; segments that tell nothing have a reason."""
    asked = f"class_prior={class_prior!r}, audit={audit!r}"
    unjudged = {name: part for name, part in parts.items() if isinstance(part, str)}
    judgeable = {name: part for name, part in parts.items() if not isinstance(part, str)}
    if kept is None:
        priors = segment_priors(settings, whole, judgeable, class_prior, audit)
        started, refused = _segments_begun(settings, judgeable, priors, asked)
    else:
        started, refused = _segments_kept(kept, judgeable)
    unjudged |= refused
    if not started:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(unjudged.items())[:3])
        raise InputError(f"no segment of {settings.group_by} can be watched ({reasons}).")
    of_whole, of_segment = settings_apart(settings, len(started))
    prior = whole_prior(whole, judgeable, class_prior)
    pulse = judge_tallies(of_whole, whole, class_prior=prior, audit=audit, kept=kept, asked=asked)
    segments = {}
    for name, begun in started.items():
        of_life = begun if kept is not None else _with_settings(begun, of_segment)
        segments[name] = _continued(of_segment, judgeable[name], of_life, asked)
    ordered = {name: unjudged[name] for name in sorted(unjudged, key=natural) if name not in segments}
    return controlled(replace(pulse, segments=segments, unjudged=ordered))


def _segments_begun(
    settings: WatchSettings, parts: Mapping[str, Windows], priors: Mapping[str, KnownPrior | None], asked: str
) -> tuple[dict[str, Pulse], dict[str, str]]:
    """Watches of the segments that have judged nothing yet, and why others cannot be watched."""
    started, refused = {}, {}
    for name, part in parts.items():
        try:
            started[name] = _begin(settings, part, priors.get(name), asked)
        except InputError as error:
            refused[name] = str(error)
    return started, refused


def _segments_kept(kept: Pulse, parts: Mapping[str, Windows]) -> tuple[dict[str, Pulse], dict[str, str]]:
    """Watches of the segments that a state holds, and why others are not watched."""
    for name in kept.segments:
        if name not in parts:
            raise InputError(f"the state watches the segment {shown(name)}, which is not in this table.")
    late = {name: "it was not watched when this state began" for name in parts if name not in kept.segments}
    return dict(kept.segments), {**kept.unjudged, **late}


def _with_settings(pulse: Pulse, settings: WatchSettings) -> Pulse:
    """A watch that has judged nothing yet, with its own part of the chance of a false alarm."""
    judgement = pulse.life.judgement
    monitor = replace(judgement.monitor, settings=settings)
    return replace(pulse, lives=(WatchLife(replace(judgement, monitor=monitor)),))


def judge_tallies(
    settings: WatchSettings,
    read: Windows,
    *,
    class_prior: Any = None,
    audit: object = None,
    kept: Pulse | None = None,
    asked: str | None = None,
) -> Pulse:
    """Judge windows against a reference, from the start or from where a state stands."""
    asked = f"class_prior={class_prior!r}, audit={audit!r}" if asked is None else asked
    if kept is not None:
        return _continued(settings, read, kept, asked)
    prior = None
    if class_prior is not None or audit is not None:
        check_reference(labelled=read.has_labelled)
        prior = KnownPrior.settled(settings.question(class_prior, audit).settle(read.whole), settings)
    return _continued(settings, read, _begin(settings, read, prior, asked), asked)


def _begin(settings: WatchSettings, read: Windows, prior: KnownPrior | None, asked: str) -> Pulse:
    """A watch that has judged nothing yet."""
    pulse = _start(settings, read, prior)
    edges = pulse.life.judgement.monitor.edges
    judgement = replace(pulse.life.judgement, confirmed=_confirmed(read, [name for name, _ in read.reference], edges))
    fingerprints = [digests(tally, Scenario(settings.scenario)) for _, tally in read.reference]
    return replace(pulse, lives=(WatchLife(judgement),), digest=_digest(settings, fingerprints), asked=asked)


def _digest(settings: WatchSettings, fingerprints: Sequence[tuple[str, str]]) -> str:
    """The fingerprint of the reference; its labels may grow where they come with the time of their confirmation."""
    return combined(one[0] if settings.confirmed_at is not None else "".join(one) for one in fingerprints)


def _confirmed(read: Windows, names: Sequence[str], edges: Floats) -> Floats | None:
    """Labelled rows of these windows per cell that were confirmed within each of AGES."""
    if read.confirmed is None:
        return None
    result = np.zeros((len(AGES), edges.size))
    for name in names:
        for days, tally in read.confirmed.get(name, {}).items():
            first = int(np.searchsorted(AGES, days, side="left"))
            result[first:] += reduce_to_cells(tally, edges, Scenario.SINGLE_SET).labelled
    return result


def _continued(settings: WatchSettings, read: Windows, kept: Pulse, asked: str) -> Pulse:
    """Windows judged after those that were."""
    scenario = Scenario(settings.scenario)
    ordered = sorted(read.windows, key=lambda pair: (natural(pair[0]), pair[0]))
    fingerprints = {name: digests(tally, scenario) for name, tally in ordered}
    of_reference = [digests(tally, scenario) for _, tally in read.reference]
    apart = [fingerprints[name] for name, _ in ordered]
    check_apart(_told_apart(read.reference, of_reference), _told_apart(ordered, apart))
    _check_same(kept, settings, _digest(settings, of_reference), asked)
    edges = kept.life.judgement.monitor.edges
    counts = {name: reduce_to_cells(tally, edges, scenario) for name, tally in ordered}
    reduced = [
        ReducedWindow(name, each, *fingerprints[name], _confirmed(read, [name], edges))
        for name, each in counts.items()
        if each.rows
    ]
    notices = [
        Notice(Severity.NOTE, "empty-window", f"{name}: a window without rows of the population is skipped.")
        for name, each in counts.items()
        if not each.rows
    ]
    if any(tally.is_weighted for _, tally in (*read.reference, *ordered)):
        words = "Rows are weighted: weights count as rows, and intervals do not allow for that."
        notices.append(Notice(Severity.NOTE, "weighted", words))
    pulse = with_windows(kept, reduced)
    if settings.confirmed_at is not None:  # the reference's labels grow old too
        confirmed = _confirmed(read, [name for name, _ in read.reference], edges)
        judgement = replace(pulse.life.judgement, confirmed=confirmed)
        pulse = replace(pulse, lives=(*pulse.lives[:-1], replace(pulse.life, judgement=judgement)))
    return replace(pulse, notices_read=tuple(notices))


def _told_apart(named: Named, fingerprints: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names and fingerprints of populations; none where the scores are so coarse that chance may repeat them."""
    pairs = zip(named, fingerprints, strict=True)
    return [(name, digest if len(tally) >= COARSE else "") for (name, tally), (digest, _) in pairs]


def _start(settings: WatchSettings, read: Windows, prior: KnownPrior | None) -> Pulse:
    check_reference(labelled=read.has_labelled)
    scenario = Scenario(settings.scenario)
    edges = edges_of(read.whole, scenario, settings.threshold)
    counts = [reduce_to_cells(part, edges, scenario) for _, part in read.reference]
    labelled = np.sum([one.labelled for one in counts], axis=0)
    populations = [one.population for one in counts if one.rows]
    check_reference(population=populations)
    together = scenario is Scenario.SINGLE_SET
    days = days_apart(name for name, _ in read.reference)
    monitor = Monitor.of(settings, edges, labelled, populations, prior, together=together, days=days)
    return Pulse((WatchLife(Judgement(monitor, (), {})),), reference_windows=tuple(populations))


def _check_same(kept: Pulse, settings: WatchSettings, digest: str, asked: str) -> None:
    """Refuse a state of another monitor; what differs is named."""
    theirs = kept.lives[0].judgement.monitor.settings.to_dict()
    way_out = (
        "Judge every window again (rejudge=True, or --rejudge; the false-alarm guarantee then starts afresh), or name "
        "another state."
    )
    for name, value in settings.to_dict().items():
        if theirs[name] != value:
            raise InputError(
                f"the state was written with {name}={theirs[name]!r}, and now {name}={value!r} is given. {way_out}"
            )
    if digest != kept.digest:
        raise InputError(f"the state belongs to another reference: its rows differ. {way_out}")
    if asked != kept.asked:
        raise InputError(f"the state was written with another class prior ({kept.asked}, now {asked}). {way_out}")


def with_windows(pulse: Pulse, windows: Sequence[ReducedWindow]) -> Pulse:
    """Add windows to what was judged: known ones may have other labels by now, new ones come after all of them."""
    changed, fresh = _changed_and_fresh(pulse, windows)
    lives = []
    for index, life in enumerate(pulse.lives):
        judgement = life.judgement
        known_totals = dict(judgement.known)
        own = tuple(changed.get(one.name, one) for one in judgement.windows)
        if any(one.name in changed for one in judgement.windows):
            known_totals.pop("recall", None)  # labels that matured speak through recall alone
        if index == len(pulse.lives) - 1:
            own = (*own, *fresh)
        bars = judgement.bars if own == judgement.windows else {}
        lives.append(replace(life, judgement=replace(judgement, windows=own, known=known_totals, bars=bars)))
    return replace(pulse, lives=tuple(lives))


def _changed_and_fresh(
    pulse: Pulse, windows: Sequence[ReducedWindow]
) -> tuple[dict[str, ReducedWindow], list[ReducedWindow]]:
    """Judged windows that have other labels by now, and windows after the last judged one; others are refused."""
    known = {one.name: one for life in pulse.lives for one in life.judgement.windows}
    last = max((natural(name) for name in known), default=None)
    changed: dict[str, ReducedWindow] = {}
    fresh = []
    way_out = "Judge every window again (rejudge=True, or --rejudge; the false-alarm guarantee then starts afresh)."
    for window in windows:
        if window.name in known:
            if known[window.name].population_digest != window.population_digest:
                raise InputError(f"the rows of the window {window.name!r} are not those that were judged. {way_out}")
            if known[window.name].labelled_digest != window.labelled_digest:
                changed[window.name] = window
        elif last is not None and natural(window.name) < last:
            raise InputError(
                f"the window {window.name!r} lies before the last one that was judged, and was not judged. {way_out}"
            )
        else:
            fresh.append(window)
    return changed, fresh
