"""Every link of the finished site leads to a file and a place in it; where one does not, building fails."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The places of a page that can be linked to, and where its own links lead."""

    def __init__(self, page: Path):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def dead_links(site: Path) -> list[str]:
    """Links that lead nowhere, or out of the site by another way than https; the network is not asked."""
    pages = {page: Links(page) for page in sorted(site.rglob("*.html"))}
    dead = []
    for page, result in pages.items():
        name = page.relative_to(site).as_posix()
        for link in result.links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                if target.scheme not in ("https", "mailto"):
                    dead.append(f"{name}: {link}: neither https nor a page of the site")
                continue
            place = (page.parent / unquote(target.path)).resolve() if target.path else page
            if not place.is_file():
                dead.append(f"{name}: {link}: no such page")
            elif target.fragment and place in pages and unquote(target.fragment) not in pages[place].anchors:
                dead.append(f"{name}: {link}: no such place")
    return dead


def check(app: Any, failure: Exception | None) -> None:
    from sphinx.errors import ExtensionError  # tests look at links without Sphinx

    if failure is None and app.builder.format == "html" and (dead := dead_links(Path(app.outdir).resolve())):
        raise ExtensionError("links that lead nowhere:\n" + "\n".join(dead[:20]))


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", check, priority=900)  # after the last page is written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
