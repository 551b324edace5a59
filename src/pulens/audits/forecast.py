"""Before rows are checked: how wide intervals will be, how many rows a width needs, what the test could notice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pulens.answer import Answer
from pulens.audits.allocation import allocate, guesses
from pulens.audits.counts import AuditCounts, Counts
from pulens.audits.estimates import design_limits
from pulens.audits.formulas import in_words
from pulens.audits.labelling_power import power_of_test
from pulens.audits.labelling_test import expected_after
from pulens.audits.limits import IntervalKind
from pulens.confidence import check_confidence
from pulens.errors import AssumptionError, nearest, shown
from pulens.frozen import FrozenMapping
from pulens.scalars import is_among, real, whole
from pulens.types import Floats

BUDGETS = (25, 50, 100, 200, 400, 700, 1000)
METRICS = ("class_prior", "precision", "recall", "f1")
AUDITS, DRAWS = 60, 600  # simulated at each budget and guess, and draws for each interval: widths to about 3%
DEFAULT, FROM_LABELS, AFTER = "default guess", "guess from labels", "after checking"


@dataclass(frozen=True, slots=True)
class RowsNeeded:
    """Rows to check for a width: between two numbers where two guesses were made; more than were simulated or not."""

    metric: str
    width: float
    fewest: int
    most: int
    extrapolated: bool

    def __str__(self) -> str:
        rows = f"{self.most:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        beyond = ", extrapolated" if self.extrapolated else ""
        return f"{in_words(self.metric)} within an interval {self.width:.3g} wide: about {rows} rows{beyond}"


_NOTHING_LEFT = "Every row has been checked: there is nothing left to forecast."


@dataclass(frozen=True, slots=True, eq=False)
class AuditForecast(Answer):
    """Expected widths of intervals, one number a budget, for each guess of where positives are.

    ``widths[guess][metric]`` assumes nothing about labelling. ``power`` is the chance to notice that labels favour the
    better half of positives 3:1, 0 where nothing is labelled.
    """

    _keys = ("budgets", "checked", "confidence", "widths", "power")

    budgets: tuple[int, ...]
    widths: Mapping[str, Mapping[str, tuple[float, ...]]]
    power: tuple[float, ...]
    checked: int
    rows: int
    confidence: float

    def width(self, metric: str, budget: int) -> tuple[float, float]:
        """Narrowest and widest forecast at a budget; between two simulated ones on a straight line in logarithms."""
        self._check(metric)
        number = whole(budget)
        if number is None or number < 1:
            raise AssumptionError(f"budget must be a whole number of rows, 1 or more, got {shown(budget)}.")
        ends = [_width_at(self.budgets, line[metric], number) for line in self.widths.values()]
        return min(ends), max(ends)

    def rows_for(self, metric: str, width: float) -> RowsNeeded:
        """How many rows in all must be checked for an interval of this width."""
        self._check(metric)
        if not 0 < real(width) < 1:
            raise AssumptionError(
                f"width must lie between 0 and 1, got {shown(width)}: write a width of 10 points as 0.1."
            )
        result = [_rows_at(self.budgets, line[metric], real(width), self.rows) for line in self.widths.values()]
        rows = [number for number, _ in result]
        return RowsNeeded(metric, float(width), min(rows), max(rows), any(beyond for _, beyond in result))

    def _check(self, metric: str) -> None:
        _check_metric(metric)
        if not self.budgets:
            raise AssumptionError(_NOTHING_LEFT)

    def __str__(self) -> str:
        if not self.budgets:
            return _NOTHING_LEFT
        shown = [budget for budget in self.budgets if budget in (50, 200, 1000)] or list(self.budgets[-1:])
        if self.checked:
            shown = list(self.budgets[:1])
        return "\n".join(self._line(budget) for budget in shown)

    def _line(self, budget: int) -> str:
        parts = []
        for metric in ("f1", "recall", "precision"):
            low, high = self.width(metric, budget)
            parts.append(f"{in_words(metric)} {_range(low, high)}")
        text = f"With {budget:,} rows checked, {self.confidence:.0%} intervals are about this wide: {', '.join(parts)}"
        text += " whatever the labelling"
        index = self.budgets.index(budget)
        if self.power[index]:
            text += f"; a 3:1 preference for high scores would be noticed with probability {self.power[index]:.2f}"
        return text + "."


def forecast_of(
    counts: AuditCounts,
    *,
    goal: str = "all",
    positives: float | None = None,
    budgets: Sequence[int] = BUDGETS,
    confidence: float = 0.95,
    interval: IntervalKind = "balanced",
    seed: int = 0,
    with_labels: bool = True,
    audits: int = AUDITS,
) -> AuditForecast:
    r"""Simulate audits at several budgets from guesses of where positives are, and average their intervals' widths.

    Before any answer there are two guesses, the default one and, with labelled rows, that from labels
    (``pulens.audits.allocation``); the truth tends to lie between them. After checking there is one,
    :math:`M_k (a_k + 4 p_k)/(n_k + 4)` with :math:`p_k` their mean share, and rows checked already stay as they
    are. ``positives`` is a given total, ``audits`` how many are simulated at each budget. ``with_labels=False`` leaves
    out the power of the test, which takes much of the time.

    >>> before = AuditCounts(rows=[200, 332, 882, 2347, 6239], checked=[0] * 5, found=[0] * 5,
    ...                      labelled=[60, 20, 10, 5, 5], flagged=1)
    >>> forecast = forecast_of(before, budgets=[100, 400])
    >>> narrow, wide = forecast.width("f1", 400)
    >>> bool(0.1 < narrow < wide < 0.5), forecast.rows_for("precision", 0.1).most > 100
    (True, True)
    """
    confidence = check_confidence(confidence)
    done, total = int(counts.checked.sum()), int(counts.rows.sum())
    if done:
        used = sorted({min(budget, total) for budget in (done + 100, *budgets) if budget > done} - {done})
        lines = {AFTER: expected_after(counts)}
    else:
        used = sorted({min(budget, total) for budget in budgets})
        before = guesses(counts.rows, counts.labelled, counts.flagged, positives)
        lines = dict(zip((DEFAULT, FROM_LABELS), before, strict=False))
    plans = [
        allocate(
            counts.rows, counts.labelled, counts.flagged, budget, goal, positives=positives, at_least=counts.checked
        )
        for budget in used
    ]
    rng = np.random.default_rng(seed)
    asked = (confidence, interval, rng, seed, audits)
    widths = {line: _widths(counts, plans, guess, *asked) for line, guess in lines.items()}
    power = tuple(0.0 for _ in used)
    if with_labels and counts.labelled.sum():
        middle = np.mean(list(lines.values()), axis=0)
        level, labelled = 1 - confidence, int(counts.labelled.sum())
        power = tuple(power_of_test(counts.rows, plan, middle, labelled, level=level, seed=seed) for plan in plans)
    return AuditForecast(
        tuple(used),
        FrozenMapping({line: FrozenMapping(by) for line, by in widths.items()}),
        power,
        done,
        total,
        confidence,
    )


def _simulated(rng: np.random.Generator, counts: AuditCounts, plan: Counts, guess: Floats, audits: int) -> Counts:
    """Finds of audits that go on from the answers there are, if the guess is true."""
    unseen = counts.rows - counts.checked
    left = np.clip(np.round(guess).astype(np.int64) - counts.found, 0, unseen)  # undecided rows may be positive too
    fresh = rng.hypergeometric(left, unseen - left, plan - counts.checked, (audits, plan.size))
    return np.asarray(counts.found + fresh)


def _planned(counts: AuditCounts, plan: Counts, result: Counts) -> AuditCounts:
    return AuditCounts(
        rows=counts.rows,
        checked=plan,
        found=result,
        labelled=counts.labelled,
        known_negative=counts.known_negative,
        flagged=counts.flagged,
        scenario=counts.scenario,
    )


def _widths(
    counts: AuditCounts,
    plans: list[Counts],
    guess: Floats,
    confidence: float,
    interval: IntervalKind,
    rng: np.random.Generator,
    seed: int,
    audits: int,
) -> dict[str, tuple[float, ...]]:
    columns: dict[str, list[float]] = {name: [] for name in METRICS}
    for plan in plans:
        result = _simulated(rng, counts, plan, guess, audits)
        asked = _planned(counts, plan, result[0])
        limits = design_limits(
            asked, found=result, metrics=METRICS, confidence=confidence, interval=interval, draws=DRAWS, seed=seed
        )
        for name, (low, high) in limits.items():
            columns[name].append(float(np.mean(high - low)))
    return {name: tuple(of) for name, of in columns.items()}


def _falling(budgets: Sequence[int], widths: Sequence[float]) -> tuple[Floats, Floats]:
    """Logarithms of rows and of the narrowest width so far: more rows never widen an interval for good."""
    return np.log(np.asarray(budgets, float)), np.log(np.maximum(np.minimum.accumulate(widths), 1e-9))


def _width_at(budgets: Sequence[int], widths: Sequence[float], budget: int) -> float:
    rows, falling = _falling(budgets, widths)
    result = float(np.exp(np.interp(math.log(budget), rows, falling)))
    return result * math.sqrt(budgets[-1] / budget) if budget > budgets[-1] else result


def _rows_at(budgets: Sequence[int], widths: Sequence[float], width: float, most: int) -> tuple[int, bool]:
    rows, falling = _falling(budgets, widths)
    wanted = math.log(width)
    if wanted < falling[-1]:  # standard errors fall with the root of the rows
        needed = min(rows[-1] + 2 * (falling[-1] - wanted), math.log(most) + 1)
        return min(math.ceil(math.exp(needed)), most), budgets[-1] < most
    # ties and plateaus: the fewest rows that reach the width
    index = int(np.argmax(falling <= wanted))
    if index == 0:
        return int(budgets[0]), False
    share = (falling[index - 1] - wanted) / (falling[index - 1] - falling[index])
    return math.ceil(math.exp(rows[index - 1] + share * (rows[index] - rows[index - 1])) - 1e-9), False


def _check_metric(metric: str) -> None:
    if not is_among(metric, METRICS):
        raise AssumptionError(
            f"forecasts are made for {', '.join(METRICS)}, got {metric!r}.{nearest(str(metric), METRICS)}".rstrip()
        )


def _range(low: float, high: float) -> str:
    first, last = f"{low:.2f}", f"{high:.2f}"
    return first if first == last else f"{first} to {last}"
