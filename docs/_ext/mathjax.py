"""Formulas without the network: the few files of MathJax that a page needs, copied into the site."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError
from sphinx.util.fileutil import copy_asset

SCRIPT, FONTS = "tex-chtml.js", "output/chtml/fonts/woff-v2"


def source() -> Path:
    """Where the package that carries MathJax keeps it."""
    carrier = distribution("sphinx-mathjax-offline")
    for file in carrier.files or ():
        if file.name == SCRIPT:
            return Path(str(carrier.locate_file(file))).parent
    raise ExtensionError(f"sphinx-mathjax-offline is installed without {SCRIPT}: install it again")


def copy(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        target = Path(app.outdir, "_static", "mathjax")
        copy_asset(source() / SCRIPT, target)
        copy_asset(source() / FONTS, target / FONTS)


def setup(app: Any) -> dict[str, bool]:
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
