"""The frozen summary that every rendering of an evaluation reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.estimate import Estimate
from pulens.metrics import METRICS, leading
from pulens.notice import Notice
from pulens.priors import ClassPrior, population_prior
from pulens.report.audit_summary import AuditSummary, summarise_audit
from pulens.report.hardly_known import prior_is_hardly_known
from pulens.report.next_steps import NextStep, next_steps
from pulens.report.words import (
    Assumption,
    assumptions,
    counts_of,
    prior_in_short,
    scenario_sentence,
    status_of,
    title_of,
    verdict,
)

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.strata import CellTable

PRIORS_SHOWN = 4
MARK = "~"  # beside a number that rests on an estimated class prior


@dataclass(frozen=True, slots=True)
class Row:
    """One metric: the recovered number beside the uncorrected one."""

    name: str
    recovered: Estimate
    uncorrected: Estimate
    meaning: str
    random: Estimate | None = None  # if labels were a random draw, where they are not taken for one

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def derivation(self) -> str:
        return METRICS[self.name].derivation

    @property
    def is_marked(self) -> bool:
        """Whether the number rests on an estimated class prior, which every rendering says."""
        return self.recovered.rests_on_an_estimated_prior and not self.recovered.undefined_because

    @property
    def is_a_range(self) -> bool:
        """Whether only the interval is said: the value was withheld."""
        return bool(self.recovered.withheld_because)

    @property
    def value(self) -> str:
        return "" if self.is_a_range else number(self.recovered)

    @property
    def marked_value(self) -> str:
        return f"{MARK if self.is_marked else ''}{self.value}"

    @property
    def interval(self) -> str:
        result = self.recovered.interval
        return "" if result is None or result.width == 0 else f"{result.low:.3f} to {result.high:.3f}"

    @property
    def naive(self) -> str:
        return number(self.uncorrected)

    @property
    def if_random(self) -> str:
        if self.random is None:
            return ""
        return "" if self.random.withheld_because else number(self.random)


@dataclass(frozen=True, slots=True)
class Summary:
    """What a reader of an evaluation is shown, in reading order."""

    counts: str
    class_prior: str
    population: str
    threshold: str
    threshold_choice: str
    interval_name: str
    ranking: tuple[Row, ...]
    at_threshold: tuple[Row, ...]
    notices: tuple[Notice, ...]
    verdict: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    next_steps: tuple[NextStep, ...] = ()
    prior_hardly_known: bool = False
    cells: CellTable | None = None  # within which labels are random
    scenario: str = ""  # in plain words, with the numbers that the other scenario would move
    audit: AuditSummary | None = None
    clusters: str = ""  # of rows that belong together
    status: str = ""  # how far to trust the numbers, in a word or two
    prior: str = ""  # the class prior in a few words
    labels: str = ""  # what they assume about how positives were labelled
    by_prior: tuple[tuple[float, Estimate], ...] = ()  # precision at several class priors, where none is known

    @property
    def first_rows(self) -> tuple[Row, ...]:
        """The metrics people ask for first."""
        rows = {row.name: row for row in (*self.ranking, *self.at_threshold)}
        return tuple(rows[name] for name in leading("tiles"))

    @property
    def has_random(self) -> bool:
        return any(row.random is not None for row in (*self.ranking, *self.at_threshold))

    @property
    def shows_random(self) -> bool:
        """Whether any number is shown next to what it would be if labels were random."""
        return any(row.if_random for row in (*self.ranking, *self.at_threshold))

    @property
    def threshold_title(self) -> str:
        return f"at threshold {self.threshold} ({self.threshold_choice})"

    @property
    def legend(self) -> str:
        """What the mark beside some numbers means; empty if there is none."""
        rows = (*self.ranking, *self.at_threshold)
        if not any(row.is_marked for row in rows):
            return ""
        words = f"{MARK} depends on the estimated class prior"
        if any(row.is_a_range for row in rows):
            words += "; no number: this data barely constrains it"
        return words

    def to_dict(self) -> dict[str, Any]:
        """What a reader is told in words, ready for JSON; the numbers are the evaluation's own."""
        return {
            "verdict": list(self.verdict),
            "status": self.status,
            "assumed_of_labels": self.labels,
            "precision_by_class_prior": [
                {"class_prior": prior, **({} if result.interval is None else result.interval.to_dict())}
                for prior, result in self.by_prior
            ],
            "scenario_note": self.scenario,
            "prior_hardly_known": self.prior_hardly_known,
            "assumptions": [asdict(result) for result in self.assumptions],
            "next_steps": [step.to_dict() for step in self.next_steps],
            **({} if self.audit is None else {"audit_summary": self.audit.to_dict()}),
        }


