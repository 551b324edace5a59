"""Answers in a notebook wear the colours of the pages, in the theme that the notebook has.

A card sets its paper and its ink together, so it can be read wherever it is shown. Dark is what the notebook says
(JupyterLab, VS Code, Colab and sites built with Sphinx each say it in their own way), or else what the system prefers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pulens.report.html import asset, template

CARD = ".pulens-report"
SAYS_LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light", '[theme="light"]', '[data-theme="light"]')
SAYS_DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", '[theme="dark"]', '[data-theme="dark"]')


def card(name: str, /, **context: Any) -> str:
    """A filled template of a card with the style that it needs; every text is escaped, nothing is loaded."""
    return notebook_style() + template(name).render(**context).strip()


@cache
def notebook_style() -> str:
    """The style element that a notebook's answer brings along; nothing outside the card is touched.

    >>> "--card" in notebook_style(), notebook_style().count("@import"), "url(" in notebook_style()
    (True, 0, False)
    """
    own = asset("notebook.css")
    light, dark = (_colours(theme, own) for theme in ("light", "dark"))
    rules = [
        f"{CARD}{{color-scheme:light;{light}}}",
        f"@media(prefers-color-scheme:dark){{{CARD}{{color-scheme:dark;{dark}}}}}",
        f"{_within(SAYS_LIGHT)}{{color-scheme:light;{light}}}",
        f"{_within(SAYS_DARK)}{{color-scheme:dark;{dark}}}",
    ]
    return f"<style>{''.join(rules)}{_short(own)}</style>"


def _within(hosts: tuple[str, ...]) -> str:
    return ",".join(f"{host} {CARD}" for host in hosts)


def _colours(theme: str, used_by: str) -> str:
    """The page's colours of a theme, those that the card uses."""
    page = asset("page.css")
    start = page.index(":root {" if theme == "light" else ':root[data-theme="dark"] {')
    block = page[start : page.index("}", start)]
    used = set(re.findall(r"var\((--[\w-]+)\)", used_by))
    result = {name: value.strip() for name, value in re.findall(r"(--[\w-]+):([^;]+);", block)}
    return "".join(f"{name}:{result[name]};" for name in sorted(used))


def _short(style: str) -> str:
    return re.sub(r"\s*([{};:,>])\s*", r"\1", re.sub(r"\s+", " ", style)).strip()
