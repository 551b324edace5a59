"""One evaluation per segment of the rows: countries, model versions, months."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from inspect import signature
from operator import add
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pulens.answer import Answer, ShownAsText, written
from pulens.counts.buckets import BucketTally
from pulens.counts.tallies import Tallies
from pulens.counts.tally import Tally
from pulens.errors import InputError, PulensError, UnknownNameError, listed, shown
from pulens.estimate import Estimate
from pulens.evaluation.clustering import SegmentClusters
from pulens.evaluation.evaluate import Evaluation, best_threshold, evaluate, under_labels
from pulens.evidence import ASSUMED, Design, Evidence, IntervalOptions
from pulens.evidence.combinations import refuse_together
from pulens.groups.batch import covers, evaluate_batch
from pulens.groups.batch_answers import BatchAnswers
from pulens.groups.common_threshold import common_threshold
from pulens.groups.grouped_rows import GroupedRows, plain_of
from pulens.groups.grouped_rows import title_of as title_of
from pulens.groups.segment_priors import PriorSource, SegmentPriors, refuse_beside_column, settle, without_prior
from pulens.inference.kernels.resampling import Resampling
from pulens.inputs import read_counts
from pulens.inputs.frames import keeps_library
from pulens.inputs.reading import said
from pulens.inputs.tallies import read_constants
from pulens.keywords import forwards_keywords, names_of, typed
from pulens.metrics import among, find, leading
from pulens.metrics.parts.measure import check_threshold
from pulens.metrics.parts.measure import estimate as estimate_metric
from pulens.metrics.parts.possible_worlds import DEFAULT_MULTIPLE, check_multiple
from pulens.metrics.parts.withholding import withhold
from pulens.notice import Notice
from pulens.priors import ClassPrior, population_prior
from pulens.recovery.binning_error import bin_errors
from pulens.scalars import is_among
from pulens.scenario import Scenario
from pulens.selection import Favouring, Practice, read_under, said_of_labels
from pulens.types import Clusters, Column, LabelValues, RowsLike

if TYPE_CHECKING:
    from pulens.groups.gaps import Gaps
    from pulens.groups.stratified_segments import StratifiedSegments
    from pulens.report.segments_shown import About

#: What is found for every segment unless ``metrics`` says otherwise; the tables show the first three.
REPORTED = leading("segments")
#: A segment with this share of all labelled rows as good as chooses the common threshold by itself, which flatters its
#: numbers there, and its intervals allow for that. Below, the threshold counts as given: measured with 30 labelled rows
#: per segment, precision and recall were then held in 93% with four equal segments, in 95% with eight and with twenty.
CHOOSING_SHARE = 0.4
KEPT = 1_000  # segments whose evaluations are kept once they were asked for
_INTERVALS = ("confidence", "redraws", "seed")
_READ_HERE = (
    *("table", "where", "score", "label", "weight", "format", "delimiter", "decimal", "thousands", "encoding", "sheet"),
    *("positive", "negative", "unlabelled"),
)


@dataclass(frozen=True)
class Segment(Answer):
    """One row of the table: an evaluation, where its class prior came from, and the numbers found for it."""

    _keys = (
        *("segment=_own", "prior_source", "class_prior=evaluation.class_prior", "scenario=evaluation.scenario"),
        *("target_population=evaluation.target_population", "label_noise=evaluation.evidence.label_noise"),
        *("counts=evaluation._counts", "threshold=evaluation.threshold"),
        *("threshold_choice=evaluation.threshold_choice", "estimates", "warnings=notices"),
    )

    name: Any
    evaluation: Evaluation
    prior_source: PriorSource
    estimates: Mapping[str, Estimate]
    notices: tuple[Notice, ...]

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def _own(self) -> Any:
        return plain_of(self.name)


class Segments(Mapping[Any, Segment]):
    """The rows of the table. Those that were found together are made when they are asked for, and some are kept."""

    def __init__(self, found: Mapping[Any, int | Segment], answers: BatchAnswers | None, source: PriorSource) -> None:
        self._found, self._answers, self._source = found, answers, source
        self._made: dict[Any, Segment] = {}

    def __getitem__(self, segment: Any) -> Segment:
        if not isinstance(segment, Hashable) or segment not in self._found:
            raise UnknownNameError(f"there is no segment {shown(segment)}; the segments are {listed(self._found)}.")
        entry = self._made.get(segment, self._found[segment])
        if isinstance(entry, Segment):
            return entry
        made = self._make(segment, entry)
        if len(self._made) < KEPT:
            self._made[segment] = made
        return made

    def _make(self, segment: Any, row: int) -> Segment:
        assert self._answers is not None
        evaluation = self._answers.evaluation(row)
        evidence = evaluation.evidence
        estimates, notices = self._answers.estimates(row, evidence), self._answers.notices(row, evidence)
        return Segment(segment, evaluation, self._source, estimates, notices)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def column(self, metric: str) -> NDArray[np.float64]:
        """A metric's value in every segment; nan where it is undefined."""
        result = self._found.values()
        if self._answers is None:
            return np.array([segment.estimates[metric].value for segment in result if isinstance(segment, Segment)])
        values = self._answers.result.columns[metric].value
        return np.array([values[own] if isinstance(own, int) else own.estimates[metric].value for own in result])

    def alarms(self) -> Iterator[tuple[Any, tuple[Notice, ...]]]:
        """The warnings of every segment, without the numbers beside them."""
        for segment, entry in self._found.items():
            if isinstance(entry, Segment):
                yield segment, entry.notices
            elif self._answers is not None:
                yield segment, self._answers.notices(entry, self._answers.evaluation(entry).evidence)

    def totals(self) -> tuple[float, float, float]:
        """Rows of each kind in all segments."""
        kept = np.zeros(3)
        for entry in self._found.values():
            if isinstance(entry, Segment):
                kept += entry.evaluation.tally.totals
        if self._answers is not None:
            kept += self._answers.tallies.totals[self._answers.result.indices].sum(axis=0)
        return float(kept[0]), float(kept[1]), float(kept[2])

    def has_source(self, source: PriorSource) -> bool:
        """Whether some segment's class prior came about so."""
        one_by_one = (result for result in self._found.values() if isinstance(result, Segment))
        return (self._answers is not None and self._source == source) or any(
            segment.prior_source == source for segment in one_by_one
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_made": {}}


@dataclass(frozen=True, repr=False)
class Evaluations(Mapping[Any, Evaluation], ShownAsText):
    """An evaluation per value of a column; ``skipped`` says why some values have none.

    ``segments`` holds the rows of the table. ``prior_words`` says where the class priors came from,
    ``threshold_words`` which threshold is used.
    """

    #: What completion offers.
    _offered = (
        *("gaps", "get", "group_by", "items", "keys", "metrics", "plot", "segments", "skipped", "to_dict"),
        *("to_frame", "to_html", "to_markdown", "values"),
    )

    group_by: str
    segments: Segments
    skipped: Mapping[Any, str]
    metrics: tuple[str, ...] = REPORTED
    prior_words: str = ""
    threshold_words: str = ""
    _rows: GroupedRows | None = None  # the counts of all values, skipped or not
    uneven: Practice | Favouring | None = None  # how labels favour easy positives
    within: str = ""  # the columns within which labels are random, where they are not so in a whole segment

    @property
    def labelling(self) -> str:
        """How positives are taken to have come by their labels, in every segment."""
        if self.uneven is not None:
            return self.uneven.name
        return f"random within {self.within}" if self.within else "random"

    def __getitem__(self, segment: Any) -> Evaluation:
        return self.segments[segment].evaluation

    def __iter__(self) -> Iterator[Any]:
        return iter(self.segments)

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def says_same_prior(self) -> bool:
        """Whether one class prior was taken for every segment, which the reader must not overlook."""
        return self.segments.has_source("same for all")

    @cached_property
    def warned(self) -> list[About]:
        """Each kind of warning once, worst first, with how many segments it is about and the first of them."""
        from pulens.report.segments_shown import warnings_of

        return warnings_of(self)

    def __str__(self) -> str:
        from pulens.report.segments import segments_text

        return segments_text(self)

    def _repr_html_(self) -> str:
        from pulens.report.segments import segments_html

        return segments_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON: the rows of the table; ``found[segment].to_dict()`` has all of one."""
        segments = [segment.to_dict() for segment in self.segments.values()]
        return {**self.heading(), "segments": segments, "skipped": self.reasons()}

    def heading(self) -> dict[str, Any]:
        """What JSON says of all segments."""
        said: dict[str, Any] = {"group_by": self.group_by, "class_priors": self.prior_words}
        said["threshold"] = self.threshold_words
        said["labelling"] = self.labelling
        return said if self.clusters is None else {**said, "clusters": self.clusters.to_dict()}

    @cached_property
    def clusters(self) -> SegmentClusters | None:
        """Of rows that belong together: how many clusters, and what they cost; otherwise ``None``."""
        return None if self._rows is None or not self._rows.buckets else SegmentClusters.of(self, self._rows.buckets)

    def reasons(self) -> list[dict[str, Any]]:
        """Why some segments were left out, as JSON has it."""
        return [{"segment": plain_of(segment), "reason": reason} for segment, reason in self.skipped.items()]

    def gaps(self, metric: str = "recall", *, confidence: float = 0.95, columns: Sequence[str] = ()) -> Gaps:
        r"""How far groups are apart in a metric, with intervals that hold for all pairs at once.

        Recall by group and its gaps (equal opportunity) need no class prior: labels must be a random draw of the
        positives within each group, and may be rarer in some groups than in others. Groups have different labelled
        rows, so their recalls are independent, with standard errors :math:`s_g`; :math:`c` is the quantile of
        :math:`\max_{g<k} |s_g Z_g - s_k Z_k|/\sqrt{s_g^2 + s_k^2}` (Tukey and Kramer, without their approximation), and
        each difference has the interval of Zou and Donner (2008) from Jeffreys ends at the tail :math:`\Phi(-c)`. With
        ``cluster=`` groups may share clusters: :math:`Z` has the correlation that leaving out one bucket of clusters
        after the other shows, and ends are Student's (:mod:`pulens.groups.clustered_rates`). Other
        metrics have their group's own interval in place of Jeffreys ends. Groups with fewer than 5 labelled rows are
        shown, not tested.

        Parameters
        ----------
        metric
            Any metric; ``needs_prior`` of the answer says whether its gaps rest on the groups' class priors.
        confidence
            How sure all intervals together shall be.
        columns
            Where this column is one of several that were looked at, all of them: intervals then hold for all.

        >>> import polars
        >>> rows = {"score": [3, 1] * 40, "label": [1, 0] * 40, "site": ["a"] * 60 + ["b"] * 20}
        >>> frame = polars.DataFrame(rows).with_columns(score=polars.Series([3, 1] * 30 + [1, 1] * 10))
        >>> found = evaluate_by(frame, "site", class_prior={"a": 0.6, "b": 0.6}, threshold=2, labelling="random")
        >>> print(found.gaps("recall").verdict)
        a finds 100%, b 0%: 77 to 100 points apart (all pairs considered).
        """
        from pulens.groups.compare_groups import gaps_of_rows

        if self.within:
            refuse_together("cells-gaps")
        if self._rows is None:
            raise PulensError("these evaluations hold no counts of rows: gaps are those of what evaluate_by returns.")
        return gaps_of_rows(self._rows, metric, confidence=confidence, columns=columns, found=self)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per segment as a table of Polars, pandas or PyArrow, the library of the rows unless one is named.

        Each metric has three columns: its value (nan where undefined), ``_low`` and ``_high``.

        >>> import polars
        >>> rows = {"score": [.9, .7, .6, .2] * 2, "label": [1, 0, 1, 0] * 2, "site": [1] * 4 + [2] * 4}
        >>> found = evaluate_by(polars.DataFrame(rows), "site", class_prior={1: 0.6, 2: 0.7})
        >>> found.to_frame()["class_prior"].to_list()
        [0.6, 0.7]
        """
        from pulens.inputs.frames import frame_of

        return frame_of(_columns(self), backend, self)

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """A metric of every segment with its interval, the lowest first; returns the axes."""
        from pulens.plots import draw_segments

        return draw_segments(self, None if metric is None else among(self.metrics, metric), ax)

    @typed
    def to_markdown(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """The table as Markdown; written to ``path`` if given."""
        from pulens.report.segments import segments_markdown

        return written(path, segments_markdown(self, title=title))

    @typed
    def to_html(self, path: str | PathLike[str] | None = None, *, title: str | None = None) -> str:
        """One self-contained page with a row per segment; written to ``path`` if given."""
        from pulens.report.segments_page import segments_page

        return written(path, segments_page(self, title=title))


@keeps_library
@forwards_keywords(evaluate)
def evaluate_by(
    source: RowsLike,
    group_by: str,
    *,
    score: Column | None = None,
    label: Column | None = None,
    positive: LabelValues | None = None,
    negative: LabelValues | None = None,
    unlabelled: LabelValues | None = None,
    cluster: Clusters | None = None,
    class_prior_column: str | None = None,
    same_prior: bool = False,
    threshold: float | Literal["each"] | None = None,
    metrics: Sequence[str] = REPORTED,
    worlds: float = DEFAULT_MULTIPLE,
    labelling: str | float | None = None,
    progress: Callable[[int, int], None] | None = None,
    one_by_one: bool = False,
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

    With ``labelled_within`` every segment is evaluated within its own cells. A class prior given for segments is then a
    number or a range, which is divided among the segment's cells, or a mapping from cell to one; where none is given
    each cell's is estimated.

    Parameters
    ----------
    source, group_by
        A table, file or database, and its column of segments.
    score, label
        Columns of scores and labels, where the first argument is a table, file or database; ``"score"`` and
        ``"label"`` unless given.
    positive, negative, unlabelled
        Label values that mean labelled positive, known negative and unlabelled, each a value or a list.
    cluster
        Column of clusters whose rows are alike (a patient, a customer); intervals allow for it. An array beside arrays.
    class_prior_column
        A column with each segment's class prior.
    same_prior
        Take the one class prior given for every segment; the answer says so in its first line.
    threshold
        Rows with ``score >= threshold`` are predicted positive. By default one for all segments, that with the best
        recovered F1 on all rows; ``"each"`` lets every segment choose its own.
    metrics
        What is found for each segment; tables show the first three. ``found[segment]`` has all the others.
    progress
        Is told how many segments are done, and how many there are.
    one_by_one
        Evaluate one segment after another instead of all together: the same numbers, for checks.
    labelling
        As in :func:`pulens.evaluate`, in every segment by itself: ``"practice"`` (the default, but with
        ``label_noise``), ``"random"`` or a factor.
    worlds, options
        The other arguments of :func:`pulens.evaluate`.

    A segment that cannot be evaluated is left out, and ``skipped`` says why.

    Returns
    -------
    Evaluations
        A mapping from each segment to its evaluation; ``print`` shows the verdict and a table.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"score": [.9, .7, .6, .2] * 2, "label": [1, 0, 1, 0] * 2, "site": [1] * 4 + [2] * 4})
    >>> found = evaluate_by(frame, "site", class_prior={1: 0.6, 2: 0.7}, scenario="single-set")
    >>> {site: round(evaluation.class_prior.value, 3) for site, evaluation in found.items()}
    {1: 0.6, 2: 0.7}
    """
    options |= said(
        score=score, label=label, positive=positive, negative=negative, unlabelled=unlabelled, cluster=cluster
    )
    design = Design.among(options, {"group_by": group_by})
    for name in ("labelled_within", "split"):
        options.pop(name, None)
    names, multiple = names_of("metrics", metrics), check_multiple(worlds)
    for name in names:
        find(name)
    question = _question(options)
    if class_prior_column is not None:
        refuse_beside_column(class_prior_column, question, same_prior=same_prior)
        reading = {name: value for name, value in options.items() if name in _READ_HERE}
        column: Any = read_constants(source, group_by=group_by, column=class_prior_column, **reading)
        question = replace(question, class_prior=column)
    counted, buckets = _count_groups(source, group_by, question, options)
    tallies = Tallies.of(counted)
    if design.strata is not None:
        from pulens.groups.stratified_segments import StratifiedSegments

        said_of_labels(labelling, design.refused_beside("practice"))
        asked: Any = {**options, "bin_errors": _errors_of_bins(question)}
        stratified = StratifiedSegments.read(source, tallies, question, design, asked, same_prior=same_prior)
        return _within_strata(stratified, design, question, threshold, names, multiple, _Told(progress, len(tallies)))
    uneven = said_of_labels(labelling, design.refused_beside("practice"))

    def as_used(evidence: Evidence) -> ClassPrior:
        return under_labels(evidence, uneven, None, multiple).class_prior

    resolved = settle(tallies, question, same_prior=same_prior, buckets=buckets, as_used=as_used)
    at_once = uneven is None and covers(names)  # arrays over segments are known for random labels
    together = not is_among(threshold, ("each",)) and at_once and not one_by_one and not buckets
    known = _Known.of(tallies, resolved, buckets, as_used, together=together)
    wanted = _Wanted(names, question.resampling, multiple, *_chosen_threshold(known, threshold, uneven), uneven)
    heard = _Told(progress, int(known.kept.sum()))
    answers = None if buckets or uneven is not None else _found_together(known, wanted, heard)
    result = _found_alone(known, wanted, answers, heard)
    if not result:
        raise InputError(
            f"none of the {len(known.skipped)} segments of {group_by!r} can be evaluated; the first: "
            f"{next(iter(known.skipped.values()), 'there are no rows')}"
        )
    skipped = {segment: known.skipped[segment] for segment in tallies if segment in known.skipped}
    words = _threshold_words(wanted.common, was_chosen=threshold is None)
    shared = resolved.shared
    rows = GroupedRows(
        group_by, tallies, wanted.common, words, shared.scenario, shared.label_noise, threshold is None, buckets
    )
    segments = Segments(result, answers, resolved.kind)
    return Evaluations(group_by, segments, skipped, names, resolved.words, words, rows, uneven)


def _within_strata(
    segments: StratifiedSegments,
    design: Design,
    question: IntervalOptions,
    threshold: Any,
    names: tuple[str, ...],
    multiple: float,
    told: _Told,
) -> Evaluations:
    """An evaluation of every segment, whose labels are random within strata."""
    from pulens.groups.stratified_segments import source_of

    each = is_among(threshold, ("each",))
    common = None if each or not segments.strata else segments.best_threshold() if threshold is None else threshold
    result: dict[Any, int | Segment] = {}
    for segment, rows in segments.gathered():
        draft = replace(under_labels(rows.evidence, None, question.resampling, multiple), beside=rows.notices)
        at = draft.best_threshold() if common is None else check_threshold(common)
        evaluation = draft.standing_at(at, "best F1 on these rows" if common is None else "given")
        if rows.pooled is not None:
            evaluation = replace(evaluation, pooled=replace(evaluation, read=rows.pooled, beside=()))
        result[segment] = _segment(segment, evaluation, source_of(evaluation), names)
        told.more(1)
    if not result:
        raise InputError(
            f"none of the {len(segments.skipped)} segments of {design.segments!r} can be evaluated; the first: "
            f"{next(iter(segments.skipped.values()), 'there are no rows')}"
        )
    words = "class priors: of the cells of each segment"
    at_words = _threshold_words(common, was_chosen=threshold is None)
    table = Segments(result, None, "given")
    within = next(iter(segments.strata.values())).cells.words
    return Evaluations(design.segments, table, segments.skipped, names, words, at_words, within=within)


def read_groups(source: Any, group_by: str, *, threshold: float, **options: Any) -> GroupedRows:
    """The rows of every group at a threshold, without a class prior: what gaps in recall rest on."""
    common, question = check_threshold(threshold), _question(options)
    for name in ("class_prior_column", "same_prior", "metrics", "worlds", "progress", "one_by_one", "labelling"):
        options.pop(name, None)
    counted, buckets = _count_groups(source, group_by, question, options)
    words, scenario = _threshold_words(common, was_chosen=False), Scenario(question.scenario)
    return GroupedRows(group_by, Tallies.of(counted), common, words, scenario, question.label_noise, buckets=buckets)


def _count_groups(
    source: Any, group_by: str, question: IntervalOptions, options: Mapping[str, Any]
) -> tuple[Mapping[Any, Tally], dict[Any, BucketTally]]:
    """The rows of every group, and by bucket of clusters where a column says which of them belong together."""
    counted = read_counts(source, **{**options, "group_by": group_by, "bin_errors": _errors_of_bins(question)})
    if options.get("cluster") is None:
        return counted, {}
    return {group: one.tally for group, one in counted.items()}, counted


def _metric_columns(metric: str, estimates: Sequence[Estimate]) -> dict[str, list[Any]]:
    """A metric's values, and the ends of its intervals; nan where there are none."""
    ends = [
        (np.nan, np.nan) if each.interval is None else (each.interval.low, each.interval.high) for each in estimates
    ]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    return {metric: [each.value for each in estimates], f"{metric}_low": lows, f"{metric}_high": highs}


def _columns(result: Evaluations) -> dict[str, list[Any]]:
    """The table as columns."""
    segments = list(result.segments.values())
    totals = [segment.evaluation.tally.totals for segment in segments]
    names = [plain_of(segment.name) for segment in segments]
    if len({type(name) for name in names if name is not None}) > 1:  # a column holds one type
        names = [title_of(name) for name in names]
    columns: dict[str, list[Any]] = {
        "labelled": [own.labelled for own in totals],
        "unlabelled": [own.unlabelled for own in totals],
        "class_prior": [segment.evaluation.class_prior.value for segment in segments],
        "prior_source": [segment.prior_source for segment in segments],
    }
    for metric in result.metrics:
        columns |= _metric_columns(metric, [segment.estimates[metric] for segment in segments])
    return {"segment" if result.group_by in columns else result.group_by: names, **columns}


def _question(options: dict[str, Any]) -> IntervalOptions:
    """What is assumed and how sure intervals shall be, taken out of the keyword arguments."""
    assumed = {name: value for name in ASSUMED if (value := options.pop(name, None)) is not None}
    intervals = {name: options.pop(name) for name in _INTERVALS if name in options}
    return IntervalOptions(**{"confidence": 0.95, **assumed, **intervals})


def _errors_of_bins(question: IntervalOptions) -> Callable[[Tally], list[Any]]:
    def errors(tally: Tally) -> list[Any]:
        try:
            evidence = question.settle(tally)
        except (PulensError, TypeError):  # the segment's own class prior is not settled yet
            evidence = without_prior(question).settle(tally)
        return bin_errors(tally, evidence.assumptions)

    return errors


@dataclass(frozen=True)
class _Known:
    """Counted segments with a class prior or evidence each, or the reason why there is none."""

    tallies: Tallies
    settled: SegmentPriors
    as_used: Callable[[Evidence], ClassPrior]
    priors: Sequence[ClassPrior | None]
    evidences: dict[Any, Evidence]
    skipped: dict[Any, str]
    kept: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        tallies: Tallies,
        resolved: SegmentPriors,
        buckets: Mapping[Any, BucketTally],
        as_used: Callable[[Evidence], ClassPrior],
        *,
        together: bool,
    ) -> _Known:
        priors = resolved.at_once(tallies) if together else [None] * len(tallies)
        evidences, skipped = resolved.one_by_one(tallies, priors, buckets)
        kept = np.array([segment not in skipped for segment in tallies], bool)
        return cls(tallies, resolved, as_used, priors, evidences, skipped, kept)


