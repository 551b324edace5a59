"""Scripts and styles without what only people read: comments, indentation, spaces that separate nothing.

Names stay as they are, strings, templates and regular expressions to the letter, and a line ends wherever its end could
mean the end of a statement: what is left does what it did before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: What only node reads, so that tests can load a script by itself.
EXPORTS = re.compile(r'^if \(typeof module !== "undefined"\) module\.exports = \w+;$', re.MULTILINE)
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|' r"'(?:[^'\\\n]|\\.)*'", re.DOTALL)
WORD = re.compile(r"[\w$#]+")
EXPRESSION = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
MARK = re.compile(r"\+\+|--|=>|&&|\|\||.", re.DOTALL)
_TOKEN, _TOKEN_OR_EXPRESSION = (
    re.compile("|".join(part.pattern for part in parts), re.DOTALL)
    for parts in ((SPACE, STRING, WORD, MARK), (SPACE, STRING, WORD, EXPRESSION, MARK))
)
#: After these words, and after every mark but the closing ones, a stroke begins a regular expression.
BEFORE_EXPRESSION = frozenset(
    [
        "return",
        "typeof",
        "case",
        "in",
        "of",
        "delete",
        "void",
        "throw",
        "new",
        "else",
        "do",
        "await",
        "yield",
        "instanceof",
    ]
)
#: No statement can end after these, and none begin before those.
OPENING, CLOSING = frozenset(["{", "(", "[", ",", ";", "=>", "&&", "||", "?", ":", "="]), frozenset("})],;.?:=")


def slim_script(script: str) -> str:
    """A script without comments and without spaces that separate nothing.

    >>> slim_script("if (a) {\\n  // why\\n  b(`${c}  d`);\\n}")
    'if(a){b(`${c}  d`);}'
    >>> slim_script("const half = (x) => x / 2; // of x\\nlet y = a + +b\\nreturn /[/ ]/.test(y)")
    'const half=(x)=>x/2;let y=a+ +b\\nreturn/[/ ]/.test(y)'
    """
    script = EXPORTS.sub("", script)
    parts: list[str] = []
    last, gap = "", ""
    for token in _tokens(script):
        if SPACE.match(token) and not (token[0] == "/" and token[1] not in "/*"):
            gap += token
            continue
        parts.append(_between(last, gap, token))
        parts.append(token)
        last, gap = token, ""
    return "".join(parts)


def _between(last: str, gap: str, token: str) -> str:
    """What has to stay of the space between two tokens."""
    if not gap or not last:
        return ""
    if "\n" in gap and last not in OPENING and token not in CLOSING:
        return "\n"
    words = WORD.match(last[-1]) or (last[0] == "/" and len(last) > 1)
    return " " if (words and WORD.match(token)) or (last[-1] in "+-/" and token[0] in "+-/") else ""


def _tokens(script: str) -> Iterator[str]:
    """Spaces with comments, strings, templates, regular expressions, words and marks, one after the other."""
    place, last = 0, ""
    while place < len(script):
        end = _end(script, place, last)
        token = script[place:end]
        yield token
        last = last if SPACE.fullmatch(token) else token
        place = end


def _end(script: str, place: int, last: str) -> int:
    """Where the token that begins at a place ends; ``last`` is the one before it that is no space."""
    if script[place] == "`":
        return _end_of_template(script, place)
    is_value = last in (")", "]", "}") or (WORD.match(last) and last not in BEFORE_EXPRESSION)
    result = (_TOKEN if is_value else _TOKEN_OR_EXPRESSION).match(script, place)
    assert result is not None  # a mark matches everything
    return result.end()


def _end_of_template(script: str, place: int) -> int:
    """The end of a template literal: what stands in its ``${}`` is code, and may hold another one."""
    place += 1
    while script[place] != "`":
        if script[place] == "\\":
            place += 2
        elif script.startswith("${", place):
            place = _end_of_inset(script, place + 2)
        else:
            place += 1
    return place + 1


def _end_of_inset(script: str, place: int) -> int:
    depth, last = 1, "{"
    while depth:
        end = _end(script, place, last)
        token = script[place:end]
        depth += (token == "{") - (token == "}")
        last = last if SPACE.fullmatch(token) else token
        place = end
    return place


def slim_styles(styles: str) -> str:
    """A style sheet without comments and without spaces that separate nothing.

    >>> slim_styles('/* why */\\n.a > b,\\n.c :hover {\\n  margin: 0 calc(1px + 2px);\\n  content: "a: b";\\n}\\n')
    '.a > b,.c :hover{margin:0 calc(1px + 2px);content:"a: b"}'
    """
    pieces = re.split(f"({STRING.pattern})", re.sub(r"/\*.*?\*/", "", styles, flags=re.DOTALL))
    return "".join(piece if place % 2 else _slim_rules(piece) for place, piece in enumerate(pieces)).strip()


def _slim_rules(rules: str) -> str:
    bare = re.sub(r"\s+", " ", rules)
    return re.sub(r" ?([{};,]) ?|(:) ", r"\1\2", bare).replace(";}", "}")
