"""How often the verdict on calibration is a false alarm where the model is calibrated, and finds a model that is not.

Labels are a random draw of the positives in the first worlds, and favour easy positives in the last: a positive with
probability p is labelled with chance .05 + .75 p, as ``labelling="practice"`` expects and ``"random"`` does not.

python benchmarks/calibration_verdict.py [seconds for each world]
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pulens.calibration import calibration_in_the_large, calibration_slope, calibration_verdict, reliability
from pulens.strata import gather_within
from pulens.testing import logistic_world

# what is added to calibrated logits, class prior, labelled rows, unlabelled rows
WORLDS = (
    (0.0, 0.5, 300, 3_000),
    (0.0, 0.5, 60, 600),
    (0.0, 0.1, 100, 3_000),
    (0.0, 0.02, 100, 5_000),
    (0.0, 0.5, 1_000, 20_000),
    (0.25, 0.5, 300, 3_000),
)
# slope of the logits that are judged, whether the class prior is given, what labels are taken for
EASY_FIRST = (
    (1.0, True, "random"),
    (1.0, True, "practice"),
    (1.0, False, "practice"),
    (2.0, True, "practice"),
    (2.0, False, "practice"),
)
EASY_ROWS = 6_000
Judged = tuple[str, bool, bool]


def judged(moved: float, prior: float, labelled: int, unlabelled: int, seed: int) -> Judged:
    """The verdict on one sample, whether a bin is marked, and whether one would be if bins were tested one by one."""
    world = logistic_world(math.log(prior / (1 - prior)) + moved, 2.0, prior)  # N(1, 1), N(-1, 1): log-odds 2x
    few, many, _ = world.draw(labelled, unlabelled, np.random.default_rng(seed))
    labels, scores = np.repeat([1, 0], [labelled, unlabelled]), np.concatenate([few, many])
    evidence = gather_within(labels, scores, class_prior=prior, scenario="case-control")
    return verdict(evidence, seed=seed, labelling="random")


def judged_easy_first(slope: float, is_given: bool, labelling: str, seed: int) -> Judged:
    """The same of one sample whose easy positives are labelled first."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(-2.6, 1.6, EASY_ROWS)
    chance = 1 / (1 + np.exp(-logit))
    positive = rng.random(EASY_ROWS) < chance
    labels = (positive & (rng.random(EASY_ROWS) < 0.05 + 0.75 * chance)).astype(int)
    scores = chance if slope == 1 else 1 / (1 + np.exp(-slope * logit - 0.8))
    given = {"class_prior": float(chance.mean())} if is_given else {}
    return verdict(labels, scores, seed=seed, labelling=labelling, **given)


def verdict(*rows: Any, seed: int, labelling: str, **given: Any) -> Judged:
    diagram = reliability(*rows, seed=seed, redraws=400, labelling=labelling, **given)
    told = {"labelling": labelling, **given}
    others = calibration_in_the_large(*rows, **told), *calibration_slope(*rows, **told)
    alone = any(one.verdict for one in diagram.bins)
    return calibration_verdict(diagram, others).status, any(diagram.verdicts), alone


def for_seconds(seconds: float, judge: Callable[[int], Judged]) -> str:
    """Judge samples for so long, and count verdicts and marked bins."""
    until, result = time.monotonic() + seconds, []
    while time.monotonic() < until:
        result.append(judge(len(result)))
    size, said = len(result), Counter(status for status, _, _ in result)
    marked, alone = (sum(one[index] for one in result) / size for index in (1, 2))
    shares = f"{said['miscalibrated'] / size:>15.3f}{said['inconclusive'] / size:>14.3f}"
    return f"{size:>9,}{shares}{marked:>6.3f}{alone:>7.3f}"


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
    heads = f"{'samples':>9}  miscalibrated  inconclusive  bins  alone"
    print(f"{'moved':>6}{'prior':>7}{'labelled':>9}{'unlabelled':>11}{heads}")
    for moved, prior, labelled, unlabelled in WORLDS:
        counts = for_seconds(seconds, partial(judged, moved, prior, labelled, unlabelled))
        print(f"{moved:>6}{prior:>7}{labelled:>9,}{unlabelled:>11,}{counts}")
    print(f"easy positives labelled first\n{'slope':>6}{'prior':>9}{'labelling':>18}{heads}")
    for slope, is_given, labelling in EASY_FIRST:
        counts = for_seconds(seconds, partial(judged_easy_first, slope, is_given, labelling))
        print(f"{slope:>6}{'given' if is_given else 'none':>9}{labelling:>18}{counts}")


if __name__ == "__main__":
    main()
