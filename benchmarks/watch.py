"""What a watch does over whole lives: delays, false alarms, amber before red, numbers; beside other monitors.

Lives, over all cores until the time is up:

* ``surge``: 120 days of some 187 rows, positives at 9.3% and at 16.2% in the last 20 days, a score with ROC AUC .81 or
  .93; by days and by weeks. ``falls``: to four tenths instead.
* ``steps``: the share times 1.25, 1.5, 1.74, 2 at windows of 100, 187, 1,000 rows (or of seven such days) after 10, 30,
  100 reference windows. ``jumps``: .2 to .4 and .2 to .25 at windows of 1,000 rows, four families of scores.
* ``quiet``: 365 windows without change: independent rows, day-to-day noise as large as the rows' own (autocorrelation
  one half), a weekly pattern as large. ``real``: the same, drawn from the scores of real tables.
* ``moved``: negatives, or all scores, move up: how long the verdict says "more positives", and is wrong.

Parts of their own: ``numbers`` (precision, F1, ... of windows against those of their very rows, families and real
tables), ``errors`` (the same beside other monitors), ``drift`` (gas sensors and bank marketing in their own order of
time), ``limits`` (the surge seen by rules that know more than anybody does: how much can be found at all),
``wild`` (windows of data sets whose labels somebody else gave), ``segments``, ``scale`` (two years of daily windows in
memory, and from a Parquet file by DuckDB).

    python benchmarks/watch.py --data ../shared/data --seconds 400 --lives 200
    python benchmarks/watch.py --parts surge steps errors --peers    # pip install nannyml evidently "pandas<3"

``--worlds FILE`` keeps the score histograms of real tables, so that the tables need not be there.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import pulens
from pulens.counts.tally import Tally
from pulens.monitoring.cells import CellCounts, cut
from pulens.monitoring.evidence_lines import LIFE, RISING, SHARE_SPREADS, RunningEvidence, log_ratios, start_weights
from pulens.monitoring.judging import Judgement, LineRun, ReducedWindow
from pulens.monitoring.monitor import PARTS as SHARES_OF_ALPHA
from pulens.monitoring.monitor import SLACK, Monitor, WatchSettings
from pulens.monitoring.noise import NoiseLevels
from pulens.monitoring.segments import FOR_SEGMENTS, shared_bars
from pulens.monitoring.shift import CellReference, Shift, straightened
from pulens.monitoring.weights import weights

GRID, QUIET_WINDOWS, NEVER, LIVES_IN_TURN = 400, 365, 10**6, 100
BASE, SURGE = 0.093, 0.162
CLAIMS = "claims 0.81"  # a score with that ROC AUC
Counts = tuple[np.ndarray, np.ndarray, np.ndarray]  # labelled, other positives, negatives at each score


@dataclass(frozen=True)
class World:
    """Scores, with the shares of positives and of negatives (case-control: of the population) at each."""

    scores: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    share: float = 0.2
    scenario: str = "single-set"
    labelled: float = 0.3  # share of the positives; in case-control records of a window

    def drawn(self, rng: np.random.Generator, rows: int, share: float | None = None, moved: int = 0) -> Counts:
        """One window; ``moved`` shifts the negatives up by that number of grid steps, below 0 all scores."""
        if self.scenario == "case-control":  # records are a sample of their own
            named = rng.multinomial(rng.poisson(self.labelled), self.positive)
            return named, np.zeros_like(named), rng.multinomial(rows, self.negative)
        share = self.share if share is None else share
        positives = rng.binomial(rows, min(max(share, 0.0), 1.0))
        own = rng.multinomial(positives, _moved(self.positive, -moved if moved < 0 else 0))
        named = rng.binomial(own, self.labelled)
        return named, own - named, rng.multinomial(rows - positives, _moved(self.negative, abs(moved)))

    def tally(self, windows: list[Counts]) -> Tally:
        named, hidden, others = (np.sum([window[kind] for window in windows], axis=0) for kind in range(3))
        seen = named + hidden + others > 0
        return Tally.from_increments(self.scores[seen], named[seen], (hidden + others)[seen])

    def watch(self, windows: list[list[Counts]], reference: int, days: int = 1, **options: Any) -> pulens.Pulse:
        """The first windows are the reference."""
        named = {str(date(2026, 1, 5) + timedelta(days * at)): self.tally(one) for at, one in enumerate(windows)}
        pairs, given = (
            list(named.items()),
            {"class_prior": self.share, "scenario": self.scenario, "labelling": "random"},
        )
        return pulens.watch(dict(pairs[:reference]), dict(pairs[reference:]), **given | options)


def _moved(shares: np.ndarray, places: int) -> np.ndarray:
    result = np.roll(shares, places)
    result[:places] = 0
    return result / result.sum()


@cache
def family(name: str) -> World:
    places, unit = np.linspace(-4, 6, GRID), (np.arange(GRID) + 0.5) / GRID
    kind, _, auc = name.partition(" 0.")
    far, wide, twelve = (
        np.sqrt(2) * stats.norm.ppf(float(f"0.{auc or 5}")),
        np.linspace(0.01, 20, GRID),
        np.arange(12.0),
    )
    scores, positive, negative = {
        "claims": lambda: (unit, stats.norm.pdf(places, far), stats.norm.pdf(places)),
        "binormal": lambda: (places, stats.norm.pdf(places, 1.466), stats.norm.pdf(places)),
        "beta": lambda: (unit, stats.beta.pdf(unit, 4, 2), stats.beta.pdf(unit, 2, 4)),
        "skewed": lambda: (wide, stats.lognorm.pdf(wide, 0.9, scale=3.2), stats.lognorm.pdf(wide, 0.7)),
        "twelve values": lambda: (twelve, stats.binom.pmf(twelve, 11, 0.62), stats.binom.pmf(twelve, 11, 0.36)),
    }[kind]()
    p, n = positive / positive.sum(), negative / negative.sum()
    if kind != "claims":
        return World(scores, p, n)
    return World(BASE * p / (BASE * p + (1 - BASE) * n), p, n, BASE, labelled=0.345)  # calibrated probabilities


FAMILIES = ("binormal", "beta", "skewed", "twelve values")


# Lives ---------------------------------------------------------------------------------------------------------------


def told(certain: dict[str, int], amber: np.ndarray, start: int) -> dict[str, Any]:
    """How a change that begins with a window was seen: windows until amber and until red, and what came before it."""
    red, after = certain.get("share", NEVER), amber[amber >= start]
    first = int(after[0]) if after.size else NEVER
    return {
        "false": min(certain.values(), default=NEVER) < start,
        "red": red - start + 1 if start <= red < NEVER else NEVER,
        "amber": min(first, red) - start + 1 if min(first, red) < NEVER else NEVER,
        "amber first": first < red,
        "amber while quiet": float(np.sum(amber < start)) / max(start, 1),
    }


def lived(world: World, windows: list[list[Counts]], reference: int, days: int, start: int, ways: str) -> dict:
    """What each way makes of these windows; a change begins with the ``start``-th that is watched."""
    result = {}
    judged = world.watch(windows, reference, days).life.judgement
    for way in ways.split():
        monitor = replace(judged.monitor, settings=replace(judged.monitor.settings, noise=way))
        own = replace(judged, monitor=monitor)
        vars(own).update(shifts=judged.shifts, fits=judged.fits)  # do not depend on noise
        certain = {line: run.certain for line, run in own.runs.items() if run.certain is not None}
        result[way] = told(certain, np.flatnonzero(own.runs["share"].near), start)
    if days == 1 and PEERS:
        frames = [frame(world, window[0], 2 * world.share) for window in windows]
        for way, peer in PEERS.items():
            alarms = np.flatnonzero(np.array(peer(frames[:reference], frames[reference:])[1], bool))
            late, none = alarms[alarms >= start], np.zeros(0, int)
            result[way] = told({"share": int(late[0])} if late.size else {}, none, start)
            result[way]["false"] = bool((alarms < start).any())
    return result


def surge(rng: np.random.Generator, name: str, reference: int, by: int, share: float = SURGE) -> dict:
    world = family(name)
    days = [world.drawn(rng, rng.poisson(187), BASE if day < 100 else share) for day in range(120)]
    windows = [days[at : at + by] for at in range(0, 120 - by + 1, by)]
    return lived(world, windows, reference, by, 100 // by - reference, "default independent")


def falls(rng: np.random.Generator, reference: int, by: int) -> dict:
    return surge(rng, CLAIMS, reference, by, 0.4 * BASE)


def steps(rng: np.random.Generator, times: float, rows: int, reference: int, by: int) -> dict:
    world, shares = family(CLAIMS), [BASE] * (reference + 10) + [times * BASE] * 20
    windows = [[world.drawn(rng, by * rows, share)] for share in shares]
    if PEERS:
        return lived(world, windows, reference, by, 10, "default independent")
    runs = {way: share_line(world, windows, reference, by, way) for way in ("default", "independent")}
    return {
        way: told({} if run.certain is None else {"share": run.certain}, np.flatnonzero(run.near), 10)
        for way, run in runs.items()
    }


def share_line(world: World, windows: list[list[Counts]], reference: int, days: int, noise: str) -> LineRun:
    """The share line alone of the same watch, from counts: a fifth of the time, and the same alarms."""
    counts = np.array([np.sum(window, axis=0) for window in windows])  # windows, kinds, scores
    named, population = counts[:reference, 0].sum(axis=0), counts.sum(axis=1)
    seen = np.flatnonzero(population[:reference].sum(axis=0))
    edges = cut(named[seen] * 1.0, population[:reference, seen].sum(axis=0) * 1.0, world.scores[seen])
    begins = np.concatenate([[0], np.searchsorted(world.scores, edges)[1:]])
    named, population = (np.add.reduceat(each * 1.0, begins, axis=-1) for each in (named, population))
    before = CellReference.of(named, population[:reference].sum(axis=0), together=True)
    rows = population.sum(axis=1)
    shifts, settings = population @ before.weights / rows, WatchSettings(scenario=world.scenario, noise=noise)
    values, none = {"share": shifts[:reference, None]}, np.zeros((edges.size, 0))
    monitor = Monitor(settings, edges, before, none, None, rows[:reference], values, float(days))
    later = tuple(ReducedWindow("", CellCounts(each, each), "", "") for each in population[reference:])
    result = Judgement(monitor, later, {})
    vars(result)["shifts"] = tuple(Shift(each, np.nan) for each in shifts[reference:])
    return result.runs["share"]


def jumps(rng: np.random.Generator, name: str, share: float) -> dict:
    windows = [[family(name).drawn(rng, 1000, each)] for each in [0.2] * 40 + [share] * 20]
    return lived(family(name), windows, 30, 1, 10, "default")


def alike_days(rng: np.random.Generator, count: int, alike: float) -> np.ndarray:
    """Noise of variance one, neighbours alike."""
    result = rng.normal(size=count) * np.sqrt(1 - alike**2)
    result[0] /= np.sqrt(1 - alike**2)
    for place in range(1, count):
        result[place] += alike * result[place - 1]
    return result


def quiet(rng: np.random.Generator, kind: str, rows: int, reference: int, by: int) -> dict:
    world, count = family(kind if kind in FAMILIES else CLAIMS), reference + QUIET_WINDOWS
    noise = np.zeros(count)
    if kind == "autocorrelation .5":
        noise = alike_days(rng, count, 0.5)
    elif kind == "weekly pattern":
        noise = np.sqrt(2) * np.sin(2 * np.pi * (np.arange(count) + rng.integers(7)) / 7)
    own = 0.0595 * np.sqrt(187 / rows) * (1 - BASE)  # standard error of the share in a window of that many rows
    windows = [[world.drawn(rng, by * rows, world.share + own * one)] for one in noise]
    ways = "default independent slow" if kind == "autocorrelation .5" and reference == 30 else "default"
    return lived(world, windows, reference, by, QUIET_WINDOWS, ways)


def real(rng: np.random.Generator, table: str, reference: int) -> dict:
    names = sorted(name for name in WORLDS if name.startswith(table))
    world = WORLDS[names[rng.integers(len(names))]]
    windows = [[world.drawn(rng, 187)] for _ in range(reference + QUIET_WINDOWS)]
    return lived(world, windows, reference, 1, QUIET_WINDOWS, "default")


def moved(rng: np.random.Generator, places: int) -> dict:
    """Lives in which negatives (below 0: all scores) move up by places of the grid, 40 of which are one deviation."""
    world = family("binormal")
    windows = [[world.drawn(rng, 1000, moved=places if at >= 40 else 0)] for at in range(70)]
    runs = world.watch(windows, 30).life.judgement.runs
    share, fit = (30 if runs[line].certain is None else runs[line].certain for line in ("share", "fit"))
    return {"default": {"share first": share < fit, "wrong": max(fit - share, 0)}}


LIVES: dict[str, Callable[..., dict]] = {
    each.__name__: each for each in (surge, falls, steps, jumps, quiet, real, moved)
}


def kinds() -> Iterator[tuple[Any, ...]]:
    """Every kind of life, by the name of its function and its settings; what matters most first."""
    for name in (CLAIMS, "claims 0.93"):
        yield from (("surge", name, reference, by) for reference, by in ((60, 1), (100, 1), (9, 7), (14, 7)))
    for kind in ("independent", "autocorrelation .5", "weekly pattern"):
        for reference in (30, 100):
            yield "quiet", kind, 187, reference, 1
    yield from (("quiet", "independent", *each) for each in ((1000, 30, 1), (187, 10, 1), (187, 10, 7)))
    yield from (("quiet", each, 1000, 30, 1) for each in FAMILIES)
    yield from (("real", table, 30) for table in sorted({name.split()[0] for name in WORLDS}))
    for rows in (187, 100, 1000):
        for reference in (30, 10, 100):
            for times in (1.74, 1.25, 1.5, 2.0):
                yield from (("steps", times, rows, reference, by) for by in (1, 7))
    yield "falls", 60, 1
    yield from (("jumps", name, share) for name in FAMILIES for share in (0.4, 0.25))
    yield from (("moved", places) for places in (4, 8, 12, -8))


def one(task: tuple[int, tuple[Any, ...]]) -> tuple[int, tuple[Any, ...], dict[str, Any]]:
    life, kind = task
    seed = [life, *(int.from_bytes(str(part).encode(), "little") % 2**31 for part in kind)]
    try:
        return life, kind, LIVES[kind[0]](np.random.default_rng(seed), *kind[1:])
    except pulens.PulensError:  # so few labelled rows that no change could be read from them
        return life, kind, {"refused": {}}


def row(result: list[dict[str, Any]]) -> str:
    """Delay, share found, false alarms, amber of lives of one kind."""
    if "wrong" in result[0]:
        first, wrong = (np.array([each[name] for each in result]) for name in ("share first", "wrong"))
        return f"{len(result)} lives: share line first {first.mean():.2f}, wrong for {np.median(wrong):.0f} windows"
    red, amber = (np.array([each[name] for each in result]) for name in ("red", "amber"))
    seen = red < NEVER
    late = " / ".join("-" if q >= NEVER else f"{q:.0f}" for q in np.quantile(red, [0.5, 0.9], method="higher"))
    within = " ".join(f"{np.mean(red <= most):.3f}" for most in (1, 3, 10, 20))
    before = np.mean([each["amber first"] for each in result if each["red"] < NEVER]) if seen.any() else np.nan
    return (
        f"{len(result):5d} | {np.mean([each['false'] for each in result]):.3f} | {late} | {within} | "
        f"{np.mean(amber <= 20):.3f} | {before:.3f} | {np.mean([each['amber while quiet'] for each in result]):.3f}"
    )


def live(given: argparse.Namespace, chosen: list[tuple[Any, ...]]) -> None:
    """Lives in the order of their kinds, a hundred of each in turn; with ``--kept`` a run goes on where one ended."""
    begin, result = time.monotonic(), defaultdict[tuple[Any, ...], list[dict[str, Any]]](list)
    done = set()
    if given.kept is not None and given.kept.exists():
        for line in given.kept.read_text().splitlines():
            life, kind, by_way = json.loads(line)
            done.add((life, tuple(kind)))
            for way, each in by_way.items():
                result[(*kind, way)].append(each)
    last = given.first + given.lives
    parts = [range(at, min(at + LIVES_IN_TURN, last)) for at in range(given.first, last, LIVES_IN_TURN)]
    tasks = ((life, kind) for part in parts for kind in chosen for life in part if (life, kind) not in done)
    with get_context("fork").Pool(given.workers) as pool, open(given.kept or os.devnull, "a") as kept:
        for life, kind, by_way in pool.imap_unordered(one, tasks, chunksize=2):
            print(json.dumps([life, kind, by_way], default=float), file=kept, flush=True)
            for way, each in by_way.items():
                result[(*kind, way)].append(each)
            if time.monotonic() - begin > given.seconds:
                pool.terminate()
                break
    print(f"{time.monotonic() - begin:.0f} s, {given.workers} workers, lives from {given.first}")
    print("kind | lives | false | delay median / 90% | within 1, 3, 10, 20 | amber or red | amber first | quiet amber")
    for kind in chosen:
        for way in [each[-1] for each in result if each[:-1] == kind]:
            each = result[(*kind, way)]
            print(*kind, way, "|", f"{len(each)} lives" if way == "refused" else row(each), flush=True)


# Other monitors ------------------------------------------------------------------------------------------------------

PEERS: dict[str, Callable[[list[Any], list[Any]], tuple[list[dict[str, float]], list[bool]]]] = {}


ESTIMATORS: dict[str, Any] = {}  # of F1 and precision, for ``errors``


def frame(world: World, window: Counts, threshold: float) -> Any:
    """The rows of a window as other monitors want them, in an order that neither score nor label tells."""
    import pandas

    columns = {"score": np.round(np.concatenate([np.repeat(world.scores, each) for each in window]), 5)}
    for name, values in {"label": [1, 0, 0], "true": [1, 1, 0]}.items():
        columns[name] = np.repeat(values, [each.sum() for each in window])
    columns["flagged"] = (columns["score"] >= threshold) * 1
    order = np.random.default_rng(columns["score"].size).permutation(columns["score"].size)
    return pandas.DataFrame(columns).iloc[order].reset_index(drop=True)


def import_peers() -> None:
    """NannyML (drift of the score; F1 by its estimate with PU labels for classes) and Evidently (drift of the score,
    its default and a Kolmogorov-Smirnov test), as far as they can be imported."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    os.environ |= {"NML_DISABLE_USAGE_LOGGING": "1", "DO_NOT_TRACK": "1"}
    import pandas

    def dated(frames: list[Any], first: int) -> Any:
        days = [pandas.Timestamp("2026-01-01") + pandas.Timedelta(days=first + at) for at in range(len(frames))]
        return pandas.concat([each.assign(day=day) for each, day in zip(frames, days, strict=True)], ignore_index=True)

    by_day = {"timestamp_column_name": "day", "chunk_period": "D"}
    try:
        import nannyml
        import nannyml.drift
    except ImportError:
        print("NannyML cannot be imported")
    else:

        def drift(reference: list[Any], windows: list[Any]) -> Any:
            of = {"column_names": ["score"], "continuous_methods": ["jensen_shannon"], **by_day}
            result = nannyml.UnivariateDriftCalculator(**of).fit(dated(reference, 0))
            result = result.calculate(dated(windows, len(reference))).filter(period="analysis").to_df()
            return [], list(result["score"]["jensen_shannon"]["alert"])

        def cbpe(reference: list[Any], windows: list[Any], labels: str = "label") -> Any:
            of = {"y_pred_proba": "score", "y_pred": "flagged", "y_true": labels, **by_day}
            result = nannyml.CBPE(metrics=["f1", "precision"], problem_type="classification_binary", **of)
            result = result.fit(dated(reference, 0)).estimate(dated(windows, len(reference)))
            result = result.filter(period="analysis").to_df()
            numbers = {name: list(result[name]["value"]) for name in ("f1", "precision")}
            return pandas.DataFrame(numbers).to_dict("records"), list(result["f1"]["alert"])

        PEERS.update({"NannyML drift": drift, "NannyML CBPE": cbpe})
        ESTIMATORS["NannyML CBPE, PU labels"] = cbpe
        ESTIMATORS["NannyML CBPE, true classes"] = lambda before, after: cbpe(before, after, "true")
    try:
        from evidently import Report
        from evidently.metrics import ValueDrift
    except ImportError:
        print("Evidently cannot be imported")
        return

    def evidently(method: str | None, reference: list[Any], windows: list[Any]) -> Any:
        before = pandas.concat(reference, ignore_index=True)[["score"]]
        report = Report([ValueDrift(column="score", method=method)], include_tests=True)
        told = [report.run(each[["score"]], before).dict()["tests"][0]["status"] for each in windows]
        return [], [getattr(status, "value", status) == "FAIL" for status in told]

    PEERS["Evidently drift"] = lambda reference, windows: evidently(None, reference, windows)
    PEERS["Evidently Kolmogorov-Smirnov"] = lambda reference, windows: evidently("ks", reference, windows)


