"""One evaluation per segment of the rows: countries, model versions, months."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np

from pulens.counts.tally import Tally
from pulens.doors.evaluate import Evaluation, best_threshold, evaluate
from pulens.errors import AssumptionError, InputError, PulensError, listed
from pulens.estimate import Estimate
from pulens.evidence import Evidence, gather
from pulens.inputs import read_tallies
from pulens.inputs.tallies import check_tally, read_constants
from pulens.intervals.kernels.resampling import check_resampling
from pulens.keywords import hands_on
from pulens.metrics import find, leading
from pulens.metrics.parts.measure import check_threshold
from pulens.metrics.parts.measure import estimate as estimate_metric
from pulens.metrics.parts.possible_worlds import DEFAULT_MULTIPLE, check_multiple
from pulens.notice import Notice, Severity
from pulens.priors import ClassPrior
from pulens.priors.implied import error_from_sizes, implied_prior, label_frequency
from pulens.recovery.binning_error import bin_errors
from pulens.scenario import Scenario
from pulens.whole_files import write_whole

#: What is found for every segment unless ``metrics`` says otherwise; the tables show the first three.
REPORTED = leading("segments")
#: A segment with this share of all labelled rows as good as chooses the common threshold by itself, which flatters its
#: numbers there, and its intervals allow for that. Below, the threshold counts as given: measured with 30 labelled rows
#: per segment, precision and recall were then held in 93% with four equal segments, in 95% with eight and with twenty.
CHOOSING_SHARE = 0.4
_PRIORS = ("class_prior", "unlabelled_prior", "audit")
_ASSUMED = (*_PRIORS, "label_noise", "scenario", "combine")
_INTERVALS = ("confidence", "redraws", "seed")
_READ_HERE = ("table", "where", "score", "label", "weight", "format", "delimiter", "positive", "negative", "unlabelled")

PriorSource = Literal["given", "implied", "estimated", "same for all", "audit", "counted"]


@dataclass(frozen=True)
class Segment:
    """One row of the table: an evaluation, where its class prior came from, and the numbers found for it."""

    name: Any
    evaluation: Evaluation
    prior_source: PriorSource
    estimates: Mapping[str, Estimate]
    notices: tuple[Notice, ...]

    @property
    def title(self) -> str:
        return title_of(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        evaluation = self.evaluation
        labelled, unlabelled, negative = evaluation.tally.totals
        return {
            "segment": _plain(self.name),
            "prior_source": self.prior_source,
            "class_prior": evaluation.class_prior.to_dict(),
            "scenario": str(evaluation.scenario),
            "target_population": evaluation.target_population,
            "label_noise": evaluation.evidence.label_noise,
            "counts": {
                "labelled": labelled,
                "unlabelled": unlabelled,
                "known_negative": negative,
                "distinct_scores": len(evaluation.tally),
            },
            "threshold": evaluation.threshold if np.isfinite(evaluation.threshold) else None,
            "threshold_choice": evaluation.threshold_choice,
            "estimates": {name: found.to_dict() for name, found in self.estimates.items()},
            "warnings": [str(notice) for notice in self.notices],
        }


@dataclass(frozen=True, repr=False)
class Evaluations(Mapping[Any, Evaluation]):
    """An evaluation per value of a column; ``skipped`` says why some values have none.

    ``segments`` holds the rows of the table. ``prior_words`` says where the class priors came from,
    ``threshold_words`` which threshold is used.
    """

    group_by: str
    segments: Mapping[Any, Segment]
    skipped: Mapping[Any, str]
    metrics: tuple[str, ...] = REPORTED
    prior_words: str = ""
    threshold_words: str = ""

    def __getitem__(self, segment: Any) -> Evaluation:
        return self.segments[segment].evaluation

    def __iter__(self) -> Iterator[Any]:
        return iter(self.segments)

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def says_same_prior(self) -> bool:
        """Whether one class prior was taken for every segment, which the reader must not overlook."""
        return any(segment.prior_source == "same for all" for segment in self.segments.values())

    def __str__(self) -> str:
        from pulens.report.segments import segments_text

        return segments_text(self)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON: the rows of the table; ``found[segment].to_dict()`` has all of one."""
        return {
            "group_by": self.group_by,
            "class_priors": self.prior_words,
            "threshold": self.threshold_words,
            "segments": [segment.to_dict() for segment in self.segments.values()],
            "skipped": [{"segment": _plain(segment), "reason": reason} for segment, reason in self.skipped.items()],
        }

    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The table as Markdown; written to ``path`` if given."""
        from pulens.report.segments import segments_markdown

        text = segments_markdown(self, title=title)
        if path is not None:
            write_whole(path, text)
        return text

    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page with a row per segment; written to ``path`` if given."""
        from pulens.report.segments_page import segments_page

        page = segments_page(self, title=title)
        if path is not None:
            write_whole(path, page)
        return page


