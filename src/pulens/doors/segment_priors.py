"""Where each segment's class prior comes from: given for it, implied by one label frequency, estimated, or one for all.

See :func:`pulens.evaluate_by` for the order in which they are chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally, Totals
from pulens.doors.many_segments.recovered import World
from pulens.errors import AssumptionError, InputError, PulensError, listed
from pulens.evidence import Evidence, Question
from pulens.inputs.tallies import check_tally
from pulens.metrics.parts.possible_worlds import within_what_is_possible
from pulens.priors import ClassPrior
from pulens.priors import given as given_prior
from pulens.priors.implied import error_from_sizes, implied_by_totals, implied_prior, label_frequency
from pulens.scalars import real
from pulens.scenario import Scenario

PriorSource = Literal["given", "implied", "estimated", "same for all", "audit", "counted"]

_PRIORS = ("class_prior", "unlabelled_prior", "audit")


class MissingPrior(InputError):
    """A mapping of class priors that leaves out a segment: the caller's mistake, not the segment's."""


@dataclass(frozen=True)
class SegmentPriors:
    """How segments get their class prior: in words, and the evidence of a segment with it."""

    words: str
    kind: PriorSource
    question: Question
    world: World

    def evidence(self, segment: Any, tally: Tally) -> Evidence:
        """What a segment's counts show with its class prior."""
        own = {name: _of(segment, name, value) for name, value in given_priors(self.question).items()}
        return within_what_is_possible(replace(self.question, **own).settle(tally))

    def prior(self, segment: Any, totals: Totals) -> ClassPrior | None:
        """The same class prior from numbers of rows alone, where they decide."""
        own = {name: _of(segment, name, value) for name, value in given_priors(self.question).items()}
        if len(own) != 1 or "audit" in own or self.question.combine or not all(map(_is_number, own.values())):
            return None
        return given_prior(totals, self.world.scenario, **own, label_noise=self.world.label_noise)

    def source(self, prior: ClassPrior) -> PriorSource:
        if prior.method == "counted":
            return "counted"
        if self.kind == "given" and prior.method.startswith("estimated"):
            return "estimated"
        return "audit" if self.kind == "given" and prior.method.startswith("audit") else self.kind

    def at_once(self, tallies: Tallies) -> list[ClassPrior | None]:
        """Class priors that numbers of rows alone decide; ``None`` for a segment that needs a closer look."""
        found: list[ClassPrior | None] = []
        for segment, totals in zip(tallies, tallies.totals.tolist(), strict=True):
            prior = None
            if totals[0] and totals[1]:
                try:
                    prior = self.prior(segment, Totals(*totals))
                except PulensError:
                    prior = None  # said below, where the segment is looked at by itself
            found.append(prior)
        return found

    def one_by_one(
        self, tallies: Tallies, priors: Sequence[ClassPrior | None]
    ) -> tuple[dict[Any, Evidence], dict[Any, str]]:
        """The evidence of segments without a class prior yet, and why some have none."""
        evidences: dict[Any, Evidence] = {}
        skipped: dict[Any, str] = {}
        for place, segment in enumerate(tallies):
            if priors[place] is not None:
                continue
            tally = tallies.at(place)
            try:
                check_tally(tally)
                evidences[segment] = self.evidence(segment, tally)
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

    def evidence(self, segment: Any, tally: Tally) -> Evidence:
        if tally.totals.unlabelled == 0:  # every row's class is known
            return without_prior(self.question).settle(tally)
        found = implied_prior(tally, self.totals, self.whole, **self.options)
        return Evidence(tally, found, self.world.label_noise, self.world.scenario, "frequency")

    def prior(self, segment: Any, totals: Totals) -> ClassPrior | None:
        if totals not in self.known:
            self.known[totals] = implied_by_totals(totals, self.totals, self.whole, **self.options)
        found = self.known[totals]
        return found if found.implied is not None else None


def given_priors(question: Question) -> dict[str, Any]:
    """What was said of class priors, by name."""
    return {name: value for name in _PRIORS if (value := getattr(question, name)) is not None}


def without_prior(question: Question) -> Question:
    """The same question where no unlabelled row is positive: for rows whose class is known, or not asked for yet."""
    return replace(question, class_prior=None, unlabelled_prior=0.0, audit=None)


def settle(tallies: Tallies, question: Question, *, same_prior: bool) -> SegmentPriors:
    """Choose among the roads to a class prior per segment."""
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
    world = World(question.label_noise, Scenario(question.scenario), held)
    if by_segment:
        return SegmentPriors("class priors: given for each segment", "given", question, world)
    if estimated:
        method = given.get("class_prior", "auto")
        words = f"class priors: estimated in each segment from its own rows (method {method})"
        return SegmentPriors(words, "estimated", question, world)
    if same_prior:
        words = (
            f"ONE CLASS PRIOR FOR ALL SEGMENTS, as asked ({shown}): where segments differ in their share of positives, "
            "precision and all that rests on the class prior are wrong"
        )
        return SegmentPriors(words, "same for all", question, world)
    alone = SegmentPriors("class prior: that of all rows, which are one segment", "given", question, world)
    return alone if len(tallies) == 1 else _implied(tallies, alone, shown)


def _implied(tallies: Tallies, alone: SegmentPriors, shown: str) -> SegmentPriors:
    """From the class prior of all rows to that of each segment."""
    question, world = alone.question, alone.world
    totals = Totals(*tallies.totals.sum(axis=0).tolist())
    prior = _of_all_rows(tallies, totals, alone)
    if world.scenario is not Scenario.SINGLE_SET:
        raise AssumptionError(
            f"{shown} is that of all rows, and in {world.scenario} data nothing says how its positives divide among "
            "segments. Give one for each (a mapping, --class-prior-column, --segment-prior NAME=SHARE), none to have "
            "each estimated, scenario='single-set' if the labelled rows were picked out of these, or same_prior=True "
            "(--same-prior) to take the one number for all."
        )
    noise = world.label_noise
    error = error_from_sizes((Totals(*own) for own in tallies.totals.tolist()), prior)
    resampling = question.resampling
    confidence = 0.95 if resampling is None else resampling.confidence
    options = {"label_noise": noise, "confidence": confidence, "size_error": error}
    words = (
        f"class priors: implied by one label frequency, {label_frequency(totals, prior, noise):.3g}, in every segment "
        f"({prior} of all rows); they are wrong where positives of a segment are labelled more or less often"
    )
    return ImpliedPriors(words, "implied", question, world._replace(held="frequency"), totals, prior, options)


def _of_all_rows(tallies: Tallies, totals: Totals, alone: SegmentPriors) -> ClassPrior:
    prior = alone.prior(None, totals) if totals.labelled and totals.unlabelled else None
    if prior is not None:
        return prior
    whole = tallies.whole()
    check_tally(whole)
    return alone.evidence(None, whole).class_prior


def refuse_beside_column(column: str, question: Question, *, same_prior: bool) -> None:
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
