"""Renderings of finished results: one frozen summary as text, Markdown, JSON and a page of its own."""

from pulens.report.html import evaluation_page
from pulens.report.markdown import evaluation_markdown

__all__ = ["evaluation_markdown", "evaluation_page"]