@hands_on(evaluate)
def evaluate_by(
    source: Any,
    group_by: str,
    *,
    class_prior_column: str | None = None,
    same_prior: bool = False,
    threshold: float | Literal["each"] | None = None,
    metrics: Sequence[str] = REPORTED,
    worlds: float = DEFAULT_MULTIPLE,
    **options: Any,
) -> Evaluations:
    """Evaluate every segment of a table, file or database after counting all of them in one pass.

    A class prior given as one number is that of all rows, and segments differ. So each segment's own is, in this order:

    1. the one given for it: ``class_prior`` (``unlabelled_prior``, ``audit``) may be a mapping from segment to
       prior, or ``class_prior_column`` names a column that holds one number per segment;
    2. what one common label frequency implies, where the class prior of all rows is given and the rows are one sample
       (``scenario="single-set"``): see :mod:`pulens.priors.implied`;
    3. an estimate from the segment's own rows, where no class prior is given.

    In case-control data nothing says how the positives behind one class prior divide among the segments, so one number
    is refused, unless ``same_prior=True`` takes it for every segment.

    Parameters
    ----------
    source, group_by
        A table, file or database, and its column of segments.
    class_prior_column
        A column with each segment's class prior.
    same_prior
        Take the one class prior given for every segment; the answer says so in its first line.
    threshold
        Rows with ``score >= threshold`` are predicted positive. By default one for all segments, that with the best
        recovered F1 on all rows; ``"each"`` lets every segment choose its own.
    metrics
        What is found for each segment; tables show the first three. ``found[segment]`` has all the others.
    worlds, options
        The other arguments of :func:`pulens.evaluate`.

    A segment that cannot be evaluated is left out, and ``skipped`` says why.

    >>> import polars
    >>> frame = polars.DataFrame({"score": [.9, .7, .6, .2] * 2, "label": [1, 0, 1, 0] * 2, "site": [1] * 4 + [2] * 4})
    >>> found = evaluate_by(frame, "site", class_prior={1: 0.6, 2: 0.7}, scenario="single-set")
    >>> {site: round(evaluation.class_prior.value, 3) for site, evaluation in found.items()}
    {1: 0.6, 2: 0.7}
    """
    names, multiple = tuple(metrics), check_multiple(worlds)
    for name in names:
        find(name)
    assumed = {name: value for name in _ASSUMED if (value := options.pop(name, None)) is not None}
    intervals = {name: options.pop(name) for name in _INTERVALS if name in options}
    resampling = check_resampling(**{"confidence": 0.95, **intervals})
    if class_prior_column is not None:
        _refuse_beside_column(class_prior_column, assumed, same_prior)
        reading = {name: value for name, value in options.items() if name in _READ_HERE}
        assumed["class_prior"] = read_constants(source, group_by=group_by, column=class_prior_column, **reading)

    def errors_of_bins(tally: Tally) -> list[Any]:
        try:
            evidence = gather(tally, **assumed)
        except (PulensError, TypeError):  # the segment's own class prior is not settled yet
            rest = {name: value for name, value in assumed.items() if name not in _PRIORS}
            evidence = gather(tally, unlabelled_prior=0.0, **rest)
        return bin_errors(tally, evidence.assumptions)

    tallies = read_tallies(source, group_by=group_by, bin_errors=errors_of_bins, **options)
    skipped: dict[Any, str] = {}
    settled = _settle(tallies, assumed, same_prior, 0.95 if resampling is None else resampling.confidence)
    evidences: dict[Any, Evidence] = {}
    for segment, tally in tallies.items():
        try:
            check_tally(tally)
            evidences[segment] = settled.evidence(segment, tally)
        except _MissingPrior:
            raise
        except PulensError as error:
            skipped[segment] = str(error)
            if settled.kind == "implied" and not tally.totals.labelled:
                skipped[segment] += (
                    " One label frequency takes this segment to hold no positive at all: if nobody labels here, leave "
                    "its rows out, or the class priors of all others are too high."
                )
    own = isinstance(threshold, str)
    if isinstance(threshold, str) and threshold != "each":
        raise PulensError(f"threshold must be a number, 'each' (one per segment) or None, got {threshold!r}.")
    common: float | None = None
    if evidences and not own:
        common = _best_of_all(evidences) if threshold is None else check_threshold(threshold)
    labelled = sum(evidence.tally.totals.labelled for evidence in evidences.values())
    found: dict[Any, Segment] = {}
    for segment, evidence in evidences.items():
        try:
            if common is None:
                evaluation = Evaluation(
                    evidence, best_threshold(evidence), "best f1 on these rows", resampling, multiple
                )
            else:
                chose = threshold is None and evidence.tally.totals.labelled >= CHOOSING_SHARE * labelled
                choice = "best f1 on all rows, of which these are a large part" if chose else "given"
                evaluation = Evaluation(evidence, common, choice, resampling, multiple)
            found[segment] = _segment(segment, evaluation, settled.source(evidence.class_prior), names)
        except PulensError as error:
            skipped[segment] = str(error)
    if not found:
        raise InputError(
            f"none of the {len(skipped)} segments of {group_by!r} can be evaluated; the first: "
            f"{next(iter(skipped.values()), 'there are no rows')}"
        )
    words = "each segment's own, the best f1 on its rows" if common is None else f"{common:.6g}"
    if common is not None and threshold is None:
        words += ", the best f1 on the rows of all segments together"
    skipped = {segment: skipped[segment] for segment in tallies if segment in skipped}
    return Evaluations(group_by, found, skipped, names, settled.words, words)


