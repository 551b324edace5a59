"""What to do next, chosen by what limits this answer: at most three steps, each with what to type."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from pulens.metrics.parts.rests_on import is_estimated
from pulens.priors import population_prior
from pulens.report.words import ranks_backwards

if TYPE_CHECKING:
    from pulens.audits import AuditResult
    from pulens.evaluation.evaluate import Evaluation

MOST_STEPS = 3
USUAL_BUDGET, FEWEST_TO_PLAN, MORE_TO_CHECK = 200, 10, 100
BUDGETS, AUDITS_SIMULATED = (60, 100, 200), 8  # of the forecast of what checking would buy
SETTLED = "that settles precision, recall and F1"
NARROWER = 0.8  # times as wide: what is worth an afternoon
USUAL_FACTOR = 2  # by which labelling may favour high scores, to begin with
REPLACED = ("--class-prior", "--unlabelled-prior", "--audit", "--combine")  # by a step that settles the class prior


@dataclass(frozen=True, slots=True)
class NextStep:
    """A sentence, the Python call, and the options that the command line takes for the same."""

    code: str
    sentence: str
    call: str
    options: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    command: tuple[str, ...] = ()  # another command on the same rows: of what was typed it keeps what reads them

    def shell(self, typed: Sequence[tuple[str, ...]] = (("pulens",), ("evaluate",), ("FILE",))) -> str:
        """The command to paste; ``typed`` is the one the answer came from, an option and its value together.

        >>> step = NextStep("audit", "Check rows.", "", ("--audit", "K/50"), ("--class-prior",))
        >>> step.shell([("pulens",), ("evaluate",), ("my scores.csv",), ("--class-prior", "auto")])
        "pulens evaluate 'my scores.csv' --audit K/50"
        """
        if not self.options:
            return ""
        if self.command:
            return another_command(typed, self.command, self.options)
        kept = [word for words in typed if words[0] not in self.replaces for word in words]
        return shlex.join([*kept, *self.options])

    def to_dict(self) -> dict[str, Any]:
        return {"code": self.code, "sentence": self.sentence, "python": self.call, "shell": self.shell()}


def another_command(
    typed: Sequence[tuple[str, ...]], command: tuple[str, ...], options: tuple[str, ...], score: str | None = None
) -> str:
    """Another command on the rows that a command was about: the file, how to read it, and the options given.

    ``score`` names one column where several were compared.

    >>> typed = [("pulens",), ("evaluate",), ("my.csv",), ("--label", "y"), ("--class-prior", "0.1"), ("--seed", "3")]
    >>> another_command(typed, ("audit", "plan"), ("--budget", "200", "--out", "queue.csv"))
    'pulens audit plan my.csv --label y --budget 200 --out queue.csv'
    >>> another_command([("pulens",), ("evaluate",), ("my.tally",)], ("audit", "plan"), ("--budget", "200"))
    "pulens audit plan '<table>' --budget 200"
    """
    if command == ("audit", "more"):  # is about a queue, whose plan knows how to read the rows
        queue = next((words[1] for words in typed if words[0] == "--reviews"), "<queue.csv>")
        return shlex.join([*typed[0], *command, queue, *options])
    kept = [words for words in typed[3:] if words[0] in READS and not (score and words[0] == "--score")]
    kept += [("--score", score)] if score else []
    said = {words[0] for words in kept}
    added = [options[place : place + 2] for place in range(0, len(options), 2) if options[place] not in said]
    has_rows = command[0] != "audit" or not typed[2][0].endswith(".tally")  # counts have none to check
    source = typed[2] if has_rows else ("<table>",)
    return shlex.join([*typed[0], *command, *source, *chain.from_iterable((*kept, *added))])


#: Options that say which rows there are and what is flagged.
READS = (
    *("--score", "--label", "--positive", "--negative", "--unlabelled", "--format", "--delimiter", "--table"),
    *("--decimal", "--thousands", "--encoding", "--sheet"),
    *("--where", "--tolerance", "--scenario", "--threshold", "--id"),
)


def next_steps(evaluation: Evaluation) -> tuple[NextStep, ...]:
    """The most useful first; none where every row's class is known."""
    if ranks_backwards(evaluation.estimates["roc_auc"]):
        return (_turn_scores(),)
    if not evaluation.tally.totals.unlabelled:
        return ()
    resolved = evaluation.class_prior.method.startswith("audit") and evaluation.audit is not None
    say = None if resolved else _say_prior(evaluation)
    has_none = evaluation.evidence.label_noise or evaluation.within is not None or evaluation.if_random is not None
    has_none = has_none or evaluation.audit is not None  # which says how labels were chosen
    steps = [_audit(evaluation), say, None if has_none else _other_labelling()]
    return tuple(step for step in steps if step is not None)[:MOST_STEPS]


