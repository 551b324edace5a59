"""Old addresses of pages lead to where their content is now; links in old reports and bookmarks keep working."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

#: Old page, and the page (and place) that has its content now.
MOVED = {
    "audit": "research/audits",
    "bounds": "research/bounds",
    "calibration": "guides/calibration",
    "comparison": "guides/comparison",
    "data": "research/data",
    "benchmark": "research/benchmark",
    "choosing": "research/choosing",
    "departures": "research/departures",
    "glossary": "reference/glossary",
    "have/afternoon": "guides/audits",
    "have/decision": "guides/thresholds",
    "have/deployed_model": "guides/monitoring",
    "have/desks": "research/desks",
    "have/fair": "research/fair",
    "have/index": "index",
    "have/method": "project/own_learner",
    "have/model_to_train": "guides/training",
    "have/notebook": "research/notebook",
    "have/paper": "research/paper",
    "have/several_places": "research/several_places",
    "have/several_rows": "research/several_rows",
    "have/table": "research/table",
    "have/two_models": "research/two_models",
    "have/warehouse": "research/warehouse",
    "ideas/index": "concepts/how_it_works",
    "ideas/known": "concepts/how_it_works",
    "ideas/noise": "research/noise",
    "ideas/prior": "concepts/class_prior",
    "ideas/random_labels": "concepts/labelling",
    "ideas/scenario": "research/scenario",
    "intervals": "research/intervals",
    "learners": "research/learners",
    "learners_generative": "research/learners_generative",
    "learners_holistic_pu": "research/learners_holistic_pu",
    "learners_lagam": "research/learners_lagam",
    "learners_measured": "research/learners_measured",
    "learners_mixing": "research/learners_mixing",
    "learners_pul_cpbf": "research/learners_pul_cpbf",
    "learners_robust_pu": "research/learners_robust_pu",
    "learners_trees": "research/learners_trees",
    "limits": "concepts/limits",
    "measures": "research/measures",
    "other_tools": "project/other_tools",
    "own_metric": "project/own_metric",
    "papers": "research/papers",
    "priors": "research/priors",
    "recovery": "research/recovery",
    "report": "reference/reports",
    "reviews": "research/reviews",
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
        file.parent.mkdir(exist_ok=True)
        to = os.path.relpath(f"{page}.html", Path(old).parent).replace(os.sep, "/") + (f"#{place}" if place else "")
        file.write_text(PAGE.format(to=to), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
