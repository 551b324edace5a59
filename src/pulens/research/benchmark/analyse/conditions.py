"""Labelling conditions: runs are compared within one, never across."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pulens.errors import InputError, nearest
from pulens.learning.labelling import MECHANISMS

Row = Mapping[str, Any]
# what makes another condition besides mechanism and label frequency, and how it is written where it varies
FURTHER = ("parameters", "scenario", "unlabelled", "prior_policy", "rows_used", "validation_share", "test_share")
SETTING = FURTHER[1:]  # what stays the same where labelling varies: parameters belong to a mechanism


@dataclass(frozen=True)
class Condition:
    """How positives were labelled and what learners were told; runs of one condition may be compared."""

    alias: str  # of the labelling mechanism, as the papers call it
    label_frequency: float
    further: tuple[Any, ...]
    name: str  # as short as tells it from the archive's others
    runs: int
    mechanism: str = ""  # the labelling mechanism that the alias stands for

    def holds(self, row: Row) -> bool:
        return place_of(row) == (self.alias, self.label_frequency, self.further)

    @property
    def setting(self) -> tuple[Any, ...]:
        """All but mechanism, its parameters and label frequency: what curves over labels keep fixed."""
        return self.further[1:]

    @property
    def words(self) -> str:
        """For people who do not know the papers' names.

        >>> Condition("S1", 0.1, (), "S1 0.1 prior estimated", 1).words
        'labelled at random, 1 in 10, prior estimated'
        """
        share = Fraction(f"{self.label_frequency:g}")
        many = f"{share.numerator:,} in {share.denominator:,}" if share.denominator > 1 else "all"
        rest = self.name.removeprefix(f"{self.alias} {self.label_frequency:g}").strip()
        return ", ".join([mechanism_words(self.alias), many, *([rest] if rest else [])])

    @property
    def is_conventional(self) -> bool:
        """Whether it is that of PU-Bench's Table 1.

        Case-control, unlabelled rows from the whole pool, labels at random, one positive in ten, a known class prior,
        all rows.
        """
        given = dict(zip(FURTHER, self.further, strict=True))
        table = {"scenario": "case-control", "unlabelled": "whole-pool", "prior_policy": "known", "rows_used": None}
        is_same = all(given[name] == value for name, value in table.items())
        return self.alias == "S1" and abs(self.label_frequency - 0.1) < 1e-9 and is_same


def mechanism_words(alias: str) -> str:
    """What a labelling mechanism does to positives, in a few words; its name where nothing is known of it.

    >>> mechanism_words("S2"), mechanism_words("of their own")
    ('clear positives labelled more often', 'of their own')
    """
    known = next((one for own, one in MECHANISMS.items() if alias in (own, one.alias)), None)
    return alias if known is None else known.in_words or alias


def place_of(row: Row) -> tuple[str, float, tuple[Any, ...]]:
    """Everything that makes another condition: mechanism, label frequency, and :data:`FURTHER`."""
    return row["mechanism_alias"] or row["mechanism"], row["label_frequency"], tuple(row.get(name) for name in FURTHER)


def setting_of(row: Row) -> tuple[Any, ...]:
    """A run's :data:`SETTING`."""
    return tuple(row.get(name) for name in SETTING)


def selects_with_truth(selection: str) -> bool:
    """Whether a selection of epochs reads true validation labels.

    >>> selects_with_truth("oracle_f1"), selects_with_truth("proxy_roc_auc")
    (True, False)
    """
    return selection.startswith("oracle")


def newest(rows: Iterable[Row]) -> tuple[list[Row], int]:
    """One run per learner, data set and seed of a condition, the latest to finish; and how many others there were."""
    kept: dict[tuple[str, str, int], Row] = {}
    dropped = 0
    for row in rows:
        place = row["learner"], row["dataset"], row["seed"]
        dropped += place in kept
        if place not in kept or (row["finished"] or "") > (kept[place]["finished"] or ""):
            kept[place] = row
    return list(kept.values()), dropped


def by_condition(rows: Iterable[Row]) -> dict[tuple[str, float, tuple[Any, ...]], list[Row]]:
    """The newest runs of every condition that occurs."""
    result: dict[tuple[str, float, tuple[Any, ...]], list[Row]] = {}
    for row in rows:
        result.setdefault(place_of(row), []).append(row)
    return {place: newest(own)[0] for place, own in result.items()}


def conditions_of(rows: Iterable[Row]) -> list[Condition]:
    """The conditions that occur, in order; each has a name of its own.

    >>> row = dict.fromkeys(FURTHER) | {"mechanism_alias": "S1", "label_frequency": 0.1}
    >>> [one.name for one in conditions_of([row, row | {"label_frequency": 0.5}])]
    ['S1 0.1', 'S1 0.5']
    """
    counted: Counter[tuple[str, float, tuple[Any, ...]]] = Counter()
    mechanisms: dict[str, str] = {}
    for row in rows:
        counted[place_of(row)] += 1
        mechanisms.setdefault(place_of(row)[0], row.get("mechanism") or "")
    places = sorted(counted, key=lambda place: (place[0], place[1], tuple(map(str, place[2]))))
    varies = [len({place[2][at] for place in places}) > 1 for at in range(len(FURTHER))]
    # S3 always has parameters that S1 lacks: they matter only where one mechanism occurs with several
    if not _vary_within(places, FURTHER.index("parameters")):
        varies[FURTHER.index("parameters")] = False
    return [
        Condition(
            *place,
            " ".join([f"{place[0]} {place[1]:g}", *_words(place[2], varies)]),
            counted[place],
            mechanisms[place[0]],
        )
        for place in places
    ]


def _vary_within(places: Sequence[tuple[str, float, tuple[Any, ...]]], at: int) -> bool:
    seen: dict[str, set[Any]] = {}
    for alias, _, further in places:
        seen.setdefault(alias, set()).add(further[at])
    return any(len(values) > 1 for values in seen.values())


def _words(further: tuple[Any, ...], varies: Sequence[bool]) -> list[str]:
    words = {
        "parameters": "{}",
        "scenario": "{}",
        "unlabelled": "{}",
        "prior_policy": "prior {}",
        "rows_used": "{} rows",
        "validation_share": "validation {}",
        "test_share": "test {}",
    }
    result = zip(FURTHER, further, varies, strict=True)
    return [words[name].format("all" if value is None else value) for name, value, shown in result if shown]


def choose(conditions: Sequence[Condition], wanted: str | None) -> Condition:
    """The condition a user named ("S1 0.1", or "S1" if that is enough); by default Table 1's or that of most runs.

    The mechanism may have its own name or its alias: "completely_at_random 0.1" is "S1 0.1".
    """
    if not conditions:
        raise InputError("the archive has no finished run yet: there is nothing to report.")
    if wanted is None:
        usual = [one for one in conditions if one.is_conventional]
        return max(usual or conditions, key=lambda one: one.runs)
    text = " ".join(wanted.replace(":", " ").replace(",", " ").split()).lower()
    first, _, rest = text.partition(" ")
    aliases = {one.mechanism.lower(): one.alias.lower() for one in conditions}
    text = f"{aliases.get(first, first)} {rest}".strip()
    result = [one for one in conditions if one.name.lower() == text]
    result = result or [one for one in conditions if one.name.lower().startswith(f"{text} ")]
    if len(result) != 1:
        names = [one.name for one in conditions]
        problem = "names several conditions" if result else "names no condition of this archive"
        raise InputError(f"--condition {wanted!r} {problem}; they are {', '.join(names)}.{nearest(wanted, names)}")
    return result[0]
