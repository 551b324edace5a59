"""A sidebar that fits a screen: the pages of the first level; those below are listed on the page they belong to."""

from __future__ import annotations

from typing import Any

from furo.navigation import get_navigation_tree


def shorten(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    if "toctree" in context:
        pages = context["toctree"](collapse=False, titles_only=True, maxdepth=1, includehidden=True)
        context["furo_navigation_tree"] = get_navigation_tree(pages)


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", shorten, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
