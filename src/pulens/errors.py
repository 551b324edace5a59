"""What goes wrong, in words a person can act on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LONGEST_VALUE = 60  # characters of a value that a message repeats
LONGEST_MESSAGE = 400  # characters of a message on the terminal
LONGEST_TEXT = 2000  # of a message that Python code catches, which may list what is wrong line by line
_LONG_WORD = re.compile(rf"\S{{{LONGEST_MESSAGE + 1},}}")


class PulensError(ValueError):
    """Any problem with what the caller gave. A ``ValueError``, so ordinary handlers catch it.

    Its message has a readable length, whatever it repeats of what the caller gave.

    >>> len(str(PulensError("x" * 1_000_000))), len(str(PulensError("no such name: " * 1_000)))
    (400, 2000)
    """

    def __init__(self, *said: object) -> None:
        super().__init__(*(of_readable_length(one) if isinstance(one, str) else one for one in said))


class InputError(PulensError):
    """The data cannot be read or do not mean what they were said to mean."""


class AssumptionError(PulensError):
    """A class prior, label noise or scenario that no data could satisfy."""


class UnknownNameError(PulensError, KeyError):
    """A name that a catalogue does not hold. Also a ``KeyError``, which mappings raise for it."""

    def __str__(self) -> str:  # a KeyError would put quotes around the sentence
        return str(self.args[0]) if self.args else ""


class MissingDependencyError(PulensError, ImportError):
    """An optional library is needed for this road and is not installed."""

    def __init__(self, library: str, *, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs {library}, which is not installed. Install it with: pip install 'pulens[{extra}]'"
        )


class OtherVersionWarning(UserWarning):
    """A saved learner was written by another version of a library than reads it."""


class CollapseWarning(UserWarning):
    """A trained classifier gives one answer for every row."""


def shown(value: object) -> str:
    """One value for an error message: quoted, and cut where it is long; the beginning and the end stay.

    >>> shown("a")
    "'a'"
    >>> len(shown("a" * 1_000_000))
    60
    """
    if isinstance(value, str) and len(value) > 4 * LONGEST_VALUE:  # quoting all of it would take as long
        value = value[: 2 * LONGEST_VALUE] + value[-2 * LONGEST_VALUE :]
    try:
        words = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of brackets
        words = f"a value of type {type(value).__name__}"
    return cut(" ".join(words.split()), LONGEST_VALUE)


def cut(words: str, limit: int) -> str:
    """Words of at most this many characters, with dots where some were left out.

    >>> cut("abcdefghijkl", 8)
    'abcd...l'
    """
    if len(words) <= limit:
        return words
    end = (limit - 3) // 3
    return f"{words[: limit - 3 - end]}...{words[-end:] if end else ''}"


def one_message(error: object) -> str:
    """What went wrong on one line of readable length, whoever says it; the way out at its end stays.

    What a terminal would obey instead of showing it, as a damaged file may hold it, is written out.

    >>> one_message("no:\\n  Such file.")
    'no: Such file.'
    """
    words = str(error).encode("utf-8", "replace").decode()  # names of files may hold bytes that are no text
    words = "".join(letter if letter.isprintable() or letter.isspace() else f"\\x{ord(letter):02x}" for letter in words)
    return cut(" ".join(cut(word, 2 * LONGEST_VALUE) for word in words.split()), LONGEST_MESSAGE)


def of_readable_length(words: str) -> str:
    """A message with words and as a whole not longer than a person reads; lines stay.

    >>> of_readable_length("no:\\n  such file")
    'no:\\n  such file'
    """
    if len(words) > 4 * LONGEST_TEXT:  # looking at all of it would take as long
        words = cut(words, 4 * LONGEST_TEXT)
    return cut(_LONG_WORD.sub(lambda one: cut(one[0], LONGEST_MESSAGE), words), LONGEST_TEXT)


def listed(values: object, *, limit: int = 8) -> str:
    """Write values for an error message: in order, quoted, cut to a readable length.

    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    items = list(values)  # type: ignore[call-overload]
    words, used = [], 0
    for item in items[:limit]:
        words.append(shown(item))
        used += len(words[-1])
        if used > LONGEST_MESSAGE // 2:
            break
    told = ", ".join(words)
    return told if len(items) == len(words) else f"{told} and {len(items) - len(words)} more"


def spoken(words: Sequence[str]) -> str:
    """Several words as a sentence has them.

    >>> spoken(["a"]), spoken(["a", "b"]), spoken(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def nearest(wanted: object, names: Iterable[str]) -> str:
    """A sentence that offers the most similar name, for the end of an error message; empty if none is similar.

    Letters in another order come before other letters, and a name's last word stands for it.

    >>> nearest("recal", ["recall", "lift"])
    " Did you mean 'recall'?"
    >>> nearest("lable", ["table", "label"]), nearest("by", ["group_by", "one_by_one"])
    (" Did you mean 'label'?", " Did you mean 'group_by'?")
    """
    from difflib import get_close_matches

    # names of many characters cost their product to compare, and are no slips of the pen
    word, known = str(wanted)[:200], [name for name in map(str, names) if len(name) <= 200][:10_000]
    near = [name for name in known if sorted(name) == sorted(word)] or get_close_matches(word, known, n=1)
    near = near or [name for name in known if word and name.endswith(f"_{word}")]
    return f" Did you mean {near[0]!r}?" if near else ""
