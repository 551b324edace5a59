"""Where each segment's class prior comes from: given for it, implied by one label frequency, estimated, or one for all.

See :func:`pulens.evaluate_by` for the order in which they are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from pulens.counts.buckets import BucketTally
from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally, Totals
from pulens.errors import AssumptionError, InputError, PulensError, listed
from pulens.evidence import Evidence, IntervalOptions
from pulens.inputs.tallies import check_tally
from pulens.priors import ClassPrior
from pulens.priors import given as given_prior
from pulens.priors.implied import error_from_sizes, implied_by_totals, implied_prior, label_frequency
from pulens.scalars import real
from pulens.scenario import Scenario

PriorSource = Literal["given", "implied", "estimated", "same for all", "audit", "counted"]

_PRIORS = ("class_prior", "unlabelled_prior", "audit")


class SharedAssumptions(NamedTuple):
    """What is assumed alike of all segments."""

    label_noise: float
    scenario: Scenario
    held: str  # which share stays when numbers of rows are redrawn: see :class:`pulens.evidence.Evidence`


class MissingPrior(InputError):
    """A mapping of class priors that leaves out a segment: the caller's mistake, not the segment's."""


@dataclass(frozen=True)
class SegmentPriors:
    """How segments get their class prior: in words, and the evidence of a segment with it."""

    words: str
    kind: PriorSource
    question: IntervalOptions
    shared: SharedAssumptions

    def evidence(self, segment: Any, counted: Tally | BucketTally) -> Evidence:
        """What a segment's counts show with its class prior."""
        own = {name: _of(segment, name, value) for name, value in given_priors(self.question).items()}
        return replace(self.question, **own).settle(counted)

    def prior(self, segment: Any, totals: Totals) -> ClassPrior | None:
        """The same class prior from numbers of rows alone, where they decide."""
        own = {name: _of(segment, name, value) for name, value in given_priors(self.question).items()}
        if len(own) != 1 or "audit" in own or self.question.combine or not all(map(_is_number, own.values())):
            return None
        return given_prior(totals, self.shared.scenario, **own, label_noise=self.shared.label_noise)

    def source(self, prior: ClassPrior) -> PriorSource:
        if prior.method == "counted":
            return "counted"
        if self.kind == "given" and prior.method.startswith("estimated"):
            return "estimated"
        return "audit" if self.kind == "given" and prior.method.startswith("audit") else self.kind

    def at_once(self, tallies: Tallies) -> list[ClassPrior | None]:
        """Class priors that numbers of rows alone decide; ``None`` for a segment that needs a closer look."""
        result: list[ClassPrior | None] = []
        for segment, totals in zip(tallies, tallies.totals.tolist(), strict=True):
            prior = None
            if totals[0] and totals[1]:
                try:
                    prior = self.prior(segment, Totals(*totals))
                except PulensError:
                    prior = None  # said below, where the segment is looked at by itself
            result.append(prior)
        return result

    def one_by_one(
        self, tallies: Tallies, priors: Sequence[ClassPrior | None], buckets: Mapping[Any, BucketTally]
    ) -> tuple[dict[Any, Evidence], dict[Any, str]]:
        """The evidence of segments without a class prior yet, and why some have none."""
        evidences: dict[Any, Evidence] = {}
        skipped: dict[Any, str] = {}
        for index, segment in enumerate(tallies):
            if priors[index] is not None:
                continue
            tally = tallies.at(index)
            try:
                check_tally(tally)
                evidences[segment] = self.evidence(segment, buckets.get(segment, tally))
            except MissingPrior:
                raise
            except PulensError as error:
                skipped[segment] = str(error)
                if self.kind == "implied" and not tally.totals.labelled:
                    skipped[segment] += (
                        " One label frequency takes this segment to hold no positive at all: if nobody labels here, "
                        "leave its rows out, or the class priors of all others are too high."
                    )
        return evidences, skipped


@dataclass(frozen=True)
class ImpliedPriors(SegmentPriors):
    """Class priors that follow from that of all rows, where one label frequency holds in every segment."""

    totals: Totals
    whole: ClassPrior
    options: Mapping[str, float]
    known: dict[Totals, ClassPrior] = field(default_factory=dict)  # segments of the same size have the same one

    def evidence(self, segment: Any, counted: Tally | BucketTally) -> Evidence:
        tally, buckets = (counted.tally, counted) if isinstance(counted, BucketTally) else (counted, None)
        is_apart = buckets is not None and buckets.holds_single_rows
        if tally.totals.unlabelled == 0:  # every row's class is known
            return without_prior(self.question).settle(counted)
        result = implied_prior(tally, self.totals, self.whole, **self.options)
        buckets = None if is_apart else buckets
        given = self.shared.label_noise, self.shared.scenario
        return Evidence(tally, result, *given, "frequency", buckets, is_apart=is_apart)

    def prior(self, segment: Any, totals: Totals) -> ClassPrior | None:
        if totals not in self.known:
            self.known[totals] = implied_by_totals(totals, self.totals, self.whole, **self.options)
        result = self.known[totals]
        return result if result.implied is not None else None


