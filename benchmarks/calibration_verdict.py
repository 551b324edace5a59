"""How often the verdict on calibration is a false alarm where the model is calibrated, and finds a model that is not.

python benchmarks/calibration_verdict.py [seconds for each world]
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter

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


def judged(moved: float, prior: float, labelled: int, unlabelled: int, seed: int) -> tuple[str, bool, bool]:
    """The verdict on one sample, whether a bin is marked, and whether one would be if bins were tested one by one."""
    world = logistic_world(math.log(prior / (1 - prior)) + moved, 2.0, prior)  # N(1, 1), N(-1, 1): log-odds 2x
    few, many, _ = world.draw(labelled, unlabelled, np.random.default_rng(seed))
    labels, scores = np.repeat([1, 0], [labelled, unlabelled]), np.concatenate([few, many])
    evidence = gather_within(labels, scores, class_prior=prior, scenario="case-control")
    diagram = reliability(evidence, seed=seed, redraws=400)
    others = calibration_in_the_large(evidence), *calibration_slope(evidence)
    alone = any(one.verdict for one in diagram.bins)
    return calibration_verdict(diagram, others).status, any(diagram.verdicts), alone


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
    print(
        f"{'moved':>6}{'prior':>7}{'labelled':>9}{'unlabelled':>11}{'samples':>9}"
        "  miscalibrated  inconclusive  bins  alone"
    )
    for world in WORLDS:
        until, result = time.monotonic() + seconds, []
        while time.monotonic() < until:
            result.append(judged(*world, seed=len(result)))
        size, said = len(result), Counter(status for status, _, _ in result)
        marked, alone = (sum(one[place] for one in result) / size for place in (1, 2))
        moved, prior, labelled, unlabelled = world
        print(
            f"{moved:>6}{prior:>7}{labelled:>9,}{unlabelled:>11,}{size:>9,}{said['miscalibrated'] / size:>15.3f}"
            f"{said['inconclusive'] / size:>14.3f}{marked:>6.3f}{alone:>7.3f}"
        )


if __name__ == "__main__":
    main()