@dataclass(frozen=True)
class _Wanted:
    """What is found for every segment; ``chose`` marks those that as good as chose the common threshold."""

    names: tuple[str, ...]
    resampling: Resampling | None
    multiple: float
    common: float | None
    chose: NDArray[np.bool_]
    uneven: Practice | Favouring | None = None  # how labels favour easy positives

    def evaluation(self, index: int, evidence: Evidence) -> Evaluation:
        draft = under_labels(evidence, self.uneven, self.resampling, self.multiple)
        if self.common is None:
            return draft.standing_at(draft.best_threshold(), "best F1 on these rows")
        choice = "best F1 on all rows, of which these are a large part" if self.chose[index] else "given"
        return draft.standing_at(self.common, choice)


def _chosen_threshold(
    known: _Known, threshold: Any, uneven: Practice | Favouring | None
) -> tuple[float | None, NDArray[np.bool_]]:
    """The common threshold, ``None`` where each segment has its own, and the segments that as good as chose it."""
    each = is_among(threshold, ("each",))
    if isinstance(threshold, str) and not each:
        raise PulensError(f"threshold must be a number, 'each' (one per segment) or None, got {threshold!r}.")
    common: float | None = None
    if known.kept.any() and not each:
        common = _best_of_all(known, uneven) if threshold is None else check_threshold(threshold)
    many = known.tallies.totals[:, 0]
    labelled = float(many[known.kept].sum())
    return common, (many >= CHOOSING_SHARE * labelled) & (threshold is None) & (common is not None)


