"""Pages of pulens inside a page of the site, alive: the report and the leaderboard.

The report is what the command of the start page writes, made while the site is built.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

FILE = "live-report.html"


def write(app: Any, failure: Exception | None) -> None:
    """The table and the options of the start page, so that a reader who types them gets this very page."""
    if failure is not None or app.builder.format != "html":
        return
    from pulens.cli import main

    start = Path(app.srcdir, "start.md").read_text(encoding="utf-8")
    table = re.search(r"```python\n(.*?)```", start, re.DOTALL)
    command = re.search(r"^\$ pulens (.* --html report\.html)$", start, re.MULTILINE)
    if table is None or command is None:
        raise ExtensionError("the start page makes a table, and a report of it with --html report.html: both are gone")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            exec(compile(table[1], "start.md", "exec"), {})
            main([*command[1].split(), "--quiet"])
            page = Path("report.html").read_text(encoding="utf-8")
        finally:
            os.chdir(before)
    Path(app.outdir, "_static", FILE).write_text(page, encoding="utf-8")


class Live(SphinxDirective):
    """``{live} file`` with the words that say what it is."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        address = "../" * self.env.docname.count("/") + f"_static/{self.arguments[0]}"
        title = " ".join(self.content)
        html = (
            f'<iframe class="live" src="{address}" title="{title}" loading="lazy"></iframe>\n'
            f'<p class="downloads"><a href="{address}">Open full page</a></p>'
        )
        return [nodes.raw("", html, format="html")]


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("live", Live)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
