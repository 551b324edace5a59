"""What everything costs, beside the limit and beside scikit-learn, and how it grows: rows, redraws, groups, models.

    python benchmarks/speed.py                        # all jobs, a few minutes on one core
    python benchmarks/speed.py --only evaluate fit    # some of them
    python benchmarks/speed.py --largest 10000000     # up to ten million rows where rows are counted

Everything runs in this process on one core in turn, and the least processor time of several rounds counts, so that
other work on the machine disturbs little and all alike. The *limit* is one ``numpy.sort`` of every column of scores:
nothing that looks at rankings can be faster. The *claim* is what the project promises on a quiet core. The *peer* is
what people do with scikit-learn for the same numbers, uncorrected for PU labels: a few resamples are timed and
multiplied, which is said where it is done. Growth is the exponent of the time in what grows, from the first size to
the last: 1 where twice as many rows take twice as long. The command is timed as a process of its own, with bytecode
kept; its limit is Python with numpy and click.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PULENS_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402  (threads are counted when it is imported)

import pulens  # noqa: E402

PRIOR = 0.2
LOOPS = 5  # resamples of the peer that are timed
ENOUGH = 1.5  # seconds of processor time after which no further round of a job begins


@dataclass(frozen=True)
class Job:
    """Something to time at one size; ``None`` where there is no limit or peer."""

    name: str
    size: float
    ours: Callable[[], Any]
    limit: Callable[[], Any] | None = None
    peer: Callable[[], float] | None = None  # gives its seconds back, since some of it is multiplied
    claim: float = math.nan  # seconds promised


def draw(rows: int, columns: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Labels and continuous scores between 0 and 1, a column for each model; half of the positives are labelled."""
    rng = np.random.default_rng(0)
    positive = rng.random(rows) < PRIOR
    labels = (positive & (rng.random(rows) < 0.5)).astype(np.int8)
    shared = rng.normal(size=(rows, 1)) + 1.5 * positive[:, None] - 1
    scores = 1 / (1 + np.exp(-(shared + 0.5 * rng.normal(size=(rows, columns)))))
    return labels, np.ascontiguousarray(scores.T) if columns > 1 else scores[:, 0].copy()