def given_priors(question: IntervalOptions) -> dict[str, Any]:
    """What was said of class priors, by name."""
    return {name: value for name in _PRIORS if (value := getattr(question, name)) is not None}


def without_prior(question: IntervalOptions) -> IntervalOptions:
    """The same question where no unlabelled row is positive: for rows whose class is known, or not asked for yet."""
    return replace(question, class_prior=None, unlabelled_prior=0.0, audit=None)


def settle(
    tallies: Tallies,
    question: IntervalOptions,
    *,
    same_prior: bool,
    buckets: Mapping[Any, BucketTally],
    as_used: Callable[[Evidence], ClassPrior],
) -> SegmentPriors:
    """Choose among the roads to a class prior per segment; ``as_used`` is the one that an evaluation works with."""
    given = given_priors(question)
    shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
    by_segment = any(isinstance(value, Mapping) for value in given.values())
    estimated = not given or (set(given) == {"class_prior"} and isinstance(given["class_prior"], str))
    if same_prior and (estimated or by_segment or "audit" in given):
        raise AssumptionError(
            "same_prior takes one class prior for every segment, so it needs class_prior= (or unlabelled_prior=) as "
            f"one number or range, got {shown or 'none'}."
        )
    held = "population" if "class_prior" in given else "unlabelled"
    shared = SharedAssumptions(question.label_noise, Scenario(question.scenario), held)
    if by_segment:
        return SegmentPriors("class priors: given for each segment", "given", question, shared)
    if estimated:
        method = given.get("class_prior", "auto")
        words = f"class priors: estimated in each segment from its own rows (method {method})"
        return SegmentPriors(words, "estimated", question, shared)
    if same_prior:
        words = (
            f"one class prior for all segments, as asked ({shown}): where segments differ in their share of positives, "
            "precision and everything else that depends on the class prior is wrong"
        )
        return SegmentPriors(words, "same for all", question, shared)
    alone = SegmentPriors("class prior: that of all rows, which are one segment", "given", question, shared)
    if len(tallies) == 1:
        return alone
    totals = Totals(*tallies.totals.sum(axis=0).tolist())
    prior = alone.prior(None, totals) if totals.labelled and totals.unlabelled else None
    if prior is None:
        whole = _added(list(buckets.values())) if buckets else tallies.whole()
        check_tally(whole.tally if isinstance(whole, BucketTally) else whole)
        prior = as_used(alone.evidence(None, whole))
    return _implied(tallies, totals, prior, alone, shown)


def _added(parts: Sequence[BucketTally]) -> BucketTally:
    """All of them together, in halves: one after the other would sort the first ones again with each that follows."""
    half = len(parts) // 2
    return _added(parts[:half]) + _added(parts[half:]) if half else parts[0]


def _implied(tallies: Tallies, totals: Totals, prior: ClassPrior, alone: SegmentPriors, shown: str) -> SegmentPriors:
    """From the class prior of all rows to that of each segment."""
    question, shared = alone.question, alone.shared
    if shared.scenario is not Scenario.SINGLE_SET:
        raise AssumptionError(
            f"{shown} is that of all rows, and in {shared.scenario} data nothing says how its positives divide among "
            "segments. Give one for each (a mapping, --class-prior-column, --segment-prior NAME=SHARE), none to have "
            "each estimated, scenario='single-set' if the labelled rows were picked out of these, or same_prior=True "
            "(--same-prior) to take the one number for all."
        )
    noise = shared.label_noise
    error = error_from_sizes((Totals(*own) for own in tallies.totals.tolist()), prior)
    resampling = question.resampling
    confidence = 0.95 if resampling is None else resampling.confidence
    options = {"label_noise": noise, "confidence": confidence, "size_error": error}
    words = (
        f"class priors: implied by one label frequency, {label_frequency(totals, prior, noise):.3g}, in every segment "
        f"(overall {prior}); wrong where positives of a segment are labelled more or less often"
    )
    return ImpliedPriors(words, "implied", question, shared._replace(held="frequency"), totals, prior, options)


def refuse_beside_column(column: str, question: IntervalOptions, *, same_prior: bool) -> None:
    """A column of class priors leaves nothing else to say of them."""
    beside = [f"{name}={value!r}" for name, value in given_priors(question).items()]
    beside += ["same_prior=True"] if same_prior else []
    if beside:
        raise AssumptionError(
            f"class_prior_column={column!r} gives every segment its class prior, and {' and '.join(beside)} says "
            "something else of it: give one of them."
        )


def _is_number(value: Any) -> bool:
    return not math.isnan(real(value))


def _of(segment: Any, name: str, value: Any) -> Any:
    """A segment's own class prior, where they were given one by one."""
    if not isinstance(value, Mapping):
        return value
    if segment not in value:
        raise MissingPrior(f"{name} was given for {listed(value)} but not for the segment {segment!r}.")
    return value[segment]
