"""Examples that are run while the site is built, and can be taken home as notebooks.

``examples/NAME.py`` is a script whose parts begin with ``# %%`` (code) or ``# %% [markdown]`` (words), as Jupyter and
most editors read them. ``{example} NAME`` runs it and shows words, code, what was printed and what was drawn; the
notebook beside the page holds the same. Figures stand in the page as pictures do: in the colours of the theme.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import re
import tempfile
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from pictures import CONTRAST, FAINT, STRONG, STYLE, THIRD, for_the_page
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = re.compile(r"^```\{example\} (\w+)\n```$", re.MULTILINE)
PART = re.compile(r"^# %%(.*)\n", re.MULTILINE)


@dataclass
class Part:
    """Words, or code with what it printed and drew."""

    kind: str
    text: str
    printed: str = ""
    drawn: list[str] = field(default_factory=list)  # SVG for the page
    pixels: list[bytes] = field(default_factory=list)  # PNG for the notebook


def parts_of(source: str) -> tuple[str, list[Part]]:
    """The first line of the docstring, which is the example's sentence, and the parts."""
    opening, *rest = PART.split(source)
    said = re.match(r'"""(.*?)"""\n*(.*)', opening, re.DOTALL)
    if said is None:
        raise ExtensionError("an example begins with a docstring that says what it shows")
    sentence, _, words = said[1].strip().partition("\n\n")
    result = [Part("markdown", words), Part("code", said[2].strip())]
    for kind, text in zip(rest[::2], rest[1::2], strict=True):
        if kind.strip() == "[markdown]":
            result.append(Part("markdown", re.sub(r"^# ?", "", text, flags=re.MULTILINE).strip()))
        else:
            result.append(Part("code", text.strip()))
    return sentence, [part for part in result if part.text]


@cache
def run(name: str) -> tuple[str, list[Part]]:
    """The example's parts, each run after the other in an empty folder."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    from cycler import cycler

    path = EXAMPLES / f"{name}.py"
    sentence, parts = parts_of(path.read_text(encoding="utf-8"))
    look = {**STYLE, "axes.prop_cycle": cycler(color=[STRONG, CONTRAST, THIRD, FAINT])}
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, mpl.rc_context(look), warnings.catch_warnings():
        warnings.simplefilter("error")
        os.chdir(folder)
        try:
            for number, part in enumerate(parts):
                if part.kind != "code":
                    continue
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(part.text, str(path), "exec"), names)
                part.printed = printed.getvalue().strip("\n")
                for figure in map(plt.figure, plt.get_fignums()):
                    keep(part, figure, f"{name}-{number}-{figure.number}")
                plt.close("all")
        finally:
            os.chdir(before)
    return sentence, parts


def keep(part: Part, figure: Any, name: str) -> None:
    import matplotlib as mpl

    svg, png = io.StringIO(), io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(svg, format="svg", metadata={"Date": None})
    figure.savefig(png, format="png", dpi=80, transparent=False, facecolor="white")
    part.drawn.append(for_the_page(svg.getvalue(), name))
    part.pixels.append(png.getvalue())


def notebook(title: str, parts: list[Part]) -> str:
    """The same as a notebook (nbformat 4.5), with its outputs."""

    def lines(text: str) -> list[str]:
        return text.splitlines(keepends=True)

    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": [f"# {title}"]}]
    count = 0
    for number, part in enumerate(parts):
        cell: dict[str, Any] = {"cell_type": part.kind, "id": f"part-{number}", "metadata": {}}
        cell["source"] = lines(part.text)
        if part.kind == "code":
            count += 1
            outputs: list[dict[str, Any]] = []
            if part.printed:
                outputs.append({"output_type": "stream", "name": "stdout", "text": lines(part.printed + "\n")})
            outputs += [
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"image/png": base64.b64encode(png).decode(), "text/plain": ["<Figure>"]},
                }
                for png in part.pixels
            ]
            cell |= {"execution_count": count, "outputs": outputs}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    told = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": told, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def described(svg: str, words: str) -> str:
    """A figure that says what it shows to whoever cannot see it."""
    alt = words.replace("&", "&amp;").replace('"', "&quot;")
    return svg.replace('role="img"', f'role="img" aria-label="{alt}"', 1)


def written(app: Any, docname: str, source: list[str]) -> None:
    """Put the example, run, where a page says ``{example} name``: before the page is read, so that headings count."""
    asked = EXAMPLE.search(source[0])
    if asked is None:
        return
    name = asked[1]
    app.env.note_dependency(EXAMPLES / f"{name}.py", docname=docname)
    sentence, parts = run(name)
    title = source[0].partition("\n")[0].removeprefix("# ")
    app.env.metadata[docname]["notebook"] = json.dumps([name, notebook(title, parts)])
    source[0] = EXAMPLE.sub(lambda _: "\n".join(shown(name, sentence, parts)), source[0])


def shown(name: str, sentence: str, parts: list[Part]) -> Iterable[str]:
    files = [("notebook", f"{name}.ipynb"), ("script", f"{name}.py")]
    links = " · ".join(f'<a download href="{file}">Take the {kind} home</a>' for kind, file in files)
    yield raw(f'<p class="downloads">{links}</p>')
    yield f"{sentence}\n"
    for part in parts:
        if part.kind == "markdown":
            yield f"{part.text}\n"
            continue
        yield f"````python\n{part.text}\n````\n"
        if part.printed:
            yield f"````{{code-block}} text\n:class: printed\n\n{part.printed}\n````\n"
        for svg in part.drawn:
            words = f"Figure drawn by the code above: {sentence}"
            yield raw(f'<figure class="picture">{described(svg, words)}</figure>')


def raw(html: str) -> str:
    return f"````{{raw}} html\n{html}\n````\n"


class Gallery(SphinxDirective):
    """``{gallery}``: a line ``name: Title`` each; a card with the example's last figure and its sentence."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        cards = nodes.container(classes=["gallery"])
        for line in self.content:
            name, title = line.split(": ", 1)
            self.env.note_dependency(str(EXAMPLES / f"{name}.py"))
            sentence, parts = run(name)
            drawn = [svg for part in parts for svg in part.drawn]
            if not drawn:
                raise ExtensionError(f"examples/{name}.py draws nothing to show in the gallery")
            link = nodes.reference("", title, refuri=f"gallery/{name}.html", internal=True)
            card = nodes.container(classes=["card"])
            small = re.sub(r'(id="|href="#|url\(#)', r"\g<1>card-", drawn[-1])  # the same figure twice on one page
            figure = described(small, f"Small figure of the example: {sentence}")
            card += nodes.raw("", figure, format="html")
            card += nodes.paragraph("", "", link)
            card += nodes.paragraph("", sentence)
            cards += card
        return [cards]


def write(app: Any, failure: Exception | None) -> None:
    """Notebooks and scripts beside their pages."""
    if failure is not None or app.builder.format != "html":
        return
    for page, facts in app.env.metadata.items():
        if "notebook" in facts:
            name, text = json.loads(facts["notebook"])
            folder = Path(app.outdir, page).parent
            (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
            (folder / f"{name}.py").write_text((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", written)
    app.add_directive("gallery", Gallery)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
