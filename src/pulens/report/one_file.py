"""The one page: a single HTML file that takes a table, counts it in the browser and shows its report.

Nothing of the report is written twice. Its scripts, styles and templates are those of :mod:`pulens.report.html`, read
when the page is written; facts about metrics come from their files; the draws that intervals share are drawn here, by
the same function that draws them for Python.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens._version import __version__
from pulens.inference.kernels.quantiles import seeded_levels
from pulens.inference.kernels.resampling import DEFAULT_REDRAWS
from pulens.metrics import METRICS, in_reading_order, leading
from pulens.metrics.parts.rests_on import BASIS
from pulens.metrics.parts.withholding import BECAUSE, WIDE
from pulens.priors.feasible import UNEVEN
from pulens.report.html import HOME, SLIDERS_KEEP, asset, script_safe_json, scripts_for, template
from pulens.report.script_templates import templates_as_script
from pulens.report.summary import MARK
from pulens.report.words import ASSUMES_RANDOM, IN_PRACTICE, assumptions, status_of, title_of
from pulens.selection import distortion, inference, labelling, practice, tilts

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation

TEXTS = "one_file/texts.js"
#: Scripts of the report and the page that the worker runs too: the file holds them once.
SHARED = ("recovery.js", TEXTS)
#: What counts and computes beside them, in the order in which parts need one another; it runs in a worker.
COMPUTING = (
    *(f"one_file/{name}.js" for name in ("numbers", "tally", "random", "evidence", "estimates", "intervals")),
    *(f"one_file/{name}.js" for name in ("practice", "sentences", "answer", "page_data", "evaluating")),
    *(f"one_file/{name}.js" for name in ("reading", "columns", "tally_file")),
    *(f"one_file/{name}.js" for name in ("audit_keys", "audit_plan", "audit_queue", "audit_limits", "audit_estimates")),
    *(f"one_file/{name}.js" for name in ("audit_area", "audit_precision", "audit_forecast")),
    *(f"one_file/{name}.js" for name in ("audit_answers", "audit_shown")),
)
WORKER = "one_file/worker.js"
#: What the page itself runs, beside the templates.
SHOWING = tuple(f"one_file/{name}.js" for name in ("filling", "audit_card", "page"))
RANK_BITS = 11  # of a place among 2,000 redraws
TEMPLATES = ("evaluation.html.j2", "one_file_audited.html.j2")
SEED = 0  # where chance starts, as for :func:`pulens.evaluate`


def fixed_facts() -> dict[str, Any]:
    """What the page knows beforehand: facts of the listed metrics, and draws that do not depend on the rows.

    >>> fixed_facts()["tiles"][:3]
    ['roc_auc', 'precision', 'recall']
    """
    listed = in_reading_order(name for name, metric in METRICS.items() if metric.listed)
    ordered = sorted(listed, key=lambda name: METRICS[name].reads != "ranking")
    levels, state = seeded_levels(DEFAULT_REDRAWS, 4, SEED)
    inner = state["state"]
    return {
        "metrics": [_metric_facts(name) for name in ordered],
        "tiles": list(leading("tiles")),
        "ranks": [_packed_ranks(column) for column in levels],
        "status": {**_statuses(), "random": ASSUMES_RANDOM},
        "basis": BASIS,
        "sliders": SLIDERS_KEEP,
        "assumptions": _assumptions(),
        "practice": _practice(),
        "withheld": {"wide": WIDE, "because": BECAUSE, "mark": MARK},
        "afterLevels": {"state": _words(inner["state"]), "increment": _words(inner["inc"])},
    }


def _practice() -> dict[str, Any]:
    """How labels favour easy positives in practice: the constants of :mod:`pulens.selection`, no others."""
    shipped = practice.shipped()

    def order(key: int) -> dict[str, Any]:
        state = np.random.PCG64([SEED, key]).state["state"]
        return {"state": _words(state["state"]), "increment": _words(state["inc"])}

    own = ("intercept", "slope", "scale", "skew", "freedom", "at_thresholds", "widening", "guarantee")
    return {
        **{name: getattr(shipped, name) for name in own},
        "shift": practice.MEDIAN_SHIFT,
        "widens_from": practice.WIDENS_FROM,
        "aside": [practice.ASIDE_FROM, practice.ASIDE_OVER, practice.MOST_ASIDE],
        "areas": [practice.LOWEST_AREA, practice.HIGHEST_AREA],
        "flat": distortion.FLAT,
        "steepest": distortion.STEEPEST,
        "grid": tilts.GRID.tolist(),
        "thresholds": tilts.MOST_THRESHOLDS,
        "variance": tilts.NARROWEST_VARIANCE,
        "nodes": inference.NODES,
        "method": inference.METHOD,
        "highest": labelling.HIGHEST,
        "uneven": UNEVEN,
        "levels": order(inference.LEVELS_KEY),
        "hidden": order(inference.HIDDEN_KEY),
        "chosen_again": inference.CHOSEN_AGAIN,
    }


def _some(scenario: str, **asked: Any) -> Evaluation:
    """An evaluation of a few rows of every kind, for the sentences that it is told in."""
    from pulens.evaluation.evaluate import evaluate

    return evaluate([1, 1, 0, 0, 0, -1], [5, 4, 5, 3, 2, 1], scenario=scenario, confidence=None, **asked)


def _statuses() -> dict[str, tuple[str, str]]:
    from pulens.evaluation.evaluate import evaluate

    known = evaluate([1, 1, 0], [3, 2, 1], negative=0, confidence=None)
    return {"practice": status_of(_some("single-set", class_prior=0.4)), "known": status_of(known)}


def _assumptions() -> dict[str, Any]:
    """What an evaluation assumes, in Python's sentences: by scenario for random labels, and what differs otherwise."""
    found = {}
    for scenario in ("single-set", "case-control"):
        *listed, threshold = map(asdict, assumptions(_some(scenario, class_prior=0.4, labelling="random")))
        found[scenario] = listed
    statement = re.sub(r"threshold \S+", "threshold THRESHOLD", threshold["statement"])
    return {**found, "threshold": {**threshold, "statement": statement}, "practice": asdict(IN_PRACTICE)}