# Real tables ---------------------------------------------------------------------------------------------------------

WORLDS: dict[str, World] = {}  # by the table's name, and what is different of its scores
POSITIVE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "letter": lambda y: y < 3,
    "spambase": lambda y: y == 1,
    "page_blocks": lambda y: y > 1,
    "grid_stability": lambda y: y == 1,
    "connect4": lambda y: y == 1,  # a loss
    "pendigits": lambda y: y % 2 == 0,
    "wine_quality": lambda y: y >= 7,
    "landsat": lambda y: y >= 4,
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def model(name: str, x: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (scaled if name == "logistic" else HistGradientBoostingClassifier(max_iter=60)).fit(x, y)


def bank(data: Path, without: tuple[str, ...] = ()) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes, and the number of months since January 2008; the table is in order of time."""
    import pandas

    table = pandas.read_parquet(next(data.rglob("bank_marketing.parquet")))
    month = np.array([MONTHS.index(str(one)) for one in table["month"]])
    months = month + 12 * np.concatenate([[0], np.cumsum(np.diff(month) < 0)])
    # the length of a call is known only after it
    x = pandas.get_dummies(table.drop(columns=["y", "duration", *without])).to_numpy(float)
    return x, (table["y"].astype(str) == "yes").to_numpy(), months


def world_of(positive: np.ndarray, others: np.ndarray, share: float, scenario: str, labelled: float) -> World:
    scores, places = np.unique(np.round(np.concatenate([positive, others]), 3), return_inverse=True)
    halves = np.split(places, [len(positive)])
    shares = (np.bincount(each, minlength=scores.size) / each.size for each in halves)
    return World(scores, *shares, share, scenario, labelled)


def make_worlds(data: Path) -> None:
    """Scores of rows that a model has not seen, with their true classes; of disdat those of every species."""
    rng = np.random.default_rng(5)
    tables = {"bank": bank(data)[:2]}
    for name, is_positive in POSITIVE.items():
        arrays = np.load(next(data.rglob(f"{name}.npz")))
        x, y = (np.concatenate([arrays[key] for key in sorted(arrays) if key.startswith(part)]) for part in "Xy")
        order = rng.permutation(len(y))[:30_000]
        x, y = x[order].astype(float), is_positive(np.asarray(y)[order])
        tables[name] = ((x[:, :, None] == np.arange(3)).reshape(len(x), -1) * 1.0 if name == "connect4" else x), y
    for name, (x, y) in tables.items():
        order = rng.permutation(len(y))
        learn, rest = order[: len(y) // 3], order[len(y) // 3 :]
        for kind in ("logistic", "trees"):
            scores = model(kind, x[learn], y[learn]).predict_proba(x[rest])[:, 1]
            halves, share = (scores[y[rest]], scores[~y[rest]]), min(float(y.mean()), 0.2)
            WORLDS[f"{name} {kind}"] = world_of(*halves, share, "single-set", 0.3)
    arrays = np.load(next(data.rglob("disdat_can_nz_awt_sa.npz")))
    for one in sorted(each.removesuffix("-records") for each in arrays.files if each.endswith("-records")):
        place = one.removeprefix("disdat-")[:-2].upper()
        records, survey = arrays[f"{one}-records"], arrays[f"{one}-survey"]
        sites = [each for each in arrays.files if each.startswith(place) and each.endswith("-sites")]
        sites = [each for each in sites if len(arrays[each]) == len(survey)]
        if not sites:
            continue
        half = rng.random(len(records)) < 0.5
        x = np.concatenate([records[half], arrays[f"{place}-background"][:3000]])
        fitted = model("logistic", x, np.arange(len(x)) < half.sum())
        halves = [fitted.predict_proba(each)[:, 1] for each in (records[~half], arrays[sites[0]])]
        world = world_of(*halves, float(survey.mean()), "case-control", 5.0)
        below = np.cumsum(world.negative) - world.negative / 2
        area = float(world.positive @ below)
        if area - 0.5 > 6 * float(np.sqrt(world.positive @ (below - area) ** 2 / len(halves[0]))):
            WORLDS[f"species {one}"] = world  # a watch accepts it


def load_worlds(given: argparse.Namespace) -> None:
    if given.worlds is not None and given.worlds.exists():
        arrays = np.load(given.worlds)
        for name in sorted({key.split("|")[0] for key in arrays.files}):
            parts = [arrays[f"{name}|{at}"] for at in range(6)]
            WORLDS[name] = World(*parts[:3], *(part.item() for part in parts[3:]))
    elif given.data is not None:
        make_worlds(given.data)
        if given.worlds is not None:
            fields = {
                f"{name}|{at}": part for name, one in WORLDS.items() for at, part in enumerate(vars(one).values())
            }
            np.savez_compressed(given.worlds, **fields)


# Numbers of windows --------------------------------------------------------------------------------------------------

NUMBERS = ("prior", "precision", "f1", "accuracy")


def truth(hit: float, positive: float, flagged: float) -> dict[str, float]:
    """Of shares of all rows."""
    return {
        "prior": positive,
        "precision": hit / flagged if flagged else np.nan,
        "f1": 2 * hit / (positive + flagged) if positive + flagged else np.nan,
        "accuracy": 1 - positive - flagged + 2 * hit,
    }


def numbers(given: argparse.Namespace) -> None:
    """Windows of several shares against the numbers of their very rows, those whose numbers may be quoted."""
    worlds = {name: family(name) for name in FAMILIES}
    worlds |= {name: world for name, world in WORLDS.items() if world.scenario == "single-set"}
    for name, world in worlds.items():
        above = np.cumsum((world.share * world.positive + (1 - world.share) * world.negative)[::-1])[::-1]
        threshold = float(world.scores[np.argmin(np.abs(above - world.share))])
        flagged = world.scores >= threshold
        held: dict[str, list[bool]] = defaultdict(list)
        errors, fits, every = [], [], 0
        for life in range(max(given.lives // 8, 2)):
            rng = np.random.default_rng([4, life])
            reference = [[world.drawn(rng, 4000 if name in FAMILIES else 400)] for _ in range(10)]
            drawn = [world.drawn(rng, 5000 if name in FAMILIES else 600, share) for share in (0.1, 0.25, 0.4, 0.6)]
            pulse = world.watch([*reference, *([one] for one in drawn)], 10, threshold=threshold)
            for window, (named, hidden, negative) in zip(pulse.windows.values(), drawn, strict=True):
                every += 1
                if window.trust != "ok":
                    continue
                positive = named + hidden
                sums = (positive @ flagged, positive.sum(), (positive + negative) @ flagged)
                own = truth(*(float(each) / window.rows for each in sums))
                errors.append(abs(window.f1.value - own["f1"]))
                fits.append(window.fit_p is not None and window.fit_p < 0.05)
                for number in NUMBERS:
                    held[number].append(own[number] in getattr(window, number).interval)
        shares = ", ".join(f"{number} {np.mean(held[number]):.3f}" for number in NUMBERS)
        print(f"{name}: {len(fits)} of {every} ok; held: {shares}; F1 errs by {np.mean(errors):.3f}; ", end="")
        print(f"fit rejects {np.mean(fits):.3f}", flush=True)


def errors(given: argparse.Namespace) -> None:
    """F1 and precision of windows of 5,000 rows against those of their very rows, beside NannyML and plain counting."""
    plain, shares = family("binormal"), (0.1, 0.2, 0.3, 0.4)
    ratio = 0.2 * plain.positive / (0.2 * plain.positive + 0.8 * plain.negative)  # calibrated probabilities
    world, missed = World(ratio, plain.positive, plain.negative), defaultdict[tuple[str, float], list[Any]](list)
    for life in range(max(given.lives // 10, 2)):
        rng = np.random.default_rng([5, life])
        windows = [[world.drawn(rng, 5000)] for _ in range(8)] + [[world.drawn(rng, 5000, share)] for share in shares]
        frames = [frame(world, one[0], 0.216) for one in windows]
        pulse = world.watch(windows, 8, threshold=0.216)  # three positives in four lie above
        found = {"pulens": [{name: getattr(one, name).value for name in FOUND} for one in pulse.windows.values()]}
        found["counted with PU labels"] = [counted(one, "label") for one in frames[8:]]
        found |= {way: peer(frames[:8], frames[8:])[0] for way, peer in ESTIMATORS.items()}
        for way, told in found.items():
            for share, one, each in zip(shares, frames[8:], told, strict=True):
                missed[way, share].append([abs(each[name] - counted(one, "true")[name]) for name in FOUND])
    for (way, share), each in sorted(missed.items()):
        print(f"{way}, {share}: F1 errs by {np.mean(each, 0)[0]:.3f}, precision by {np.mean(each, 0)[1]:.3f}")


FOUND = ("f1", "precision")


def counted(rows: Any, labels: str) -> dict[str, float]:
    """Numbers of these very rows, with a column taken for classes."""
    means = (rows["flagged"] * rows[labels]).mean(), rows[labels].mean(), rows["flagged"].mean()
    return truth(*map(float, means))


def drift(given: argparse.Namespace) -> None:
    """Gas sensors and bank marketing in their own order of time: whatever is quoted as ok must hold its truth."""
    arrays = np.load(next(given.data.rglob("gas_drift_8of10.npz")))
    cases = {f"gas {gas}": (arrays["X"], arrays["y"] == gas, arrays["batch"].astype(int), 2) for gas in range(1, 7)}
    cases["bank"] = (*bank(given.data, ("month", "day")), 7)
    trust, held = defaultdict[str, int](int), defaultdict[str, list[bool]](list)
    for name, (x, y, when, last) in cases.items():
        for seed in range(5):
            rng = np.random.default_rng([9, seed])
            early = np.flatnonzero(when <= last)
            learn = rng.random(early.size) < 0.5
            fitted = model(("logistic", "trees")[seed % 2], x[early[learn]], y[early[learn]])
            scores, mine = np.round(fitted.predict_proba(x)[:, 1], 6), early[~learn]
            threshold = float(np.quantile(scores[mine], 1 - np.mean(y[mine])))
            parts = np.array_split(rng.permutation(mine) if "gas" in name else mine, 10)
            rows = {f"w{at:03d}": np.flatnonzero(when == at) for at in np.unique(when) if at > last}
            rows = {f"r{at:02d}": part for at, part in enumerate(parts)} | rows
            label = (y & (rng.random(y.size) < 0.5)) * 1
            tallies = {key: Tally.from_arrays(label[part], scores[part]) for key, part in rows.items()}
            before = {key: each for key, each in tallies.items() if key[0] == "r"}
            after = {key: each for key, each in tallies.items() if key[0] == "w"}
            prior = {"class_prior": float(np.mean(y[mine])), "threshold": threshold, "labelling": "random"}
            try:
                pulse = pulens.watch(before, after, **prior)
            except pulens.PulensError:
                continue
            for window in pulse.windows.values():
                trust[f"{name.split()[0]} {window.trust}"] += 1
                part = rows[window.name]
                hit = np.mean(y[part] & (scores[part] >= threshold))
                own = truth(float(hit), float(np.mean(y[part])), float(np.mean(scores[part] >= threshold)))
                if window.trust == "ok":
                    held[name.split()[0]].append(all(own[each] in getattr(window, each).interval for each in NUMBERS))
    print(dict(trust), {name: f"{sum(each)} of {len(each)} ok windows hold all" for name, each in held.items()})


def limits(given: argparse.Namespace) -> None:
    """The surge seen by rules that know that there is no noise, and the weights; some know more.

    Each has all of the 5% of false alarms: its bar is what 5% of quiet lives of 365 windows reach.
    """
    world, life = family(CLAIMS), LIFE
    mixture = {share: share * world.positive + (1 - share) * world.negative for share in (BASE, SURGE)}
    weight = weights(world.positive, mixture[BASE], 1e6, 1e6)
    variance, third = (float(mixture[BASE] @ weight**power) for power in (2, 3))
    size = (SURGE - BASE) / (1 - BASE) / np.sqrt(variance / 187)
    rng = np.random.default_rng(8)

    def drawn(lives: int, windows: int, share: float) -> np.ndarray:
        """Shifts of windows in standard errors of a window of 187 rows, straightened."""
        rows = rng.poisson(187, (lives, windows))
        shifts = np.array([rng.multinomial(each, mixture[share]) @ weight / each for each in rows])
        own = straightened(shifts, variance / rows, third / variance**1.5 / np.sqrt(rows))
        return own / np.sqrt(variance / 187)

    def totals(values: np.ndarray, before: np.ndarray, reference: int, knows: str) -> np.ndarray:
        """After each window, by the mean of the reference's windows."""
        sums, weigh = np.cumsum(np.pad(values, ((0, 0), (1, 0))), axis=1), start_weights(values.shape[1], life)
        result = []
        for count in range(1, values.shape[1] + 1):
            start = np.arange(count)
            mean, error = (sums[:, [count]] - sums[:, :count]) / (count - start), 1 / (count - start)
            if knows != "level and size":
                mean = mean - (before[:, None] * reference + sums[:, :count]) / (reference + start)
                error = error + 1 / (reference + start)
            if knows == "neither":
                ratio = log_ratios(mean[..., None], error, SHARE_SPREADS, RISING)
            else:
                ratio = (mean * size - size**2 / 2) / error
            result.append(np.exp(ratio) @ weigh[:count] + life / (count + life))
        return np.array(result).T

    quiet, many = drawn(given.lives * 4, QUIET_WINDOWS, BASE), given.lives * 10
    for reference in (60, 100):
        start, own = 100 - reference, rng.normal(size=(2, many)) / np.sqrt(reference)
        surges = np.hstack([drawn(many, start, BASE), drawn(many, 20, SURGE)])
        for knows in ("level and size", "size", "neither"):
            highest = totals(quiet, own[0, : len(quiet)], reference, knows).max(axis=1)
            above = totals(surges, own[1], reference, knows) >= np.quantile(highest, 0.95)
            found = " ".join(f"{np.mean(above[:, start : start + most].any(axis=1)):.3f}" for most in (10, 20))
            print(f"{reference} reference windows, knows {knows}: within 10 and 20 windows {found}", flush=True)


def segments(given: argparse.Namespace) -> None:
    """Segments followed as the share line does, of which some change by 2.1 standard errors after ten windows."""
    known, alpha = NoiseLevels(np.zeros(1), np.zeros(1), np.zeros(1), 1.0), 0.05 * FOR_SEGMENTS * SLACK

    def totals(rng: np.random.Generator, windows: int, step: float) -> np.ndarray:
        values = rng.normal(size=windows) + np.where(np.arange(windows) < 10, 0.0, step) - rng.normal() / np.sqrt(30)
        evidence = RunningEvidence(known, windows=windows, coordinates=1, spreads=SHARE_SPREADS, rising=RISING)
        evidence.add_reference(np.zeros(1), 1 / 30)
        result = []
        for value in values:
            evidence.add(np.array([value]), 1.0)
            result.append(evidence.starts().log_total)
        return np.array(result)

    level = alpha * SHARES_OF_ALPHA["share"]
    for many, changed, windows in ((20, 5, 60), (20, 0, 120)):
        places: dict[str, list[np.ndarray]] = defaultdict(list)
        for life in range(max(given.lives // 5, 2)):
            rng = np.random.default_rng([20, many, life])
            logs = np.array([totals(rng, windows, 2.1 * (place < changed)) for place in range(many)])
            bars = {"family": np.full(windows, np.log(many / level)), "fdr": shared_bars(logs, level)}
            for rule, bar in bars.items():
                above = logs >= bar
                places[rule].append(np.where(above.any(axis=1), above.argmax(axis=1) + 1, NEVER))
        for rule, result in places.items():
            late, false = np.array(result)[:, :changed] - 10, np.array(result)[:, changed:] <= windows
            words = f"found after {np.median(late.min(1)):.0f} to {np.median(late.max(1)):.0f}; " if changed else ""
            print(f"{many} segments, {changed} changed, {rule}: {words}a false one in {np.mean(false.any(axis=1)):.3f}")


def wild(given: argparse.Namespace) -> None:
    """Windows of data sets whose labels somebody else gave, with a truth: three fifths of the rows are the reference.

    Labels are taken for random, as in practice (learned without the data set's family), and as in practice as it ships.
    Precision and F1 are those of a window's very rows, recall, which is the reference's, that of all rows.
    """
    from pulens.research.benchmark.wild import learned, read_problems

    problems = list(read_problems(given.data / "wild", ("logistic",)))
    families = sorted({one.family for one in problems})
    without = {name: learned([one for one in problems if one.family != name]) for name in families}
    held: dict[tuple[str, str], dict[str, list[tuple[bool, float, float]]]] = defaultdict(lambda: defaultdict(list))
    judged = refused = 0
    for place, one in enumerate(problems):
        part = np.random.default_rng([11, place]).permutation(one.truth.size) % 5
        tallies = {f"{at}": Tally.from_arrays(one.labelled[part == at] * 1, one.scores[part == at]) for at in range(5)}
        asked = {"class_prior": one.class_prior, "threshold": one.threshold, "scenario": str(one.scenario)}
        recall = one.truths()["recall"]
        for way, labelling in {"random": "random", "left out": without[one.family], "practice": "practice"}.items():
            before, after = ({name: tallies[name] for name in names} for names in ("012", "34"))
            try:
                pulse = pulens.watch(before, after, labelling=labelling, **asked)
            except pulens.PulensError:  # labelled rows of so small a reference do not clearly outscore the rest
                refused += way == "random"
                continue
            judged += way == "random"
            for name, window in pulse.windows.items():
                rows = (part == int(name)) & one.population
                positive, flagged = one.truth[rows], one.scores[rows] >= one.threshold
                own = truth(float(np.mean(positive & flagged)), float(positive.mean()), float(flagged.mean()))
                for number, true in {**own, "recall": recall}.items():
                    found = getattr(window, number)
                    if not found.undefined_because and np.isfinite(true):
                        reach = found.interval
                        row = true in reach, reach.high - reach.low, abs(found.value - true)
                        held[way, number][one.family].append(row)
    print(f"{judged} data sets of {len(families)} families, {refused} refused; families count alike")
    for (way, number), rows_of in held.items():
        means = np.array([np.mean(each, axis=0) for each in rows_of.values()])
        lowest = min((np.mean(each, axis=0)[0] for each in rows_of.values() if len(each) >= 10), default=np.nan)
        hold, width, error = means.mean(axis=0)
        print(f"{number}, {way}: hold {hold:.3f} (lowest family of 10 windows {lowest:.2f}), ", end="")
        print(f"width {width:.3f}, error {error:.3f}", flush=True)


MADE = """
COPY (
    SELECT TIMESTAMP '2024-01-01' + to_microseconds(CAST(random() * 760 * 86400 * 1e6 AS BIGINT)) AS scored_at,
        round(1 / (1 + exp(1.5 - 2.2 * CAST(positive AS INT) - 1.3 * sqrt(-2 * ln(1 - u)) * cos(6.2831853 * v))), 4)
            AS score, CAST(positive AND w < 0.3 AS TINYINT) AS label
    FROM (SELECT random() < 0.05 AS positive, random() AS u, random() AS v, random() AS w FROM range({rows}))
) TO '{path}' (FORMAT parquet)
"""


def scale(given: argparse.Namespace) -> None:
    """Two years of daily windows: 10,000 rows each in memory, and --rows of them in a Parquet file."""
    import duckdb

    rng, world = np.random.default_rng(6), family("binormal")
    windows = [[world.drawn(rng, 10_000)] for _ in range(760)]
    begin = time.perf_counter()
    status = world.watch(windows, 30, threshold=0.8).status
    print(f"730 windows in memory: {time.perf_counter() - begin:.2f} s, {status}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        duckdb.sql(MADE.format(rows=given.rows, path=path))
        begin = time.perf_counter()
        of = {"time": "scored_at", "by": "day", "reference_until": "2024-01-30", "class_prior": 0.05, "threshold": 0.5}
        result = pulens.watch(str(path), **of)
        print(
            f"{given.rows:,} rows, {len(result.windows)} windows: {time.perf_counter() - begin:.1f} s, {result.status}"
        )


APART = {each.__name__: each for each in (numbers, errors, drift, limits, wild, segments, scale)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=[*LIVES, *APART], default=list(LIVES))
    parser.add_argument("--lives", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first life's number: others have other seeds")
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="only kinds whose name has this in it, as 'surge 60'")
    parser.add_argument("--data", type=Path, help="a folder with bank_marketing.parquet, letter.npz, ...")
    parser.add_argument("--worlds", type=Path, help="read the score histograms of real tables here, or write them")
    parser.add_argument("--kept", type=Path, help="keep every life's result in this file, and go on from what it holds")
    parser.add_argument("--peers", action="store_true", help="NannyML and Evidently beside it, where there are any")
    parser.add_argument("--rows", type=int, default=50_000_000)
    given = parser.parse_args()
    load_worlds(given)
    if given.peers:
        import_peers()
    chosen = [kind for kind in kinds() if kind[0] in given.parts and given.only in " ".join(map(str, kind))]
    if chosen:
        live(given, chosen)
    for name in given.parts:
        if name in APART:
            APART[name](given)


if __name__ == "__main__":
    main()
