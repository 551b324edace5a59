"""Plain words around numbers: the verdict, what each metric means and how it is found, what is assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pulens.estimate import Estimate, Interval
from pulens.metrics import METRICS, leading
from pulens.report.contradiction import contradiction_verdict
from pulens.scenario import Scenario
from pulens.selection import Favouring

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.other_scenario import OtherScenario
    from pulens.evidence import Evidence
    from pulens.priors import ClassPrior

BACKWARDS = 0.45  # a ROC AUC below it, where there is no interval to tell it from one half


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption, and what would break it."""

    statement: str
    broken_by: str
    effect: str


def title_of(name: str) -> str:
    """A metric's name as people write it.

    >>> title_of("roc_auc"), title_of("balanced_accuracy")
    ('ROC AUC', 'Balanced accuracy')
    """
    return _own_title(name) or name.replace("_", " ").capitalize()


def _own_title(name: str) -> str:
    return METRICS[name].title if name in METRICS else ""


def amount(value: float) -> str:
    """Money as people write it: four digits that count, never a power of ten.

    >>> amount(20978.3), amount(237.34), amount(0.051234)
    ('20,980', '237.3', '0.05123')
    """
    short = float(f"{value:.4g}")
    return f"{short:,.0f}" if abs(short) >= 1000 else f"{short:.4g}"


def percent(value: float) -> str:
    """A share in per cent, with a decimal where whole per cents would hide it.

    >>> percent(0.8712), percent(0.0042), percent(0.9987), percent(1.0)
    ('87%', '0.4%', '99.9%', '100%')
    """
    hundred = 100 * value
    return f"{hundred:.0f}%" if 1 <= hundred <= 99 else f"{hundred:.1f}".removesuffix(".0") + "%"


def doubt(interval: Interval | None) -> str:
    """An interval as a remark after a number.

    >>> doubt(Interval(0.84, 0.9, 0.95, "DeLong")), doubt(Interval(0.5, 0.7, None, "range"))
    (' (95%: 84 to 90)', ' (50 to 70 over the range of the class prior)')
    """
    if interval is None or interval.width == 0:
        return ""
    ends = f"{percent(interval.low)[:-1]} to {percent(interval.high)[:-1]}"
    if interval.confidence is None:
        over = "in possible worlds" if interval.method.startswith("worlds") else "over the range of the class prior"
        return f" ({ends} {over})"
    return f" ({interval.confidence:.0%}: {ends})"


def verdict(evaluation: Evaluation) -> tuple[str, ...]:
    """What the model achieves, in two or three sentences."""
    from pulens.report.hardly_known import prior_is_hardly_known

    if evaluation.audit is not None:
        from pulens.report.audit_summary import audit_verdict

        return audit_verdict(evaluation.audit)
    if evaluation.contradiction is not None:
        return contradiction_verdict(evaluation)
    result = evaluation.estimates
    if prior_is_hardly_known(evaluation) and not ranks_backwards(result["roc_auc"]):
        return verdict_without_the_prior(evaluation)
    sentences = [ranking_sentence(result["roc_auc"])]
    sentences.append(threshold_sentence(evaluation.threshold, result["precision"], result["recall"]))
    return tuple(sentences)


def verdict_without_the_prior(evaluation: Evaluation) -> tuple[str, ...]:
    """The same where the data barely constrain how common positives are: first what does not need that."""
    precision, prior = evaluation.estimates["precision"], evaluation.class_prior
    common = "" if prior.interval is None else f" ({_ends(prior.interval)})"
    known = precision.interval is not None and not precision.undefined_because
    told = _between(precision.interval) if known and precision.interval else "no number can be given"
    return (
        _found_sentence(evaluation),
        "How many flagged rows are truly positive depends on how common positives are, which this data barely "
        f"constrains{common}: {told}.",
    )


def _found_sentence(evaluation: Evaluation) -> str:
    """What flagging finds: recall and the share of rows flagged need no class prior."""
    recall, flagged = evaluation.estimates["recall"], evaluation.estimates["predicted_positive_rate"]
    if math.isnan(recall.value + flagged.value):
        return f"At the threshold {evaluation.threshold:.6g} recall is undefined: {recall.undefined_because}."
    rows = f"Flagging the {percent(flagged.value)} of rows that score {evaluation.threshold:.6g} or above"
    return f"{rows} finds {percent(recall.value)}{doubt(recall.interval)} of all positives."


