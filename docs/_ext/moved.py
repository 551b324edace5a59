"""Old addresses of pages lead to where their content is now; links in old reports and bookmarks keep working."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

#: Old page, and the page (and place) that has its content now.
MOVED = {
    "audit": "research/audits",
    "benchmark": "research/benchmark",
    "bounds": "research/sensitivity#bounds-from-ranks",
    "calibration": "guides/calibration",
    "choosing": "research/learners",
    "comparison": "guides/comparison",
    "data": "research/data",
    "departures": "research/departures",
    "glossary": "reference/glossary",
    "have/afternoon": "guides/audits",
    "have/decision": "guides/thresholds",
    "have/deployed_model": "guides/monitoring",
    "have/desks": "guides/thresholds#five-desks",
    "have/fair": "guides/groups#gaps-between-groups",
    "have/index": "index",
    "have/method": "project/own_learner",
    "have/model_to_train": "guides/training",
    "have/notebook": "api/index#in-a-notebook",
    "have/paper": "research/papers",
    "have/several_places": "guides/groups#labels-from-several-places",
    "have/several_rows": "guides/groups#rows-that-belong-together",
    "have/table": "reference/files#columns-and-labels",
    "have/two_models": "guides/comparison",
    "have/warehouse": "reference/files#where-rows-are-counted",
    "house": "project/architecture",
    "ideas/index": "concepts/how_it_works",
    "ideas/known": "concepts/how_it_works",
    "ideas/noise": "concepts/labelling#wrong-labels",
    "ideas/prior": "concepts/class_prior",
    "ideas/random_labels": "concepts/labelling",
    "ideas/scenario": "concepts/scenario",
    "intervals": "research/recovery#intervals",
    "learners": "research/learners",
    "learners_generative": "research/learners#networks",
    "learners_holistic_pu": "research/learners#networks",
    "learners_lagam": "research/learners#networks",
    "learners_measured": "research/learners_measured",
    "learners_mixing": "research/learners#networks",
    "learners_pul_cpbf": "research/learners#networks",
    "learners_robust_pu": "research/learners#networks",
    "learners_trees": "research/learners#boostedpu",
    "limits": "concepts/limits",
    "measures": "research/recovery#measures-that-need-no-class-prior",
    "other_tools": "project/other_tools",
    "own_metric": "project/own_metric",
    "papers": "research/papers",
    "priors": "research/priors",
    "recovery": "research/recovery",
    "report": "reference/reports",
    "research/bounds": "research/sensitivity#bounds-from-ranks",
    "research/choosing": "research/learners",
    "research/desks": "guides/thresholds#five-desks",
    "research/fair": "guides/groups#gaps-between-groups",
    "research/intervals": "research/recovery#intervals",
    "research/learners_generative": "research/learners#networks",
    "research/learners_holistic_pu": "research/learners#networks",
    "research/learners_lagam": "research/learners#networks",
    "research/learners_mixing": "research/learners#networks",
    "research/learners_pul_cpbf": "research/learners#networks",
    "research/learners_robust_pu": "research/learners#networks",
    "research/learners_trees": "research/learners#boostedpu",
    "research/measures": "research/recovery#measures-that-need-no-class-prior",
    "research/noise": "concepts/labelling#wrong-labels",
    "research/notebook": "api/index#in-a-notebook",
    "research/paper": "research/papers",
    "research/reviews": "guides/audits#answers-that-were-not-planned",
    "research/scenario": "concepts/scenario",
    "research/several_places": "guides/groups#labels-from-several-places",
    "research/several_rows": "guides/groups#rows-that-belong-together",
    "research/table": "reference/files#columns-and-labels",
    "research/two_models": "guides/comparison",
    "research/warehouse": "reference/files#where-rows-are-counted",
    "reviews": "guides/audits#answers-that-were-not-planned",
    "safety": "project/security",
    "scale": "reference/files",
    "segments": "guides/groups",
    "sensitivity": "research/sensitivity",
    "studies": "research/studies",
    "versioning": "project/versioning",
    "wild": "research/wild",
}

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={to}"></head>
<body><p>This page has moved: <a href="{to}">{to}</a>.</p></body></html>
"""


def write(app: Any, failure: Exception | None) -> None:
    if failure is not None or app.builder.format != "html":
        return
    for old, new in MOVED.items():
        page, _, place = new.partition("#")
        file = Path(app.outdir, f"{old}.html")
        file.parent.mkdir(parents=True, exist_ok=True)
        to = os.path.relpath(f"{page}.html", Path(old).parent).replace(os.sep, "/") + (f"#{place}" if place else "")
        file.write_text(PAGE.format(to=to), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
