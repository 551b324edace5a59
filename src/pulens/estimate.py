"""Answers: a number or a curve, how sure we are of it, and why it may be undefined."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pulens.answer import Answer, plain
from pulens.errors import PulensError
from pulens.scalars import real
from pulens.types import Floats

Basis = Literal["random labelling", "labelling in practice", "possible worlds", "design", "bounds"]


@dataclass(frozen=True, slots=True)
class Interval(Answer):
    """A range of values, and what it is a range of.

    ``confidence`` is ``None`` where the range is one of possibilities rather than of chance: the values that a
    metric takes while the class prior moves over a given range.

    ``guarantee`` says what the confidence rests on: ``"exact"``, ``"design-based"`` (rows that were drawn and checked),
    ``"asymptotic"``, ``"calibrated on 15 real domains"``, or ``"possible set"`` where there is no confidence.

    >>> print(Interval(0.8, 0.9, 0.95, "percentile"))
    [0.800, 0.900]
    >>> Interval(0.8, 0.9, 0.95, "percentile").guarantee, Interval(0.8, 0.9, None, "given").guarantee
    ('asymptotic', 'possible set')
    """

    low: float
    high: float
    confidence: float | None
    method: str
    guarantee: str = ""  # what the confidence rests on; by default what the method's name says

    def __post_init__(self) -> None:
        if not self.guarantee:
            object.__setattr__(self, "guarantee", _guarantee(self.confidence, self.method))
        if self.low > self.high:
            raise PulensError(f"an interval needs low <= high, got {self.low!r} and {self.high!r}")

    @property
    def width(self) -> float:
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return bool(self.low <= value <= self.high)

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]"


def _guarantee(confidence: float | None, method: str) -> str:
    if confidence is None:
        return "possible set"
    kinds = {"exact": "exact", "audit": "design-based"}
    return next((words for name, words in kinds.items() if method.startswith(name)), "asymptotic")


@dataclass(repr=False, frozen=True, slots=True)
class Estimate:
    """A number, how sure we are of it, and how it came about.

    ``sources`` keeps the sources of doubt apart: an interval from the sample alone (``"sample"``) and from the
    class prior alone (``"class prior"``), where they are known; ``interval`` holds both together. ``basis`` says what
    the number takes for granted: labels that are a random draw of the positives, labels as uneven as in practice or,
    where the data rule random labels out, any possible world near them; the interval is then one of possibilities.
    ``target`` says whose number it is: that of the population, of which the rows are a sample, or of the rows at hand.
    ``"design"`` says that rows were drawn and checked and nothing is assumed about labels, ``"bounds"`` that some rows
    could not be reached by the check.
    ``withheld_because`` says why a number has an interval and no value (:mod:`pulens.metrics.parts.withholding`); its
    value is then nan.

    >>> print(Estimate("roc_auc", 0.87, Interval(0.84, 0.9, 0.95, "percentile")))
    roc_auc 0.870 [0.840, 0.900]
    >>> print(Estimate("precision", float("nan"), undefined_because="nothing is predicted positive"))
    precision undefined: nothing is predicted positive
    """

    metric: str
    value: float
    interval: Interval | None = None
    undefined_because: str | None = None
    threshold: float | None = None
    sources: Mapping[str, Interval] = field(default_factory=dict)
    landmarks: Mapping[str, float] = field(default_factory=dict)  # numbers to read the value beside
    basis: Basis = "random labelling"
    rests_on: tuple[str, ...] | None = field(default=None, kw_only=True)  # what it takes for granted; None: not said
    notice: str | None = field(default=None, kw_only=True)  # what to know before using this number
    withheld_because: str | None = field(default=None, kw_only=True)  # why there is an interval and no value
    target: str = field(default="", kw_only=True)  # "population", or "rows": of the very rows at hand, as audits are

    def __post_init__(self) -> None:
        if not self.target:
            object.__setattr__(self, "target", "rows" if self.basis in ("design", "bounds") else "population")
        if math.isnan(self.value) and not self.undefined_because and not self.withheld_because:
            raise PulensError(f"{self.metric} is nan without a reason: undefined_because must say why")

    @property
    def rests_on_an_estimated_prior(self) -> bool:
        return any(result.startswith("class prior (estimated") for result in self.rests_on or ())

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        if self.undefined_because:
            return f"{self.metric} undefined: {self.undefined_because}"
        if self.withheld_because:
            return f"{self.metric} {self.interval}: {self.withheld_because}"
        doubt = "" if self.interval is None else f" {self.interval}"
        beside = ", ".join(f"{name} {number:.3f}" for name, number in self.landmarks.items())
        told = f"; {self.notice}" if self.notice else ""
        return f"{self.metric} {self.value:.3f}{doubt}" + (f" ({beside})" if beside else "") + told

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(str(self))}</code>"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; nan becomes ``None``, with its reason."""
        answer: dict[str, Any] = {"value": plain(real(self.value)), "low": None, "high": None, "basis": self.basis}
        answer["target"] = self.target
        if self.interval is not None:
            answer |= self.interval.to_dict()
        if self.sources:
            answer["sources"] = plain(self.sources)
        if self.landmarks:
            answer["landmarks"] = {name: plain(real(number)) for name, number in self.landmarks.items()}
        if self.rests_on is not None:
            answer["rests_on"] = list(self.rests_on)
        if self.undefined_because:
            answer["undefined_because"] = self.undefined_because
        if self.withheld_because:
            answer["withheld_because"] = self.withheld_because
        if self.threshold is not None:
            answer["threshold"] = plain(real(self.threshold))
        if self.notice:
            answer["notice"] = self.notice
        return answer


