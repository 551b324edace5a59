"""What is fixed before the first window is judged: options, cells, weights, features, class prior, noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pulens.confidence import check_confidence
from pulens.errors import InputError, PulensError, shown
from pulens.evidence import Evidence, IntervalOptions
from pulens.inference.intervals import IntervalEstimator
from pulens.inference.kernels.resampling import Resampling
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.metrics.parts.possible_worlds import find_contradiction, within_what_is_possible
from pulens.monitoring.evidence_lines import LIFE, RISING, SHARE_SPREADS, RunningEvidence
from pulens.monitoring.fit import Fit, features, fit_of, held
from pulens.monitoring.noise import FEWEST_WINDOWS, NOISES, DayNoise, NoiseLevels, scatter_of
from pulens.monitoring.rates import recall_among
from pulens.monitoring.readings import Positives, Reading
from pulens.monitoring.shift import CellReference, shift_of, straightened
from pulens.monitoring.weights import placements
from pulens.priors import ClassPrior
from pulens.recovery import recover_at
from pulens.recovery.assumptions import check_label_noise
from pulens.scalars import is_among, real
from pulens.scenario import DEFAULT_SCENARIO, Scenario, check_scenario
from pulens.selection import Favouring, Practice, TiltedEvidence, read_under, said_of_labels
from pulens.special import ndtri
from pulens.types import Booleans, Floats

#: How the chance of a false alarm over the whole life is shared between the lines, whether or not they are in use.
PARTS = {"share": 0.8, "fit": 0.1, "recall": 0.1}
#: How much lower than 1/alpha a bar may be. The inequality behind 1/alpha is not sharp: a total that reaches the bar
#: goes beyond it, and much of its mean lies in totals that are still below. Of simulated quiet lives 0.45/bar reach it.
SLACK = 2.3
POSITIVES = ("reference", "window")
CONTROLS = ("family", "fdr")
#: Ages of labels, in days after a window, at which windows and reference are compared where confirmations have a time.
AGES = (7, 14, 30, 60, 90, 180)
USUAL_AGE = 30.0
SHORTEST_LIFE, LONGEST_LIFE = 1e-3, 1e9  # days
WEAK_AREA = 0.62  # below, other people look like more positives, and no window is better than doubtful
RANGE = 5  # class priors that numbers are read at where only a range of it is known
CLEAR = 4.0  # standard errors by which labelled rows must outscore the population


@dataclass(frozen=True, kw_only=True)
class WatchSettings:
    """The options of a monitor, checked once; a state file keeps them, and other ones are another monitor.

    >>> WatchSettings(noise="fast")
    Traceback (most recent call last):
    ...
    pulens.errors.PulensError: noise must be 'default' or 'independent' or 'slow', got 'fast'.
    """

    scenario: str = DEFAULT_SCENARIO
    threshold: float | None = None
    alpha: float = 0.05
    life: float = LIFE
    confidence: float = 0.95
    noise: str = "default"
    label_noise: float = 0.0
    labels_lag: str | int | None = None
    positives: str = "reference"
    group_by: str | None = None
    control: str = "family"
    confirmed_at: str | None = None
    labelling: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "scenario", str(check_scenario(self.scenario)))
        object.__setattr__(self, "confidence", check_confidence(self.confidence))
        object.__setattr__(self, "label_noise", check_label_noise(self.label_noise))
        for name, allowed in (("noise", NOISES), ("positives", POSITIVES), ("control", CONTROLS)):
            if not is_among(getattr(self, name), allowed):
                choices = " or ".join(repr(one) for one in allowed)
                raise PulensError(f"{name} must be {choices}, got {shown(getattr(self, name))}.")
        if not 0 < real(self.alpha) < 1:
            raise PulensError(
                f"alpha, the chance of a false alarm over a whole life, must lie between 0 and 1, got "
                f"{shown(self.alpha)}."
            )
        if not SHORTEST_LIFE <= real(self.life) <= LONGEST_LIFE:
            raise PulensError(
                f"life must be a number of days, {SHORTEST_LIFE:g} to {LONGEST_LIFE:g}, got {shown(self.life)}."
            )
        if self.threshold is not None and not math.isfinite(real(self.threshold)):
            raise PulensError(f"threshold must be a finite number, got {shown(self.threshold)}.")
        for name in ("alpha", "life", "threshold"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, real(getattr(self, name)))
        if self.positives == "window" and self.lag is None:
            raise PulensError(
                "positives='window' judges a window by its own labels: say after how long they are complete "
                "(labels_lag='90d', or a number of windows)."
            )
        if self.labels_lag is not None:  # typed or given as a number: the same monitor
            object.__setattr__(self, "labels_lag", str(self.labels_lag).strip().lower())
        labels = self.labels
        if isinstance(labels, Favouring):  # typed or given as a number: the same monitor
            object.__setattr__(self, "labelling", labels.factor)
        _ = self.lag
        if self.confirmed_at is not None and self.age is None:
            raise PulensError(
                f"with confirmed_at labels are compared at an age of {', '.join(map(str, AGES))} days: labels_lag must "
                f"be days up to '{AGES[-1]}d', got {shown(self.labels_lag)}."
            )

    @property
    def age(self) -> int | None:
        """The place among AGES at which own labels are judged: the first that reaches the lag; None without times."""
        if self.confirmed_at is None or self.lag is None or self.lag[1] != "days" or self.lag[0] > AGES[-1]:
            return None
        return int(np.searchsorted(AGES, self.lag[0], side="left"))

    @property
    def labels(self) -> Practice | Favouring | None:
        """How labels favour easy positives; None where they are taken for a random draw of the positives."""
        return said_of_labels(self.labelling, {"practice-noise": bool(self.label_noise)})

    @property
    def z(self) -> float:
        return float(ndtri((1 + self.confidence) / 2))

    @property
    def lag(self) -> tuple[float, str] | None:
        """How long own labels take: days or windows; None where nobody said, and own labels are then not used."""
        given = self.labels_lag
        if given is None:
            return None if self.confirmed_at is None else (USUAL_AGE, "days")
        text = str(given).strip().lower()
        number, unit = (text[:-1], "days") if text.endswith("d") else (text, "windows")
        try:
            result = float(number)
        except ValueError:
            result = -1.0
        if not (np.isfinite(result) and result >= 0):
            raise PulensError(f"labels_lag must be days such as '90d' or a number of windows, got {shown(given)}.")
        return result, unit

    def level(self, line: str) -> float:
        """One over the running total at which a line alarms."""
        return min(SLACK * self.alpha * PARTS[line], 1.0)

    def log_bar(self, line: str) -> float:
        """The log of the running total at which a line alarms."""
        return float(-np.log(self.level(line)))

    def question(self, class_prior: Any, audit: object = None) -> IntervalOptions:
        """What is assumed of rows of the reference."""
        return IntervalOptions(
            class_prior=class_prior, label_noise=self.label_noise, scenario=self.scenario, audit=audit
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class KnownPrior:
    """The class prior of a reference: exact, with a variance, or only a range.

    ``ruled_out`` says why where the reference's rows rule out random labels at it. ``possible_recall`` is recall with
    its interval where that among the labelled rows cannot be: in the nearest possible world, if there is one, or, where
    chance alone explains it, cut to the rows that are flagged.
    """

    value: float
    low: float
    high: float
    variance: float
    source: str
    ruled_out: str | None = None
    possible_recall: tuple[float, float, float] | None = None

    @classmethod
    def settled(cls, evidence: Evidence, settings: WatchSettings) -> KnownPrior:
        """As an evaluation of the reference takes it."""
        threshold, confidence, tilted = settings.threshold, settings.confidence, read_under(evidence, settings.labels)
        if isinstance(tilted, TiltedEvidence):  # no rows rule uneven labels out
            return cls.of(tilted.counted.class_prior)
        evidence = within_what_is_possible(evidence)
        known, against = cls.of(evidence.class_prior), find_contradiction(evidence)
        if against is None:
            return replace(known, possible_recall=_cut_recall(evidence, threshold, confidence))
        said = (
            f"these rows rule out random labels at a class prior of {known.value:.3g} "
            f"({against.labelling.largest_possible_prior:.3g} at most)"
        )
        known = replace(known, ruled_out=said)
        result = None if threshold is None else against.estimate("recall", METRICS["recall"], threshold, {})
        if result is None or result.interval is None:
            return known
        return replace(known, possible_recall=(result.value, result.interval.low, result.interval.high))

    @classmethod
    def of(cls, prior: ClassPrior) -> KnownPrior:
        result = prior.interval
        if result is None or result.width == 0:
            return cls(prior.value, prior.value, prior.value, 0.0, prior.method)
        if result.confidence is None:
            return cls(prior.value, result.low, result.high, 0.0, prior.method)
        error = result.width / 2 / float(ndtri((1 + result.confidence) / 2))
        return cls(prior.value, prior.value, prior.value, error**2, prior.method)

    def to_dict(self) -> dict[str, Any]:
        told = asdict(self)
        return told if self.ruled_out or self.possible_recall else {name: told[name] for name in OF_ANY_PRIOR}


def _cut_recall(evidence: Evidence, threshold: float | None, confidence: float) -> tuple[float, float, float] | None:
    """Recall as an evaluation gives it where chance made the table at the threshold impossible; otherwise ``None``."""
    totals = evidence.tally.totals
    if threshold is None or evidence.label_noise or not totals.labelled or not totals.unlabelled:
        return None
    if recover_at(evidence.tally, evidence.assumptions, threshold).is_possible.all():
        return None
    doubts = IntervalEstimator(evidence, Resampling(confidence=confidence))
    result = estimate("recall", METRICS["recall"], evidence, threshold=threshold, doubts=doubts)
    return None if result.interval is None else (result.value, result.interval.low, result.interval.high)


OF_ANY_PRIOR = ("value", "low", "high", "variance", "source")


@dataclass(frozen=True, eq=False)
class Monitor:
    """One life's fixed part."""

    settings: WatchSettings
    edges: Floats
    reference: CellReference
    features: Floats
    prior: KnownPrior | None
    reference_rows: Floats  # of each of its windows
    reference_values: Mapping[str, Floats]  # of the share and the fit, a row for each of its windows
    days: float  # between neighbouring windows
    kept: tuple[Positives | None, ...] | None = None  # of an earlier life, whose labelled rows these are

    @classmethod
    def of(
        cls,
        settings: WatchSettings,
        edges: Floats,
        labelled: Floats,
        windows: Sequence[Floats],
        prior: KnownPrior | None,
        *,
        together: bool,
        days: float = 1.0,
        kept: tuple[Positives | None, ...] | None = None,
    ) -> Monitor:
        """Fix everything from the reference's counts per cell; several windows of it tell the day-to-day noise."""
        population = np.sum(windows, axis=0)
        _check_outscores(labelled, population)
        reference = CellReference.of(labelled, population, together=together)
        g = features(reference)
        rows = np.array([float(window.sum()) for window in windows])
        shifts = [shift_of(reference, window).value for window in windows]
        result = {"share": np.array(shifts)[:, None]}
        monitor = cls(settings, edges, reference, g, prior, rows, result, days, kept)
        fits = [monitor.fit_of(window, d) for window, d in zip(windows, shifts, strict=True)]
        if g.shape[1]:
            result["fit"] = np.array([one.whitened for one in fits if one is not None])
            result["fit"][:, g.shape[1] :] = 0.0  # of the reference there are neither too many positives nor too few
        return monitor

    def fit_of(self, window: Floats, shift: float) -> Fit | None:
        """The test that a window is the reference with more or fewer positives."""
        prior = None if self.prior is None else self.prior.value
        return fit_of(self.reference, self.features, window, shift, prior)

    def held(self, shift: float) -> float:
        """A shift held in the range that more or fewer positives can give."""
        return held(shift, None if self.prior is None else self.prior.value)

    def evidence(self, line: str, windows: int, rows: float, *, straight: bool = True) -> RunningEvidence:
        """Evidence about a line that has seen the reference alone; ``rows`` are those of the first window.

        ``straight`` is about the share: whether values are those of :meth:`straight`, or the shifts as they are.
        """
        values, per_row = self.reference_values[line], self._per_row(line)
        if line == "share" and straight:
            values = self.straight(values[:, 0], self.reference_rows)[:, None]
        is_whole = self.reference_rows.size == 1
        usual = rows if is_whole else float(self.reference_rows.mean())
        telling = self.features.shape[1] if line == "fit" else 1
        scatter, _ = scatter_of(values[:, :telling], per_row / self.reference_rows)
        if line == "fit":
            degrees = telling * (self.reference_rows.size - 1)
            levels = NoiseLevels.seen(self.settings.noise, per_row / usual, scatter, degrees, self.days)
        else:
            levels = NoiseLevels.of(self.settings.noise, per_row / usual, scatter, self.days)
        given: dict[str, Any] = {"coordinates": values.shape[1], "telling": telling, "life": self.life}
        if line == "share":
            spreads = {spread * math.sqrt(self.days): chance for spread, chance in SHARE_SPREADS.items()}
            given |= {"spreads": spreads, "rising": RISING}
        result = RunningEvidence(levels, windows=windows, **given)
        for value, size in zip(values, self.reference_rows, strict=True):
            result.add_reference(value, per_row / size, max(1.0, size / usual) if is_whole else None)
        return result

    @property
    def life(self) -> float:
        """In how many windows half of the chance of a false alarm is spent: as many days, however long windows are."""
        return self.settings.life / self.days

    def _per_row(self, line: str) -> float:
        """The variance of one row's part in a line when nothing changed."""
        return self.reference.null_variance if line == "share" else 1.0

    def variances(self, line: str, rows: Floats) -> Floats:
        """What the rows of windows explain of a line's variance."""
        return self._per_row(line) / rows

    def straight(self, shifts: Floats, rows: Floats) -> Floats:
        """Shifts of windows whose chance is as good as normal while nothing changes."""
        return straightened(shifts, self.variances("share", rows), self.reference.skewness / np.sqrt(rows))

    def noise(self, line: str) -> DayNoise:
        """What the reference says about day-to-day noise."""
        count = self.reference_rows.size
        if line not in self.reference_values or count < FEWEST_WINDOWS:
            return DayNoise(1.0, 0.0, 0)
        telling = self.features.shape[1] if line == "fit" else 1
        _, alike = scatter_of(self.reference_values[line][:, :telling], self.variances(line, self.reference_rows))
        seen = self.evidence(line, 0, 1.0)
        return DayNoise(seen.noise.factor(seen.noise_weights()), alike, count)

    @property
    def scenario(self) -> Scenario:
        return Scenario(self.settings.scenario)

    @property
    def flagged(self) -> Booleans | None:
        """Which cells stand at or above the deployed threshold."""
        if self.settings.threshold is None:
            return None
        # the threshold is an edge, up to the precision of the scores
        result: Booleans = self.edges >= self.edges[np.argmin(np.abs(self.edges - self.settings.threshold))]
        return result

    @property
    def labels(self) -> Practice | Favouring | None:
        """How labels are taken to favour easy positives; without a class prior no number says what that does."""
        return None if self.prior is None else self.settings.labels

    @cached_property
    def positives(self) -> tuple[Positives | None, ...]:
        """What the labelled rows say of all positives, at each class prior that numbers are read at."""
        if self.kept is None:
            return tuple(map(self._positives_at, self._priors))
        return tuple(self.kept[min(place, len(self.kept) - 1)] for place in range(len(self._priors)))

    @property
    def _priors(self) -> list[float]:
        """The value of the class prior, and where it is only a range, some values over it."""
        prior = self.prior
        if prior is None:
            return []
        over = () if prior.low == prior.high else np.linspace(prior.low, prior.high, RANGE).tolist()
        return [prior.value, *over]

    def _positives_at(self, class_prior: float) -> Positives | None:
        return None if self.labels is None else Positives.of(self.reference, self.labels, class_prior)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        """The reference at each class prior that numbers of windows are read at, the value first."""
        cells = np.zeros(self.edges.size, bool) if self.flagged is None else self.flagged
        pairs = zip(self._priors, self.positives, strict=True)
        return tuple(Reading(prior, self.reference, cells, found) for prior, found in pairs)

    def at_prior(self, class_prior: float) -> Monitor:
        """The same monitor with another class prior, which is exact."""
        assert self.prior is not None
        prior = KnownPrior(class_prior, class_prior, class_prior, 0.0, self.prior.source)
        return replace(self, prior=prior, kept=None if self.kept is None else self.kept[:1])

    @property
    def area(self) -> float:
        """How often a labelled row outscores a row of the population."""
        return float(self.reference.p @ placements(self.reference.q))

    @cached_property
    def recall(self) -> tuple[float, float, float] | None:
        """Recall among the reference's labelled rows with its interval; what is possible where that cannot be."""
        if self.flagged is None:
            return None
        if self.prior is not None and (self.prior.ruled_out or self.prior.possible_recall):
            return self.prior.possible_recall
        return self.recall_of(None)

    def recall_of(self, own: Floats | None) -> tuple[float, float, float]:
        """Recall with its interval: of the reference's positives, or of a window's by its own labelled rows."""
        assert self.flagged is not None
        if self.labels is None:
            labelled = self.reference.labelled if own is None else own
            return recall_among(float(labelled @ self.flagged), float(labelled.sum()), self._tail)
        found = [reading.recall(own, self._tail) for reading in self.readings]
        return found[0][0], min(each[1] for each in found), max(each[2] for each in found)

    @property
    def _tail(self) -> float:
        return (1 - self.settings.confidence) / 2

    def share_at(self, level: float, low: float, high: float) -> tuple[float, float, float]:
        """The share of positives at a change of it, d, with its interval."""
        assert self.prior is not None
        if self.labels is None:
            slope = 1 - self.settings.label_noise - self.prior.value
            new, least, most = (min(max(self.prior.value + slope * d, 0.0), 1.0) for d in (level, low, high))
            return new, least, most
        return self.readings[0].share_at(level, low, high, self._tail)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines in use."""
        fit = ("fit",) if self.features.shape[1] else ()
        own = ("recall",) if self.flagged is not None and self.settings.lag is not None else ()
        return ("share", *fit, *own)


def area_error(labelled: Floats, population: Floats) -> tuple[float, float]:
    """The area of labelled rows over the population, and its standard error by placements (DeLong et al., 1988).

    >>> area, error = area_error(np.array([3.0, 27]), np.array([90.0, 10]))
    >>> round(area, 3), round(error, 4)
    (0.9, 0.0312)
    """
    p, q = labelled / labelled.sum(), population / population.sum()
    of_labelled, of_population = placements(q), placements(p)
    area = float(p @ of_labelled)
    variance = float(p @ (of_labelled - area) ** 2) / labelled.sum()
    variance += float(q @ (of_population - (1 - area)) ** 2) / population.sum()
    return area, float(np.sqrt(variance))


def check_reference(*, labelled: object = True, population: object = True) -> None:
    """Refuse a reference without labelled rows, or without rows of the population."""
    if not labelled:
        raise InputError("the reference has no labelled row: without positives no change can be read from its scores.")
    if not population:
        raise InputError("the reference has no row of the population: in case-control these are the unlabelled rows.")


def _check_outscores(labelled: Floats, population: Floats) -> None:
    check_reference(labelled=labelled.sum(), population=population.sum())
    area, error = area_error(labelled, population)
    if area - 0.5 < CLEAR * error or area <= 0.5:
        raise InputError(
            "the labelled rows do not outscore the rest; no change can be read from this score: they score above a row "
            f"of the population in {area:.3f} of pairs (standard error {error:.3f}), and {CLEAR:g} standard errors "
            "above 1/2 are needed. Check the columns, or give a longer reference."
        )
