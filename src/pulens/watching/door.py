"""The door: ``pulens.watch``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from pulens.counts.tally import Tally
from pulens.doors.combinations import refuse_together
from pulens.errors import InputError, PulensError
from pulens.evidence.settling import settle_class_prior
from pulens.inputs import READING
from pulens.keywords import hands_on
from pulens.notice import Notice, Severity
from pulens.scenario import DEFAULT_SCENARIO, Scenario
from pulens.types import Floats
from pulens.watching.answer import Pulse, WatchLife
from pulens.watching.cells import edges_of, reduce_to_cells
from pulens.watching.judging import Judgement, ReducedWindow
from pulens.watching.monitor import KnownPrior, Monitor, WatchSettings
from pulens.watching.sources import Named, check_apart, combined, digests, named_tallies, natural, tallies_over_time
from pulens.watching.state import read_state, state_text
from pulens.whole_files import write_whole

SETTINGS = tuple(one.name for one in fields(WatchSettings))
COARSE = 10  # distinct scores below which two windows may well have the same counts by chance


@hands_on(READING)
def watch(
    reference: Any,
    windows: Any = None,
    *,
    time: str | None = None,
    by: str | None = None,
    reference_until: Any = None,
    class_prior: Any = None,
    audit: object = None,
    label_noise: float = 0.0,
    scenario: str = DEFAULT_SCENARIO,
    threshold: float | None = None,
    alpha: float = 0.05,
    life: float = 50.0,
    confidence: float = 0.95,
    kernel: str = "tilt",
    noise: str = "default",
    labels_lag: str | int | None = None,
    positives: str = "reference",
    state: str | Path | None = None,
    rejudge: bool = False,
    cluster: Any = None,
    **reading: Any,
) -> Pulse:
    r"""Follow a deployed classifier from positive and unlabelled rows, one tally per window.

    If only the share of positives changes, the window's scores are a mixture of the reference's population and of its
    labelled positives, U1 = (1-d) U0 + d P, so that for every function h of the score

    .. math:: d = (E_{U1} h - E_{U0} h) / (E_P h - E_{U0} h) = (a_1 - a_0) / (1 - a_0)

    needs no class prior. Three lines are followed over time: the ``share`` of positives (d), the ``fit`` (what d does
    not explain) and the ``recall`` of the windows' own positives; each alarms when the likelihood ratio of "changed
    once, some time" against "never" reaches its bar, so that looking every day does not raise false alarms.

    Parameters
    ----------
    reference, windows
        Tallies, ``.tally`` files, globs (in natural order of their names), mappings of names to tallies, sequences.
        A reference of several windows tells the day-to-day noise: give 30 or more.
    time, by, reference_until
        Instead of ``windows``, one table with a column of time: its values are the windows, or ``by`` cuts it into
        ``hour``, ``day``, ``week`` or ``month``. Rows up to ``reference_until`` are the reference.
    class_prior, audit, label_noise, scenario
        As in :func:`pulens.evaluate`, about the reference. Without a class prior the lines work all the same, and
        precision, F1 and accuracy are absent; ``class_prior="auto"`` estimates it.
    threshold
        The deployed one: predicted positive is ``score >= threshold``. Without it there is no metric at a threshold.
    alpha, life
        The chance of any false alarm over a whole life, and after how many windows half of it is spent.
    noise
        ``"default"`` allows for noise that neighbouring windows share, ``"independent"`` not unless it shows,
        ``"slow"`` allows for more of it.
    labels_lag
        After how long a window's own labels are complete: ``"90d"`` or a number of windows. Before, they are not used.
    positives
        ``"window"`` judges windows whose own labels are complete by these positives, where positives moved; the
        reference's class prior is then needed even for the change of the share.
    state
        A file that is read if it is there and written whole: a new day then costs one window.
    rejudge
        Judge everything anew, whatever the state says.
    cluster
        Refused, with the reason: see docs/limits.md.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def rows(share, n=1000):
    ...     positive = rng.random(n) < share
    ...     return Tally.from_arrays((positive & (rng.random(n) < 0.3)).astype(int), rng.normal(positive * 1.5))
    >>> reference = {f"ref-{day}": rows(0.2) for day in range(30)}
    >>> found = watch(reference, {f"day-{day}": rows(0.2 if day < 3 else 0.4) for day in range(6)}, class_prior=0.2)
    >>> found.status, found.alarms[0].line, found.alarms[0].since
    ('alarm', 'share', 'day-3')
    """
    if cluster is not None:
        refuse_together("clusters-watch")
    others = ("reference", "windows", "reading", "cluster")
    named = {name: value for name, value in locals().items() if name not in (*others, "others")}
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
    class_prior: Any,
    audit: object,
    state: str | Path | None,
    rejudge: bool,
    **named: Any,
) -> Pulse:
    """The answer of :func:`watch`, its state read but not written."""
    settings = WatchSettings(**{name: named.pop(name) for name in SETTINGS if name in named})
    before, after = _read(reference, windows, time, by, reference_until, named)
    kept = None if state is None or rejudge or not Path(state).exists() else read_state(state)
    return judge_tallies(settings, before, after, class_prior=class_prior, audit=audit, kept=kept)


def _read(
    reference: Any, windows: Any, time: str | None, by: str | None, reference_until: Any, reading: dict[str, Any]
) -> tuple[Named, Named]:
    if time is not None:
        if windows is not None:
            raise PulensError("give windows or time=, the column that tells them in one table, and not both.")
        return tallies_over_time(reference, time, by, reference_until, **reading)
    if by is not None or reference_until is not None:
        raise PulensError("by= and reference_until= go with time=, the column of one table that tells its windows.")
    if windows is None:
        raise PulensError("give the windows to judge, or time=, the column that tells them in one table.")
    return named_tallies(reference, "reference", **reading), named_tallies(windows, "windows", **reading)


def judge_tallies(
    settings: WatchSettings,
    reference: Named,
    windows: Named,
    *,
    class_prior: Any = None,
    audit: object = None,
    kept: Pulse | None = None,
) -> Pulse:
    """Judge windows against a reference, from the start or from where a state stands."""
    scenario = Scenario(settings.scenario)
    ordered = sorted(windows, key=lambda pair: natural(pair[0]))
    fingerprints = {name: digests(tally, scenario) for name, tally in ordered}
    of_reference = [digests(tally, scenario) for _, tally in reference]
    check_apart(_told_apart(reference, of_reference), _told_apart(ordered, [fingerprints[name] for name, _ in ordered]))
    digest = combined(map("".join, of_reference))
    asked = f"class_prior={class_prior!r}, audit={audit!r}"
    if kept is None:
        pulse = _start(settings, [tally for _, tally in reference], class_prior, audit)
        pulse = replace(pulse, digest=digest, asked=asked)
    else:
        _check_same(kept, settings, digest, asked)
        pulse = kept
    edges = pulse.life.judgement.monitor.edges
    counts = {name: reduce_to_cells(tally, edges, scenario) for name, tally in ordered}
    reduced = [ReducedWindow(name, each, *fingerprints[name]) for name, each in counts.items() if each.rows]
    empty = [name for name, each in counts.items() if not each.rows]
    notices = [
        Notice(Severity.NOTE, "empty-window", f"{name}: a window without rows of the population is skipped.")
        for name in empty
    ]
    if any(tally.is_weighted for _, tally in (*reference, *ordered)):
        words = "Rows are weighted: weights count as rows, and intervals do not know that they are not."
        notices.append(Notice(Severity.NOTE, "weighted", words))
    return replace(with_windows(pulse, reduced), notices_read=tuple(notices))


def _told_apart(named: Named, fingerprints: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names and fingerprints of populations; none where the scores are so coarse that chance may repeat them."""
    pairs = zip(named, fingerprints, strict=True)
    return [(name, digest if len(tally) >= COARSE else "") for (name, tally), (digest, _) in pairs]


