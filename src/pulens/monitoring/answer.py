"""The answer of a watch: what stands, since when, numbers per window, and how far each may be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np

from pulens.answer import Answer, ShownAsText, plain, written
from pulens.errors import InputError, listed, nearest, shown
from pulens.estimate import Interval
from pulens.keywords import check_kinds, typed
from pulens.monitoring.bands import ScoreBand, score_bands
from pulens.monitoring.judging import Judgement
from pulens.monitoring.labelling import LabelChange, labelling_of
from pulens.monitoring.numbers import WatchedWindow, watched_windows
from pulens.monitoring.rates import recall_among
from pulens.notice import Notice, worst_first
from pulens.types import Floats

_ASSUMED = {"random": "labels random among positives", "practice": "easy positives labelled first, as in practice"}
LOGGED = 5  # segments in the line for a log
Status = Literal["quiet", "changing", "alarm"]
#: When a line changed and by how much, as JSON has it.
SINCE = ("since", "since_low", "since_high", "level", "low=interval.low", "high=interval.high")


@dataclass(frozen=True, slots=True)
class Alarm(Answer):
    """One line's alarm: the window after which it was certain, since when, and the level since then.

    It stands until somebody accepts it, also where the evidence has fallen below the bar again (``has_fallen``).
    """

    _keys = ("line", "certain", *SINCE, "has_fallen")

    line: str
    certain: str
    since: str
    since_low: str
    since_high: str
    level: float
    interval: Interval | None
    has_fallen: bool = False

    def __str__(self) -> str:
        return f"ALARM {_told(self)}"


@dataclass(frozen=True, slots=True)
class Change(Answer):
    """One line that is changing, and not yet certain: since when, by how much, how near its bar, what would settle it.

    ``evidence`` and ``bar`` are log10 of the running total and of what it must reach; ``settled_after`` is how many
    more windows like those since the start would (None: not within 60, or not looked for).
    """

    _keys = ("line", *SINCE, "evidence", "bar", "settled_after")

    line: str
    since: str
    since_low: str
    since_high: str
    level: float
    interval: Interval | None
    evidence: float
    bar: float
    settled_after: int | None

    def __str__(self) -> str:
        return f"CHANGING {_told(self)}, evidence {10**self.evidence:.2g} of {10**self.bar:.3g}"


def _told(change: Alarm | Change) -> str:
    """Since when, and how large a change is, for a log; the fit has no size that anybody could read."""
    words = f"{change.line} since {change.since}"
    if change.line == "fit":
        return words
    sign, level = "+" if change.line == "share" else "", change.interval
    doubt = "" if level is None else f" ({level.low:{sign}.2f} to {level.high:{sign}.2f})"
    return f"{words}: {'change' if change.line == 'share' else 'recall'} {change.level:{sign}.2f}{doubt}"


@dataclass(frozen=True, eq=False)
class TimeLine:
    """One quantity followed over time: its evidence after every window, and how likely each window is the first."""

    name: str
    windows: tuple[str, ...]
    evidence: Floats  # log10 of the running total; nan: not judged yet
    bar: float
    since_weights: Floats

    def to_dict(self) -> dict[str, Any]:
        return {"evidence": plain(self.evidence), "bar": self.bar}


@dataclass(frozen=True, eq=False)
class WatchLife:
    """From one reference until an alarm is accepted."""

    judgement: Judgement
    accepted_from: str | None = None
    because: str | None = None

    @cached_property
    def windows(self) -> Mapping[str, WatchedWindow]:
        return {window.name: window for window in watched_windows(self.judgement)}

    @cached_property
    def alarms(self) -> tuple[Alarm, ...]:
        names = [window.name for window in self.judgement.windows]
        return tuple(
            Alarm(line, names[run.certain], *self._since(line), run.has_fallen)
            for line, run in self.judgement.runs.items()
            if run.certain is not None and run.since is not None
        )

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Lines that are near their bar and have not reached it."""
        return tuple(
            Change(
                line,
                *self._since(line),
                float(run.log_totals[-1]) / math.log(10),
                run.log_bar / math.log(10),
                self.judgement.settled_after() if line == "share" else None,
            )
            for line, run in self.judgement.runs.items()
            if run.is_changing and run.began is not None
        )

    @cached_property
    def label_change(self) -> LabelChange | None:
        """Whether labelled rows of the windows score differently, and why; None where they do not."""
        return None if self.judgement.is_later_life else labelling_of(self.judgement)

    @cached_property
    def score_bands(self) -> tuple[ScoreBand, ...]:
        """Where the scores of the windows since a change of the share or the fit differ; empty while all is quiet."""
        runs = self.judgement.runs
        began = [runs[line].began for line in ("share", "fit") if line in runs and self._is_told(line)]
        return score_bands(self.judgement, min(each[0] for each in began if each is not None)) if began else ()

    def _is_told(self, line: str) -> bool:
        told = [alarm.line for alarm in self.alarms] + [change.line for change in self.changes]
        return line in told

    @cached_property
    def lines(self) -> Mapping[str, TimeLine]:
        names = tuple(window.name for window in self.judgement.windows)
        return {
            name: TimeLine(
                name,
                names,
                run.log_totals / math.log(10),
                run.log_bar / math.log(10),
                np.zeros(0) if run.starts is None else run.starts.shares,
            )
            for name, run in self.judgement.runs.items()
        }

    def _since(self, line: str) -> tuple[str, str, str, float, Interval | None]:
        """When a line's change began, at the earliest, at the latest, and the level since with its interval."""
        run = self.judgement.runs[line]
        assert run.starts is not None
        assert run.began is not None
        names = [window.name for window in self.judgement.windows]
        first, low, high = run.began
        at = run.starts.heaviest
        z, confidence = self.judgement.monitor.settings.z, self.judgement.monitor.settings.confidence
        interval: Interval | None = None
        level = float(np.sqrt(np.sum(run.starts.levels[at] ** 2)))
        if line == "share":
            level = float(run.starts.levels[at, 0])
            reach = z * math.sqrt(run.starts.variances[at] + self._beyond_null(first, run.places[-1], level))
            interval = Interval(level - reach, level + reach, confidence, "level since")
        elif line == "recall":
            level, interval = self._recall_since(first, run.places[-1])
        return names[first], names[low], names[high], level, interval

    def _beyond_null(self, first: int, last: int, level: float) -> float:
        """How much larger the variance of a level is than if nothing had changed: of these rows, of labelled ones."""
        reference = self.judgement.monitor.reference
        counts = np.sum([window.counts.population for window in self.judgement.windows[first : last + 1]], axis=0)
        w, rows = reference.weights[:, None], float(counts.sum())
        of_rows = float(counts @ (w[:, 0] - counts @ w[:, 0] / rows) ** 2) / rows
        of_reference = reference.covariance(w, level) - reference.covariance(w, 0.0)
        return max((of_rows - reference.null_variance) / rows + float(of_reference[0, 0]), 0.0)

    def _recall_since(self, first: int, last: int) -> tuple[float, Interval]:
        monitor = self.judgement.monitor
        assert monitor.flagged is not None
        counts = np.sum([self.judgement.own_labelled(index) for index in range(first, last + 1)], axis=0)
        tail = (1 - monitor.settings.confidence) / 2
        value, low, high = recall_among(float(counts @ monitor.flagged), float(counts.sum()), tail)
        return value, Interval(low, high, monitor.settings.confidence, "Jeffreys")


