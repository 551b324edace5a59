"""Tally, ROC AUC and average precision of 10 million rows: beside scikit-learn, and beside the limit, one sort.

    python benchmarks/tally.py [--rows 10000000]

Prints CPU seconds, ratios and the peak of extra memory. Every contender runs in this process on one core, in turn,
and the best of its rounds counts, so that other work on the machine disturbs little and all alike.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

from pulens.testing import draw_table


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels, logits, _ = draw_table(count, rng, class_prior=0.2, label_frequency=0.5)
    return labels, 1 / (1 + np.exp(-logits))


def ours(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    from pulens.counts.tally import Tally
    from pulens.recovery.assumptions import UNCORRECTED

    from pulens.curves import precision_recall_areas
    from pulens.inputs import read_sample
    from pulens.recovery import direct_roc_auc

    tally = Tally.from_sample(read_sample(labels, scores))
    return direct_roc_auc(tally, UNCORRECTED), precision_recall_areas(tally, UNCORRECTED).average_precision


def theirs(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    return roc_auc_score(labels, scores), average_precision_score(labels, scores)


def the_limit(labels: np.ndarray, scores: np.ndarray) -> None:
    np.sort(scores)


def best_of(rounds: int, contender, *data) -> tuple[float, object]:
    times, answer = [], None
    for _ in range(rounds):
        start = time.process_time()
        answer = contender(*data)
        times.append(time.process_time() - start)
    return min(times), answer


def extra_memory(labels: np.ndarray, scores: np.ndarray) -> int:
    """Peak of what is allocated while counting; numpy reports its arrays to tracemalloc."""
    tracemalloc.start()
    ours(labels, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    arguments = parser.parse_args()
    labels, scores = rows(arguments.rows)
    sort, _ = best_of(3, the_limit, labels, scores)
    mine, answer = best_of(3, ours, labels, scores)
    sort = min(sort, best_of(3, the_limit, labels, scores)[0])
    peer, expected = best_of(2, theirs, labels, scores)
    np.testing.assert_allclose(answer, expected, rtol=1e-9)
    print(f"{arguments.rows:,} rows, tally + ROC AUC + average precision")
    print(f"  numpy.sort of the scores  {sort:7.3f} s")
    print(f"  pulens                    {mine:7.3f} s   {mine / sort:.2f} times the sort (target: at most 3)")
    print(f"  scikit-learn              {peer:7.3f} s   pulens is {peer / mine:.1f} times faster (target: at least 4)")
    used, given = extra_memory(labels, scores), labels.nbytes + scores.nbytes
    print(f"  peak extra memory         {used / 2**20:7.0f} MiB  {used / given:.2f} times the input (target: below 3)")


if __name__ == "__main__":
    main()
