"""The report as plain text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from pulens.benchmark.analysis import labels, tables
from pulens.benchmark.archive import Archive
from pulens.benchmark.leaderboard.board import MARKS, ROPE, Board, selection_words, uses_oracle
from pulens.benchmark.leaderboard.judged import Judged
from pulens.errors import InputError

WIDTH = 118
SIGNS = {"better": "+", "worse": "-", "tie": " "}


def report_text(found: Board, archive: Archive, judged: Judged | None = None) -> str:
    """Everything, section by section; a section that has nothing to say tells why or is left out."""
    sections = [
        _head(found, archive),
        _table(found),
        _ranks(found),
        _comparison(found),
        _labels(found, archive),
        _costs(found),
        _judged(judged),
        _failed(archive),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _head(found: Board, archive: Archive) -> list[str]:
    seeds = {row["seed"] for row in found.rows}
    lines = [
        f"archive      {archive.folder}: {len(archive.done):,} runs done, {len(archive.failed):,} failed",
        f"condition    {found.condition.name} (strategy and label frequency), {len(found.rows):,} runs, "
        f"{len(found.methods)} methods, {len(found.datasets)} data sets, {len(seeds)} seeds",
        f"metric       {found.metric} of test rows with true labels, in percent",
        f"selection    of the epoch by {selection_words(found.selection)}",
    ]
    if uses_oracle(found.selection):
        lines.append("             Nobody with PU data can select like this: read it as what selection costs.")
    return lines + [f"note         {text}" for text in found.notices]


def _table(found: Board) -> list[str]:
    """Blocks of data sets beside each other as the width allows; published figures under ours."""
    summaries, verdicts = tables.summaries(found.cells), found.verdicts
    names = max(12, *(len(one.marked) for one in found.methods.values())) + 2
    wide = max(15, *(len(one) + 2 for one in found.datasets))
    per_block = max(1, (WIDTH - names) // wide)
    lines = [f"{found.metric}, mean ± sd over seeds" + (" (ORACLE SELECTION)" if uses_oracle(found.selection) else "")]
    blocks = [found.datasets[at : at + per_block] for at in range(0, len(found.datasets), per_block)]
    for place, block in enumerate(blocks):
        is_last = place == len(blocks) - 1
        lines.append(" " * names + "".join(f"{one:>{wide}}" for one in block) + (f"{'mean':>9}" if is_last else ""))
        for name in found.order:
            shown = []
            for dataset in block:
                one = summaries.get((name, dataset))
                sign = SIGNS[verdicts.get((name, dataset), "tie")]
                few = "?" if found.undefined.get((name, dataset)) else ""
                shown.append(f"{'–' if one is None else f'{one}{few} {sign}':>{wide}}")
            mean = f"{_mean(found, name):>9}" if is_last else ""
            lines.append(f"{found.methods[name].marked:<{names}}" + "".join(shown) + mean)
            beside = [found.published.get((name, dataset)) for dataset in block]
            if any(value is not None for value in beside):
                figures = "".join(f"{'' if v is None else f'{100 * v:.2f}  ':>{wide}}" for v in beside)
                lines.append(f"{'  published':<{names}}{figures}".rstrip())
        lines.append("")
    return lines + [part for line in _legend(found) for part in _wrapped(line)]


def _named(found: Board, name: str) -> str:
    """A method's title with its marks, in a column of its own."""
    facts = found.methods[name]
    room = 33 - (len(facts.mark) + 1 if facts.mark else 0)
    title = facts.title if len(facts.title) <= room else f"{facts.title[: room - 1]}…"
    return f"{f'{title} {facts.mark}'.strip():<34}"


def _mean(found: Board, name: str) -> str:
    """In percent, for methods with a value on every data set: other means would compare different things."""
    means = [fmean(own.values()) for (method, _), own in found.cells.items() if method == name]
    return f"{100 * fmean(means):.2f}" if len(means) == len(found.datasets) else "–"


