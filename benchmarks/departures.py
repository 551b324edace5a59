"""Write docs/research/departures.md: every setting in which a method here is not as its authors have it.

python benchmarks/departures.py            # writes the page
python benchmarks/departures.py --check    # says whether it would change

The authors' settings stand in ``src/pulens/research/benchmark/protocol/authors.yaml``; ours are the learners' defaults
and what the protocols ``conventional`` and ``as-published`` make of them. Accuracies come from the package's summary of
runs. Written by hand are the page's first lines and why figures differ.
"""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pulens.benchmark import datasets, methods

from pulens.learning import learners
from pulens.learning.learners.base.settings import settled
from pulens.research.benchmark.archive.summary import read_summary
from pulens.research.benchmark.plan import resolved_settings
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.published import table_1
from pulens.research.benchmark.vocabulary import current, variant_name
from pulens.research.studies._bench import from_rows

PAGE = Path(__file__).parents[1] / "docs" / "research" / "departures.md"
SETS = ("spambase", "connect4", "newsgroups20", "imdb", "mnist", "fashion_mnist", "cifar10")
HEAD = """# Departures from the published methods

Eighteen methods of [PU-Bench](papers.md) are in the package. What they do by default was chosen so that they work on
data of many kinds; in some settings that is not what their authors did. Two protocols run them: `conventional` as they
are here, `as-published` with the authors' objective, cut and class prior. Tables show both, the latter as "(as
published)"; a method that is given the class prior though it takes none is marked ¶.

A line is a setting that differs from the authors' somewhere: their value, the default here, and the values that the
two protocols use. "same" is the authors' value. Where the authors state a value for some data only, the line says so
and is about those. Values that differ between data sets are given with their names. Lengths of training, batches and
rates mostly stay ours in `as-published` too: the authors' are many times as long (epochs: LaGAM 400 for our 50,
MPE-PU 1,100 or more for 50, Robust-PU 2,000 after its first stage for 20).

For all methods, and not in this table: the class prior handed to methods is the true one, a tenth of the training rows
(with PU labels) selects epochs where a method selects them, networks are those of PU-Bench, and Adam has PyTorch's
betas unless the page about [learners](learners.md) says otherwise.

"""
BESIDE = """
## Beside Table 1

Accuracy in percent minus the published one: labels at random, one positive in ten labelled, the epoch of best F1 on
true validation labels, as the paper reports. Methods are as their authors have them where the summary has such runs;
the others, and cells marked °, are as they are by default. Bold: within two points. In brackets the number of seeds
where it is not ten. ADNI's pictures are not at hand. Published means have errors of their own: most equal F1 rather
than accuracy ([why](learners_measured.md#why-our-figures-differ-from-the-published-ones)), hence the last count, of
cells where accuracy or F1 is within two points or above.

"""
WHY = {
    "nnpu": "published Connect-4 is F1; Spambase and CIFAR-10 are above",
    "pusb": "published Connect-4 is F1; Spambase is above",
    "vpu": "published Connect-4 is F1; Spambase and CIFAR-10 are above",
    "mpe_pu": "the published one is nnPU with the true class prior; here the prior is estimated while it trains",
    "lbe": "the authors' rules call all rows alike on IMDb, Connect-4 and MNIST; the release has another M-step",
    "puet": "published Connect-4 is F1; 30 trees vote, whatever the class prior",
    "dist_pu": "pictures and Spambase are above",
    "pulda": "temperature 3.5 calls every row positive where half of them are (IMDb, MNIST, Connect-4)",
    "self_pu": "the release trains trusted positives as negatives; ours are above",
    "p3mix_e": "published Connect-4 is F1; the release mixes targets, not rows",
    "p3mix_c": "published Connect-4 is F1; the release mixes targets, not rows",
    "robust_pu": "four published cells are nnPU's; with weights of one hidden positives count as negatives",
    "holistic_pu": "the release takes the wrong class for positive; ours are above",
    "lagam": "50 epochs for 400; the release reads true validation labels in its meta step",
    "pul_cpbf": "the release's second stage reads hidden true labels",
    "vae_pu": "published IMDb and Connect-4 are the F1 of calling all positive; the release tunes its cut on the truth",
    "pan": "the release has another algorithm under this name",
    "cgenpu": "2,000 steps for 1,000 epochs; the release trains another loss; Connect-4 is F1 of calling all positive",
}
FOOT = """
This page is made by `python benchmarks/departures.py` from settings and summary; a test compares them.
"""


