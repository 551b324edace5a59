"""A slimmed style sheet has the rules that it had before, as the browser reads them."""

from __future__ import annotations

from pulens.report.html import asset
from pulens.report.slimming import slim_styles

READ = """(styles) => styles.map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  // the values of custom properties are kept as they were written
  return [...sheet.cssRules].map((rule) => rule.cssText.replace(/,\\s+/g, ","));
})"""


def test_the_browser_reads_the_same_rules_from_slimmed_styles(chromium):
    page = chromium.new_context().new_page()
    for name in ("page.css", "one_file/page.css"):
        whole, slim = page.evaluate(READ, [asset(name), slim_styles(asset(name))])
        assert len(slim_styles(asset(name))) < 0.9 * len(asset(name))
        assert slim == whole
        assert len(whole) > 20
    page.context.close()
