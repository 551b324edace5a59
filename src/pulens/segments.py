"""One evaluation per segment of the rows: countries, model versions, months."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pulens.errors import InputError, listed
from pulens.estimate import Estimate
from pulens.evaluation import Evaluation, evaluate
from pulens.evidence import gather
from pulens.inputs import read_tallies
from pulens.inputs.tallies import check_tally
from pulens.recovery.binning_error import bin_errors
from pulens.tally import Tally

SHOWN = ("roc_auc", "average_precision", "precision", "recall", "f1")
_ASSUMED = ("class_prior", "unlabelled_prior", "label_noise", "scenario", "audit")
_EVALUATED = (*_ASSUMED, "threshold", "confidence", "redraws", "seed")


@dataclass(frozen=True)
class Evaluations(Mapping[Any, Evaluation]):
    """An evaluation per value of a column; ``skipped`` says why some values have none."""

    group_by: str
    evaluations: Mapping[Any, Evaluation]
    skipped: Mapping[Any, str]

    def __getitem__(self, segment: Any) -> Evaluation:
        return self.evaluations[segment]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def rows(self) -> list[tuple[str, ...]]:
        """What the tables show: a title row, then one row per segment."""
        titles = (metric.replace("_", " ") for metric in SHOWN)
        table: list[tuple[str, ...]] = [(self.group_by, "labelled", "unlabelled", "prior", *titles)]
        for segment, evaluation in self.items():
            totals = evaluation.tally.totals
            table.append(
                (
                    _name(segment),
                    f"{totals.labelled:,.10g}",
                    f"{totals.unlabelled:,.10g}",
                    f"{evaluation.class_prior.value:.4g}",
                    *(_number(evaluation.estimates[metric]) for metric in SHOWN),
                )
            )
        return table

    def __str__(self) -> str:
        table = self.rows()
        widths = [max(len(row[place]) for row in table) for place in range(len(table[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in table
        ]
        lines += [f"{_name(segment)}: not evaluated: {reason}" for segment, reason in self.skipped.items()]
        return "\n".join(lines)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "group_by": self.group_by,
            "segments": [{"segment": _plain(segment), **evaluation.to_dict()} for segment, evaluation in self.items()],
            "skipped": [{"segment": _plain(segment), "reason": reason} for segment, reason in self.skipped.items()],
        }


def evaluate_by(source: Any, group_by: str, **options: Any) -> Evaluations:
    """Evaluate every segment of a table, file or database after counting all of them in one pass.

    ``group_by`` names the column of segments; the other arguments are those of :func:`pulens.evaluate`.
    ``class_prior`` or ``unlabelled_prior`` may be a mapping from segment to prior.

    >>> import polars
    >>> frame = polars.DataFrame({"score": [.9, .7, .6, .2] * 2, "label": [1, 0, 1, 0] * 2, "site": [1] * 4 + [2] * 4})
    >>> found = evaluate_by(frame, "site", class_prior=0.6)
    >>> {site: round(evaluation.estimates["roc_auc"].value, 3) for site, evaluation in found.items()}
    {1: 0.812, 2: 0.812}
    """
    evaluated = {name: options.pop(name) for name in _EVALUATED if name in options}

    def errors_of_bins(tally: Tally) -> list[Any]:
        assumed = {name: value for name, value in evaluated.items() if name in _ASSUMED}
        if any(isinstance(value, Mapping) for value in assumed.values()):
            assumed |= {"class_prior": None, "unlabelled_prior": 0.0}
        evidence = gather(tally, **assumed)
        return bin_errors(tally, evidence.assumptions)

    tallies = read_tallies(source, group_by=group_by, bin_errors=errors_of_bins, **options)
    found, skipped = {}, {}
    for segment, tally in tallies.items():
        try:
            check_tally(tally)
        except InputError as error:
            skipped[segment] = str(error)
            continue
        found[segment] = evaluate(tally, **{name: _of(segment, name, value) for name, value in evaluated.items()})
    if not found:
        raise InputError(
            f"none of the {len(skipped)} segments of {group_by!r} can be evaluated; the first: "
            f"{next(iter(skipped.values()))}"
        )
    return Evaluations(group_by, MappingProxyType(found), MappingProxyType(skipped))


def _of(segment: Any, name: str, value: Any) -> Any:
    """A segment's own class prior, where they were given one by one."""
    if not isinstance(value, Mapping):
        return value
    if segment not in value:
        raise InputError(f"{name} was given for {listed(value)} but not for the segment {segment!r}.")
    return value[segment]


def _name(segment: Any) -> str:
    return "(null)" if segment is None else str(segment)


def _number(estimate: Estimate) -> str:
    return "undefined" if estimate.undefined_because else f"{estimate.value:.3f}"


def _plain(segment: Any) -> Any:
    return segment if isinstance(segment, str | int | float | bool | None) else str(segment)
