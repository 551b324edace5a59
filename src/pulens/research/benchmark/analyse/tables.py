"""Tables to take away: learners by data sets as CSV, LaTeX and plain text, beside the published figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Container, Mapping, Sequence
from statistics import fmean

from pulens.research.benchmark.analyse.cells import (
    Cells,
    SeedSummary,
    better_is_higher,
    datasets_of,
    learners_of,
    summarise,
)
from pulens.research.benchmark.analyse.paired import Paired
from pulens.research.benchmark.archive.measured import is_share, sign_of

SPECIAL = {
    "\\": r"\textbackslash{}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def summaries(cells: Cells) -> dict[tuple[str, str], SeedSummary]:
    """Every cell summarised over its seeds."""
    return {place: summarise(list(values.values())) for place, values in cells.items()}


def factor_of(metric: str) -> int:
    """By what values are multiplied where they are shown: shares are shown in percent."""
    return 100 if is_share(metric) else 1


def ordered(cells: Cells) -> list[str]:
    """Learners by how far they are, on average, above the mean of all learners on the same data set; best first.

    A learner that was not tried on the hard data sets must not lead for that.

    >>> ordered({("a", "easy"): {1: 0.9}, ("b", "easy"): {1: 0.95}, ("b", "hard"): {1: 0.6}, ("a", "hard"): {1: 0.5}})
    ['b', 'a']
    """
    means = {place: fmean(values.values()) for place, values in cells.items()}
    usual = {
        dataset: fmean(mean for (_, other), mean in means.items() if other == dataset) for dataset in datasets_of(cells)
    }
    leads = {
        name: fmean(mean - usual[dataset] for (learner, dataset), mean in means.items() if learner == name)
        for name in learners_of(cells)
    }
    return sorted(leads, key=lambda name: (-leads[name], name))


def as_csv(
    cells: Cells,
    published: Mapping[tuple[str, str], float] | None = None,
    *,
    about: Mapping[str, str] | None = None,
    notes: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """One line per learner and data set: n, mean, sd, median, interval, and the published mean where there is one.

    ``about`` adds columns with one value each, ``notes`` a last column with a remark on a learner and data set.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    more = dict(about or {})
    header = ["learner", "dataset", "seeds", "mean", "sd", "median", "low", "high", "published", *more]
    writer.writerow([*header, *(["note"] if notes is not None else [])])
    for (learner, dataset), one in sorted(summaries(cells).items()):
        shown = [f"{value:.6f}" for value in (one.mean, one.sd, one.median, *(one.interval if one.n > 1 else ()))]
        shown += [""] * (5 - len(shown))
        beside = (published or {}).get((learner, dataset))
        last = [notes.get((learner, dataset), "")] if notes is not None else []
        numbers = [one.n, *shown, "" if beside is None else f"{beside:.4f}"]
        writer.writerow([learner, dataset, *numbers, *more.values(), *last])
    return text.getvalue()


def as_latex(
    cells: Cells,
    titles: Mapping[str, str],
    tests: Sequence[Paired] = (),
    *,
    marks: Mapping[str, str] | None = None,
    aside: Container[str] = (),
    seeds: Mapping[tuple[str, str], int] | None = None,
    metric: str = "accuracy",
) -> str:
    """A tabular with the best in bold, the second underlined, and a star where a test calls a learner better.

    ``marks`` (LaTeX) follow titles; learners ``aside`` stand below a rule and are never the best. ``seeds`` are
    numbers of seeds to show, raised and in brackets, for cells that have others than the rest.
    """
    datasets, table, factor = datasets_of(cells), summaries(cells), factor_of(metric)
    order = ordered(better_is_higher(cells, metric))
    starred = table.keys() & {(one.learner, one.dataset) for one in tests if one.verdict() == "better"}
    leaders = _leaders({place: one for place, one in table.items() if place[0] not in aside}, sign_of(metric))

    def line(name: str) -> str:
        result = [escaped(titles.get(name, name)) + (marks or {}).get(name, "")]
        for dataset in datasets:
            place = name, dataset
            one, few = table.get(place), (seeds or {}).get(place)
            number = "--" if one is None else _latex_cell(one, factor, leaders.get(place, "{}"), few)
            result.append(number + "*" * (place in starred))
        return " & ".join(result) + r" \\"

    inside = [line(name) for name in order if name not in aside]
    outside = [line(name) for name in order if name in aside]
    rule = [r"\midrule"] if inside and outside else []
    lines = [rf"\begin{{tabular}}{{l{'r' * len(datasets)}}}", r"\toprule"]
    lines += [" & ".join(["Learner", *map(escaped, datasets)]) + r" \\", r"\midrule"]
    return "\n".join([*lines, *inside, *rule, *outside, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _leaders(table: Mapping[tuple[str, str], SeedSummary], sign: int) -> dict[tuple[str, str], str]:
    """How LaTeX prints the best of each data set, and the second where there is a third."""
    result = {}
    for dataset in {dataset for _, dataset in table}:
        there = {name: one.mean for (name, other), one in table.items() if other == dataset}
        best = sorted((-sign * mean, name) for name, mean in there.items())
        result[best[0][1], dataset] = r"\textbf{{{}}}"
        if len(best) > 2:
            result[best[1][1], dataset] = r"\underline{{{}}}"
    return result


def _latex_cell(one: SeedSummary, factor: int, emphasis: str, seeds: int | None) -> str:
    """Mean, spread and, where it is not that of the rest, the number of seeds."""
    spread = rf" $\pm$ {factor * one.sd:.2f}" if one.n > 1 else ""
    raised = "" if seeds is None else f"$^{{({seeds})}}$"
    return emphasis.format(f"{factor * one.mean:.2f}") + spread + raised


def escaped(text: str) -> str:
    r"""Text as LaTeX prints it.

    >>> escaped("fashion_mnist")
    'fashion\\_mnist'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)
