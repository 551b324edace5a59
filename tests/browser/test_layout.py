"""What every page owes every reader: no text stands over another, none is cut off, and nothing scrolls sideways."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow", reason="the leaderboard's archive is Parquet: pip install 'pulens[bench]'")

from every_page import write_every_page
from pulens.report.one_file import one_page

WIDTHS = (360, 768, 1200, 1600)
PAPER = 703  # pixels between the margins of an A4 page

# Boxes of visible text, line by line, cut to what scrolling parts show of them. A line's box is taller than its
# letters, so a fifth is taken off above and below; two boxes meet if they then share two pixels each way.
LAYOUT = """() => {
  const seen = new Map();
  const clipOf = (element) => {
    if (!element || element === document.documentElement) return [-1e9, -1e9, 1e9, 1e9];
    if (seen.has(element)) return seen.get(element);
    let [left, top, right, bottom] = clipOf(element.parentElement);
    const style = getComputedStyle(element);
    if (element !== document.body && (style.overflowX !== "visible" || style.overflowY !== "visible")) {
      const box = element.getBoundingClientRect();
      [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
      [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
    }
    seen.set(element, [left, top, right, bottom]);
    return seen.get(element);
  };
  const texts = [];
  const cut = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(), number = 0; node; node = walker.nextNode(), number++) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest("script, style, title, option, noscript, .skip")) continue;
    if (!parent.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const [left, top, right, bottom] = clipOf(parent);
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const fifth = parent.closest("[transform*=rotate]") ? 0 : 0.2 * box.height;
      const ends = [Math.max(box.left, left), Math.max(box.top + fifth, top)];
      ends.push(Math.min(box.right, right), Math.min(box.bottom - fifth, bottom));
      const said = node.textContent.trim().slice(0, 60);
      if (ends[2] - ends[0] > 1 && ends[3] - ends[1] > 1) texts.push({ number, ends, said });
      const picture = parent.closest("svg");
      const frame = picture && picture.getBoundingClientRect();
      const within = (from, low, to, high, room) => from >= low - room && to <= high + room;
      if (frame && !within(box.left, frame.left, box.right, frame.right, 2)) cut.push(said);
      else if (frame && !within(box.top, frame.top, box.bottom, frame.bottom, 4)) cut.push(said);
    }
  }
  texts.sort((a, b) => a.ends[1] - b.ends[1]);
  const met = [];
  texts.forEach((a, k) => {
    for (let m = k + 1; m < texts.length && texts[m].ends[1] < a.ends[3] - 2; m++) {
      const b = texts[m];
      const across = Math.min(a.ends[2], b.ends[2]) - Math.max(a.ends[0], b.ends[0]);
      const down = Math.min(a.ends[3], b.ends[3]) - Math.max(a.ends[1], b.ends[1]);
      const by = [across, down].map(Math.round);
      if (a.number !== b.number && across > 2 && down > 2) met.push([a.said, b.said, ...by]);
    }
  });
  return { texts: texts.length, met, cut, sideways: document.documentElement.scrollWidth - innerWidth };
}"""

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return write_every_page(tmp_path_factory.mktemp("pages"))


def faults_of(opened, where) -> list[str]:
    opened.page.evaluate(DRAWN)
    result = opened.page.evaluate(LAYOUT)
    assert result["texts"] > 5, "a page without words would pass anything"
    faults = [f"{where}: {a!r} over {b!r} by {across} x {down}" for a, b, across, down in result["met"]]
    faults += [f"{where}: {words!r} is cut off" for words in result["cut"]]
    return faults + [f"{where}: {result['sideways']} pixels too wide"] * (result["sideways"] > 0)


def test_no_two_texts_overlap_on_any_page_at_any_width_or_on_paper(open_page, pages, everything):
    """A telephone, a desk and paper in ``make test``."""
    faults = []
    for path in pages:
        opened = open_page(path)
        for width in WIDTHS if everything else WIDTHS[::2]:
            opened.page.set_viewport_size({"width": width, "height": 900})
            faults += faults_of(opened, f"{path.stem} at {width}")
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": PAPER, "height": 900})
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        faults += faults_of(opened, f"{path.stem} on paper")
        opened.close()
    assert faults == []


def test_no_two_texts_overlap_on_the_one_page_before_and_after_it_has_a_table(open_page, tmp_path):
    (tmp_path / "pulens.html").write_text(one_page(), encoding="utf-8")
    opened = open_page(tmp_path / "pulens.html")
    page = opened.page
    faults = []

    def look(state):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            faults.extend(faults_of(opened, f"{state} at {width}"))

    look("empty")
    page.click("#example")
    page.wait_for_selector("#form:not([hidden])")
    look("asking")
    page.fill("#prior-number-given", "0.3")
    page.click("#evaluate")
    page.wait_for_selector("#report:not([hidden]) dd[data-live]", timeout=60_000)
    look("answering")
    assert faults == []


def test_overprinted_text_is_noticed(open_page, tmp_path):
    page = "<!doctype html><p style='height:4px;margin:0;line-height:1.2'>{}</p><p style='margin:0'>{}</p>"
    (tmp_path / "over.html").write_text(page.format("one line of words", "another line of words"), encoding="utf-8")
    (tmp_path / "apart.html").write_text(page.replace("height:4px", "").format("one", "another"), encoding="utf-8")
    assert open_page(tmp_path / "over.html").page.evaluate(LAYOUT)["met"][0][0] == "one line of words"
    assert open_page(tmp_path / "apart.html").page.evaluate(LAYOUT)["met"] == []
