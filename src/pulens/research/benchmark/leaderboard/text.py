"""The report as plain text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from pulens.errors import InputError
from pulens.research.benchmark.analyse import costs, labels, tables
from pulens.research.benchmark.analyse.conditions import by_condition, selects_with_truth, setting_of
from pulens.research.benchmark.analyse.ranks import MeanRanks
from pulens.research.benchmark.archive import Archive
from pulens.research.benchmark.archive.measured import sign_of
from pulens.research.benchmark.leaderboard.board import ROPE, Board
from pulens.research.benchmark.leaderboard.judged import Judged

WIDTH = 80
NAMES = 25  # columns of a learner's title
MOST_BRIEF = 12  # learners in the short answer
Labels = tuple[str, float, str]  # mechanism, label frequency, the mechanism's parameters
SIGNS = {"better": "+", "worse": "-", "tie": " "}


def brief_text(result: Board, archive: Archive) -> str:
    """Which learner is best and how clear that is, each learner's mean, rank and wins: one screen."""
    records = {one.learner: one for one in result.records}
    ranks = {} if result.ranking is None else dict(zip(result.ranking.learners, result.ranking.ranks, strict=True))
    reference = result.learners.get(result.reference or "")
    against = f"against {reference.title if reference else result.reference}" if result.reference else ""
    lines = [*_wrapped(_verdict(result), 0), ""]
    lines.append(f"{'':<{NAMES}}{'mean':>8}{'mean rank':>11}{'win / tie / loss':>18}{against:>18}".rstrip())
    # who lacks a data set has no mean to compare, and would stand among those who have
    listed = [name for name in result.order if name in ranks] or list(result.order)
    for name in listed[:MOST_BRIEF]:
        rank = f"{ranks[name]:.2f}" if name in ranks else "–"
        one, belief = records.get(name), result.beliefs.get(name)
        won = "" if one is None else f"{one.wins} / {one.ties} / {one.losses}"
        said = "" if belief is None else belief.verdict()
        lines.append(f"{_named(result, name)}{_mean(result, name):>8}{rank:>11}{won:>18}{said:>18}".rstrip())
    left = len(result.order) - len(listed[:MOST_BRIEF])
    lines += [f"  and {_counted(left, 'more learner')}"] if left > 0 else []
    marked = "".join(_named(result, name) for name in listed[:MOST_BRIEF])
    lines += [
        "",
        *_wrapped(f"mean of {result.metric}{_comma(result.unit)}; epochs selected by {_plain(result.selection_words)}"),
    ]
    lines += [part for mark, text in result.marks.items() if mark in marked for part in _wrapped(f"{mark} {text}")]
    runs = f"{len(result.rows):,} runs of {result.condition.name}, {len(archive.failed):,} failed in the archive"
    return "\n".join([*lines, *_wrapped(f"{runs}. Every data set, tests and costs: add --explain.")])


def _verdict(result: Board) -> str:
    sets = _counted(len(result.datasets), "data set")
    ranking = result.ranking
    if ranking is None:
        best = next((name for name in result.order if not result.learners[name].uses_truth), result.order[0])
        title, mean = result.learners[best].title, _mean(result, best)
        first = f"{title} has the best mean {result.metric}, {mean}" if mean != "–" else f"{title} comes first"
        because = f" No mean ranks: {result.no_ranking_because}" if result.no_ranking_because else ""
        return f"{first}, over {sets} and {_counted(result.seeds, 'seed')}.{because}"
    best = min(zip(ranking.ranks, ranking.learners, strict=True))[1]
    alike = {name for group in ranking.groups if best in group for name in group} - {best}
    title, rank = result.learners[best].title, min(ranking.ranks)
    words = f"{title} ranks best: {rank:.2f} on average over {sets}."
    if not alike:
        return f"{words} The difference from every other learner is clear."
    return f"{words} No clear difference from {_listed([result.learners[name].title for name in alike])}."


def _plain(words: str) -> str:
    """How epochs were selected, without the name that ``--selection`` has for it where the words say it all."""
    return words.removeprefix("own: ")


