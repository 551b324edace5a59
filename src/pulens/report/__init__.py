"""Renderings of finished results: one frozen summary as text, Markdown, JSON and a page of its own."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulens.report.html import evaluation_page
    from pulens.report.markdown import evaluation_markdown

__all__ = ["evaluation_markdown", "evaluation_page"]


def __getattr__(name: str) -> Any:  # a table on the terminal needs no page, and the page is the most to import
    if name == "evaluation_page":
        from pulens.report.html import evaluation_page

        return evaluation_page
    if name == "evaluation_markdown":
        from pulens.report.markdown import evaluation_markdown

        return evaluation_markdown
    raise AttributeError(f"module 'pulens.report' has no attribute {name!r}")
