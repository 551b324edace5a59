"""The frozen summary that every rendering of an evaluation reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pulens.estimate import Estimate
from pulens.notice import Notice
from pulens.report.words import Assumption, assumptions, counts_of, scenario_sentence, title_of, verdict

if TYPE_CHECKING:
    from pulens.evaluation import Evaluation


@dataclass(frozen=True, slots=True)
class Row:
    """One metric: the recovered number beside the uncorrected one."""

    name: str
    recovered: Estimate
    uncorrected: Estimate
    meaning: str

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def value(self) -> str:
        return number(self.recovered)

    @property
    def interval(self) -> str:
        found = self.recovered.interval
        return "" if found is None or found.width == 0 else f"{found.low:.3f} to {found.high:.3f}"

    @property
    def naive(self) -> str:
        return number(self.uncorrected)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a reader of an evaluation is shown, in reading order."""

    counts: str
    class_prior: str
    population: str
    threshold: str
    interval_name: str
    ranking: tuple[Row, ...]
    at_threshold: tuple[Row, ...]
    notices: tuple[Notice, ...]
    verdict: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    scenario: str = ""  # in plain words, with the numbers that the other scenario would move

    def to_dict(self) -> dict[str, Any]:
        """What a reader is told in words, ready for JSON; the numbers are the evaluation's own."""
        return {
            "verdict": list(self.verdict),
            "scenario_note": self.scenario,
            "assumptions": [asdict(found) for found in self.assumptions],
        }


def number(estimate: Estimate) -> str:
    return "undefined" if estimate.undefined_because else f"{estimate.value:.3f}"


def summarise(evaluation: Evaluation, way: str = "both") -> Summary:
    """Gather what the renderings show; ``way`` is how a reader says a scenario (:data:`pulens.report.words.WAYS`)."""
    from pulens.metrics import METRICS

    prior = evaluation.class_prior
    where = f"; {prior.unlabelled:.4g} among the unlabelled rows" if prior.unlabelled != prior.value else ""
    rows = [
        Row(name, found, evaluation.uncorrected[name], METRICS[name].summary)
        for name, found in evaluation.estimates.items()
    ]
    return Summary(
        counts_of(evaluation.evidence),
        f"{prior}{where}",
        evaluation.target_population,
        f"{evaluation.threshold:.6g} ({evaluation.threshold_choice})",
        _interval_name(evaluation.estimates),
        tuple(row for row in rows if METRICS[row.name].reads == "ranking"),
        tuple(row for row in rows if METRICS[row.name].reads != "ranking"),
        evaluation.notices,
        verdict(evaluation),
        assumptions(evaluation),
        scenario_sentence(evaluation.other_scenario, way),
    )


def _interval_name(estimates: Mapping[str, Estimate]) -> str:
    for found in estimates.values():
        if found.interval is not None:
            confidence = found.interval.confidence
            return "range" if confidence is None else f"{confidence:.0%} interval"
    return ""