def _start(settings: WatchSettings, parts: Sequence[Tally], class_prior: Any, audit: object) -> Pulse:
    scenario = Scenario(settings.scenario)
    whole = reduce(add, parts)
    if not whole.totals.labelled:
        raise InputError("the reference has no labelled row: without positives no change can be read from its scores.")
    edges = edges_of(whole, scenario, settings.threshold)
    counts = [reduce_to_cells(part, edges, scenario) for part in parts]
    labelled = _sum([one.labelled for one in counts])
    populations = [one.population for one in counts if one.rows]
    prior = None
    if class_prior is not None or audit is not None:
        settled = settle_class_prior(whole, scenario, class_prior, None, settings.label_noise, audit)
        prior = KnownPrior.of(settled)
    if not populations:
        raise InputError("the reference has no row of the population: in case-control these are the unlabelled rows.")
    together = scenario is Scenario.SINGLE_SET
    monitor = Monitor.of(settings, edges, labelled, populations, prior, together=together)
    return Pulse((WatchLife(Judgement(monitor, (), {})),), reference_windows=tuple(populations))


def _sum(arrays: Sequence[Floats]) -> Floats:
    return reduce(add, arrays)


def _check_same(kept: Pulse, settings: WatchSettings, digest: str, asked: str) -> None:
    """Refuse a state of another monitor; what differs is named."""
    theirs = kept.lives[0].judgement.monitor.settings.to_dict()
    way_out = "Judge everything anew (rejudge=True, or --rejudge; the promise starts again), or name another state."
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
    known = {one.name: one for life in pulse.lives for one in life.judgement.windows}
    last = max((natural(name) for name in known), default=None)
    changed: dict[str, ReducedWindow] = {}
    fresh = []
    way_out = "Judge everything anew (rejudge=True, or --rejudge; the promise then starts again)."
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
    lives = []
    for place, life in enumerate(pulse.lives):
        judgement = life.judgement
        known_totals = dict(judgement.known)
        own = tuple(changed.get(one.name, one) for one in judgement.windows)
        if any(one.name in changed for one in judgement.windows):
            known_totals.pop("recall", None)  # labels that matured speak through recall alone
        if place == len(pulse.lives) - 1:
            own = (*own, *fresh)
        lives.append(replace(life, judgement=Judgement(judgement.monitor, own, known_totals, judgement.measured)))
    return replace(pulse, lives=tuple(lives))
