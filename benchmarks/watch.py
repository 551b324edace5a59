"""How often a watch alarms falsely, how soon it finds a change, and how far its numbers are from the truth.

Worlds with a known truth in four families of scores, none of which was used to choose the settings of the monitor but
the first: binormal, beta, a skewed one, and a score with twelve values. Rows are drawn as counts per score.

    python benchmarks/watch.py              # all parts, some minutes
    python benchmarks/watch.py --lives 20 --parts delay quiet
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import stats

import pulens
from pulens.counts.tally import Tally
from pulens.report.watch import DOUBTED
from pulens.scenario import Scenario
from pulens.watching.cells import edges_of, reduce_to_cells
from pulens.watching.fit import features, fit_of
from pulens.watching.shift import CellReference, shift_of

GRID = 400
SEED = 0  # other seeds, other lives: those used for choosing settings are the first


def seeded(part: int, life: int) -> np.random.Generator:
    return np.random.default_rng([part, life] if not SEED else [part, life, SEED])


def families() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Scores and the shares of positives and negatives at each."""
    places = np.linspace(-4, 6, GRID)
    binormal = (places, stats.norm.pdf(places, 1.466), stats.norm.pdf(places))
    unit = (np.arange(GRID) + 0.5) / GRID
    beta = (unit, stats.beta.pdf(unit, 4, 2), stats.beta.pdf(unit, 2, 4))
    positive = np.linspace(0.01, 20, GRID)
    skewed = (positive, stats.lognorm.pdf(positive, 0.9, scale=3.2), stats.lognorm.pdf(positive, 0.7))
    twelve = np.arange(12.0)
    coarse = (twelve, stats.binom.pmf(twelve, 11, 0.62), stats.binom.pmf(twelve, 11, 0.36))
    found = {"binormal": binormal, "beta": beta, "skewed": skewed, "twelve values": coarse}
    return {name: (scores, p / p.sum(), n / n.sum()) for name, (scores, p, n) in found.items()}


class World:
    """One family of scores, from which windows are drawn."""

    def __init__(self, family: str, rng: np.random.Generator, labelled: float = 0.3) -> None:
        self.scores, self.positive, self.negative = families()[family]
        self.rng, self.labelled = rng, labelled
        best = np.argmin(np.abs(np.cumsum(self.negative[::-1])[::-1] - 0.2))
        self.threshold = float(self.scores[best])

    all_move = False

    def window(self, share: float, rows: int = 1000, *, moved: int = 0) -> Tally:
        """A window; ``moved`` shifts the negatives (with ``all_move`` the positives too) up by places of the grid."""
        negative, positive = np.roll(self.negative, moved), self.positive
        negative[:moved] = 0
        if self.all_move and moved:
            positive = np.roll(positive, moved)
            positive[:moved] = 0
            positive = positive / positive.sum()
        positives = self.rng.binomial(rows, min(max(share, 0), 1))
        own = self.rng.multinomial(positives, positive)
        named = self.rng.binomial(own, self.labelled)
        others = self.rng.multinomial(rows - positives, negative / negative.sum()) + own - named
        seen = named + others > 0
        return Tally.from_increments(self.scores[seen], named[seen], others[seen])

    def truth(self, share: float) -> dict[str, float]:
        flagged = self.scores >= self.threshold
        recall, alarm = float(self.positive @ flagged), float(self.negative @ flagged)
        hit, q = share * recall, share * recall + (1 - share) * alarm
        accuracy = 1 - share - q + 2 * hit
        return {
            "prior": share,
            "precision": hit / q,
            "f1": 2 * hit / (share + q),
            "accuracy": accuracy,
            "recall": recall,
        }

    def watch(self, shares: np.ndarray, reference: np.ndarray, **options: object) -> pulens.Pulse:
        """A life: windows of these shares after a reference of those."""
        moved = options.pop("moved", np.zeros(len(shares), int))
        before = {f"r{place:03d}": self.window(share) for place, share in enumerate(reference)}
        pairs = zip(shares, moved, strict=True)
        after = {f"w{place:03d}": self.window(share, moved=move) for place, (share, move) in enumerate(pairs)}
        return pulens.watch(before, after, class_prior=0.2, threshold=self.threshold, **options)


def certain(pulse: pulens.Pulse, line: str | None = None) -> int:
    """The place of the window after which an alarm was certain; a large number without one."""
    places = [int(alarm.certain[1:]) for alarm in pulse.alarms if line in (None, alarm.line)]
    return min(places, default=10**6)


