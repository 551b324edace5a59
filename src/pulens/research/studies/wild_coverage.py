"""Do 95% intervals hold where labels are real? Each family of data sets is judged by what the others show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pulens.research.benchmark.wild import METRICS, WildAnswer, WildProblem, coverage, judge, learned
from pulens.research.studies._stored import store_path
from pulens.research.studies._study import Claim, Outcome, Study, Verdict, Workbench
from pulens.research.studies._wild import FEW, on_all_cores, percent, ruled, wild_problems, write_rows
from pulens.selection.practice import Practice

GIVEN, RANDOM, RANGE = "class prior and threshold given", "the same, labels taken for random", "class prior ± 25%"
NO_PRIOR, CHOSEN, KIND = "no class prior", "threshold chosen on the rows", "its whole kind of labelling left out"
SIZES = ((0, 50), (51, 150), (151, 500), (501, 10**9))  # numbers of labels
HEADS = ("ROC AUC", "AP", "precision", "recall", "F1")
# families whose labelling has a cause in common: what is learned without them has not seen it
KINDS: dict[str, tuple[str, ...]] = {
    "species records": ("disdat",),
    "first of several visits": ("hubbard", "swiss", "meso"),
    "confirmed early": ("kepler", "tess"),
    "text": ("satd", "review"),
    "people": ("nhanes", "coat", "cifar10n"),
}
Answers = dict[str, list[WildAnswer]]
Job = tuple[WildProblem, Practice, Practice, int]


def run(bench: Workbench) -> Outcome:
    """Scores every data set, learns without each family, and makes the public call in six ways."""
    problems = wild_problems(bench)
    without, kindless = learned_without(bench, problems)
    jobs = [(one, without[one.family], kindless[one.family], bench.seed) for one in problems]
    result: Answers = {}
    for answers in on_all_cores(judge_every_way, jobs):
        for way, rows in answers.items():
            result.setdefault(way, []).extend(rows)
    store = store_path(bench, "wild-coverage", ".jsonl")
    if store is not None:
        write_rows(store, [{"way": way, **asdict(row)} for way, rows in result.items() for row in rows])
    return Outcome(tables_of(result), claims_of(result), () if store is None else (store,))


def kind_of(family: str) -> str:
    """The kind of labelling of a family: one of its own where no other shares it.

    >>> kind_of("swiss_tits"), kind_of("mine")
    ('first of several visits', 'mine')
    """
    return next((kind for kind, names in KINDS.items() if family.startswith(names)), family)


def learned_without(
    bench: Workbench, problems: Sequence[WildProblem]
) -> tuple[dict[str, Practice], dict[str, Practice]]:
    """For each family what the others show, and what those of other kinds of labelling do."""
    families = sorted({one.family for one in problems})
    without = {name: learned([one for one in problems if one.family != name]) for name in families}
    kindless = {name: without_kind(problems, name) or without[name] for name in families}
    bench.progress(f"{len(problems)} runs of {len(families)} families")
    return without, kindless


def without_kind(problems: Sequence[WildProblem], family: str) -> Practice | None:
    """What families of other kinds of labelling show, where there are two or more."""
    others = [one for one in problems if kind_of(one.family) != kind_of(family)]
    return learned(others) if len({one.family for one in others}) > 1 else None


def judge_every_way(job: Job) -> Answers:
    """What the public call says of one data set, however much it is given."""
    problem, practice, kindless, seed = job
    prior, share = problem.class_prior, float(problem.labelled.mean())
    lowest = share if problem.population.all() else 0.0
    around = max(0.75 * prior, lowest + 0.05 * (prior - lowest)), min(1.25 * prior, 0.99)
    return {
        GIVEN: judge(problem, practice, seed=seed),
        RANDOM: judge(problem, "random", seed=seed),
        KIND: judge(problem, kindless, seed=seed),
        RANGE: judge(problem, practice, class_prior=around, seed=seed),
        NO_PRIOR: judge(problem, practice, class_prior=None, seed=seed),
        CHOSEN: judge(problem, practice, threshold=None, seed=seed),
    }


def lowest_family(rows: Sequence[WildAnswer], metric: str) -> float:
    """How often intervals hold in the family in which they do so least, of families with ten runs or more."""
    held: dict[str, list[bool]] = {}
    for row in rows:
        if row.metric == metric:
            held.setdefault(row.family, []).append(row.holds)
    return min((float(np.mean(own)) for own in held.values() if len(own) >= FEW), default=np.nan)


def tables_of(answers: Mapping[str, Sequence[WildAnswer]]) -> tuple[str, ...]:
    """Everything together, by family, and by how many rows are labelled."""
    facts = {way: coverage(rows) for way, rows in answers.items()}
    rows = answers[GIVEN]
    runs = len(rows) // len(METRICS)

    def line(way: str, name: str) -> list[str]:
        values = (facts[way][metric][name] for metric in METRICS)
        return ["withheld" if np.isnan(value) else f"{value:.3f}" for value in values]

    lines: list[tuple[str, Sequence[str]]] = []
    for way in (GIVEN, RANDOM, KIND, RANGE, NO_PRIOR, CHOSEN):
        lines.append((f"{way}: hold", [percent(facts[way][metric]["holds"]) for metric in METRICS]))
        lines.append((f"   lowest family of {FEW} runs", [percent(lowest_family(answers[way], m)) for m in METRICS]))
        lines.append(("   mean width", line(way, "width")))
        lines.append(("   mean error of the value", line(way, "error")))
    lines.append(("unlabelled rows counted as negatives: error", line(GIVEN, "uncorrected")))
    first = ruled(
        f"{runs} runs, {len({row.family for row in rows})} families, which count alike; each judged by the others. "
        "Percent of 95% intervals that hold; widths and errors.",
        HEADS,
        lines,
    )
    return first, _by_family(rows), _by_labels(rows)


def _by_family(rows: Sequence[WildAnswer]) -> str:
    lines = []
    for family in sorted({row.family for row in rows}):
        own = [row for row in rows if row.family == family]
        lines.append((f"{family} ({len(own) // len(METRICS)})", _cells(own)))
    return ruled(f"By family, {GIVEN}: percent that hold, and the mean width", HEADS, lines)


def _by_labels(rows: Sequence[WildAnswer]) -> str:
    lines = []
    for low, high in SIZES:
        own = [row for row in rows if low <= row.labelled <= high]
        if own:
            named = f"{low} to {high}" if high < SIZES[-1][1] else f"more than {low - 1}"
            lines.append((f"{named} labels ({len(own) // len(METRICS)})", _cells(own)))
    return ruled("By how many rows are labelled, families alike", HEADS, lines)


def _cells(rows: Sequence[WildAnswer]) -> list[str]:
    facts = coverage(rows)
    return [f"{percent(facts[metric]['holds'])} {facts[metric]['width']:.2f}" for metric in METRICS]


def claims_of(answers: Mapping[str, Sequence[WildAnswer]]) -> tuple[Claim, ...]:
    """What is asked of intervals on families that were left out."""
    facts, random = coverage(answers[GIVEN]), coverage(answers[RANDOM])
    held = [facts[metric]["holds"] for metric in METRICS]
    lowest = [lowest_family(answers[GIVEN], metric) for metric in METRICS]
    kinds = [coverage(answers[KIND])[metric]["holds"] for metric in METRICS]
    worse = [
        metric
        for metric in METRICS
        if facts[metric]["error"] > min(random[metric]["error"], facts[metric]["uncorrected"])
    ]
    f1, area = facts["f1"]["width"], facts["roc_auc"]["width"]

    def told(values: Sequence[float]) -> str:
        return ", ".join(f"{name} {percent(value)}" for name, value in zip(HEADS, values, strict=True))

    return (
        Claim("95% intervals hold in 90 to 98% of families left out", verdict_of(min(held) >= 0.9), told(held)),
        Claim(f"No family of {FEW} runs or more is below 80%", verdict_of(min(lowest) >= 0.8, lowest), told(lowest)),
        Claim("They hold in 90% of whole kinds of labelling left out", verdict_of(min(kinds) >= 0.9), told(kinds)),
        Claim("F1 is at most .32 wide, ROC AUC .28", verdict_of(f1 <= 0.32 and area <= 0.28), f"{f1:.3f}, {area:.3f}"),
        Claim(
            "No value errs more than the better of random labels and no correction",
            verdict_of(not worse),
            "all five" if not worse else f"worse: {', '.join(worse)}",
        ),
    )


def verdict_of(holds: bool, of: Sequence[float] = ()) -> Verdict:
    """Of a claim; it cannot be tested where one of the numbers is not known."""
    if any(np.isnan(value) for value in of):
        return "not testable here"
    return "reproduced" if holds else "differs"


STUDY = Study("Intervals on real labels, judged by a truth", "pulens' own, docs/research/wild.md", run)
