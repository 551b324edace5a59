"""What all functions of calibration take: rows, how they are read, what the scores are. Said here once."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, cleandoc, signature
from textwrap import indent
from typing import Any, Concatenate, Protocol, TypeVar

from pulens.calibration.probabilities import calibration_evidence
from pulens.evidence import Evidence
from pulens.inputs.reading import said
from pulens.keywords import forwards_keywords
from pulens.selection.gathering import gather_labelled
from pulens.types import Clusters, Column, LabelValues, RowsLike, Values

Answer_co = TypeVar("Answer_co", covariant=True)
READING = "score", "label", "positive", "negative", "unlabelled", "cluster"
#: What parameters mean that several functions have; a docstring describes its others.
DESCRIBED = {
    "labels, scores": """Labels and scores as arrays; or a table, file or database alone, as for
        :func:`pulens.evaluate`.""",
    ", ".join(READING): "Columns of a table, and what its label values mean, as for :func:`pulens.evaluate`.",
    "binning, bins": """``"mass"``: bins with equal shares of the population, ``"width"``: of equal width; and how many,
        by default what :func:`optimal_bins` recommends.""",
    "confidence": "Level of the intervals.",
    "redraws, seed": "Number of resamples behind the intervals, and the random seed.",
    "scores_are": """``"probability"``, or ``"logit"`` for scores that the logistic function turns into
        probabilities.""",
    "options": "``class_prior`` and the other assumptions of :func:`pulens.evaluate`.",
}
FIRST = tuple(DESCRIBED)[:3]


class OfRows(Protocol[Answer_co]):
    """A statistic of rows; parameters of its own are in its signature."""

    __name__: str

    def __call__(
        self,
        labels: RowsLike,
        scores: Values | None = None,
        *,
        score: Column | None = None,
        label: Column | None = None,
        positive: LabelValues | None = None,
        negative: LabelValues | None = None,
        unlabelled: LabelValues | None = None,
        cluster: Clusters | None = None,
        scores_are: str = "probability",
        **options: Any,
    ) -> Answer_co: ...


def of_rows(statistic: Callable[Concatenate[Evidence, ...], Answer_co]) -> OfRows[Answer_co]:
    """The statistic of an evidence as a function of rows whose scores are probabilities."""
    _, *first = signature(OfRows.__call__).parameters.values()
    _, *own = signature(statistic).parameters.values()
    *first, scores_are, options = first
    read: Callable[..., Evidence] = calibration_evidence
    last: tuple[Parameter, ...] = (scores_are, options)
    if any(one.name == scores_are.name for one in own):  # what they are is the statistic's to say
        read, last = gather_labelled, (options,)

    def function(labels: Any, scores: Any = None, **named: Any) -> Answer_co:
        mine = {one.name: named.pop(one.name) for one in own if one.name in named}
        named |= said(**{name: named.pop(name, None) for name in READING})
        return statistic(read(labels, scores, **named), **mine)

    for name in ("__module__", "__name__", "__qualname__"):
        setattr(function, name, getattr(statistic, name))
    function.__doc__ = _documented(cleandoc(statistic.__doc__ or ""), own)
    answer = signature(statistic).return_annotation
    function.__signature__ = signature(OfRows.__call__).replace(  # type: ignore[attr-defined]
        parameters=[*first, *own, *last], return_annotation=answer
    )
    return forwards_keywords(gather_labelled)(function)


def _documented(text: str, own: list[Parameter]) -> str:
    """The docstring with all parameters described: the rows first, the statistic's own, and what many have last."""
    before, after = text.split("Returns\n-------\n")
    head, _, described = before.partition("Parameters\n----------\n")
    names = {*signature(OfRows.__call__).parameters, *(one.name for one in own)}
    shared = {
        name: f"{name}\n{indent(cleandoc(what), ' ' * 4)}\n"
        for name, what in DESCRIBED.items()
        if names.issuperset(name.split(", ")) and f"{name}\n" not in described
    }
    first = [shared.pop(name) for name in list(shared) if name in FIRST]
    entries = "".join([*first, *([f"{described.strip()}\n"] if described else []), *shared.values()])
    return f"{head}Parameters\n----------\n{entries}\nReturns\n-------\n{after}"