def authors() -> dict[str, dict[str, dict[str, Any]]]:
    text = (resources.files("pulens.research.benchmark.protocol") / "authors.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def stated(places: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """What the authors say for a data set."""
    result: dict[str, Any] = {}
    for place in ("all", datasets.find(name).kind, name):
        result |= places.get(place, {})
    return result


def same(first: Any, second: Any) -> bool:
    return current(first) == current(second) if isinstance(first, str) else first == second


def value(given: Any) -> str:
    if isinstance(given, bool) or given is None:
        return {True: "yes", False: "no", None: "automatic"}[given]
    return f"{given:g}" if isinstance(given, float) else str(current(given) if isinstance(given, str) else given)


def cell(values: dict[str, Any], published: dict[str, Any]) -> str:
    """Values by data set, those that most share first."""
    shown = {name: "same" if same(one, published[name]) else value(one) for name, one in values.items()}
    groups: dict[str, list[str]] = {}
    for name, words in shown.items():
        groups.setdefault(words, []).append(name)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    if len(ordered) == 1:
        return ordered[0][0]
    return "; ".join([ordered[0][0], *(f"{words} on {', '.join(names)}" for words, names in ordered[1:])])


def lines() -> list[str]:
    """The table's lines, method by method."""
    protocols = [load_protocol(name) for name in ("conventional", "as-published")]
    result = []
    for learner, places in authors().items():
        entry = methods.find(learner)
        ours = [{name: resolved_settings(entry, one, name) for name in SETS} for one in protocols]
        by_set = {name: stated(places, name) for name in SETS}
        for setting in dict.fromkeys(key for one in by_set.values() for key in one):
            published = {name: one[setting] for name, one in by_set.items() if setting in one}
            used = [{name: each[name].get(setting) for name in published} for each in ours]
            default = settled(entry.learner(), setting)
            if all(same(one[name], published[name]) for one in used for name in published) and all(
                same(default, one) for one in published.values()
            ):
                continue
            where = "" if len(published) == len(SETS) else f" ({', '.join(published)})"
            wanted = sorted({value(one) for one in published.values()})
            told = [cell(dict.fromkeys(published, default), published), *(cell(one, published) for one in used)]
            result.append(f"| {entry.title} | `{setting}`{where} | {' or '.join(wanted)} | {' | '.join(told)} |")
    return result


def beside() -> list[str]:
    """Our accuracies less those of Table 1, method by method."""
    runs = from_rows(read_summary(resources.files("pulens.research.benchmark") / "summary.csv.gz"), "the summary")
    accuracies, f1s = (runs.cells(metric, oracle=True) for metric in ("accuracy", "f1"))
    found = []
    for learner in learners.compared():
        names = [methods.plain(name) for name in (variant_name(learner, "as published"), learner)]
        departs = any((names[0], name, "S1", 0.1) in accuracies for name in SETS)
        row, near, total, as_f1 = [], 0, 0, 0
        for name in SETS:
            place = next((p for one in names if (p := (one, name, "S1", 0.1)) in accuracies), None)
            published = table_1().get((names[1], name))
            if place is None or published is None:
                row.append("–")
                continue
            gap, by_f1 = (100 * cells[place].mean - published.accuracy for cells in (accuracies, f1s))
            seeds = "" if accuracies[place].n == 10 else f" ({accuracies[place].n})"
            mark = "°" if departs and place[0] == names[1] else ""
            total, near = total + 1, near + (abs(gap) <= 2)
            as_f1 += gap >= -2 or abs(by_f1) <= 2
            row.append((f"**{gap:+.1f}**" if abs(gap) <= 2 else f"{gap:+.1f}") + mark + seeds)
        title = methods.find(learner).title + (" (as published)" if departs else "")
        found.append(f"| {title} | {' | '.join(row)} | {near} of {total} | {as_f1} of {total} | {WHY[learner]} |")
    return found


def page() -> str:
    sets = " | ".join(datasets.find(name).title.partition(" (")[0] for name in SETS)
    comparison = [
        f"| method | {sets} | within 2 | accuracy or F1 | why elsewhere |",
        "| --- |" + " --- |" * (len(SETS) + 3),
    ]
    table = [
        "| method | setting | authors | default | conventional | as-published |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    first, second = ("\n".join(part) + "\n" for part in ([*table, *lines()], [*comparison, *beside()]))
    return HEAD + first + BESIDE + second + FOOT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{PAGE} is not what benchmarks/departures.py makes of the settings")


if __name__ == "__main__":
    main()