@dataclass(repr=False, frozen=True, slots=True, eq=False)
class Curve:
    """Points in the order in which they are joined, with the threshold that gives each.

    The threshold of "nothing is predicted positive" is infinite.
    """

    name: str
    x: Floats
    y: Floats
    thresholds: Floats
    x_name: str
    y_name: str

    def __post_init__(self) -> None:
        if not self.x.shape == self.y.shape == self.thresholds.shape:
            raise PulensError(
                f"the {self.name} curve needs one threshold per point, got {self.x.size} x, "
                f"{self.y.size} y and {self.thresholds.size} thresholds"
            )
        for values in (self.x, self.y, self.thresholds):
            values.flags.writeable = False  # frozen guards the names, not what the arrays hold

    def __len__(self) -> int:
        return int(self.x.size)

    def __str__(self) -> str:
        return f"{self.name} curve, {len(self)} points: {self.y_name} against {self.x_name}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            self.x_name: plain(self.x),
            self.y_name: plain(self.y),
            "thresholds": plain(self.thresholds),
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per point as a table of Polars, pandas or PyArrow, whichever is there or named.

        >>> import numpy as np
        >>> ends = np.array([0.0, 1.0])
        >>> curve = Curve("ROC", ends, ends.copy(), ends[::-1].copy(), "false positive rate", "true positive rate")
        >>> curve.to_frame("polars").columns
        ['false_positive_rate', 'true_positive_rate', 'threshold']
        """
        from pulens.inputs.frames import frame_of

        x, y = (name.replace(" ", "_") for name in (self.x_name, self.y_name))
        values = {x: self.x.tolist(), y: self.y.tolist(), "threshold": self.thresholds.tolist()}
        return frame_of(values, backend)

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draw the curve with matplotlib; returns the axes."""
        from pulens.plots import draw_curve

        return draw_curve(self, ax=ax, **style)


def with_interval(value: float, interval: Interval | None) -> dict[str, Any]:
    """A number with its interval as JSON has them, where there is one.

    >>> with_interval(0.2, None), with_interval(0.2, Interval(0.1, 0.3, None, "given"))["high"]
    ({'value': 0.2}, 0.3)
    """
    return {"value": plain(value), **({} if interval is None else interval.to_dict())}


def columns_of(estimates: Mapping[str, Estimate]) -> dict[str, list[Any]]:
    """Estimates as the columns of a table, a row for each; nan where there is no number.

    >>> columns_of({"recall": Estimate("recall", 0.5, threshold=0.3)})["value"]
    [0.5]
    """
    result = estimates.values()
    ends = [(math.nan, math.nan) if one.interval is None else (one.interval.low, one.interval.high) for one in result]
    return {
        "metric": list(estimates),
        "value": [one.value for one in result],
        "low": [low for low, _ in ends],
        "high": [high for _, high in ends],
        "threshold": [math.nan if one.threshold is None else one.threshold for one in result],
        "undefined_because": [one.undefined_because or one.withheld_because or "" for one in result],
    }
