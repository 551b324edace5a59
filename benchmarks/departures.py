"""Write docs/research/departures.md: every setting in which a method here is not as its authors have it.

python benchmarks/departures.py            # writes the page
python benchmarks/departures.py --check    # says whether it would change

The authors' settings stand in ``src/pulens/research/benchmark/protocol/authors.yaml``; ours are the learners' defaults
and what the protocols ``conventional`` and ``as-published`` make of them. Only the page's first lines are written
by hand.
"""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pulens.benchmark import datasets, methods

from pulens.learning.learners.base.settings import settled
from pulens.research.benchmark.plan import resolved_settings
from pulens.research.benchmark.protocol import load_protocol
from pulens.research.benchmark.vocabulary import current

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
FOOT = """
This page is made by `python benchmarks/departures.py` from the settings themselves; a test compares the two.
"""


def authors() -> dict[str, dict[str, dict[str, Any]]]:
    text = (resources.files("pulens.research.benchmark.protocol") / "authors.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def stated(places: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """What the authors say for a data set."""
    found: dict[str, Any] = {}
    for place in ("all", datasets.find(name).kind, name):
        found |= places.get(place, {})
    return found


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
    found = []
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
            found.append(f"| {entry.title} | `{setting}`{where} | {' or '.join(wanted)} | {' | '.join(told)} |")
    return found


def page() -> str:
    table = [
        "| method | setting | authors | default | conventional | as-published |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return HEAD + "\n".join([*table, *lines()]) + "\n" + FOOT


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
