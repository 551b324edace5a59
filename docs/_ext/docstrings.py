"""How docstrings are read: numpydoc's lists, with two habits of ours that its reader would misread.

Words or an example may follow a list of parameters without a heading of their own: headings are set for them. And what
a property says before a colon is a sentence, not a type: properties are left as they are.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.ext.napoleon import Config, NumpyDocstring

READING = Config(napoleon_use_rtype=False)
LISTS = {"Parameters", "Attributes", "Returns", "Raises"}


def read(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if what in ("attribute", "data", "property"):
        return
    set_headings(lines)
    lines[:] = NumpyDocstring("\n".join(lines), READING, app, what, name, thing, options).lines()


def set_headings(lines: list[str]) -> None:
    section = ""
    written: list[str] = []
    for place, line in enumerate(lines):
        after = lines[place + 1] if place + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", after) and line and not line[0].isspace():
            section = line
        starts = place > 0 and not lines[place - 1].strip() and line and not line[0].isspace()
        if section in LISTS and starts and not re.fullmatch(r"-{3,}", after):
            heading = "Examples" if line.startswith(">>>") else "Notes"
            if line.startswith((">>>", "..")) or not after.startswith(" "):
                written += [heading, "-" * len(heading), ""]
                section = heading
        written.append(line)
    lines[:] = written


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
