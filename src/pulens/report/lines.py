"""What every answer in plain text shares: lines of 80 columns, folded notices, commands that can be pasted."""

from __future__ import annotations

import os
import re
import shlex
import textwrap
from collections.abc import Iterable, Sequence
from typing import TypeVar

from pulens.command_words import in_command_words
from pulens.notice import Notice, Severity
from pulens.scenario import Scenario

Line = TypeVar("Line")
WIDTH, SCREEN = 80, 24
LONGEST = 225  # characters of a warning in a short answer
TITLE = 12  # columns of what a line is about: rows, class prior, assumes
MORE = {"command": "add --explain", "python": "see .notices"}  # where the rest is, by how the reader asked
#: What answers by checked rows assume, and how to see the rest.
NOTHING, IF_RANDOM = "nothing about labels: rows were checked by hand", "what these rows show if labels are random"
RECOVERED = "Recovered, if labels are random"
#: What each scenario takes for true, on one line.
ASSUMES = {
    Scenario.SINGLE_SET: "labels are a random share of this table's positives (single-set)",
    Scenario.CASE_CONTROL: "labels are a random sample of positives from elsewhere (case-control)",
}


def assumed_of(scenario: Scenario, labelling: str, door: str) -> str:
    """What is taken of labels, and of random ones how often such intervals held on real labels.

    >>> assumed_of(Scenario.SINGLE_SET, "random", "compare")
    'random labels (single-set); on real labels such intervals held 78%'
    """
    from pulens.selection.practice import held_on_real_labels

    if labelling == "practice":
        return f"easy positives are labelled first, as in practice ({scenario})"
    if labelling.startswith("random within"):
        return f"labels {labelling} only ({scenario})"
    if labelling != "random":
        return f"{labelling} to be labelled ({scenario})"
    return f"random labels ({scenario}); on real labels such intervals held {held_on_real_labels(door):.0%}"


def wrapped(words: str, indent: int = 2) -> list[str]:
    """A sentence in lines of 80 columns; no break at hyphens, nor within ``p < 0.001``."""
    glued = re.sub(r"\bp ([<=]) ", "p\u00a0\\1\u00a0", words)
    result = textwrap.wrap(glued, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
    return [line.replace("\u00a0", " ") for line in result]


def narrow(text: str) -> str:
    """A text whose long lines are broken at 80 columns, a little further in than they begin.

    >>> print(narrow(f"  rates: {'many words ' * 8}"))
      rates: many words many words many words many words many words many words many
        words many words
    """
    broken = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        broken += [line] if len(line) <= WIDTH else [f"{indent}{part}" for part in _broken(line.strip(), len(indent))]
    return "\n".join(broken)


def _broken(words: str, indent: int) -> list[str]:
    return textwrap.wrap(words, WIDTH - indent, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def titled(title: str, words: str) -> list[str]:
    """A line of the head: what it is about, then the words.

    >>> titled("rows", "786 labelled, 21,605 unlabelled")
    ['rows        786 labelled, 21,605 unlabelled']
    """
    return wrapped(f"{title:<{TITLE}}{words}", TITLE)


def on_one_screen(blocks: Iterable[Sequence[Line]], blank: Line, *, spread: bool = False) -> list[Line]:
    """Blocks with a blank line between them, from the top as many as 24 lines have room for.

    All of them where the reader asked for everything (``spread``), and where no screen would hold the blocks anyway.

    >>> len(on_one_screen([["a"] * 12, ["b"] * 6, ["c"] * 5], "")), len(on_one_screen([["a"], ["b"]], ""))
    (24, 3)
    """
    kept = [block for block in blocks if block]
    room = SCREEN - sum(map(len, kept))
    room = len(kept) if spread or room < 0 else room
    lines: list[Line] = []
    for place, block in enumerate(kept):
        lines += [blank, *block] if 0 < place <= room else block
    return lines


def first_sentences(words: str) -> str:
    """As many whole sentences as a short answer has room for, one at least.

    >>> first_sentences(f"Few labels. {'Get more of them. ' * 20}")[-40:], first_sentences("One.")
    ('hem. Get more of them. Get more of them.', 'One.')
    """
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", words.strip())
    while len(sentences) > 1 and len(" ".join(sentences)) > LONGEST:
        sentences.pop()
    return " ".join(sentences)


def group_in_words(column: str, name: str) -> str:
    """A group within a sentence: with its column where the name alone would read as a number of something.

    >>> group_in_words("age", "18"), group_in_words("region", "west")
    ('age 18', 'west')
    """
    return f"{column} {name}" if re.fullmatch(r"[-+]?[\d.,:/ -]+", name) else name


def p_value(value: float) -> str:
    """A p-value as people quote it.

    >>> p_value(6.5e-48), p_value(0.0284), p_value(0.4)
    ('p < 0.001', 'p = 0.028', 'p = 0.400')
    """
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def folded(notices: Sequence[Notice], way: str, *, explain: bool) -> list[str]:
    """The worst warning, and how to see the rest; all of them where the reader asked.

    Notes that only describe how the numbers were made are left to whoever asks.
    """
    if explain:
        return [line for notice in notices for line in ("", *_said(notice, way))]
    loud = [notice for notice in notices if notice.severity > Severity.NOTE]
    if not loud:
        return []
    others = len(notices) - 1
    rest = [] if not others else [f"  ({others} more note{'s' if others > 1 else ''}: {MORE[way]})"]
    return ["", *_said(loud[0], way), *rest]


def _said(notice: Notice, way: str) -> list[str]:
    words = f"{notice.severity.name.lower()}: {notice}"
    return wrapped(in_command_words(words) if way == "command" else words)


def pasteable(command: str, indent: int = 2) -> list[str]:
    r"""A command in lines of 80 columns that a shell takes as one; on Windows one line.

    >>> for line in pasteable("pulens audit plan claims.csv --score risk --label outcome --positive 'fraud confirmed'"):
    ...     print(line)
      pulens audit plan claims.csv --score risk --label outcome \
        --positive 'fraud confirmed'
    """
    start = " " * indent
    if len(start + command) <= WIDTH or os.name == "nt":
        return [start + command]
    lines = [start]
    for words in _together(shlex.split(command)):
        if len(lines[-1]) + 1 + len(words) > WIDTH - 2 and lines[-1].strip():
            lines[-1] += " \\"
            lines.append(" " * (indent + 2))
        lines[-1] += words if not lines[-1].strip() else f" {words}"
    return lines


def _together(words: Sequence[str]) -> list[str]:
    """An option and its value, which stay on one line."""
    result: list[str] = []
    for word in words:
        is_value = bool(result) and result[-1].startswith("--") and " " not in result[-1] and not word.startswith("--")
        if is_value:
            result[-1] += f" {shlex.quote(word)}"
        else:
            result.append(shlex.quote(word))
    return result
