"""The one page beside the pages of the site: written by the library whenever the site is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_page(app: Any, error: Exception | None) -> None:
    from pulens.report.one_file import one_page

    if error is None and app.builder.format == "html":
        Path(app.outdir, "pulens.html").write_text(f"{one_page()}\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
