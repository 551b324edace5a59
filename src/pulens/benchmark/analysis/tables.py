"""Tables to take away: methods by data sets as CSV, LaTeX and plain text, beside the published figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from pulens.benchmark.analysis.cells import Cells, Summary, datasets_of, methods_of, summarise
from pulens.benchmark.analysis.paired import Paired

SPECIAL = {
    "\\": r"\textbackslash{}",
    "_": r"\_",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
}


def summaries(cells: Cells) -> dict[tuple[str, str], Summary]:
    """Every cell summarised over its seeds."""
    return {place: summarise(list(values.values())) for place, values in cells.items()}


def ordered(cells: Cells) -> list[str]:
    """Methods by their mean over the data sets they have, best first."""
    means = {
        name: fmean(fmean(values.values()) for (method, _), values in cells.items() if method == name)
        for name in methods_of(cells)
    }
    return sorted(means, key=lambda name: (-means[name], name))


def as_csv(cells: Cells, published: Mapping[tuple[str, str], float] | None = None) -> str:
    """One line per method and data set: n, mean, sd, median, interval, and the published mean where there is one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["method", "dataset", "seeds", "mean", "sd", "median", "low", "high", "published"])
    for (method, dataset), one in sorted(summaries(cells).items()):
        numbers = [one.mean, one.sd, one.median, *(one.interval if one.n > 1 else ("", ""))]
        shown = [f"{value:.6f}" if value != "" else "" for value in numbers]
        beside = (published or {}).get((method, dataset))
        writer.writerow([method, dataset, one.n, *shown, "" if beside is None else f"{beside:.4f}"])
    return text.getvalue()


def as_latex(cells: Cells, titles: Mapping[str, str], tests: Sequence[Paired] = ()) -> str:
    """A tabular with the best in bold, the second underlined, and a star where a test calls a method better."""
    datasets, table = datasets_of(cells), summaries(cells)
    starred = {(one.method, one.dataset) for one in tests if one.verdict() == "better"}
    places = {
        dataset: sorted((name for name in methods_of(cells) if (name, dataset) in table), key=_best(table, dataset))
        for dataset in datasets
    }
    lines = [rf"\begin{{tabular}}{{l{'r' * len(datasets)}}}", r"\toprule"]
    lines += [" & ".join(["Method", *map(escaped, datasets)]) + r" \\", r"\midrule"]
    for name in ordered(cells):
        found = [escaped(titles.get(name, name))]
        for dataset in datasets:
            one = table.get((name, dataset))
            if one is None:
                found.append("--")
                continue
            number = f"{100 * one.mean:.2f}"
            if places[dataset][0] == name:
                number = rf"\textbf{{{number}}}"
            elif len(places[dataset]) > 2 and places[dataset][1] == name:
                number = rf"\underline{{{number}}}"
            spread = rf" $\pm$ {100 * one.sd:.2f}" if one.n > 1 else ""
            found.append(number + spread + ("*" if (name, dataset) in starred else ""))
        lines.append(" & ".join(found) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _best(table: Mapping[tuple[str, str], Summary], dataset: str) -> Callable[[str], tuple[float, str]]:
    return lambda name: (-table[name, dataset].mean, name)


def escaped(text: str) -> str:
    r"""Text as LaTeX prints it.

    >>> escaped("fashion_mnist")
    'fashion\\_mnist'
    """
    return "".join(SPECIAL.get(letter, letter) for letter in text)