def number(estimate: Estimate) -> str:
    return "undefined" if estimate.undefined_because else f"{estimate.value:.3f}"


def summarise(evaluation: Evaluation, way: str = "both") -> Summary:
    """Gather what the renderings show; ``way`` is how a reader says a scenario (:data:`pulens.report.words.WAYS`)."""
    prior = evaluation.class_prior
    where = f"; {prior.unlabelled:.4g} among the unlabelled rows" if prior.unlabelled != prior.value else ""
    hardly_known = prior_is_hardly_known(evaluation)
    random = evaluation._values_if_random
    rows = [
        Row(name, result, evaluation.uncorrected[name], METRICS[name].summary, random.get(name))
        for name, result in evaluation.estimates.items()
    ]
    status, labels = status_of(evaluation, way)
    return Summary(
        counts_of(evaluation.evidence),
        f"{prior_in_short(prior)}{where}",
        evaluation.target_population,
        f"{evaluation.threshold:.6g}",
        evaluation.threshold_choice,
        _interval_name(evaluation.estimates),
        tuple(row for row in rows if METRICS[row.name].reads == "ranking"),
        tuple(row for row in rows if METRICS[row.name].reads != "ranking"),
        evaluation.notices,
        verdict(evaluation),
        assumptions(evaluation),
        next_steps(evaluation),
        hardly_known,
        evaluation.cells,
        scenario_sentence(evaluation.other_scenario, way),
        _audit(evaluation),
        "" if evaluation.clusters is None else str(evaluation.clusters),
        status,
        prior_in_short(prior),
        labels,
        precision_by_prior(evaluation) if hardly_known else (),
    )


def precision_by_prior(evaluation: Evaluation) -> tuple[tuple[float, Estimate], ...]:
    """Precision if the class prior were one of four values, from the lowest to the highest that it can be."""
    reach, prior = evaluation.class_prior.unlabelled_interval, evaluation.class_prior
    if evaluation.within is not None or reach is None:
        return ()
    evidence = evaluation.evidence
    most = min(reach.high, 0.99)
    result = []
    for share in np.geomspace(max(reach.low, most / 20), most, PRIORS_SHOWN).tolist():
        value = population_prior(share, evidence.tally.totals, evidence.scenario, evidence.label_noise)
        tried = ClassPrior(value, share, prior.method.replace("estimated", "tried"))
        own = replace(evaluation, read=evaluation.read.with_class_prior(tried), if_random=None)
        result.append((value, own["precision"]))
    return tuple(result)


def _audit(evaluation: Evaluation) -> AuditSummary | None:
    if evaluation.audit is None:
        return None
    prior = evaluation.class_prior
    beside: dict[str, Estimate] = {**evaluation.estimates}
    if not prior.method.startswith("audit"):  # else it is the audit's own number
        beside["class_prior"] = Estimate("class_prior", prior.value, prior.interval)
    return summarise_audit(evaluation.audit, recovered=beside, identified=evaluation.identified)


def _interval_name(estimates: Mapping[str, Estimate]) -> str:
    for result in estimates.values():
        if result.interval is not None:
            confidence = result.interval.confidence
            return "range" if confidence is None else f"{confidence:.0%} interval"
    return ""