def _ranking_range(area: Estimate) -> str:
    if area.interval is None or area.undefined_because:
        return ranking_sentence(area).replace("The model", "the model", 1)
    guessing = ", which may be no better than guessing (50%)" if area.interval.low <= 0.5 else ""
    return f"the model ranks a random positive above a random negative {_between(area.interval)} of the time{guessing}."


def _ends(interval: Interval) -> str:
    return f"{percent(interval.low)[:-1]} to {percent(interval.high)}"


def _between(interval: Interval) -> str:
    return f"somewhere between {percent(interval.low)[:-1]} and {percent(interval.high)}"


def ranks_backwards(area: Estimate) -> bool:
    """Whether positives score so much lower than negatives that the scores seem to be upside down."""
    if area.undefined_because:
        return False
    return area.value < BACKWARDS if area.interval is None else area.interval.high < 0.5


def prior_words(evidence: Evidence) -> str:
    """The class prior and where it came from."""
    prior = evidence.class_prior
    words = f"Class prior {prior.value:.3g}"
    if prior.interval is not None and prior.interval.width:
        name = "" if prior.interval.confidence is None else f"{prior.interval.confidence:.0%}: "
        words += f" ({name}{prior.interval.low:.3g} to {prior.interval.high:.3g})"
    method = prior.method.removeprefix("estimated: ")
    words += f", {method}" if method == prior.method else f", estimated from these rows (method {method})"
    return words


def prior_in_short(prior: ClassPrior) -> str:
    """The class prior as every answer shows it: the value, its interval, where it came from.

    >>> from pulens.estimate import Interval
    >>> from pulens.priors import ClassPrior
    >>> prior_in_short(ClassPrior(0.40192, 0.1, "estimated: auto", Interval(0.34823, 0.88412, 0.95, "bootstrap")))
    '0.402 (0.348 to 0.884, estimated: auto)'
    """
    reach = "" if prior.interval is None else f"{prior.interval.low:.3g} to {prior.interval.high:.3g}, "
    return f"{prior.value:.3g} ({reach}{prior.method})"


def counts_of(evidence: Evidence) -> str:
    """How many rows of each kind there are, and how they came about."""
    noise = f", label noise {evidence.label_noise:g}" if evidence.label_noise else ""
    return f"{evidence.tally.totals} ({evidence.scenario}{noise})"


#: how a scenario is said, where a reader can say it
WAYS = {
    "command": "--scenario {0}",
    "python": 'scenario="{0}"',
    "both": 'scenario="{0}" (--scenario {0})',
}
SCENARIO_WORDS = {  # how rows came about, and the question whether it was the other way
    Scenario.SINGLE_SET: ("rows labelled out of one sample", "if the labelled rows were collected separately"),
    Scenario.CASE_CONTROL: (
        "labelled rows collected separately, unlabelled rows a sample of the population",
        "if rows were labelled out of one sample",
    ),
}


def scenario_words(scenario: Scenario, way: str = "both") -> str:
    """How the rows are taken to have come about, and how to say the other way.

    >>> scenario_words(Scenario.SINGLE_SET, "command")
    'rows labelled out of one sample; if the labelled rows were collected separately, say --scenario case-control'
    """
    other = Scenario.CASE_CONTROL if scenario is Scenario.SINGLE_SET else Scenario.SINGLE_SET
    taken, question = SCENARIO_WORDS[scenario]
    return f"{taken}; {question}, say {WAYS[way].format(other)}"


def scenario_sentence(other: OtherScenario | None, way: str = "both") -> str:
    """The scenario in plain words, how to say the other, and which numbers would move; empty where it is no matter.

    >>> from pulens.evaluation.other_scenario import OtherScenario
    >>> moved = {"precision": (0.481, 0.543), "lift": (2.0, 2.5)}
    >>> other = OtherScenario(Scenario.SINGLE_SET, Scenario.CASE_CONTROL, "population", moved)
    >>> print(scenario_sentence(other, "command").split("; ")[1])
    if the labelled rows were collected separately, say --scenario case-control: precision would be 0.543 (and 1 more would move)
    """  # noqa: E501
    if other is None:
        return ""
    if other.impossible_because:
        taken, question = SCENARIO_WORDS[other.assumed]
        asked = question.removeprefix("if ")
        return f"{taken}; that {asked} is ruled out: {other.impossible_because}"
    words = scenario_words(other.assumed, way)
    if not other.moved:
        return f"{words}: no number shown here would move beyond its interval"
    first, *others = [name for name in leading("table") if name in other.moved] or list(other.moved)[:3]
    values = f"{_within(first)} would be {other.moved[first][1]:.3f}"
    values += "".join(f", {_within(name)} {other.moved[name][1]:.3f}" for name in others)
    rest = len(other.moved) - 1 - len(others)
    return f"{words}: {values}" + (f" (and {rest} more would move)" if rest else "")


