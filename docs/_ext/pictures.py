"""Pictures drawn by the library while the site is built: ``docs/pictures/NAME.py`` holds a function ``draw``.

A picture stands in the page as SVG, its colours are variables of the theme, so it follows light and dark; its words
are text that can be searched and read aloud.
"""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).resolve().parents[1] / "pictures"
# colours a picture is drawn in, and what becomes of them in the page
INKS = {
    "#010203": "var(--color-foreground-primary)",
    "#8a8a8a": "var(--color-foreground-muted)",
    "#1f5fa8": "var(--color-picture-strong)",
    "#b8431f": "var(--color-picture-contrast)",
    "#2f7d4f": "var(--color-picture-third)",
    # those of the library's own drawing functions
    "#9a9a9a": "var(--color-foreground-muted)",
    "#c9c9c9": "var(--color-foreground-border)",
    "#c0392b": "var(--color-picture-contrast)",
}
INK, FAINT, STRONG, CONTRAST, THIRD = list(INKS)[:5]
STYLE = {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.prop_cycle": None,  # filled in below: matplotlib is imported late
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "grid.alpha": 0.25,
    "grid.color": FAINT,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "path.simplify_threshold": 0.5,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


sys.path.insert(0, str(FOLDER))  # pictures share the worlds they draw


@cache
def drawn(name: str) -> str:
    """The picture as SVG that can stand in a page."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    from cycler import cycler

    spec = importlib.util.spec_from_file_location(f"picture_{name}", FOLDER / f"{name}.py")
    if spec is None or spec.loader is None or not (FOLDER / f"{name}.py").is_file():
        raise FileNotFoundError(f"docs/pictures/{name}.py is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    look = {**STYLE, "axes.prop_cycle": cycler(color=[STRONG, CONTRAST, THIRD, FAINT]), "svg.hashsalt": name}
    file = io.StringIO()
    with mpl.rc_context(look):
        figure = module.draw()
        figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)
    return for_the_page(file.getvalue(), name)


def for_the_page(svg: str, name: str) -> str:
    """Only the drawing, with names of its own, colours of the theme, and the page's font."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', r'<svg class="picture" role="img" viewBox="\1">', svg, count=1)
    svg = re.sub(r"font-family: [^;\"]+", "font-family: inherit", svg)
    svg = re.sub(r"font: (\d+)px [^;\"]+", r"font-size: \1px", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]+", r"font-size: \1px", svg)
    for ink, variable in INKS.items():
        svg = re.sub(re.escape(ink), variable, svg, flags=re.IGNORECASE)
    return svg


class Picture(SphinxDirective):
    """``{picture} name`` with ``:alt:`` and a caption."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012  (docutils wants a plain dict)
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        self.env.note_dependency(str(FOLDER / f"{name}.py"))
        alt = self.options["alt"].replace("&", "&amp;").replace('"', "&quot;")
        svg = drawn(name).replace('role="img"', f'role="img" aria-label="{alt}"', 1)
        figure = nodes.figure("", nodes.raw("", svg, format="html"), classes=["picture"])
        caption = nodes.caption()
        words = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, words)
        for paragraph in words.children:
            caption += paragraph.children
        if caption.children:
            figure += caption
        return [figure]


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
