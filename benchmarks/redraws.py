"""Intervals from 2,000 redraws, beside a loop that resamples rows and calls scikit-learn; both in this process.

CPU time of all threads, so that a busy machine does not change the ratio.
Usage: python benchmarks/redraws.py [--rows 100000] [--redraws 2000] [--loops 20]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from pulens.counts.tally import Tally
from pulens.recovery.assumptions import Assumptions
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.utils import resample

from pulens.evidence import gather
from pulens.intervals.doubts import Doubts
from pulens.intervals.kernels.redraws import compress, redraw_tally, tallies_of
from pulens.intervals.kernels.resampling import Resampling
from pulens.intervals.redrawn import average_precisions
from pulens.metrics import METRICS
from pulens.metrics.parts.measure import estimate
from pulens.recovery.many import recover_many
from pulens.recovery.point import direct_roc_auc
from pulens.scenario import Scenario

PRIOR = 0.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--redraws", type=int, default=2_000)
    parser.add_argument("--loops", type=int, default=20)
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    labelled = asked.rows // 20
    latent = int(PRIOR * (asked.rows - labelled))
    labels = np.repeat([1, 0], [labelled, asked.rows - labelled])
    means = np.repeat([1.5, 1.5, 0.0], [labelled, latent, asked.rows - labelled - latent])
    scores = rng.normal(means, 1)

    started = time.process_time()
    theirs = []
    for seed in range(asked.loops):
        y, s = resample(labels, scores, random_state=seed)
        theirs.append((roc_auc_score(y, s), average_precision_score(y, s)))
    loop_both = (time.process_time() - started) / asked.loops * asked.redraws
    started = time.process_time()
    for seed in range(asked.loops):
        y, s = resample(labels, scores, random_state=seed)
        roc_auc_score(y, s)
    loop_auc = (time.process_time() - started) / asked.loops * asked.redraws

    started = time.process_time()
    evidence = gather(labels, scores, class_prior=PRIOR, scenario="case-control")
    doubts = Doubts(evidence, Resampling(redraws=asked.redraws))
    answers = [estimate(name, METRICS[name], evidence, doubts=doubts) for name in ("roc_auc", "average_precision")]
    ours = time.process_time() - started

    # ROC AUC by redraws too, though its interval has a closed form: what redrawing alone costs
    def redraw(tally: Tally, redraws: int) -> tuple[float, list]:
        at = np.asarray(tally.increments()[0], float)

        def work(redrawn):
            maps = recover_many(redrawn.totals, np.full(len(redrawn), PRIOR), 0.0, Scenario.CASE_CONTROL)
            areas = [
                direct_roc_auc(each, Assumptions(PRIOR, scenario=Scenario.CASE_CONTROL))
                for each in tallies_of(redrawn, tally.thresholds)
            ]
            return np.array(areas), average_precisions(maps, redrawn, at)[0]

        started = time.process_time()
        chunks = redraw_tally(tally, Resampling(redraws=redraws), work)
        return (time.process_time() - started) / redraws * asked.redraws, chunks

    redrawn, chunks = redraw(compress(evidence.tally), asked.redraws)
    uncompressed, _ = redraw(evidence.tally, 100)
    spread = np.concatenate([chunk[0] for chunk in chunks]).std()
    pu_spread = np.std([auc for auc, _ in theirs]) / (1 - PRIOR)

    print(f"{asked.rows:,} rows, {labelled:,} labelled; {asked.redraws:,} redraws; CPU seconds")
    print(f"resample + roc_auc_score                            {loop_auc:8.2f}")
    print(f"resample + roc_auc_score + average_precision_score  {loop_both:8.2f}")
    for words, seconds in (
        ("pulens: counting, both values, both intervals", ours),
        (f"pulens: both areas redrawn, {len(compress(evidence.tally))} thresholds", redrawn),
        (f"pulens: both areas redrawn, all {len(evidence.tally):,} thresholds", uncompressed),
    ):
        print(f"{words:<51} {seconds:8.2f}  {loop_auc / seconds:6.0f} times faster")
    print("(times faster: than resample + roc_auc_score alone)")
    print(
        f"standard error of the recovered AUC: redraws {spread:.5f}, the loop's {pu_spread:.5f} ({asked.loops} draws)"
    )
    for answer in answers:
        print(answer, "by", answer.interval.method if answer.interval else "-")


if __name__ == "__main__":
    main()
