"""Windows judged one after the other against what is fixed: numbers per window, lines, alarms, trust."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from pulens.errors import InputError, shown
from pulens.inputs import last_day
from pulens.monitoring.cells import CellCounts
from pulens.monitoring.evidence_lines import RunningEvidence, Starts, recall_starts
from pulens.monitoring.fit import Fit
from pulens.monitoring.monitor import AGES, Monitor
from pulens.monitoring.shift import Shift, shift_of
from pulens.types import Booleans, Floats

FEWEST_ROWS = 30  # of a window whose metrics are shown
MISFIT_SINCE = 0.01  # the same of all windows since a certain change together
MISFIT = 0.001  # the p-value of one window below which its numbers are doubtful
NEAR = 0.04  # a line whose running total has reached this part of its bar is changing, and not yet certain
FAR = 2.0  # times its bar, for each day of a window: a total that reaches it alarms though it was not near before
FARTHEST_AHEAD = 60  # windows that are looked ahead to see when a change would be certain


@dataclass(frozen=True, slots=True, eq=False)
class ReducedWindow:
    """A window's counts per cell and the fingerprints of what was counted."""

    name: str
    counts: CellCounts
    population_digest: str
    labelled_digest: str
    confirmed: Floats | None = None  # labelled rows per cell that were confirmed within each of AGES


@dataclass(frozen=True, slots=True, eq=False)
class LineRun:
    """One line so far: the log of its running total after each window (nan: not yet), and when it first alarmed."""

    name: str
    log_totals: Floats
    log_bars: Floats  # what the total must reach after each window: the same after all, unless segments share one
    starts: Starts | None  # after the last window, or after an earlier one that tells the beginning better
    places: tuple[int, ...]  # the windows that the starts are about
    unspent: Floats  # the part of each total that waits for changes still to come
    days: float = 1.0  # of a window

    @property
    def certain(self) -> int | None:
        """The place of the window after which the alarm was certain."""
        above = np.flatnonzero(self.above)
        return int(above[0]) if above.size else None

    @property
    def above(self) -> Booleans:
        """After which windows the total was beyond its bar: far beyond, or not for the first time near it.

        What one window says alone must be said by the next one too, unless it says it twice as loud; a window of
        several days says as much as all of these, so that it must be twice as loud for each."""
        with np.errstate(invalid="ignore"):
            reached = self.log_totals >= self.log_bars  # nan is not
            far = self.log_totals >= self.log_bars + self.days * np.log(FAR)
        before = np.concatenate([[False], self.near[:-1]])
        result: Booleans = reached & (far | before)
        return result

    @property
    def since(self) -> tuple[int, int, int] | None:
        """The likeliest first window of the change, and the ends of the smallest set that holds 90%."""
        return None if self.certain is None else self.began

    @property
    def began(self) -> tuple[int, int, int] | None:
        """The same, of a change that is not certain too."""
        if self.starts is None:
            return None
        likely = self.starts.likely()
        return self.places[self.starts.heaviest], self.places[likely[0]], self.places[likely[-1]]

    @property
    def log_bar(self) -> float:
        """The bar after the last window."""
        return float(self.log_bars[-1])

    @property
    def is_changing(self) -> bool:
        """Whether the total is near its bar now and has never reached it."""
        return self.certain is None and bool(self.near[-1])

    @property
    def near(self) -> Booleans:
        """After which windows the total, less what waits for changes to come, was near its bar."""
        result: Booleans = self.log_totals >= np.log(NEAR * np.exp(self.log_bars) + self.unspent)
        return result

    @property
    def has_fallen(self) -> bool:
        return self.certain is not None and bool(self.log_totals[-1] < self.log_bar)


class Followed:
    """What a line's windows say after this many of them; asked in order of time each is looked at once."""

    def __init__(
        self,
        values: Floats,
        variances: Floats,
        begun: Callable[[int], RunningEvidence],
        added: Callable[[int], Floats] | None = None,
    ) -> None:
        self.values, self.variances, self.begun, self.added = values, variances, begun, added
        self.evidence = begun(len(values))

    def after(self, count: int) -> Starts:
        if count < self.evidence.count:
            self.evidence = self.begun(len(self.values))
        for index in range(self.evidence.count, count):
            self.evidence.add(self.values[index], float(self.variances[index]))
        return self.evidence.starts(None if self.added is None else self.added(count))

    def settled_after(self, first: int, rows: Floats, log_bar: float) -> int | None:
        """After how many more windows the total reaches its bar if they are as those since the first; None: not soon.

        A window to come has as many rows as those had on average."""
        count = self.evidence.count
        mean = rows[first:] @ self.values[first:] / rows[first:].sum()
        variance = float(self.variances[first:] @ rows[first:] / rows[first:].sum())
        ahead = self.begun(count + FARTHEST_AHEAD)
        for index in range(count):
            ahead.add(self.values[index], float(self.variances[index]))
        for more in range(1, FARTHEST_AHEAD + 1):
            ahead.add(mean, variance)
            if ahead.starts().log_total >= log_bar:
                return more
        return None


