"""What to do next, chosen by what limits this answer: at most three steps, each with what to type."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pulens.metrics.parts.rests_on import is_estimated
from pulens.priors import population_prior, rows_to_audit
from pulens.report.words import ranks_backwards

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation

MOST_STEPS = 3
FEWEST_TO_AUDIT, MOST_TO_AUDIT = 50, 1000
USUAL_FACTOR = 2  # by which labelling may favour high scores, to begin with
LABELS_DOUBTED = ("impossible-rates", "impossible-area", "not-a-mixture", "prior-not-feasible")
REPLACED = ("--class-prior", "--unlabelled-prior", "--audit", "--combine")  # by a step that settles the class prior


@dataclass(frozen=True, slots=True)
class NextStep:
    """A sentence, the Python call, and the options that the command line takes for the same."""

    code: str
    sentence: str
    call: str
    options: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()

    def shell(self, typed: Sequence[tuple[str, ...]] = (("pulens",), ("evaluate",), ("FILE",))) -> str:
        """The command to paste; ``typed`` is the one the answer came from, an option and its value together.

        >>> step = NextStep("audit", "Check rows.", "", ("--audit", "K/50"), ("--class-prior",))
        >>> step.shell([("pulens",), ("evaluate",), ("my scores.csv",), ("--class-prior", "auto")])
        "pulens evaluate 'my scores.csv' --audit K/50"
        """
        if not self.options:
            return ""
        kept = [word for words in typed if words[0] not in self.replaces for word in words]
        return shlex.join([*kept, *self.options])

    def to_dict(self) -> dict[str, Any]:
        return {"code": self.code, "sentence": self.sentence, "python": self.call, "shell": self.shell()}


def next_steps(evaluation: Evaluation) -> tuple[NextStep, ...]:
    """The most useful first; none where every row's class is known."""
    if ranks_backwards(evaluation.estimates["roc_auc"]):
        return (_turn_scores(),)
    if not evaluation.tally.totals.unlabelled:
        return ()
    about_the_prior = [step for step in (_say_prior(evaluation), _audit(evaluation)) if step is not None]
    has_none = bool(evaluation.evidence.label_noise) or evaluation.within is not None
    about_labelling = [] if has_none else [_sensitivity()]
    labels_first = _labels_doubted(evaluation) or not _prior_limits(evaluation)
    steps = [*about_labelling, *about_the_prior] if labels_first else [*about_the_prior, *about_labelling]
    return tuple(steps[:MOST_STEPS])


def _labels_doubted(evaluation: Evaluation) -> bool:
    return any(notice.code in LABELS_DOUBTED and notice.severity for notice in evaluation.notices)


def _prior_limits(evaluation: Evaluation) -> bool:
    """Whether the class prior leaves more open than the sample does, in the number that hangs on it most."""
    sources = evaluation.estimates["precision"].sources
    if is_estimated(evaluation.class_prior) or "sample" not in sources:
        return not evaluation.class_prior.is_exact
    return "class prior" in sources and sources["class prior"].width > sources["sample"].width


def _turn_scores() -> NextStep:
    return NextStep(
        "turn-scores",
        "Check that higher scores mean more positive. If they mean the opposite, turn their sign.",
        "pulens.evaluate(labels, -scores)",
    )


def _say_prior(evaluation: Evaluation) -> NextStep | None:
    prior = evaluation.class_prior
    if is_estimated(prior):
        return NextStep(
            "say-prior",
            "If you know from elsewhere how common positives are, say it: a number, or a range if you are not sure.",
            "pulens.evaluate(labels, scores, class_prior=(LOW, HIGH))",
            ("--class-prior", "LOW:HIGH"),
            REPLACED,
        )
    if prior.method != "given" or not 0 < prior.value < 1:
        return None
    low, high = _range_around(evaluation)
    return NextStep(
        "say-range",
        f"A class prior is seldom known exactly: see what a range around {prior.value:.3g} leaves open.",
        f"pulens.evaluate(labels, scores, class_prior=({low}, {high}))",
        ("--class-prior", f"{low}:{high}"),
        REPLACED,
    )


def _range_around(evaluation: Evaluation) -> tuple[str, str]:
    """A quarter less and a quarter more among the unlabelled rows, as few digits as keep the range possible."""
    evidence, prior = evaluation.evidence, evaluation.class_prior
    most = 0.99 * (1 - evidence.label_noise)
    smallest, low, high = (
        population_prior(share, evidence.tally.totals, evidence.scenario, evidence.label_noise)
        for share in (0.0, prior.unlabelled / 1.25, min(1.25 * prior.unlabelled, most))
    )
    for digits in range(2, 12):
        ends = f"{low:.{digits}g}", f"{high:.{digits}g}"
        if smallest <= float(ends[0]) < prior.value < float(ends[1]) < 1:
            break
    return ends


def _audit(evaluation: Evaluation) -> NextStep | None:
    prior, totals = evaluation.class_prior, evaluation.tally.totals
    reach = prior.unlabelled_interval
    width = 0.1 if reach is None or not reach.width else min(0.1, reach.width / 2)
    rows = rows_to_audit(min(prior.unlabelled, 0.5), max(width, 0.01))
    rows = int(min(max(-(-rows // 10) * 10, FEWEST_TO_AUDIT), MOST_TO_AUDIT, totals.unlabelled))
    checked = int(prior.method.split()[2]) if prior.method.startswith("audit of") else 0
    if rows - checked < FEWEST_TO_AUDIT:
        return None
    among = f"the K positives among all {rows}" if checked else "the K positives"
    which = f"{rows - checked} more" if checked else str(rows)
    return NextStep(
        "audit",
        f"Check {which} unlabelled rows, drawn at random, by hand and count {among}"
        ": that settles the class prior, whatever the scores are like. It does not repair labels that are not a random "
        "draw of the positives.",
        f"pulens.evaluate(labels, scores, audit=(K, {rows}))",
        ("--audit", f"K/{rows}"),
        REPLACED,
    )


def _sensitivity() -> NextStep:
    return NextStep(
        "sensitivity",
        "Were all positives as likely to be labelled? See every number if those with high scores were up to "
        f"{USUAL_FACTOR} times as likely.",
        f'evaluation.sensitivity("precision", factor={USUAL_FACTOR})',
        ("--sensitivity", str(USUAL_FACTOR)),
        ("--sensitivity",),
    )