def _legend(found: Board) -> list[str]:
    lines = []
    if found.reference:
        lines.append(
            f"+ and -: better and worse than {found.reference} on that data set (two-sided paired t-test over seeds, "
            "Holm-corrected over methods, level 0.05)"
        )
    lines += [f"{mark} {text}" for mark, text in MARKS.items() if any(mark in m.mark for m in found.methods.values())]
    if found.undefined:
        lines.append(f"? some seeds have no {found.metric} there (nothing to divide by): they are left out of the mean")
    if found.published:
        lines.append("published: paper 004, Table 1, whose epochs were selected with true validation labels")
    return lines


def _ranks(found: Board) -> list[str]:
    records = {one.method: one for one in found.records}
    lines = ["mean rank over data sets; win/tie/loss against every other method, data set by data set (t-test, Holm)"]
    order: Sequence[str] = [one.method for one in found.records]
    ranks: Mapping[str, float] = {}
    if found.ranking is not None:
        ranks = dict(zip(found.ranking.methods, found.ranking.ranks, strict=True))
        order = [*found.ranking.methods, *(name for name in order if name not in ranks)]
    for name in order:
        one, rank = records[name], ranks.get(name)
        shown = "    –" if rank is None else f"{rank:5.2f}"
        lines.append(f"{shown}  {_named(found, name)}{one.wins:>5} / {one.ties} / {one.losses}")
    if found.ranking is None:
        return [*lines, f"no ranks: {found.no_ranking_because}"]
    ranking = found.ranking
    lines.append(
        f"critical difference {ranking.critical_difference:.2f} (Nemenyi, level 0.05) over {len(ranking.datasets)} "
        f"data sets; Friedman p = {ranking.p_value:.2g}, Iman-Davenport p = {ranking.iman_davenport_p_value:.2g}"
    )
    left = [name for name in order if name not in ranks]
    if left:
        lines.append(f"not ranked, since data sets are missing: {', '.join(left)}")
    for group in ranking.groups:
        lines += _wrapped(f"not told apart: {', '.join(found.methods[name].title for name in group)}")
    if len(ranking.datasets) < 5:
        lines.append(f"with {len(ranking.datasets)} data sets ranks can tell hardly anything apart.")
    return lines


def _comparison(found: Board) -> list[str]:
    if not found.reference:
        return []
    lines = [
        f"against {found.reference} over data sets: Bayesian signed-rank test (practically equal: within "
        f"{100 * ROPE:g} point) and Wilcoxon",
        f"{'':<34}{'better':>8}{'equal':>8}{'worse':>8}{'verdict':>12}{'sets':>6}{'p':>9}{'p (Holm)':>10}",
    ]
    for name in found.order:
        if name not in found.wilcoxon:
            continue
        n, p, corrected = found.wilcoxon[name]
        belief = found.beliefs.get(name)
        shown = f"{'–':>8}" * 3 + f"{'–':>12}"
        if belief is not None:
            shown = f"{belief.better:>8.2f}{belief.equal:>8.2f}{belief.worse:>8.2f}{belief.verdict():>12}"
        lines.append(f"{_named(found, name)}{shown}{n:>6}{_p(p):>9}{_p(corrected):>10}")
    return lines


def _labels(found: Board, archive: Archive) -> list[str]:
    """What few labels and biased labels cost, where the archive has more than one condition."""
    rows = list(archive.results(found.selection))
    lines = []
    curves = [one for one in labels.label_curves(rows, found.metric) if one.method in found.methods]
    if curves:
        lines.append("lowest label frequency from which on 95% of the best mean is kept (labels at random)")
        sets = sorted({one.dataset for one in curves})
        enough = {(one.method, one.dataset): one.enough() for one in curves}
        lines.append(f"{'':<34}" + "".join(f"{one:>15}" for one in sets))
        for name in found.order:
            shown = [enough.get((name, one)) for one in sets]
            if any(value is not None for value in shown):
                text = "".join(f"{'–' if value is None else f'{value:g}':>15}" for value in shown)
                lines.append(f"{_named(found, name)}{text}")
    try:
        biased = labels.robustness(rows, found.metric)
    except InputError:
        biased = []
    if biased:
        places = sorted({(one.strategy, one.label_frequency) for one in biased})
        lines += (
            ["", f"points of {found.metric} lost by biased labels, mean over data sets"]
            if lines
            else [f"points of {found.metric} lost by biased labels, mean over data sets"]
        )
        lines.append(f"{'':<34}" + "".join(f"{f'{s} {c:g}':>10}" for s, c in places))
        for name in found.order:
            lost_at: list[str] = []
            for place in places:
                lost = [
                    one.loss for one in biased if one.method == name and (one.strategy, one.label_frequency) == place
                ]
                lost_at.append(f"{100 * fmean(lost):>10.2f}" if lost else f"{'–':>10}")
            lines.append(f"{_named(found, name)}{''.join(lost_at)}")
    return lines


