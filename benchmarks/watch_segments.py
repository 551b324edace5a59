"""Segments watched apart: how often a segment alarms falsely, and how soon those that changed are found.

The level of each segment is followed as the share line does (30 reference windows, independent windows of known noise);
some segments change by 2.1 standard errors of a window after ten windows. Half of the 5% is for the segments.

    python benchmarks/watch_segments.py [--lives 200]
"""

from __future__ import annotations

import argparse

import numpy as np

from pulens.watching.evidence_lines import RISING, SHARE_SPREAD, RunningEvidence
from pulens.watching.monitor import PARTS, SLACK
from pulens.watching.noise import NoiseLevels
from pulens.watching.segments import FOR_SEGMENTS, shared_bars

ALPHA = 0.05 * FOR_SEGMENTS * PARTS["share"] * SLACK  # one over the bar of a single segment
KNOWN = NoiseLevels(np.zeros(1), np.zeros(1), np.zeros(1), 1.0)
BEGIN, STEP, REFERENCE = 10, 2.1, 30


def totals(rng: np.random.Generator, windows: int, step: float) -> np.ndarray:
    """The log of the running total of one segment after each window."""
    level = np.where(np.arange(windows) < BEGIN, 0.0, step)
    values = (rng.normal(size=windows) + level - rng.normal() / np.sqrt(REFERENCE))[:, None]
    evidence = RunningEvidence(KNOWN, windows=windows, coordinates=1, spread=SHARE_SPREAD, rising=RISING)
    found = np.empty(windows)
    evidence.add_reference(np.zeros(1), 1 / REFERENCE)
    for place, value in enumerate(values):
        evidence.add(value, 1.0)
        found[place] = evidence.starts().log_total
    return found


def study(segments: int, changed: int, lives: int, windows: int) -> None:
    alarms: dict[str, list[np.ndarray]] = {"family": [], "fdr": []}
    for life in range(lives):
        rng = np.random.default_rng([20, segments, life])
        log_totals = np.array([totals(rng, windows, STEP if place < changed else 0.0) for place in range(segments)])
        bars = {"family": np.full(windows, np.log(segments / ALPHA)), "fdr": shared_bars(log_totals, ALPHA)}
        for rule, bar in bars.items():
            above = log_totals >= bar
            alarms[rule].append(np.where(above.any(axis=1), above.argmax(axis=1) + 1, 10**6))
    for rule, found in alarms.items():
        places = np.array(found)
        late, false = places[:, :changed] - BEGIN, places[:, changed:] <= windows
        words = ""
        if changed:
            words = (
                f"first changed one after a median of {np.median(late.min(axis=1)):.0f}, the last after "
                f"{np.median(late.max(axis=1)):.0f} windows; "
            )
        standing = (places <= windows).sum(axis=1)
        rate = np.mean(false.sum(axis=1) / np.maximum(standing, 1))
        print(
            f"{segments} segments, {changed} changed, {rule}: {words}a false one in {np.mean(false.any(axis=1)):.3f} "
            f"of {lives} lives of {windows} windows, {rate:.4f} of those in alarm",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lives", type=int, default=200)
    given = parser.parse_args()
    study(20, 5, given.lives, 60)
    study(20, 0, given.lives, 120)
    study(200, 40, given.lives // 10, 50)