class _MissingPrior(InputError):
    """A mapping of class priors that leaves out a segment: the caller's mistake, not the segment's."""


class _Settled(NamedTuple):
    """How segments get their class prior: in words, and the evidence of a segment with it."""

    words: str
    evidence: Callable[[Any, Tally], Evidence]
    kind: PriorSource

    def source(self, prior: ClassPrior) -> PriorSource:
        if prior.method == "counted":
            return "counted"
        if self.kind == "given" and prior.method.startswith("estimated"):
            return "estimated"
        return "audit" if self.kind == "given" and prior.method.startswith("audit") else self.kind


def _settle(tallies: Mapping[Any, Tally], assumed: dict[str, Any], same_prior: bool, confidence: float) -> _Settled:
    """Choose among the roads to a class prior per segment."""
    given = {name: assumed[name] for name in _PRIORS if name in assumed}
    rest = {name: value for name, value in assumed.items() if name not in _PRIORS}
    shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
    by_segment = any(isinstance(value, Mapping) for value in given.values())
    named = set(given) == {"class_prior"} and isinstance(given["class_prior"], str)
    if same_prior and (not given or named or by_segment or "audit" in given):
        raise AssumptionError(
            "same_prior takes one class prior for every segment, so it needs class_prior= (or unlabelled_prior=) as "
            f"one number or range, got {shown or 'none'}."
        )
    if by_segment:

        def of_mapping(segment: Any, tally: Tally) -> Evidence:
            return gather(tally, **{name: _of(segment, name, value) for name, value in given.items()}, **rest)

        return _Settled("class priors: given for each segment", of_mapping, "given")

    def alone(_: Any, tally: Tally) -> Evidence:
        return gather(tally, **given, **rest)

    if not given or named:
        method = given.get("class_prior", "auto")
        return _Settled(
            f"class priors: estimated in each segment from its own rows (method {method})", alone, "estimated"
        )
    if same_prior:
        words = (
            f"ONE CLASS PRIOR FOR ALL SEGMENTS, as asked ({shown}): where segments differ in their share of positives, "
            "precision and all that rests on the class prior are wrong"
        )
        return _Settled(words, alone, "same for all")
    if len(tallies) == 1:
        return _Settled("class prior: that of all rows, which are one segment", alone, "given")
    return _implied(tallies, alone(None, _together(tallies.values())), shown, rest, confidence)