def _within(name: str) -> str:
    """A metric's name inside a sentence."""
    return _own_title(name) or name.replace("_", " ")


def ranking_sentence(area: Estimate) -> str:
    """What the area under the ROC curve says."""
    if area.withheld_because:
        return _ranking_range(area).replace("the model", "The model", 1)
    if math.isnan(area.value):
        return f"How well the model ranks is undefined: {area.undefined_because}."
    sentence = f"The model ranks a random positive above a random negative {percent(area.value)} of the time"
    sentence += f"{doubt(area.interval)}"
    low = area.value if area.interval is None else area.interval.low
    if ranks_backwards(area):
        return f"Are your scores reversed? {sentence}, which is worse than guessing (50%)."
    if low <= 0.5 or abs(area.value - 0.5) < 0.01:
        return f"{sentence}: these rows do not show that it beats guessing (50%)."
    return f"{sentence}."


def threshold_sentence(threshold: float, precision: Estimate, recall: Estimate) -> str:
    """What precision and recall at the threshold say."""
    if precision.undefined_because:
        return f"At the threshold {threshold:.6g} precision is undefined: {precision.undefined_because}."
    sentence = f"Of the rows flagged at {threshold:.6g} or above, "
    if precision.withheld_because and precision.interval is not None:
        sentence += f"{_between(precision.interval)} are truly positive"
    else:
        sentence += f"about {percent(precision.value)}{doubt(precision.interval)} are truly positive"
    if math.isnan(recall.value):
        return f"{sentence}."
    return f"{sentence}; they are {percent(recall.value)}{doubt(recall.interval)} of all positives."


def assumptions(evaluation: Evaluation) -> tuple[Assumption, ...]:
    """What an evaluation takes for granted: the data's assumptions, and that the threshold is to stay."""
    within = "" if evaluation.within is None else evaluation.within.cells.words
    result = assumed(evaluation.evidence, evaluation.labelling, within)
    if isinstance(evaluation.uneven, Favouring):
        words = f"Positives with high scores were at most {evaluation.uneven.factor:g} times as likely to be labelled."
        result = (up_to(words), *result[1:])
    if evaluation.threshold_choice in ("given", "fixed before the check"):
        return result
    return (
        *result,
        Assumption(
            f"The threshold {evaluation.threshold:.6g} ({evaluation.threshold_choice}) will be used from now on.",
            "Choosing the threshold on the rows it is judged by.",
            "Numbers at the threshold are slightly optimistic; fix it beforehand or use fresh rows.",
        ),
    )


#: how random labels are said, where a reader can say it
SAY_RANDOM = {"command": "if random: --labelling random", "python": 'if random: labelling="random"'}


def status_of(evaluation: Evaluation, way: str = "both") -> tuple[str, str]:
    """How far to trust the numbers, in a word or two, and what they assume about the labels.

    >>> from pulens import evaluate
    >>> rows = [1, 1, 1, 0, 0, 0, 0, 0], [9, 7, 4, 8, 7, 5, 3, 2]
    >>> [status_of(evaluate(*rows, class_prior=0.5, labelling=each))[0] for each in ("practice", "random", 3)]
    ['assumes labels as in practice', 'assumes random labels', 'possible set']
    """
    from pulens.report.hardly_known import prior_is_hardly_known

    if evaluation.audit is not None:
        return "checked", "nothing assumed about labels: rows were checked by hand"
    if not evaluation.tally.totals.unlabelled:
        return "every class known", "every row's class is known"
    if evaluation.contradiction is not None:
        return "contradicted", "a random draw of the positives, which this data rules out"
    if evaluation.labelling == "practice" and evaluation.uneven is not None:
        beside = SAY_RANDOM.get(way, evaluation.uneven.guarantee)
        word = "depends on the class prior" if prior_is_hardly_known(evaluation) else IN_PRACTICE_STATUS
        return word, f"easy positives first, as in practice ({beside})"
    if isinstance(evaluation.uneven, Favouring) and evaluation.if_random is not None:
        return "possible set", f"{evaluation.labelling} to be labelled; nothing else assumed about labels"
    if evaluation.within is not None:
        return "assumes random labels within cells", f"a random draw within each {evaluation.within.cells.words}"
    return ASSUMES_RANDOM