def _metric_facts(name: str) -> dict[str, Any]:
    metric = METRICS[name]
    return {
        "name": name,
        "title": title_of(name),
        "meaning": metric.summary,
        "derivation": metric.derivation,
        "tile": metric.shown.tiles,
        "reads": metric.reads,
        "lowest": metric.lowest,
        "highest": metric.highest if math.isfinite(metric.highest) else None,
        "needs_class_prior": metric.needs_class_prior,
        "confirmed": metric.confirmed,
        "counted": metric.counted,
        "higher_is_better": metric.higher_is_better,
        "page_computes": metric.page_computes,
        "undefined_because": metric.undefined_because,
    }


def _packed_ranks(levels: Any) -> str:
    """Places of even levels in rising order, eleven bits each."""
    ranks = (levels * levels.size).astype(int)
    return _packed(ranks, np.full(ranks.size, RANK_BITS))


def _packed(numbers: Any, widths: Any) -> str:
    """Whole numbers of this many bits each, one after the other, the lowest bit first.

    >>> _packed([1, 2, 3], [1, 2, 2])
    'HQ=='
    """
    bits = [number >> place & 1 for number, width in zip(numbers, widths, strict=True) for place in range(width)]
    return b64encode(np.packbits(np.array(bits, np.uint8), bitorder="little").tobytes()).decode()


def _words(number: int) -> list[int]:
    """A whole number of 128 bits as words of 32, the lowest first."""
    return [number >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]


UNPACKING = """
const unpacked = (text, many, widthOf) => {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  let at = 0;
  return Float64Array.from({ length: many }, (_, place) => {
    let number = 0;
    for (let bit = 0; bit < widthOf(place); bit++, at++) number |= ((bytes[at >> 3] >> (at & 7)) & 1) << bit;
    return number;
  });
};
fixedFacts.ranks = fixedFacts.ranks.map((text) => unpacked(text, 2000, () => 11));
for (const metric of fixedFacts.metrics) metric.highest ??= Infinity;
fixedFacts.byName = Object.fromEntries(fixedFacts.metrics.map((metric) => [metric.name, metric]));
"""


