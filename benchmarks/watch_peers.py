"""A watch beside other monitors, on the same windows: errors, delays, false alarms.

    pip install nannyml evidently statsmodels "pandas<3"
    python benchmarks/watch_peers.py [--lives 20] [--quiet-lives 10] [--parts errors delay moved quiet] [--ways NAME]

Binormal scores as calibrated probabilities (area 0.85), positives at 0.2 in the reference, 30% of them labelled, a
threshold that finds three positives in four. Everybody gets the same rows:

* pulens.watch: scores and PU labels of the reference, the class prior of the reference, scores of the windows.
* NannyML's CBPE: scores and labels of the reference, scores of the windows; once with the PU labels taken for classes,
  once with the true classes, which nobody has here. Alarm: its own alert on F1. Prior: TP + FN of its confusion matrix.
* NannyML's drift of the score (Jensen-Shannon distance), its own alert.
* Evidently's drift of the score with its default method and with a Kolmogorov-Smirnov test; F1 and precision as it
  would find them, with the PU labels of the window taken for classes: without labels of the windows it finds none.
"""

from __future__ import annotations

import argparse
import logging
import os
import warnings
from collections.abc import Callable

os.environ.setdefault("NML_DISABLE_USAGE_LOGGING", "1")
os.environ.setdefault("DO_NOT_TRACK", "1")
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

import pulens  # noqa: E402
from pulens.counts.tally import Tally  # noqa: E402

try:
    import nannyml
except ImportError:
    nannyml = None
try:
    import evidently
    from evidently import Report
    from evidently.metrics import ValueDrift
except ImportError:
    evidently = None

APART = 1.466  # standard deviations between positives and negatives
PRIOR = 0.2
PLACE = 0.8  # the threshold on the normal scale: three positives in four lie above
LABELLED = 0.3


def probability(places: np.ndarray) -> np.ndarray:
    """The chance of being positive at a place, at the reference's class prior."""
    odds = np.exp(APART * places - APART**2 / 2) * PRIOR / (1 - PRIOR)
    return odds / (1 + odds)


THRESHOLD = float(probability(np.array([PLACE]))[0])


def rows(rng: np.random.Generator, share: float, count: int, moved: float = 0.0) -> pd.DataFrame:
    """A window; ``moved`` shifts the negatives, in standard deviations."""
    positive = rng.random(count) < share
    scores = np.round(probability(rng.normal(np.where(positive, APART, moved))), 5)
    labels = positive & (rng.random(count) < LABELLED)
    flagged = scores >= THRESHOLD
    return pd.DataFrame({"score": scores, "true": positive * 1, "label": labels * 1, "flagged": flagged * 1})


def tally(frame: pd.DataFrame) -> Tally:
    return Tally.from_arrays(frame["label"].to_numpy(), frame["score"].to_numpy())


def truth(frame: pd.DataFrame, labels: str = "true") -> dict[str, float]:
    """Numbers of a window's very rows, with a column taken for classes."""
    hit = float((frame["flagged"] * frame[labels]).sum())
    flagged, positive = float(frame["flagged"].sum()), float(frame[labels].sum())
    return {"f1": 2 * hit / (flagged + positive), "precision": hit / flagged, "prior": positive / len(frame)}


Found = tuple[list[dict[str, float]], list[bool]]  # numbers of every window, and whether there was an alarm


def ours(reference: list[pd.DataFrame], windows: list[pd.DataFrame]) -> Found:
    before = {f"r{place:03d}": tally(one) for place, one in enumerate(reference)}
    after = {f"w{place:03d}": tally(one) for place, one in enumerate(windows)}
    pulse = pulens.watch(before, after, class_prior=PRIOR, threshold=THRESHOLD)
    certain = {int(alarm.certain[1:]) for alarm in pulse.alarms}
    told = [{name: getattr(one, name).value for name in ("f1", "precision", "prior")} for one in pulse.windows.values()]
    return told, [place in certain for place in range(len(windows))]