def noise(rng: np.random.Generator, count: int, alike: float) -> np.ndarray:
    """Day-to-day noise of variance one, neighbours alike."""
    found = np.empty(count)
    found[0] = rng.normal()
    for place in range(1, count):
        found[place] = alike * found[place - 1] + np.sqrt(1 - alike**2) * rng.normal()
    return found


def quiet(lives: int) -> None:
    """Any false alarm over 365 independent windows."""
    for family in families():
        alarms = []
        for life in range(lives):
            world = World(family, seeded(1, life))
            alarms.append(certain(world.watch(np.full(365, 0.2), np.full(30, 0.2))) < 365)
        print(f"false alarm in 365 windows, {family}: {np.mean(alarms):.3f} of {lives} lives")


def delay(lives: int) -> None:
    """Windows until a change is certain."""
    for family in families():
        first, small, since = [], [], []
        for life in range(lives):
            world = World(family, seeded(2, life))
            first.append(certain(world.watch(np.array([0.2] * 5 + [0.4]), np.full(30, 0.2)), "share") == 5)
            pulse = world.watch(np.array([0.2] * 10 + [0.25] * 30), np.full(30, 0.2))
            small.append(certain(pulse, "share") - 9)
            since += [abs(int(alarm.since[1:]) - 10) <= 2 for alarm in pulse.alarms if alarm.line == "share"]
        print(
            f"{family}: .2 -> .4 found in its first window in {np.mean(first):.3f}; .2 -> .25 after a median of "
            f"{np.median(small):.0f} windows, within 5 in {np.mean(np.array(small) <= 5):.2f}, 'since' within 2 in "
            f"{np.mean(since):.2f} ({lives} lives)"
        )


def days_alike(lives: int) -> None:
    """Day-to-day noise as large as the sampling noise, neighbours alike or not."""
    for rule in ("default", "independent", "slow"):
        for alike in (0.0, 0.5):
            for windows in (10, 30):
                false, late, large = [], [], []
                for life in range(lives):
                    rng = seeded(3, life)
                    world = World("binormal", rng)
                    days = 0.2 + 0.028 * noise(rng, windows + 365, alike)
                    pulse = world.watch(days[windows:], days[:windows], noise=rule)
                    false.append(certain(pulse) < 365)
                    step = days[windows : windows + 60] + np.where(np.arange(60) < 10, 0, 0.055)
                    late.append(certain(world.watch(step, days[:windows], noise=rule), "share") - 9)
                    jump = days[windows : windows + 6] + np.where(np.arange(6) < 5, 0, 0.2)
                    large.append(certain(world.watch(jump, days[:windows], noise=rule), "share") == 5)
                print(
                    f"noise={rule}, autocorrelation {alike}, {windows} reference windows: false alarm in 365 windows "
                    f"{np.mean(false):.3f}; step of 2 standard errors after {np.median(late):.0f}; doubling in its "
                    f"first window {np.mean(large):.2f} ({lives} lives)"
                )