def _listed(titles: Sequence[str]) -> str:
    several = sorted(titles)
    return ", ".join(several) if len(several) < 5 else f"{len(several)} others"


def _counted(many: int, word: str) -> str:
    return f"{many:,} {word}{'' if many == 1 else 's'}"


def report_text(result: Board, archive: Archive, judged: Judged | None = None) -> str:
    """Everything, section by section; a section without content gives the reason or is left out."""
    sections = [
        _head(result, archive),
        _table(result),
        _ranks(result),
        _comparison(result),
        _labels(result, archive),
        _costs(result),
        _judged(judged),
        _failed(archive),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _head(result: Board, archive: Archive) -> list[str]:
    lines = [
        f"archive      {archive.folder}: {len(archive.done):,} runs done, {len(archive.failed):,} failed",
        f"condition    {result.condition.name} (labels {result.condition.mechanism}, label frequency), "
        f"{_counted(len(result.rows), 'run')}, {_counted(len(result.learners), 'learner')}, "
        f"{_counted(len(result.datasets), 'data set')}, {_counted(result.seeds, 'seed')}",
        f"metric       {result.metric} of test rows with true labels{_comma(result.unit)}",
        f"selection    of the epoch by {result.selection_words}",
    ]
    if selects_with_truth(result.selection):
        lines.append("             Nobody with PU data can select like this: read it as what selection costs.")
    lines += [f"note         {text}" for text in result.notices]
    return [part for line in lines for part in _wrapped(line, 13)]


def _table(result: Board) -> list[str]:
    """Blocks of data sets beside each other as the width allows; published figures under ours."""
    texts = _cell_texts(result)
    names = max(12, *(len(one.marked) for one in result.learners.values())) + 2
    wide = max(15, *(len(one) + 2 for one in result.datasets), *(len(text) + 1 for text in texts.values()))
    per_block = max(1, (WIDTH - names) // wide)
    lines = [
        f"{result.metric}, mean ± sd over seeds"
        + (" (ORACLE SELECTION)" if selects_with_truth(result.selection) else "")
    ]
    for at in range(0, len(result.datasets), per_block):
        block = result.datasets[at : at + per_block]
        is_last = at + per_block >= len(result.datasets)
        lines.append(" " * names + "".join(f"{one:>{wide}}" for one in block) + (f"{'mean':>9}" if is_last else ""))
        for name in result.order:
            shown = "".join(f"{texts.get((name, dataset), '–'):>{wide}}" for dataset in block)
            mean = f"{_mean(result, name):>9}" if is_last else ""
            lines.append(f"{result.learners[name].marked:<{names}}{shown}{mean}")
            lines += _published(result, name, block, names, wide)
        lines.append("")
    return lines + [part for line in _legend(result) for part in _wrapped(line)]


def _published(result: Board, name: str, block: Sequence[str], names: int, wide: int) -> list[str]:
    """The published figures of a learner on some data sets, in their columns, where there are any."""
    beside = [result.published.get((name, dataset)) for dataset in block]
    if all(value is None for value in beside):
        return []
    figures = "".join(f"{'' if v is None else f'{100 * v:.2f}  ':>{wide}}" for v in beside)
    return [f"{'  published':<{names}}{figures}".rstrip()]


def _cell_texts(result: Board) -> dict[tuple[str, str], str]:
    """Mean and deviation, the number of seeds where it is another, a question mark, a sign for better or worse."""
    verdicts = result.verdicts
    texts = {}
    for place, one in tables.summaries(result.cells).items():
        few = f" ({result.other_seeds[place]})" if place in result.other_seeds else ""
        few += "?" * bool(result.undefined.get(place))
        texts[place] = f"{one.shown(result.factor)}{few} {SIGNS[verdicts.get(place, 'tie')]}"
    return texts


def _named(result: Board, name: str) -> str:
    """A learner's title with its marks, in a column of its own."""
    facts = result.learners[name]
    room = NAMES - 1 - (len(facts.mark) + 1 if facts.mark else 0)
    title = facts.title if len(facts.title) <= room else f"{facts.title[: room - 1]}…"
    return f"{f'{title} {facts.mark}'.strip():<{NAMES}}"


def _mean(result: Board, name: str) -> str:
    """In percent, for learners with a value on every data set: other means would compare different things."""
    means = [fmean(own.values()) for (learner, _), own in result.cells.items() if learner == name]
    return f"{result.factor * fmean(means):.2f}" if len(means) == len(result.datasets) else "–"


def _legend(result: Board) -> list[str]:
    lines = []
    if result.reference:
        lines.append(
            f"+ and -: better and worse than {result.reference} on that data set (two-sided paired t-test over seeds, "
            "Holm-corrected over learners, level 0.05)"
        )
    lines += [f"{mark} {text}" for mark, text in result.marks.items()]
    if result.other_seeds:
        numbers = ", ".join(f"({n})" for n in sorted(set(result.other_seeds.values())))
        lines.append(f"{numbers} after a value: the number of seeds, where it is not {result.seeds}")
    if result.undefined:
        lines.append(
            f"? some seeds have no {result.metric} there (nothing to divide by): they are left out of the mean"
        )
    if result.published:
        lines.append("published: PU-Bench, Table 1, whose epochs were selected with true validation labels")
    return lines


def _ranks(result: Board) -> list[str]:
    records = {one.learner: one for one in result.records}
    lines = _wrapped(
        "mean rank over data sets; wins, ties and losses against every other learner, by data set (t-test, Holm)"
    )
    ranking = result.ranking
    ranks = {} if ranking is None else dict(zip(ranking.learners, ranking.ranks, strict=True))
    left = [name for name in records if name not in ranks]
    for name in (*ranks, *left):
        one, rank = records[name], ranks.get(name)
        shown = "    –" if rank is None else f"{rank:5.2f}"
        lines.append(f"{shown}  {_named(result, name)}{one.wins:>5} / {one.ties} / {one.losses}")
    if ranking is None:
        return [*lines, *_wrapped(f"no ranks: {result.no_ranking_because}")]
    return lines + _differences(result, ranking, left)


def _differences(result: Board, ranking: MeanRanks, left: Sequence[str]) -> list[str]:
    """What the mean ranks separate, what they do not, and which learners are left without one."""
    lines = _wrapped(
        f"critical difference {ranking.critical_difference:.2f} (Nemenyi, level 0.05) over {len(ranking.datasets)} "
        f"data sets; Friedman p = {ranking.p_value:.2g}, Iman-Davenport p = {ranking.iman_davenport_p_value:.2g}"
    )
    if left:
        titles = ", ".join(result.learners[name].marked for name in left)
        lines += _wrapped(f"not ranked, since data sets are missing: {titles}")
    for group in ranking.groups:
        lines += _wrapped(f"no clear difference: {', '.join(result.learners[name].marked for name in group)}")
    if len(ranking.datasets) < 5:
        lines.append(f"with {len(ranking.datasets)} data sets hardly any difference between ranks is clear.")
    return lines


def _comparison(result: Board) -> list[str]:
    if not result.reference:
        return []
    lines = [
        *_wrapped(
            f"against {result.reference} over data sets: Bayesian signed-rank test (practically equal: within "
            f"{100 * ROPE:g} point) and Wilcoxon"
        ),
        f"{'':<{NAMES}}{'better':>7}{'equal':>7}{'worse':>7}{'verdict':>12}{'sets':>5}{'p':>8}{'p (Holm)':>9}",
    ]
    for name in result.order:
        if name not in result.wilcoxon:
            continue
        n, p, corrected = result.wilcoxon[name]
        belief = result.beliefs.get(name)
        shown = f"{'–':>7}" * 3 + f"{'–':>12}"
        if belief is not None:
            shown = f"{belief.better:>7.2f}{belief.equal:>7.2f}{belief.worse:>7.2f}{belief.verdict():>12}"
        lines.append(f"{_named(result, name)}{shown}{n:>5}{_p(p):>8}{_p(corrected):>9}")
    return lines


def _labels(result: Board, archive: Archive) -> list[str]:
    """What few labels and biased labels cost, all else as in the report's condition."""
    mine = [
        row for row in archive.results(result.selection, result.metric) if setting_of(row) == result.condition.setting
    ]
    rows = [row for own in by_condition(mine).values() for row in own if row["learner"] in result.learners]
    return _with_gap(_label_curves(result, rows), _biased(result, rows))


def _with_gap(first: list[str], second: list[str]) -> list[str]:
    return [*first, "", *second] if first and second else first + second


def _label_curves(result: Board, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if sign_of(result.metric) < 0:  # a share of the best says nothing where the best is the least
        return []
    curves = labels.label_curves(rows, result.metric)
    if not curves:
        return []
    lines = ["lowest label frequency that keeps 95% of the best mean (labels at random)"]
    sets = sorted({one.dataset for one in curves})
    enough = {(one.learner, one.dataset): one.enough() for one in curves}
    enough_at = {name: [enough.get((name, one)) for one in sets] for name in result.order}
    texts = {
        name: ["–" if value is None else f"{value:g}" for value in shown]
        for name, shown in enough_at.items()
        if any(value is not None for value in shown)
    }
    return lines + _blocks(result, sets, texts)


def _blocks(result: Board, heads: Sequence[str], texts: Mapping[str, Sequence[str]]) -> list[str]:
    """A table of learners in as many blocks of columns as the width needs."""
    wide = max(len(one) for one in heads) + 2
    per_block = max(1, (WIDTH - NAMES) // wide)
    lines = []
    for at in range(0, len(heads), per_block):
        block = slice(at, at + per_block)
        lines.append(" " * NAMES + "".join(f"{one:>{wide}}" for one in heads[block]))
        lines += [_named(result, name) + "".join(f"{t:>{wide}}" for t in row[block]) for name, row in texts.items()]
    return lines


def _biased(result: Board, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    try:
        biased = labels.robustness(rows, result.metric)
    except InputError:
        return []
    if not biased:
        return []
    losses: dict[tuple[str, Labels], list[float]] = {}
    for one in biased:
        place = one.alias, one.label_frequency, one.parameters or ""
        losses.setdefault((one.learner, place), []).append(one.loss)
    places = sorted({place for _, place in losses})
    heads = _mechanism_heads(places)
    texts = {}
    for name in result.order:
        lost_at = [losses.get((name, place)) for place in places]
        texts[name] = [f"{result.factor * fmean(lost):.2f}" if lost else "–" for lost in lost_at]
    return [f"points of {result.metric} lost by biased labels, mean over data sets", *_blocks(result, heads, texts)]


def _mechanism_heads(places: Sequence[Labels]) -> list[str]:
    """Mechanism and label frequency, with the parameters only where a mechanism occurs with several.

    >>> _mechanism_heads([("S2", 0.1, "power 10"), ("S3", 0.1, "k 5"), ("S3", 0.5, "k 9")])
    ['S2 0.1', 'S3 0.1 k 5', 'S3 0.5 k 9']
    """
    known: dict[str, set[str]] = {}
    for alias, _, parameters in places:
        known.setdefault(alias, set()).add(parameters)
    return [
        f"{alias} {frequency:g}{f' {parameters}' if len(known[alias]) > 1 else ''}"
        for alias, frequency, parameters in places
    ]


def _costs(result: Board) -> list[str]:
    known = result.costs()
    if not known:
        return []
    places = costs.devices(known)
    lines = _wrapped("costs per run: seconds of training (its share of a stack), memory of the stack over its runs")
    if len(places) > 1:
        lines.append("each device by itself: costs on different devices do not compare")
    for device in places:
        lines += _costs_on(result, device, [one for one in known if one.device == device])
    return lines


def _costs_on(result: Board, device: str, known: Sequence[costs.LearnerCost]) -> list[str]:
    """The costs measured on one device, the quickest learner first."""
    by_learner: dict[str, list[costs.LearnerCost]] = {}
    for one in known:
        by_learner.setdefault(one.learner, []).append(one)
    head = f"on {device}"
    lines = [f"{head:<{NAMES}}{'seconds':>8}{'MiB':>7}{'runs a stack':>13}{'sets':>5}  best for the time on"]
    for name in sorted(by_learner, key=lambda name: fmean(one.seconds for one in by_learner[name])):
        lines += textwrap.wrap(_costs_of(result, name, by_learner[name]), WIDTH, subsequent_indent=" " * 60)
    sets = len({one.dataset for one in known})
    if any(len({one.dataset for one in mine}) < sets for mine in by_learner.values()):
        lines += _wrapped("means are over the data sets measured there (sets): compare those over the same ones only")
    return lines


def _costs_of(result: Board, name: str, mine: Sequence[costs.LearnerCost]) -> str:
    where = ", ".join(one.dataset for one in mine if one.is_efficient)
    memory = fmean(one.memory for one in mine) / 2**20
    return (
        f"{_named(result, name)}{fmean(one.seconds for one in mine):>8.3g}"
        f"{'–' if math.isnan(memory) else f'{memory:.0f}':>7}{fmean(one.stack_runs for one in mine):>13.1f}"
        f"{len(mine):>5}  {where}"
    ).rstrip()


def _judged(judged: Judged | None) -> list[str]:
    if judged is None:
        return []
    part = f"; the prior estimated on {judged.sampled:,} of them" if judged.sampled < judged.runs else ""
    lines = [
        *_wrapped(f"evaluation without negatives, compared with the truth ({judged.runs:,} runs{part}; 95% intervals)"),
        f"{'class prior':<12}{'metric':<21}{'held':>7}{'width':>7}{'bias':>8}{'|error|':>8}"
        f"{'no answer':>11}{'runs':>6}",
    ]
    for row in judged.coverage:
        shown = f"{'–':>7}{'–':>7}{'–':>8}{'–':>8}"
        if "held" in row:
            shown = f"{row['held']:>7.1%}{row['width']:>7.3f}{row['bias']:>+8.4f}{row['error']:>8.4f}"
        lines.append(f"{row['prior']:<12}{row['metric']:<21}{shown}{row['without_answer']:>11}{row['runs']:>6}")
    if judged.epochs:
        lines += ["", "which criterion picks the best epoch: points of accuracy lost against the best"]
        lines.append(f"{'':<34}{'mean':>8}{'worst':>8}{'best picked':>13}{'runs':>7}")
        for row in judged.epochs:
            name = f"{row['selection']}{' (ORACLE)' if row['uses_truth'] else ''}"
            lines.append(
                f"{name:<34}{100 * row['regret']:>8.2f}{100 * row['worst']:>8.2f}{row['best']:>13.0%}{row['runs']:>7}"
            )
    heading = "which criterion picks the best learner: points of accuracy lost, rank correlation"
    lines += _choosing(heading, judged.learners)
    return lines + _choosing("the same, on the runs whose class prior was estimated too", judged.sampled_learners)


def _choosing(heading: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for row in sorted(rows, key=lambda row: row["regret"]):
        shown = "–" if math.isnan(row["rank_correlation"]) else f"{row['rank_correlation']:.2f}"
        lines.append(f"{row['way']:<44}{100 * row['regret']:>8.2f}{shown:>8}{row['choices']:>7} choices")
    return ["", *_wrapped(heading), *lines] if lines else []


def _failed(archive: Archive) -> list[str]:
    if not archive.failed:
        return []
    reasons: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in archive.failed:
        reasons.setdefault((row["learner"], row["dataset"], row["reason"] or "no reason given"), []).append(row)
    lines = [f"failed runs: {len(archive.failed)}"]
    for (learner, dataset, reason), rows in sorted(reasons.items()):
        lines += _wrapped(
            f"  {learner} on {dataset}, {len(rows)} {'run' if len(rows) == 1 else 'runs'}: {' '.join(reason.split())}"
        )
    return lines


def _comma(words: str) -> str:
    return f",{words}" if words.startswith(" ") else words


def _wrapped(text: str, indent: int = 4) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.3f}" if value >= 0.001 else "<0.001"
