"""The documentation site builds without a warning, leads nowhere into the void, and can be read on a phone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import pulens
from pulens.cli import COMMANDS
from pulens.metrics import METRICS
from pulens.report.one_file import one_page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from links import check, dead_links  # noqa: E402


class Reader(HTMLParser):
    """What a page offers to link to, where it leads, and what it loads."""

    def __init__(self, page: Path):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.labels: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "source", "iframe") and "src" in given:
            self.loads.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(given["href"])
        elif tag == "svg" and given.get("class") == "picture":
            self.labels.append(given.get("aria-label", ""))


def build(out: Path) -> None:
    """Build the site as ``make docs`` does; what was built before is kept."""
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--nitpicky", "--quiet", "-b", "html"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    built = subprocess.run(
        [*command, "-d", str(out.with_name("doctrees")), str(DOCS), str(out)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert not built.stderr, built.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("sphinx", reason="the site needs pulens[docs]")
    out = tmp_path_factory.mktemp("site") / "html"
    build(out)
    return out


@pytest.fixture(scope="session")
def pages(site) -> dict[Path, Reader]:
    """Pages of the site, without those that only say where a page has moved to."""
    return {page: Reader(page) for page in sorted(site.rglob("*.html")) if not moved(page)}


def moved(page: Path) -> bool:
    return 'http-equiv="refresh"' in page.read_text(encoding="utf-8")[:300]


@pytest.mark.everything(guards=("docs/_ext", "docs/conf.py"))
def test_the_site_can_be_built_again_over_itself(site):
    first = (site / "index.html").read_bytes()
    build(site)
    assert (site / "index.html").read_bytes() == first


def test_make_docs_builds_it_with_warnings_as_errors():
    assert "-m sphinx --fail-on-warning --nitpicky" in (ROOT / "Makefile").read_text()


def test_links_inside_the_site_lead_to_a_page_and_a_place_on_it(site):
    assert dead_links(site) == []


def test_a_link_that_leads_nowhere_stops_the_building(tmp_path):
    """``make docs`` looks at every link and every anchor, without the network."""
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html">x</a><a href="#here">x</a><a href="#gone">x</a>')
    (tmp_path / "c.html").write_text('<a href="a.html#here">x</a><a href="a.html#there">x</a><a href="http://x">x</a>')
    assert dead_links(tmp_path) == [
        "a.html: b.html: no such page",
        "a.html: #gone: no such place",
        "c.html: a.html#there: no such place",
        "c.html: http://x: neither https nor a page of the site",
    ]
    builder = type("Builder", (), {"format": "html"})
    with pytest.raises(Exception, match="links that lead nowhere"):
        check(type("App", (), {"builder": builder, "outdir": str(tmp_path)}), None)


def test_every_page_can_be_reached_from_the_first(site, pages):
    reached, ahead = set(), [site / "index.html"]
    while ahead:
        page = ahead.pop()
        if page in reached or page not in pages:
            continue
        reached.add(page)
        paths = [urlsplit(link).path for link in pages[page].links if not urlsplit(link).netloc]
        ahead += [(page.parent / unquote(path)).resolve() for path in paths if path.endswith(".html")]
    written = {
        site / page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md") if "_build" not in page.parts
    }
    assert written <= reached, sorted(written - reached)


def test_the_site_carries_the_one_page(site):
    assert (site / "pulens.html").read_text(encoding="utf-8") == f"{one_page()}\n"
    assert "pulens.html" in Reader(site / "one_file.html").links


def test_old_addresses_lead_to_the_pages_that_have_their_content(site):
    from moved import MOVED

    for old, new in MOVED.items():
        page = site / f"{old}.html"
        assert moved(page), f"{old}.md is a page again"
        assert (site / f"{new.partition('#')[0]}.html").is_file()
        (link,) = Reader(page).links
        assert f'url={link}"' in page.read_text(encoding="utf-8")


def test_the_sidebar_fits_a_screen(site):
    """At most 25 pages on every page; those below the first level are listed on the page they belong to."""
    for name in ("index.html", "api/commands/evaluate.html", "research/wild.html"):
        text = (site / name).read_text(encoding="utf-8")
        tree = text[text.index('<div class="sidebar-tree">') :]
        shown = re.findall(r'<li class="toctree-l\d', tree[: tree.index("</div>")])
        assert 15 < len(shown) <= 25
        assert set(shown) == {'<li class="toctree-l1'}


def test_nothing_is_loaded_from_the_network(site, pages):
    for page, result in pages.items():
        for source in result.loads:
            if source.startswith("data:"):
                continue
            assert not urlsplit(source).netloc, f"{page.name} loads {source}"
            assert (page.parent / unquote(urlsplit(source).path)).is_file(), (
                f"{page.name} loads {source}, which is not there"
            )
    for style in (site / "_static").rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?https?:", style.read_text(encoding="utf-8")), style.name


def test_every_picture_is_shown_and_described(pages):
    described = [label for result in pages.values() for label in result.labels]
    assert all(len(label) > 40 for label in described), described
    used = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    for script in (DOCS / "pictures").glob("*.py"):
        assert script.stem == "worlds" or f"{{picture}} {script.stem}\n" in used, f"{script.stem} is on no page"


def test_the_reference_has_every_public_name(site, pages):
    offered = {anchor for result in pages.values() for anchor in result.anchors}
    missing = [name for name in pulens.__all__ if not name.startswith("_") and f"pulens.{name}" not in offered]
    missing += [name for name in pulens.learners.__all__ if f"pulens.learners.{name}" not in offered]
    missing += [name for name in METRICS if f"metric-{name.replace('_', '-')}" not in offered]
    missing += [name for name in COMMANDS if f"pulens-{name}" not in offered]
    assert not missing


@pytest.fixture(scope="module")
def phone(chromium):
    """A page on a phone, with what it said and asked for."""
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    context.close()


def test_no_page_scrolls_sideways_on_a_phone(phone, site, pages):
    wide = []
    for place in pages:
        phone.goto(place.as_uri())
        if place.stem == "calibration":
            phone.wait_for_selector("mjx-container")  # formulas are set without the network
        if phone.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(place.relative_to(site).as_posix())
    assert wide == []
    assert phone.said == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in phone.asked), phone.asked


def test_the_report_on_the_first_page_is_alive(phone, site):
    phone.goto((site / "index.html").as_uri())
    phone.locator("iframe.live").first.scroll_into_view_if_needed()
    report = phone.frame_locator("iframe.live >> nth=0")
    number = report.locator("td[data-live='precision']")
    number.wait_for(state="attached")
    before = number.get_attribute("data-value")
    slider = report.locator("input[type=range]").first
    slider.evaluate("(it) => { it.value = it.min; it.dispatchEvent(new Event('input', {bubbles: true})) }")
    phone.wait_for_timeout(200)
    assert number.get_attribute("data-value") != before


GALLERY = sorted(path.stem for path in (DOCS / "gallery").glob("*.md"))


def test_every_page_of_the_gallery_says_in_the_list_what_it_is():
    listed = re.findall(r"^(\w+): .+$", (DOCS / "examples.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == GALLERY
    assert len(GALLERY) >= 6


@pytest.mark.parametrize("name", GALLERY)
def test_an_example_of_the_gallery_shows_what_it_prints_and_draws_and_can_be_taken_home(site, pages, name):
    page = site / "gallery" / f"{name}.html"
    text = page.read_text(encoding="utf-8")
    assert 'class="printed' in text
    assert pages[page].labels, "no figure"
    assert text.index("Take the notebook home") < text.index("<h2>") < text.rindex('class="printed'), "not in its order"
    notebook = json.loads((page.with_suffix(".ipynb")).read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    script = page.with_suffix(".py").read_text(encoding="utf-8")
    assert [line for line in code.splitlines() if line] == [
        line for line in script.split('"""', 2)[2].splitlines() if line and not line.startswith("# ") and line != "#"
    ]
    outputs = [output["output_type"] for cell in cells for output in cell.get("outputs", [])]
    assert {"stream", "display_data"} <= set(outputs)


ASKED_FOR = [
    "confusion matrix",
    "specificity",
    "base rate",
    "precision at k",
    "drift",
    "AUC",
    "false alarm",
    "prevalence",
]


@pytest.mark.parametrize("word", ASKED_FOR)
def test_the_glossary_knows_the_words_people_search_for(site, word):
    terms = re.findall(
        r'<dt id="term-[^"]*">([^<]+)<', (site / "reference" / "glossary.html").read_text(encoding="utf-8")
    )
    assert word in terms