IN_PRACTICE_STATUS = "assumes labels as in practice"
#: of 95% intervals for F1 that take labels for random, on the data sets of ``selection/practice.json``
ASSUMES_RANDOM = ("assumes random labels", "assumed random; on real labels such 95% intervals held 55% of the time")


IN_PRACTICE = Assumption(
    "Labelled positives are as much easier than the hidden ones as in the real data sets that this was learned on.",
    "Labels that favour easy positives far more than usual, or hard ones.",
    "Recall and ROC AUC come out too high, or too low; checking rows settles it.",
)


def up_to(statement: str) -> Assumption:
    """What takes the place of random labels where only a factor is known."""
    return Assumption(
        statement,
        "Labels that favour high scores more than that, or low ones.",
        "Numbers lie outside their intervals; checking rows settles it.",
    )


def random_within(columns: str) -> Assumption:
    """What takes the place of random labels among all positives."""
    return Assumption(
        f"Within each cell of {columns} labelled positives are a random draw of its positives.",
        "Easy or high-scoring cases being confirmed first within a cell; cells that hold several habits of labelling.",
        "Recall and ROC AUC come out too high; the false positive rate too low.",
    )


def data_assumptions(evidence: Evidence) -> tuple[Assumption, ...]:
    """What numbers from these rows take for granted, the most fragile first."""
    result = [
        Assumption(
            "Labelled positives are a random draw of all positives.",
            "Easy, severe or high-scoring cases being confirmed first: reported fraud, diagnosed patients.",
            "Recall and ROC AUC come out too high; the false positive rate too low.",
        ),
        Assumption(
            f"{evidence.class_prior.assumption or 'The class prior is right.'} "
            f"The value used is {evidence.class_prior.value:.4g}.",
            "A prior from another year, region or definition; an estimate from scores whose top is not pure.",
            "Precision, F1 and accuracy move with it; ROC AUC does so less.",
        ),
    ]
    if evidence.scenario is Scenario.CASE_CONTROL:
        result.append(
            Assumption(
                "The unlabelled rows alone are a sample of the population (case-control).",
                "Labelled positives having been taken out of the unlabelled rows: then the scenario is single-set.",
                "The class prior, and with it precision, would be about the wrong population.",
            )
        )
    else:
        result.append(
            Assumption(
                "All rows are one sample, and the unlabelled ones are what labelling left (single-set).",
                "Labelled positives collected elsewhere and added: then the scenario is case-control.",
                "The class prior, and with it precision, would be about the wrong population.",
            )
        )
    if evidence.label_noise:
        result.append(
            Assumption(
                f"{evidence.label_noise:.2%} of the labelled rows are really negative, whatever their score.",
                "Wrong labels concentrated where the model scores low, or a guessed share of them.",
                "Recall and ROC AUC are corrected too much or too little.",
            )
        )
    else:
        result.append(
            Assumption(
                "Every labelled positive is truly positive.",
                "Wrong confirmations, duplicates, mixed-up codes.",
                "Recall and ROC AUC come out too low; give the label noise to correct for it.",
            )
        )
    if evidence.tally.has_negatives:
        result.append(
            Assumption(
                "Rows known to be negative are a random draw of the negatives.",
                "Only easy rejections were recorded.",
                "The false positive rate comes out too low.",
            )
        )
    apart, example = "rows are independent of each other", "several rows of one person or machine"
    if evidence.buckets is not None:
        apart, example = (
            "rows of different clusters are independent",
            "a family whose members are clusters of their own",
        )
    result.append(
        Assumption(
            f"The model was not trained on these rows, and {apart}.",
            f"Scores of training rows; {example}.",
            "All numbers are optimistic; intervals are too narrow.",
        )
    )
    return tuple(result)


def assumed(evidence: Evidence, labelling: str = "random", within: str = "") -> tuple[Assumption, ...]:
    """What an answer assumes of the rows, with how it takes positives to have been labelled in the first place."""
    of_labels, *rest = data_assumptions(evidence.counted)
    if within:
        of_labels = random_within(within)
    return (of_labelling(labelling, of_labels), *rest)


def of_labelling(labelling: str, random: Assumption) -> Assumption:
    """What is assumed of how positives got their labels: ``random`` where they are taken for a random draw."""
    if labelling == "practice":
        return IN_PRACTICE
    if labelling.startswith("random"):
        return random
    return up_to(f"{labelling[:1].upper()}{labelling[1:]} to be labelled; nothing else is assumed about labels.")