def _implied(
    tallies: Mapping[Any, Tally], whole: Evidence, shown: str, rest: dict[str, Any], confidence: float
) -> _Settled:
    if whole.scenario is not Scenario.SINGLE_SET:
        raise AssumptionError(
            f"{shown} is that of all rows, and in {whole.scenario} data nothing says how its positives divide among "
            "segments. Give one for each (a mapping, --class-prior-column, --segment-prior NAME=SHARE), none to have "
            "each estimated, scenario='single-set' if the labelled rows were picked out of these, or same_prior=True "
            "(--same-prior) to take the one number for all."
        )
    prior, totals, noise = whole.class_prior, whole.tally.totals, whole.label_noise
    error = error_from_sizes((tally.totals for tally in tallies.values()), prior)

    def evidence(_: Any, tally: Tally) -> Evidence:
        if tally.totals.unlabelled == 0:  # every row's class is known
            return gather(tally, unlabelled_prior=0.0, **rest)
        found = implied_prior(tally, totals, prior, label_noise=noise, confidence=confidence, size_error=error)
        return Evidence(tally, found, noise, whole.scenario, "frequency")

    words = (
        f"class priors: implied by one label frequency, {label_frequency(totals, prior, noise):.3g}, in every segment "
        f"({prior} of all rows); they are wrong where positives of a segment are labelled more or less often"
    )
    return _Settled(words, evidence, "implied")


def _together(tallies: Any) -> Tally:
    """All segments as one tally, without adding them up one by one."""
    parts = list(tallies)
    counts = [part.increments() for part in parts]
    labelled, unlabelled, negative = (np.concatenate([count[kind] for count in counts]) for kind in range(3))
    highest = None if all(part.binning is None for part in parts) else np.concatenate([part.highest for part in parts])
    thresholds = np.concatenate([part.thresholds for part in parts])
    return Tally.from_increments(thresholds, labelled, unlabelled, negative if negative.any() else None, highest)


def _best_of_all(evidences: Mapping[Any, Evidence]) -> float:
    """The threshold with the best F1 on the rows of all segments, with the positives that they hold together."""
    tally, first = _together(found.tally for found in evidences.values()), next(iter(evidences.values()))
    positives = sum(found.class_prior.unlabelled * found.tally.totals.unlabelled for found in evidences.values())
    totals = tally.totals
    share = positives / totals.unlabelled if totals.unlabelled else 0.0
    whole = Evidence(tally, ClassPrior(share, share, "of all segments"), first.label_noise, first.scenario)
    return best_threshold(whole)


def _segment(segment: Any, evaluation: Evaluation, source: PriorSource, metrics: tuple[str, ...]) -> Segment:
    """The row of the table. What is drawn on the way is let go: the evaluation that is kept holds counts alone."""
    resampling = evaluation.resampling
    quick = replace(evaluation, resampling=None if resampling is None else replace(resampling, among_many=True))
    options: Any = {"threshold": quick.threshold, "doubts": quick._doubts, "contradiction": quick._contradiction}
    estimates = {
        name: quick.estimates[name] if facts.listed else estimate_metric(name, facts, quick.evidence, **options)
        for name, facts in ((name, find(name)) for name in metrics)
    }
    notices = tuple(notice for notice in quick.notices if notice.severity > Severity.NOTE)
    return Segment(segment, evaluation, source, estimates, notices)


def _of(segment: Any, name: str, value: Any) -> Any:
    """A segment's own class prior, where they were given one by one."""
    if not isinstance(value, Mapping):
        return value
    if segment not in value:
        raise _MissingPrior(f"{name} was given for {listed(value)} but not for the segment {segment!r}.")
    return value[segment]


def _refuse_beside_column(column: str, assumed: dict[str, Any], same_prior: bool) -> None:
    beside = [f"{name}={assumed[name]!r}" for name in _PRIORS if name in assumed]
    beside += ["same_prior=True"] if same_prior else []
    if beside:
        raise AssumptionError(
            f"class_prior_column={column!r} gives every segment its class prior, and {' and '.join(beside)} says "
            "something else of it: give one of them."
        )


def title_of(segment: Any) -> str:
    """A segment as tables name it."""
    return "(null)" if segment is None else str(segment)


def _plain(segment: Any) -> Any:
    return segment if isinstance(segment, str | int | float | bool | None) else str(segment)