def _costs(found: Board) -> list[str]:
    known = found.costs()
    if not known:
        return []
    lines = [
        "costs per run: seconds of training (its share of a stack), memory of the stack over its runs",
        f"{'':<34}{'seconds':>10}{'MiB':>9}{'runs a stack':>14}  best for the time on",
    ]
    for name in sorted({one.method for one in known}, key=lambda name: _typical(known, name)):
        mine = [one for one in known if one.method == name]
        where = ", ".join(one.dataset for one in mine if one.is_efficient)
        lines.append(
            f"{_named(found, name)}{fmean(one.seconds for one in mine):>10.3g}"
            f"{fmean(one.memory for one in mine) / 2**20:>9.0f}{fmean(one.stack_runs for one in mine):>14.1f}  {where}"
        )
    devices = sorted({one.device for one in known})
    lines.append(f"measured on: {', '.join(devices)}" + ("; do not compare across devices" if len(devices) > 1 else ""))
    return lines


def _typical(known: Iterable[Any], name: str) -> float:
    return fmean(one.seconds for one in known if one.method == name)


def _judged(judged: Judged | None) -> list[str]:
    if judged is None:
        return []
    lines = [
        f"evaluation without negatives, beside the truth ({judged.runs:,} of {judged.of:,} runs; 95% intervals)",
        f"{'class prior':<14}{'metric':<20}{'held':>8}{'width':>8}{'bias':>9}{'|error|':>9}{'no answer':>11}",
    ]
    for row in judged.coverage:
        shown = f"{'–':>8}{'–':>8}{'–':>9}{'–':>9}"
        if "held" in row:
            shown = f"{row['held']:>8.1%}{row['width']:>8.3f}{row['bias']:>+9.4f}{row['error']:>9.4f}"
        lines.append(f"{row['prior']:<14}{row['metric']:<20}{shown}{row['without_answer']:>11}")
    if judged.epochs:
        lines += ["", "which criterion picks the best epoch: points of accuracy lost against the best (whole archive)"]
        lines.append(f"{'':<34}{'mean':>8}{'worst':>8}{'best picked':>13}{'runs':>7}")
        for row in judged.epochs:
            name = f"{row['selection']}{' (ORACLE)' if row['uses_truth'] else ''}"
            lines.append(
                f"{name:<34}{100 * row['regret']:>8.2f}{100 * row['worst']:>8.2f}{row['best']:>13.0%}{row['runs']:>7}"
            )
    told = [row for row in judged.methods if not math.isnan(row["regret"])]
    if told:
        lines += ["", "which criterion picks the best method: points of accuracy lost, rank correlation with the truth"]
        for row in sorted(told, key=lambda row: row["regret"]):
            shown = "–" if math.isnan(row["rank_correlation"]) else f"{row['rank_correlation']:.2f}"
            lines.append(f"{row['way']:<44}{100 * row['regret']:>8.2f}{shown:>8}{row['choices']:>7} choices")
    return lines


def _failed(archive: Archive) -> list[str]:
    if not archive.failed:
        return []
    reasons: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in archive.failed:
        reasons.setdefault((row["method"], row["dataset"], row["reason"] or "no reason given"), []).append(row)
    lines = [f"failed runs: {len(archive.failed)}"]
    for (method, dataset, reason), rows in sorted(reasons.items()):
        lines += _wrapped(
            f"  {method} on {dataset}, {len(rows)} {'run' if len(rows) == 1 else 'runs'}: {' '.join(reason.split())}"
        )
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ")


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "<0.001"