def _found_together(known: _Known, wanted: _Wanted, told: _Told) -> BatchAnswers | None:
    """The segments that arrays over segments can answer for."""
    if wanted.common is None:
        return None
    left = [None if chosen else prior for prior, chosen in zip(known.priors, wanted.chose.tolist(), strict=True)]
    shared = known.settled.shared
    result = evaluate_batch(known.tallies, left, shared, wanted.common, wanted.resampling, wanted.names, told.more)
    if result is None:
        return None
    return BatchAnswers(
        known.tallies, tuple(left), shared, result, wanted.common, wanted.resampling, wanted.multiple, wanted.names
    )


def _found_alone(known: _Known, wanted: _Wanted, answers: BatchAnswers | None, told: _Told) -> dict[Any, int | Segment]:
    """The row of each segment among the answers, or the segment evaluated by itself; why not goes to the skipped."""
    rows = {} if answers is None else {int(index): row for row, index in enumerate(answers.result.indices)}
    result: dict[Any, int | Segment] = {}
    for index, segment in enumerate(known.tallies):
        if segment in known.skipped:
            continue
        if index in rows:
            result[segment] = rows[index]
            continue
        try:
            evidence = known.evidences.pop(segment, None) or known.settled.evidence(segment, known.tallies.at(index))
            evaluation = wanted.evaluation(index, evidence)
            result[segment] = _segment(segment, evaluation, known.settled.source(evidence.class_prior), wanted.names)
        except PulensError as error:
            known.skipped[segment] = str(error)
        told.more(1)
    return result


