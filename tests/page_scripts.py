"""The report page's scripts, run by node on counts as the page holds them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import pulens
from pulens.recovery import pairwise_auc

ASSETS = Path(pulens.__file__).parent / "report" / "assets"
PAIRS = (("labelled", "unlabelled"), ("labelled", "negative"), ("unlabelled", "negative"))


def page_data(tally, scenario, unlabelled_prior, threshold, label_noise=0.0):
    return {
        "counts": {
            "thresholds": tally.thresholds.tolist(),
            "labelled": tally.labelled.tolist(),
            "unlabelled": tally.unlabelled.tolist(),
            "negative": tally.negative.tolist() if tally.has_negatives else None,
        },
        "totals": tally.totals._asdict(),
        "labelNoise": label_noise,
        "scenario": str(scenario),
        "prior": unlabelled_prior,
        "threshold": threshold,
        "pairs": {f"{a}_{b}": pairwise_auc(tally, a, b) for a, b in PAIRS},
    }


def answers_of(driver, cases):
    """What a script says of each case; it gets the folder of the page's scripts and the cases on standard input."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed; the browser tests open the same scripts")
    command = [node, "-e", driver, str(ASSETS)]
    done = subprocess.run(
        command, input=json.dumps(list(cases)), capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)