def computing_script() -> str:
    """All that computes, as one script; the scripts of the report that it shares stand before it."""
    facts = f"const fixedFacts = {script_safe_json(fixed_facts())};{UNPACKING}"
    return "\n".join(['"use strict";', facts, *map(asset, COMPUTING)])


#: The report's own scripts in a scope of their own, so that another table's report can follow; what they listen to
#: in the window ends with the report.
REPORT = (
    "(() => {\n"
    "const addEventListener = (type, listener) =>\n"
    "  window.addEventListener(type, listener, { signal: window.reportSignal });\n",
    "\nwindow.report = page;\n})();\n",
)


def one_page() -> str:
    """The page as text: one file that loads nothing and runs no script but its own.

    >>> page = one_page()
    >>> len(page.encode()) < 500_000, "default-src 'none'" in page
    (True, True)
    """
    from markupsafe import Markup

    scripts = {name: _inert(asset(name)) for name in scripts_for()}
    report = "\n".join([REPORT[0], *scripts.values(), REPORT[1]])
    templates = templates_as_script(TEMPLATES)
    texts = _inert(asset(TEXTS))
    script = _inert("\n".join([templates, *map(asset, SHOWING)]))
    styles, own_styles = asset("page.css"), asset("one_file/page.css")
    text = template("one_file.html.j2").render(
        version=__version__,
        home=HOME,
        policy=Markup(policy(scripts=[texts, script, report], styles=[styles, own_styles])),
        styles=Markup(styles),
        own_styles=Markup(own_styles),
        texts=Markup(texts),
        computing=Markup(_inert("\n".join([computing_script(), asset(WORKER)]))),
        before=Markup(REPORT[0]),
        report_scripts=[(Markup(text), name in SHARED) for name, text in scripts.items()],
        after=Markup(REPORT[1]),
        example=Markup(packed_example()),
        script=Markup(script),
    )
    return text.strip()


def policy(*, scripts: Iterable[str], styles: Iterable[str]) -> str:
    """A content security policy that allows these scripts and styles, by their hashes, and nothing else.

    >>> policy(scripts=["1"], styles=[])[:74]
    "default-src 'none'; script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5"
    """
    allowed = {
        "default-src": ["'none'"],
        "script-src": [_hash(text) for text in scripts],
        "style-src-elem": [_hash(text) for text in styles] or ["'none'"],
        "style-src-attr": ["'unsafe-inline'"],  # where marks stand on the bars of the report
        "img-src": ["data:"],  # a chart on its way to a file
        "worker-src": ["blob:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    return "; ".join(f"{name} {' '.join(values)}" for name, values in allowed.items())


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _inert(script: str) -> str:
    """A script that cannot end the element it stands in: its texts may hold the tags of a page."""
    return script.replace("</", "<\\/").replace("<!--", "<\\!--")


def example_table(rows: int = 800) -> str:
    """Rows to try the page with: scores of a fair model, three in ten positive, half of those confirmed.

    >>> example_table(2).splitlines()[0]
    'case,score,confirmed'
    """
    rng = np.random.default_rng(SEED)
    positive = rng.random(rows) < 0.3
    confirmed = positive & (rng.random(rows) < 0.5)
    scores = 1 / (1 + np.exp(-rng.normal(np.where(positive, 1.0, -1.0), 1.2)))
    lines = [
        f"{place},{score:.4f},{label:d}" for place, (score, label) in enumerate(zip(scores, confirmed, strict=True))
    ]
    return "\n".join(["case,score,confirmed", *lines])


def packed_example() -> str:
    """The rows of :func:`example_table` in five digits each, four of the score and the label; ids are places.

    >>> example_table().splitlines()[1], packed_example()[:5]
    ('0,0.4278,0', '42780')
    """
    _, *rows = (line.split(",") for line in example_table().splitlines())
    assert all(
        case == str(place) and len(score) == 6 and score[0] == "0" for place, (case, score, _) in enumerate(rows)
    )
    return "".join(f"{score[2:]}{label}" for _, score, label in rows)