def _threshold_words(common: float | None, *, was_chosen: bool) -> str:
    if common is None:
        return "each segment's own, the best F1 on its rows"
    return f"{common:.6g}" + (", the best F1 on the rows of all segments together" if was_chosen else "")


class _Told:
    """Tells a caller who asked how many segments of all are done."""

    def __init__(self, progress: Callable[[int, int], None] | None, many: int) -> None:
        if progress is not None and not _takes_two(progress):
            raise PulensError(f"progress must be a function of two numbers, got {shown(progress)}.")
        self._progress, self._many, self._done = progress, many, 0

    def more(self, done: int) -> None:
        self._done += done
        if self._progress is not None:
            self._progress(self._done, self._many)


def _takes_two(function: object) -> bool:
    """Whether this is a function that can be called with two numbers; what cannot be told is taken at its word."""
    if not callable(function) or isinstance(function, type):
        return False
    try:
        signature(function).bind(1, 2)
    except TypeError:
        return False
    except ValueError:  # some built-in functions tell nothing
        return True
    return True


def _best_of_all(known: _Known, uneven: Practice | Favouring | None) -> float:
    """The threshold with the best F1 on the rows of all segments, with the positives that they hold together."""
    tallies, kept = known.tallies, known.kept
    positives = 0.0
    for index, segment in enumerate(tallies):
        if kept[index]:
            prior = known.priors[index] or known.as_used(known.evidences[segment])
            positives += prior.unlabelled * float(tallies.totals[index, 1])
    unlabelled = float(tallies.totals[kept, 1].sum())
    if uneven is not None:
        whole = reduce(add, (tallies.at(index) for index in np.flatnonzero(kept).tolist()))
        shared = known.settled.shared
        share = positives / unlabelled if unlabelled else 0.0
        prior = ClassPrior(population_prior(share, whole.totals, shared.scenario), share, "of all segments")
        return best_threshold(read_under(Evidence(whole, prior, shared.label_noise, shared.scenario), uneven))
    return common_threshold(tallies, kept, positives / unlabelled if unlabelled else 0.0, known.settled.shared)


def _segment(segment: Any, evaluation: Evaluation, source: PriorSource, metrics: tuple[str, ...]) -> Segment:
    """The row of the table. What is drawn on the way is let go: the evaluation that is kept holds counts alone."""
    drawn = replace(evaluation)
    estimates = {name: estimate_in(drawn, name) for name in metrics}
    return Segment(segment, evaluation, source, estimates, drawn.alarms)


def estimate_in(evaluation: Evaluation, name: str) -> Estimate:
    """A metric of an evaluation, whether or not it is listed there."""
    facts = find(name)
    if facts.listed:
        return evaluation.estimates[name]
    options: Any = {"threshold": evaluation.threshold, "doubts": evaluation._intervals}
    result = estimate_metric(name, facts, evaluation._masses, **options, contradiction=evaluation._contradiction)
    return withhold(result, facts)