@dataclass(frozen=True, repr=False, eq=False)
class Pulse(ShownAsText):
    """What became of a deployed model: ``alarms`` that stand, ``windows`` with their numbers, ``lines`` over time.

    ``found["2026-05-04"]`` is a window; ``found.verdict`` says it in two sentences. Earlier lives, each ended by an
    accepted alarm, are in ``lives``.
    """

    #: What completion offers.
    _offered = (
        *("accept", "alarms", "changes", "label_change", "labelling", "log_line", "notices", "plot"),
        *("reference_windows", "score_bands", "segments", "status", "to_dict", "to_frame", "to_html", "unjudged"),
        *("verdict", "vouched", "windows"),
    )

    lives: tuple[WatchLife, ...]
    notices_read: tuple[Notice, ...] = ()  # seen while the windows were read
    digest: str = ""  # of the reference
    asked: str = ""  # the class prior as it was given
    reference_windows: tuple[Floats, ...] = ()  # the first reference's rows of the population per cell
    segments: Mapping[str, Pulse] = field(default_factory=dict)  # those watched apart, by name
    unjudged: Mapping[str, str] = field(default_factory=dict)  # segments that cannot be watched, and why

    @property
    def life(self) -> WatchLife:
        """The current one."""
        return self.lives[-1]

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """Those that stand; empty when none does."""
        return self.life.alarms

    @property
    def changes(self) -> tuple[Change, ...]:
        """What is changing and not yet certain; empty when all is quiet."""
        return self.life.changes

    @property
    def labelling(self) -> str:
        """How positives are taken to have come by their labels; shares and rates rest on it, alarms do not."""
        labels = self.life.judgement.monitor.labels
        return "random" if labels is None else labels.name

    @property
    def label_change(self) -> LabelChange | None:
        """Whether labelled rows of the windows score differently, and whether labelling changed or the positives."""
        return self.life.label_change

    @property
    def score_bands(self) -> tuple[ScoreBand, ...]:
        """Which scores moved since a change; empty while all is quiet."""
        return self.life.score_bands

    @property
    def windows(self) -> Mapping[str, WatchedWindow]:
        """The windows of the current life by name, in order of time."""
        return self.life.windows

    @property
    def lines(self) -> Mapping[str, TimeLine]:
        return self.life.lines

    @property
    def status(self) -> Status:
        parts = (self, *self.segments.values())
        if any(one.alarms for one in parts):
            return "alarm"
        return "changing" if any(one.changes for one in parts) else "quiet"

    @property
    def by_evidence(self) -> tuple[str, ...]:
        """Names of segments: those in alarm first, then by how far their evidence is from its bar."""

        def nearness(name: str) -> tuple[bool, float]:
            one = self.segments[name]
            far = [line.evidence[-1] - line.bar for line in one.lines.values() if line.evidence.size]
            return not one.alarms, -max([value for value in far if math.isfinite(value)], default=-math.inf)

        return tuple(sorted(self.segments, key=nearness))

    def __getitem__(self, window: object) -> WatchedWindow:
        for life in reversed(self.lives):
            if str(window) in life.windows:
                return life.windows[str(window)]
        names = [name for life in self.lives for name in life.windows]
        raise KeyError(f"no window {window!r}; there are {listed(names)}.{nearest(window, names)}")

    @cached_property
    def notices(self) -> tuple[Notice, ...]:
        """What to know before using the numbers, worst first."""
        from pulens.monitoring.notices import about_segments, notices_of

        control = self.life.judgement.monitor.settings.control
        apart = about_segments(control, len(self.segments), self.unjudged)
        return worst_first([*notices_of(self.life.judgement, self.windows.values()), *apart, *self.notices_read])

    @property
    def vouched(self) -> bool:
        """Whether the promise about false alarms over a whole life can be vouched for with this reference."""
        from pulens.monitoring.notices import UNVOUCHED

        return not any(notice.code in UNVOUCHED for notice in self.notices)

    @property
    def verdict(self) -> str:
        """Two sentences or three: what stands, since when, and what that rests on."""
        from pulens.report.watch import verdict

        return verdict(self)

    @property
    def log_line(self) -> str:
        """One line for a log, of the last window."""
        names = list(self.windows)
        if not names:
            return "no window judged yet"
        told = [str(one) for one in (*self.alarms, *self.changes)]
        for word, attribute in (("ALARM", "alarms"), ("CHANGING", "changes")):
            named = [name for name in self.by_evidence if getattr(self.segments[name], attribute)]
            for name in named[:LOGGED]:
                told += [f"{one} in segment {name}" for one in getattr(self.segments[name], attribute)]
            if len(named) > LOGGED:
                told.append(f"{word} in {len(named) - LOGGED} more segments")
        return f"{names[-1]} {'; '.join(told) or 'ok'}"

    def accept(self, window: str, because: str = "", *, segment: str | None = None) -> Pulse:
        """End this life: windows from this one on become the population of the next reference.

        The labelled positives stay, the class prior becomes that of these windows, and the chance of a false alarm
        starts again. ``segment`` accepts the alarm of one segment alone.
        """
        from pulens.monitoring.lives import accepted
        from pulens.monitoring.segments import controlled

        check_kinds(Pulse.accept, {"because": because})
        if segment is None:
            return accepted(self, window, because)
        if not isinstance(segment, str) or segment not in self.segments:
            names = listed(list(self.segments))
            raise InputError(
                f"there is no segment {shown(segment)}; there are {names}.{nearest(segment, self.segments)}"
            )
        changed = {**self.segments, segment: accepted(self.segments[segment], window, because)}
        return controlled(replace(self, segments=changed))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; every float is finite or null."""
        monitor = self.life.judgement.monitor
        settings, prior, recall = monitor.settings, monitor.prior, monitor.recall
        noise = {line: monitor.noise(line).factor for line in ("share", "fit")}
        flagged = None if monitor.flagged is None else float(monitor.reference.q @ monitor.flagged)
        apart: dict[str, Any] = {}
        if self.segments or self.unjudged:
            told = {name: _in_short(self.segments[name]) for name in self.by_evidence}
            apart = {"control": settings.control, "segments": told, "unjudged": dict(self.unjudged)}
        return apart | {
            "watch": 1,
            "status": self.status,
            "verdict": self.verdict,
            "vouched": self.vouched,
            "life": len(self.lives),
            "alpha": settings.alpha,
            "scenario": settings.scenario,
            "threshold": settings.threshold,
            "class_prior": None if prior is None else prior.to_dict(),
            "reference": {
                "rows": monitor.reference.rows,
                "labelled": monitor.reference.n_labelled,
                "windows": monitor.reference_rows.size,
                "auc": monitor.area,
                "recall": None if recall is None else recall[0],
                "flagged": flagged,
                "noise": noise,
            },
            "alarms": [alarm.to_dict() for alarm in self.alarms],
            "changes": [change.to_dict() for change in self.changes],
            "score_bands": [band.to_dict() for band in self.score_bands],
            "labelling": self.labelling,
            "label_change": None if self.label_change is None else self.label_change.to_dict(),
            "windows": [window.to_dict() for window in self.windows.values()],
            "lines": {name: line.to_dict() for name, line in self.lines.items()},
            "accepted": [{"from": life.accepted_from, "because": life.because} for life in self.lives[:-1]],
            "warnings": [str(notice) for notice in self.notices],
            "assumptions": [
                _ASSUMED.get(self.labelling, self.labelling),
                "windows independent up to the noise factor",
                "label shift where trust is ok",
            ],
        }

    def __str__(self) -> str:
        from pulens.report.watch_text import watch_text

        return watch_text(self)

    def _repr_html_(self) -> str:
        from pulens.report.watch_notebook import watch_html

        return watch_html(self)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per window as a table of Polars, pandas or PyArrow, whichever is there or named.

        Each number has three columns: its value (nan where absent or withheld), ``_low`` and ``_high``.
        """
        from pulens.inputs.frames import frame_of
        from pulens.report.watch import frame_columns

        return frame_of(frame_columns(self), backend)

    def plot(self, axes: Any = None) -> Any:
        """Share of positives, metrics at the threshold and evidence over time; returns the axes."""
        from pulens.plots.watch import draw_watch

        return draw_watch(self, axes)

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page: verdict, lines over time, trust, what to do next; written to ``path`` if given."""
        from pulens.report.watch_page import watch_page

        return written(path, watch_page(self, title=title))


def _in_short(pulse: Pulse) -> dict[str, Any]:
    """A segment among many: what stands, the evidence after each window, the last window's numbers."""
    windows = list(pulse.windows.values())
    monitor = pulse.life.judgement.monitor
    return {
        "status": pulse.status,
        "life": len(pulse.lives),
        "alarms": [alarm.to_dict() for alarm in pulse.alarms],
        "changes": [change.to_dict() for change in pulse.changes],
        "reference": {"rows": monitor.reference.rows, "labelled": monitor.reference.n_labelled, "auc": monitor.area},
        "class_prior": None if monitor.prior is None else monitor.prior.to_dict(),
        "windows": [window.name for window in windows],
        "shift": plain([shift.value for shift in pulse.life.judgement.shifts]),
        "lines": {name: line.to_dict() for name, line in pulse.lines.items()},
        "last": windows[-1].to_dict() if windows else None,
    }