def numbers(lives: int) -> None:
    """Errors and coverage of metrics in windows of 5,000 rows, and the size of the fit test."""
    for family in families():
        held: dict[str, list[bool]] = {}
        errors: list[float] = []
        sizes: list[bool] = []
        for life in range(max(lives // 2, 10)):
            world = World(family, seeded(4, life))
            reference = {f"r{place}": world.window(0.2, 4000) for place in range(10)}
            windows = {f"{share}": world.window(share, 5000) for share in (0.1, 0.2, 0.3, 0.4)}
            found = pulens.watch(reference, windows, class_prior=0.2, threshold=world.threshold)
            for share in (0.1, 0.2, 0.3, 0.4):
                window, truth = found[f"{share}"], world.truth(share)
                errors.append(abs(window.f1.value - truth["f1"]))
                sizes.append(window.fit_p < 0.05)
                held.setdefault("d", []).append((share - 0.2) / 0.8 in window.shift.interval)
                for name in ("prior", "precision", "f1", "accuracy", "recall"):
                    held.setdefault(name, []).append(truth[name] in getattr(window, name).interval)
        told = ", ".join(f"{name} {np.mean(each):.2f}" for name, each in held.items())
        print(f"{family}: error of F1 {np.mean(errors):.4f}; coverage of 95%: {told}; fit rejects {np.mean(sizes):.3f}")


def size(lives: int) -> None:
    """How often the fit of one window is rejected at .05 though only the share of positives changed."""
    for family in families():
        told = []
        for rows, labelled, own in ((40_000, 0.3, 5000), (3000, 0.8, 1000), (3000, 0.05, 1000)):
            for share in (0.1, 0.2, 0.4):
                rejected = []
                for life in range(5 * lives):
                    world = World(family, seeded(8, life), labelled)
                    reference = reference_of(world, rows)
                    flat = features(reference[0])
                    counts = reduce_to_cells(world.window(share, own), reference[1], Scenario.SINGLE_SET).population
                    shift = shift_of(reference[0], counts).value
                    found = fit_of(reference[0], flat, counts, shift, 0.2)
                    rejected.append(found.p_value < 0.05)
                told.append(f"{np.mean(rejected):.3f}")
        print(f"{family}: fit rejects {', '.join(told)} ({5 * lives} windows each)", flush=True)


def reference_of(world: World, rows: int) -> tuple[CellReference, np.ndarray]:
    """A reference in cells, and their edges."""
    tally = world.window(0.2, rows)
    edges = edges_of(tally, Scenario.SINGLE_SET, None)
    counts = reduce_to_cells(tally, edges, Scenario.SINGLE_SET)
    return CellReference.of(counts.labelled, counts.population, together=True), edges


def moved(lives: int) -> None:
    """Negatives, or all scores, move up: how long the page says "more positives", and is wrong."""
    for places, words, everything in ((4, ".1", False), (8, ".2", False), (12, ".3", False), (8, ".2", True)):
        wrong, first, unsaid = [], [], []
        for life in range(lives):
            world = World("binormal", seeded(5, life))
            world.all_move = everything
            moves = np.where(np.arange(40) < 10, 0, places)
            pulse = world.watch(np.full(40, 0.2), np.full(30, 0.2), moved=moves)
            share, fit = certain(pulse, "share"), certain(pulse, "fit")
            wrong.append(max(min(fit, 40) - share, 0) if share < 40 else 0)
            first.append(share < fit)
            unsaid.append(without_doubt(pulse, share, min(fit, 40)))
        print(
            f"{'all scores' if everything else 'negatives'} +{words} sd: the share line is strictly first in "
            f"{np.mean(first):.2f}; wrong for a median of "
            f"{np.median(wrong):.0f} windows, mean {np.mean(wrong):.1f}; without a word of doubt for a median of "
            f"{np.median(unsaid):.0f}, mean {np.mean(unsaid):.1f} ({lives} lives)"
        )
    doubted = []
    for life in range(lives):
        world = World("binormal", seeded(7, life))
        pulse = world.watch(np.where(np.arange(30) < 10, 0.2, 0.3), np.full(30, 0.2))
        share = certain(pulse, "share")
        if share < 30:
            doubted.append((30 - share - without_doubt(pulse, share, 30)) / (30 - share))
    print(f"more positives and nothing else (.2 -> .3): doubted in {np.mean(doubted):.3f} of the windows that say so")


def without_doubt(pulse: pulens.Pulse, share: int, end: int) -> int:
    """In how many windows, once the share's alarm is certain, the verdict says "and nothing else so far"."""
    judgement = pulse.life.judgement
    return sum(judgement.fit_since(10, place) >= DOUBTED for place in range(share, end))


def speed(_: int) -> None:
    """730 windows of 10,000 rows."""
    rng = np.random.default_rng(6)

    def rows() -> Tally:
        positive = rng.random(10_000) < 0.2
        return Tally.from_arrays((positive & (rng.random(10_000) < 0.3)).astype(int), rng.normal(positive * 1.466))

    reference, windows = {f"r{day}": rows() for day in range(30)}, {f"w{day}": rows() for day in range(730)}
    begin, used = time.perf_counter(), time.process_time()
    status = pulens.watch(reference, windows, class_prior=0.2, threshold=0.8).status
    print(
        f"730 windows: {time.perf_counter() - begin:.2f} s ({time.process_time() - used:.2f} s of processor), {status}"
    )


PARTS = {part.__name__: part for part in (quiet, delay, days_alike, numbers, size, moved, speed)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lives", type=int, default=50)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    SEED = given.seed
    for name in given.parts:
        PARTS[name](given.lives)
