"""Evaluations per segment as JSON, piece by piece: the text of a hundred thousand segments is not held at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulens.groups.segments import Evaluations

INDENTED = 1_000  # segments up to which JSON is spread over lines for reading; of more, each takes one line


def json_parts(result: Evaluations) -> Iterator[str]:
    """The text of ``found.to_dict()``, in pieces."""
    indent = 2 if len(result) <= INDENTED else None

    def text(value: Any) -> str:
        written = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
        return written.replace("\n", "\n    ")

    yield "{\n"
    for name, value in result.heading().items():
        yield f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n"
    yield '  "segments": ['
    for place, segment in enumerate(result.segments.values()):
        yield f"{',' if place else ''}\n    {text(segment.to_dict())}"
    yield '\n  ],\n  "skipped": ['
    reasons = result.reasons()
    for place, reason in enumerate(reasons):
        yield f"{',' if place else ''}\n    {text(reason)}"
    yield "\n  ]\n}" if reasons else "]\n}"