def _turn_scores() -> NextStep:
    return NextStep(
        "turn-scores",
        "Check that higher scores mean more positive. If they mean the opposite, change their sign.",
        "pulens.evaluate(<labels>, -<scores>)",
    )


def _say_prior(evaluation: Evaluation) -> NextStep | None:
    prior = evaluation.class_prior
    if is_estimated(prior):
        return NextStep(
            "say-prior",
            "If you know how common positives are, give the class prior: a number, or a range.",
            "pulens.evaluate(<rows>, class_prior=(<low>, <high>))",
            ("--class-prior", "<low>:<high>"),
            REPLACED,
        )
    if prior.method != "given" or not 0 < prior.value < 1:
        return None
    low, high = _range_around(evaluation)
    return NextStep(
        "say-range",
        f"The class prior is rarely known exactly: try a range around {prior.value:.3g}.",
        f"pulens.evaluate(<rows>, class_prior=({low}, {high}))",
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
    """The rows to check that would settle the answer: those where answers matter, or more of those of a plan."""
    if evaluation.audit is not None:
        return _more(evaluation.audit)
    rows = rows_to_check(evaluation.tally.totals.unlabelled)
    if not rows:
        return None
    rows, words = _forecast(evaluation, rows)
    is_given = evaluation.threshold_choice == "given" and math.isfinite(evaluation.threshold)
    given = f"threshold={evaluation.threshold:.6g}, budget={rows}" if is_given else f"budget={rows}"
    options = ("--threshold", repr(evaluation.threshold)) if math.isfinite(evaluation.threshold) else ()
    return NextStep(
        "audit",
        f"Check {rows} rows by hand: {words}.",
        f'pulens.plan_audit(<rows>, {given}).write("queue.csv")',
        (*options, "--budget", str(rows), "--out", "queue.csv"),
        command=("audit", "plan"),
    )


def _forecast(evaluation: Evaluation, most: int) -> tuple[int, str]:
    """How many rows to check, and what that gives: how well F1 is then known, where it is not known well now."""
    from pulens.evaluation.audit import expected_widths

    now = evaluation.estimates["f1"].interval
    budgets = [budget for budget in BUDGETS if budget <= evaluation.tally.totals.unlabelled]
    if now is None or not budgets or evaluation.tally.is_weighted or not math.isfinite(evaluation.threshold):
        return most, SETTLED
    tally, scenario = evaluation.tally, evaluation.scenario
    result = expected_widths(tally, evaluation.threshold, scenario, budgets, audits=AUDITS_SIMULATED)
    widths = {budget: sum(result.width("f1", budget)) / 2 for budget in budgets}
    helps = [budget for budget in budgets if widths[budget] < NARROWER * now.width]
    if not helps:
        return budgets[-1], SETTLED
    return helps[0], f"F1 to ±{widths[helps[0]] / 2:.2f} instead of ±{now.width / 2:.2f}"


def rows_to_check(unlabelled: float) -> int:
    """A budget to begin with: two hundred, fewer where there are few rows, none where there are hardly any.

    >>> rows_to_check(100_000), rows_to_check(300), rows_to_check(8)
    (200, 60, 0)
    """
    if unlabelled < FEWEST_TO_PLAN:
        return 0
    return int(min(USUAL_BUDGET, max(FEWEST_TO_PLAN, 10 * round(unlabelled / 50))))


def _more(audit: AuditResult) -> NextStep | None:
    """More rows of the same plan, where there is one and rows are left."""
    from pulens.audits.queue import next_queue

    path, checked = getattr(audit, "path", ""), int(audit.counts.checked.sum())
    if not path or checked + FEWEST_TO_PLAN > audit.counts.rows.sum():
        return None
    rows = int(min(checked + MORE_TO_CHECK, audit.counts.rows.sum()))
    larger = next_queue(path)
    return NextStep(
        "audit-more",
        f"Check {rows - checked} more rows of the same plan: the intervals become narrower.",
        f'evaluation.audit.more(budget={rows}).write("{larger}")',
        ("--budget", str(rows), "--out", larger),
        command=("audit", "more"),
    )


def _other_labelling() -> NextStep:
    return NextStep(
        "sensitivity",
        "Were high-scoring positives more likely to be labelled? See how each number changes if they were twice as "
        "likely.",
        f"pulens.evaluate(<rows>, labelling={USUAL_FACTOR})",
        ("--labelling", str(USUAL_FACTOR)),
        ("--labelling",),
    )