def dated(reference: list[pd.DataFrame], windows: list[pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A window is a day, whatever its rows."""
    first = [pd.Timestamp("2026-01-01") + pd.Timedelta(days=place) for place in range(len(reference) + len(windows))]
    told = [frame.assign(day=day) for frame, day in zip([*reference, *windows], first, strict=True)]
    return tuple(pd.concat(part, ignore_index=True) for part in (told[: len(reference)], told[len(reference) :]))


def cbpe(labels: str) -> Callable[[list[pd.DataFrame], list[pd.DataFrame]], Found]:
    def run(reference: list[pd.DataFrame], windows: list[pd.DataFrame]) -> Found:
        estimator = nannyml.CBPE(
            metrics=["f1", "precision", "confusion_matrix"],
            y_pred_proba="score",
            y_pred="flagged",
            y_true=labels,
            problem_type="classification_binary",
            timestamp_column_name="day",
            chunk_period="D",
        )
        before, after = dated(reference, windows)
        estimator.fit(before)
        found = estimator.estimate(after).filter(period="analysis").to_df()
        positives = found["true_positive"]["value"] + found["false_negative"]["value"]
        numbers = pd.DataFrame(
            {
                "f1": found["f1"]["value"],
                "precision": found["precision"]["value"],
                "prior": positives / [len(one) for one in windows],
            }
        )
        return numbers.to_dict("records"), list(found["f1"]["alert"])

    return run


def nannyml_drift(reference: list[pd.DataFrame], windows: list[pd.DataFrame]) -> Found:
    drift = nannyml.UnivariateDriftCalculator(
        column_names=["score"],
        continuous_methods=["jensen_shannon"],
        timestamp_column_name="day",
        chunk_period="D",
    )
    before, after = dated(reference, windows)
    drift.fit(before)
    found = drift.calculate(after).filter(period="analysis").to_df()
    return [], list(found["score"]["jensen_shannon"]["alert"])


def evidently_drift(method: str | None) -> Callable[[list[pd.DataFrame], list[pd.DataFrame]], Found]:
    def run(reference: list[pd.DataFrame], windows: list[pd.DataFrame]) -> Found:
        before = pd.concat(reference, ignore_index=True)[["score"]]
        report = Report([ValueDrift(column="score", method=method)], include_tests=True)
        alarms = []
        for one in windows:
            status = report.run(one[["score"]], before).dict()["tests"][0]["status"]
            alarms.append(getattr(status, "value", status) == "FAIL")
        return [truth(one, "label") for one in windows], alarms

    return run


WAYS: dict[str, Callable[[list[pd.DataFrame], list[pd.DataFrame]], Found]] = {
    "pulens.watch": ours,
    "NannyML CBPE, PU labels": cbpe("label"),
    "NannyML CBPE, true classes": cbpe("true"),
    "NannyML drift of the score": nannyml_drift,
    "Evidently drift of the score": evidently_drift(None),
    "Evidently drift, Kolmogorov-Smirnov": evidently_drift("ks"),
}
THERE = {"NannyML": nannyml, "Evidently": evidently}
WAYS = {name: way for name, way in WAYS.items() if THERE.get(name.split()[0], pulens) is not None}


def errors(lives: int) -> None:
    """Windows of 5,000 rows against a reference of 40,000: error against the numbers of the very rows."""
    shares = (0.1, 0.2, 0.3, 0.4)
    missed: dict[str, dict[float, list[list[float]]]] = {way: {share: [] for share in shares} for way in WAYS}
    for life in range(lives):
        rng = np.random.default_rng([5, life])
        reference = [rows(rng, PRIOR, 5000) for _ in range(8)]
        windows = [rows(rng, share, 5000) for share in shares]
        for way, run in WAYS.items():
            for share, one, told in zip(shares, windows, run(reference, windows)[0], strict=False):
                known = truth(one)
                missed[way][share].append([abs(told[name] - known[name]) for name in ("f1", "precision", "prior")])
    print(f"mean absolute error of F1, precision, class prior; windows of 5,000 rows, {lives} of each share")
    for way, by_share in missed.items():
        if by_share[shares[0]]:
            told = [f"{share}: " + " ".join(f"{x:.3f}" for x in np.mean(found, 0)) for share, found in by_share.items()]
            print(f"  {way}: {'; '.join(told)}")


def alarmed(way: str, reference: list[pd.DataFrame], windows: list[pd.DataFrame]) -> np.ndarray:
    return np.flatnonzero(np.array(WAYS[way](reference, windows)[1], bool))


def delay(lives: int) -> None:
    """Windows until the first alarm after a change at the 11th window, and alarms before it."""
    for name, share, moved in (("0.2 to 0.25", 0.25, 0.0), ("0.2 to 0.4", 0.4, 0.0)):
        _after_change(lives, name, share, moved)


def moved(lives: int) -> None:
    """The same where only the negatives' scores move up: precision, F1 and accuracy change for worse."""
    _after_change(lives, "negatives up by 0.2", PRIOR, 0.2)


def _after_change(lives: int, name: str, share: float, shift: float) -> None:
    print(f"{name}, windows of 1,000 rows, 30 of them the reference, {lives} lives: median windows to the alarm")
    for way in WAYS:
        waited, before = [], []
        for life in range(lives):
            rng = np.random.default_rng([6, life])
            reference = [rows(rng, PRIOR, 1000) for _ in range(30)]
            windows = [rows(rng, PRIOR, 1000) for _ in range(10)] + [rows(rng, share, 1000, shift) for _ in range(20)]
            found = alarmed(way, reference, windows)
            before.append(bool((found < 10).any()))
            after = found[found >= 10]
            waited.append(after[0] - 9 if after.size else np.inf)
        never = np.mean(np.isinf(waited))
        print(
            f"  {way}: {np.median(waited):.0f}; never in 20 windows {never:.2f}; an alarm in the 10 windows before "
            f"{np.mean(before):.2f}"
        )


def quiet(lives: int) -> None:
    """Any alarm, and how many, over 365 windows in which nothing changes."""
    print(f"365 quiet windows of 1,000 rows, {lives} lives: lives with an alarm, alarms per life")
    for way in WAYS:
        many = []
        for life in range(lives):
            rng = np.random.default_rng([7, life])
            reference = [rows(rng, PRIOR, 1000) for _ in range(30)]
            many.append(alarmed(way, reference, [rows(rng, PRIOR, 1000) for _ in range(365)]).size)
        print(f"  {way}: {np.mean(np.array(many) > 0):.2f}, {np.mean(many):.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lives", type=int, default=20)
    parser.add_argument("--quiet-lives", type=int, default=10)
    parts = {"errors": errors, "delay": delay, "moved": moved, "quiet": quiet}
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--ways", default="", help="only those whose name has this in it")
    given = parser.parse_args()
    for way in [one for one in WAYS if given.ways.lower() not in one.lower()]:
        del WAYS[way]
    versions = [f"{name} {getattr(one, '__version__', 'is not there')}" for name, one in THERE.items()]
    print(f"pulens {pulens.__version__}, {', '.join(versions)}")
    for name in given.parts:
        parts[name](given.quiet_lives if name == "quiet" else given.lives)


if __name__ == "__main__":
    main()