@dataclass(frozen=True, eq=False)
class Judgement:
    """All windows of one life, judged.

    ``known`` holds log totals that a state kept, which are not found again. ``bars`` are logs of what totals must reach
    after each window where segments share the chance of a false alarm; ``confirmed`` counts the reference's labelled
    rows per cell that were confirmed within each of AGES.
    """

    monitor: Monitor
    windows: tuple[ReducedWindow, ...]
    known: Mapping[str, Sequence[float | None]]
    bars: Mapping[str, Floats] = field(default_factory=dict)
    confirmed: Floats | None = None
    is_later_life: bool = False  # then the reference's labelled rows are those of windows long ago

    @cached_property
    def rows(self) -> Floats:
        return np.array([window.counts.rows for window in self.windows])

    @cached_property
    def shifts(self) -> tuple[Shift, ...]:
        return tuple(shift_of(self.monitor.reference, window.counts.population) for window in self.windows)

    @cached_property
    def fits(self) -> tuple[Fit | None, ...]:
        pairs = zip(self.windows, self.shifts, strict=True)
        return tuple(self.monitor.fit_of(window.counts.population, shift.value) for window, shift in pairs)

    @cached_property
    def mature(self) -> tuple[int, ...]:
        """For every window the number of windows whose own labels are mature by then; 0 where nobody said when."""
        settings = self.monitor.settings
        lag, age = settings.lag, settings.age
        if lag is None:
            return (0,) * len(self.windows)
        if lag[1] == "windows":
            return tuple(max(index + 1 - int(lag[0]), 0) for index in range(len(self.windows)))
        wait = lag[0] if age is None else AGES[age]
        days = []
        for window in self.windows:
            day = last_day(window.name)
            if day is None:
                raise InputError(
                    f"labels_lag={settings.labels_lag!r} counts days, and the window {shown(window.name)} "
                    "does not begin with one (2026-05-04): name windows by their day, or say after how many windows "
                    "labels are complete (labels_lag=30)."
                )
            days.append(day.toordinal())
        return tuple(int(np.sum(np.array(days) + wait <= now)) for now in days)

    def own_labelled(self, index: int) -> Floats:
        """A window's labelled rows per cell that are about its own positives: at the age at which they are judged."""
        window, age = self.windows[index], self.monitor.settings.age
        return window.counts.labelled if age is None or window.confirmed is None else window.confirmed[age]

    @cached_property
    def reference_labelled(self) -> Floats:
        """The reference's labelled rows of that age."""
        age = self.monitor.settings.age
        return self.monitor.reference.labelled if age is None or self.confirmed is None else self.confirmed[age]

    def reached(self, index: int) -> int | None:
        """The place among AGES of the largest age that a window has reached by the last one; None before the first."""
        days = last_day(self.windows[index].name), last_day(self.windows[-1].name)
        if days[0] is None or days[1] is None:
            return None
        index = int(np.searchsorted(AGES, (days[1] - days[0]).days, side="right")) - 1
        return None if index < 0 else index

    @cached_property
    def runs(self) -> Mapping[str, LineRun]:
        if not self.windows:
            return {}
        finders = {"share": self._share, "fit": self._fit, "recall": self._recall}
        return {name: finders[name]() for name in self.monitor.lines}

    def fit_since(self, first: int, last: int) -> float | None:
        """The p-value of the fit of windows first..last together: a closer look once a change is certain."""
        counts = np.sum([window.counts.population for window in self.windows[first : last + 1]], axis=0)
        result = self.monitor.fit_of(counts, shift_of(self.monitor.reference, counts).value)
        return None if result is None else result.p_value

    @cached_property
    def misfit_since(self) -> int | None:
        """The first window of a certain change of the share if the windows since do not fit one; None if they do."""
        run = self.runs.get("share")
        since = None if run is None else run.since
        if since is None:
            return None
        p_value = self.fit_since(since[0], len(self.windows) - 1)
        return since[1] if p_value is not None and p_value < MISFIT_SINCE else None

    @cached_property
    def followed_share(self) -> Followed:
        return self._follow_share(straight=True)

    def _follow_share(self, *, straight: bool) -> Followed:
        values = np.array([shift.value for shift in self.shifts])
        values = self.monitor.straight(values, self.rows) if straight else values
        begun = partial(self._begun, "share", straight=straight)
        return Followed(values[:, None], self.monitor.variances("share", self.rows), begun)

    def _share(self) -> LineRun:
        later = float(np.exp(self.followed_share.evidence.noise.log_changed.max()))
        sizes = self._follow_share(straight=False).after
        return self._run("share", self.followed_share.after, range(1, len(self.windows) + 1), later, sizes)

    def settled_after(self) -> int | None:
        """After how many more windows like those since its start a change of the share would be certain."""
        run = self.runs["share"]
        if run.began is None:
            return None
        self.followed_share.after(len(self.windows))
        return self.followed_share.settled_after(run.began[0], self.rows, run.log_bar)

    def _begun(self, line: str, windows: int, *, straight: bool = True) -> RunningEvidence:
        return self.monitor.evidence(line, windows, float(self.rows[0]), straight=straight)

    def _fit(self) -> LineRun:
        monitor = self.monitor
        values = np.array([result.whitened for result in self.fits if result is not None])
        d = np.array([shift.value for shift in self.shifts])
        of_labelled = float(np.mean(monitor.reference.p @ monitor.features**2)) / monitor.reference.n_labelled
        totals = np.concatenate([[0.0], np.cumsum(d * self.rows)])
        rows = np.concatenate([[0.0], np.cumsum(self.rows)])

        def added(count: int) -> Floats:
            means = (totals[count] - totals[:count]) / (rows[count] - rows[:count])
            # the error of the labelled rows shows only where the shift does
            return np.array([monitor.held(mean) for mean in means]) ** 2 * of_labelled

        followed = Followed(values, monitor.variances("fit", self.rows), partial(self._begun, "fit"), added)
        return self._run("fit", followed.after, range(1, len(self.windows) + 1))

    def _recall(self) -> LineRun:
        flagged = self.monitor.flagged
        assert flagged is not None
        own = [self.own_labelled(index) for index in range(len(self.windows))]
        hits = np.array([float(counts @ flagged) for counts in own])
        sizes = np.array([float(counts.sum()) for counts in own])
        known = float(self.reference_labelled @ flagged), float(self.reference_labelled.sum())

        def after(count: int) -> Starts:
            return recall_starts(hits[:count], sizes[:count], known, life=self.monitor.life)

        return self._run("recall", after, self.mature)

    def _run(
        self,
        name: str,
        after: Callable[[int], Starts],
        counts: Sequence[int],
        later: float = 1.0,
        sizes: Callable[[int], Starts] | None = None,
    ) -> LineRun:
        """The log total after each window; what a state kept is taken as it is.

        ``later`` is the largest likelihood ratio of a change that has not begun; ``sizes`` says how large a change is
        where the values followed are not of its scale."""

        def told(count: int) -> Starts:
            result = after(count)
            sized = result if sizes is None else sizes(count)
            return replace(result, levels=sized.levels, variances=sized.variances)

        kept = list(self.known.get(name, ()))
        totals = np.full(len(self.windows), np.nan)
        totals[: len(kept)] = [np.nan if one is None else one for one in kept]
        for index in range(len(kept), len(self.windows)):
            if counts[index]:
                totals[index] = after(counts[index]).log_total
        bars = self.bars.get(name)
        if bars is None:
            bars = np.full(totals.size, self.monitor.settings.log_bar(name))
        if not counts or not counts[-1]:
            return LineRun(name, totals, bars, None, (), np.ones(totals.size))
        life = self.monitor.life
        unspent = later * life / (np.array(counts) + life)
        run = LineRun(name, totals, bars, None, (), unspent, self.monitor.days)
        last, certain = len(self.windows) - 1, run.certain
        if run.has_fallen:
            last = int(np.nanargmax(totals))
        starts = told(counts[last])
        if certain is not None:  # what was certain then cannot have begun later; else more than one thing changed
            first = counts[certain]
            starts = starts.among_first(first) if starts.heaviest < first else told(first)
        return replace(run, starts=starts, places=tuple(range(counts[last])))