def least(work: Callable[[], Any], rounds: int = 5) -> float:
    """The least processor time of several rounds; the first one, which imports, does not count."""
    work()
    spent: list[float] = []
    while len(spent) < rounds and (not spent or sum(spent) < ENOUGH):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def areas(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    return float(roc_auc_score(labels, scores)), float(average_precision_score(labels, scores))


def resampled(labels: np.ndarray, columns: np.ndarray, redraws: int = 2000) -> float:
    """Seconds of both areas in that number of resamples of the rows, from a few of them."""
    rng = np.random.default_rng(0)

    def once() -> None:
        chosen = rng.integers(labels.size, size=labels.size)
        for scores in np.atleast_2d(columns):
            areas(labels[chosen], scores[chosen])

    once()
    began = time.process_time()
    for _ in range(LOOPS):
        once()
    return (time.process_time() - began) / LOOPS * redraws


def sizes(*wanted: int, largest: int) -> list[int]:
    return [size for size in wanted if size <= largest] or [min(wanted)]


def counting(largest: int) -> Iterator[Job]:
    from pulens.counts.tally import Tally
    from pulens.curves import precision_recall_areas
    from pulens.inputs import read_sample
    from pulens.recovery import direct_roc_auc
    from pulens.recovery.assumptions import UNCORRECTED

    def ours(labels: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
        tally = Tally.from_sample(read_sample(labels, scores))
        return direct_roc_auc(tally, UNCORRECTED), precision_recall_areas(tally, UNCORRECTED).average_precision

    for rows in sizes(100_000, 1_000_000, 10_000_000, largest=largest):
        labels, scores = draw(rows)
        np.testing.assert_allclose(ours(labels, scores), areas(labels, scores), rtol=1e-9)
        yield Job(
            "counted rows, both areas",
            rows,
            lambda data=(labels, scores): ours(*data),
            lambda data=scores: np.sort(data),
            lambda data=(labels, scores): least(lambda: areas(*data), 1),
        )
    tracemalloc.start()
    ours(labels, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"(extra memory of {rows:,} counted rows: {peak / (labels.nbytes + scores.nbytes):.2f} times labels and scores)"
    )


def evaluate(largest: int) -> Iterator[Job]:
    def ours(labels: np.ndarray, scores: np.ndarray, **options: Any) -> dict[str, Any]:
        return dict(pulens.evaluate(labels, scores, **options).estimates)

    claims = {("known", 2_000): 0.05, ("known", 1_000_000): 0.2, ("none", 2_000): 0.1, ("none", 1_000_000): 0.35}
    for labelling in ("random", "practice"):
        for name, options in (("known", {"class_prior": PRIOR}), ("none", {})):
            for rows in sizes(2_000, 100_000, 1_000_000, largest=largest):
                labels, scores = draw(rows)
                is_first = (labelling, name) == ("random", "known")
                yield Job(
                    f"evaluate, {labelling}, prior {name}",
                    rows,
                    lambda data=(labels, scores), told=options, how=labelling: ours(*data, labelling=how, **told),
                    lambda data=scores: np.sort(data),
                    (lambda data=(labels, scores): resampled(*data)) if is_first else None,
                    claims.get((name, rows), math.nan),
                )
    labels, scores = draw(2_000)
    for redraws in (500, 2_000, 8_000):
        yield Job(
            "evaluate 2,000 rows, by redraws",
            redraws,
            lambda many=redraws: ours(labels, scores, class_prior=PRIOR, redraws=many),
            lambda: np.sort(scores),
            lambda many=redraws: resampled(labels, scores, many),
        )


def priors(largest: int) -> Iterator[Job]:
    from pulens.counts.tally import Tally
    from pulens.priors import find, names

    labels, scores = draw(min(1_000_000, largest))
    tally = Tally.from_arrays(labels, scores)
    for name in names():
        yield Job(
            f"prior by {name}, from counts",
            labels.size,
            lambda method=name: find(method).compute(tally),
            lambda: np.sort(scores),
        )


def groups(largest: int) -> Iterator[Job]:
    import pandas as pd

    labels, scores = draw(22_000)
    for many in (2, 22, 100):
        table = pd.DataFrame({"label": labels, "score": scores, "place": np.arange(labels.size) % many})

        def each(table: Any = table) -> float:
            parts = [resampled(part.label.to_numpy(), part.score.to_numpy()) for _, part in table.groupby("place")]
            return sum(parts)

        yield Job(
            "evaluate_by 22,000 rows, by groups",
            many,
            lambda table=table: [
                dict(one.estimates)
                for one in pulens.evaluate_by(table, "place", class_prior=PRIOR, labelling="random").values()
            ],
            lambda: np.sort(scores),
            each if many == 22 else None,
        )


def compare(largest: int) -> Iterator[Job]:
    for rows in sizes(2_200, 22_000, largest=largest):
        yield _comparison("compare 2 models, by rows", rows, rows, 2)
    for models in (2, 4):
        yield _comparison("compare 2,200 rows, by models", models, 2_200, models)


def _comparison(name: str, size: int, rows: int, models: int) -> Job:
    labels, columns = draw(rows, models)
    scores = {f"model_{place}": column for place, column in enumerate(columns)}
    return Job(
        name,
        size,
        lambda: str(pulens.compare(labels, scores, class_prior=PRIOR, labelling="random")),
        lambda: np.sort(columns),
        lambda: resampled(labels, columns),
        1.0 if rows == 22_000 else math.nan,
    )


def watch(largest: int) -> Iterator[Job]:
    from pulens.counts.tally import Tally

    labels, scores = draw(70_000)
    counted = [Tally.from_arrays(labels[at : at + 1_000], scores[at : at + 1_000]) for at in range(0, 70_000, 1_000)]
    days = {f"day {place}": tally for place, tally in enumerate(counted)}
    reference = dict(list(days.items())[:30])
    for windows in (10, 40):
        later = dict(list(days.items())[30 : 30 + windows])
        yield Job(
            "watch windows of 1,000 rows, 30 before",
            windows,
            lambda later=later: str(pulens.watch(reference, later, class_prior=PRIOR, threshold=0.5)),
            lambda many=windows: np.sort(scores[: 1_000 * (many + 30)]),
        )


def audits(largest: int) -> Iterator[Job]:
    for rows in sizes(2_000, 100_000, 1_000_000, largest=largest):
        labels, scores = draw(rows)
        yield Job(
            "plan an audit of 100 rows",
            rows,
            lambda data=(labels, scores): pulens.plan_audit(*data, budget=100, threshold=0.5, class_prior=PRIOR),
            lambda data=scores: np.sort(data),
        )


def fit(largest: int) -> Iterator[Job]:
    rng = np.random.default_rng(0)
    for rows in (750, 3_000):
        positive = rng.random(rows) < 0.3
        labels = (positive & (rng.random(rows) < 0.4)).astype(int)
        features = rng.normal(size=(rows, 10)) + rng.random(10) * 0.8 * positive[:, None]
        yield Job(
            "fit 10 columns, 5 folds",
            rows,
            lambda data=(features, labels): pulens.fit(*data, class_prior=0.3),
            lambda data=features: np.sort(data, axis=0),
            lambda data=(features, labels): least(lambda: _folds(*data), 1),
            5.0 if rows == 3_000 else math.nan,
        )


def _folds(features: np.ndarray, labels: np.ndarray) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import cross_val_predict

    model = HistGradientBoostingClassifier(random_state=0)
    return cross_val_predict(model, features, labels, cv=5, method="predict_proba"), model.fit(features, labels)


def command(largest: int) -> Iterator[Job]:
    """Processes of their own; the job's time is that of the children."""
    folder = tempfile.TemporaryDirectory()
    for rows in (2_000, 100_000):
        labels, scores = draw(rows)
        path = Path(folder.name) / f"scores_{rows}.csv"
        lines = (f"{score:.6g},{label}\n" for score, label in zip(scores, labels, strict=True))
        path.write_text("score,label\n" + "".join(lines))
        script = f"import numpy, pandas as pd; t = pd.read_csv({str(path)!r}); from sklearn.metrics import *; "
        script += "print(roc_auc_score(t.label, t.score), average_precision_score(t.label, t.score))"
        yield Job(
            "pulens evaluate FILE",
            rows,
            lambda path=path: _child("-m", "pulens", "evaluate", str(path), "--class-prior", str(PRIOR)),
            lambda: _child("-c", "import numpy, numpy.random, click"),
            lambda script=script: least_child(lambda: _child("-c", script)),
            0.45 if rows == 2_000 else math.nan,
        )
    folder.cleanup()


def _child(*words: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)


def least_child(work: Callable[[], Any], rounds: int = 5) -> float:
    spent = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


JOBS = {
    each.__name__: each for each in (evaluate, counting, priors, groups, compare, watch, audits, fit, command)
}  # fmt: skip


def show(job: Job, *, peers: bool) -> float:
    timed = least_child if job.name.startswith("pulens ") else least
    mine = timed(job.ours)
    limit = timed(job.limit) if job.limit else math.nan
    peer = job.peer() if job.peer and peers else math.nan
    cells = [f"{mine:.4g}", f"{job.claim:g}", f"{limit:.3g}", f"{mine / limit:.3g}"]
    cells += [f"{peer:.4g}", f"{peer / mine:.3g}"]
    print(f"| {job.name} | {job.size:,} | {' | '.join('' if cell == 'nan' else cell for cell in cells)} |", flush=True)
    return mine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--largest", type=int, default=1_000_000, help="rows, at most")
    parser.add_argument("--no-peers", action="store_true", help="time no peers, which take longest")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| job | size | processor s | claim s | limit s | times the limit | scikit-learn s | times faster |")
    print("| --- |" + " --- |" * 7)
    grown: dict[str, list[tuple[float, float]]] = {}
    for name in given.only:
        for job in JOBS[name](given.largest):
            grown.setdefault(job.name, []).append((job.size, show(job, peers=not given.no_peers)))
    print("\n| growth of | exponent | from, to |\n| --- | --- | --- |")
    for name, points in grown.items():
        (first, short), (last, long) = points[0], points[-1]
        if last > first:
            print(f"| {name} | {math.log(long / short) / math.log(last / first):.2f} | {first:,} to {last:,} |")


if __name__ == "__main__":
    main()
