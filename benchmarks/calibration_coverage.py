"""How often the intervals of calibration estimates hold the truth, in worlds where it is known.

Run: python benchmarks/calibration_coverage.py [--sets 400] [--prior known|study|range] [--quick]
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit, logit

from pulens.calibration import (
    brier_score,
    calibration_in_the_large,
    calibration_slope,
    log_loss,
    reliability,
)
from pulens.testing import LogitMixture, another_study, logistic_world
from pulens.testing.calibration_worlds import GRID
from pulens.testing.prior_knowledge import GOLDEN

PRIOR = 0.3
WORLDS = {
    "calibrated": logistic_world(float(logit(PRIOR)), 2.0, PRIOR),
    "slightly off": logistic_world(-1.05, 1.9, PRIOR),
    "too high": logistic_world(-0.5, 1.5, PRIOR),
    "too extreme": logistic_world(-1.6, 3.0, PRIOR),
    "too timid, too high": logistic_world(0.0, 0.6, PRIOR),
}
SIZES = ((50, 500), (200, 2_000), (1_000, 10_000))
SCENARIOS = ("case-control", "single-set", "case-control, 10% label noise", "single-set, known negatives")


def sample(
    world: LogitMixture, scenario: str, size: tuple[int, int], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, dict[str, object]]:
    labelled, unlabelled = size
    options: dict[str, object] = {"class_prior": world.class_prior, "scenario": scenario.split(",")[0]}
    if scenario.startswith("case-control"):
        few, many, _ = world.draw(labelled, unlabelled, rng)
        if "noise" in scenario:
            options["label_noise"] = 0.1
            _, everyone, is_positive = world.draw(1, 4 * labelled, rng)
            wrong = round(0.1 * labelled)
            few = np.concatenate([few[wrong:], everyone[~is_positive][:wrong]])
        return np.repeat([1, 0], [few.size, many.size]), np.concatenate([few, many]), options
    _, scores, is_positive = world.draw(1, unlabelled, rng)
    labels = (is_positive & (rng.random(unlabelled) < labelled / (unlabelled * world.class_prior))).astype(int)
    if "negatives" in scenario:
        labels[~is_positive & (rng.random(unlabelled) < 0.1)] = -1
    return labels, scores, options


def told(prior: str, world: LogitMixture, labels: np.ndarray, scenario: str, place: int) -> object:
    """What the functions are told of the class prior: the truth, another study's estimate of it, or a range."""
    a = world.class_prior
    if prior == "known":
        return a
    if prior == "range":
        low = a * (1 - 0.3 * ((0.5 + place * GOLDEN) % 1))
        return (low, low + 0.3 * a)
    return another_study(a, labels, scenario.split(",")[0], place)


def truths(world: LogitMixture) -> dict[str, float]:
    grid = np.linspace(*world.range, 10 * GRID)
    density, share, score = world.density(grid), world.posterior(grid), expit(grid)
    share = np.nan_to_num(share)

    def mean(values: np.ndarray) -> float:
        return float(np.trapezoid(density * values, grid))

    (_, high, deviation), (_, low, _) = world.positive[0], world.negative[0]
    slope = (high - low) / deviation**2  # of the true logit against the score's
    crossing = logit(world.class_prior) - slope * (high + low) / 2
    logs = share * np.logaddexp(0, -grid) + (1 - share) * np.logaddexp(0, grid)
    return {
        "brier": mean(share * (1 - score) ** 2 + (1 - share) * score**2),
        "log loss": mean(logs),
        "in the large": mean(score) - world.class_prior,
        "slope": float(slope),
        "intercept": float(crossing),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=400)
    told_as = "what is told of the class prior; study: another's estimate, off by a tenth, with its 95%% interval"
    parser.add_argument("--prior", choices=("known", "study", "range"), default="known", help=told_as)
    parser.add_argument("--quick", action="store_true", help="two worlds, two sizes, without noise and negatives")
    asked = parser.parse_args()
    sets = asked.sets
    print(
        f"coverage of 95% intervals, {sets} sets each; ECE: true error in the same bins; its rmse, plain and corrected"
    )
    names = ["brier", "log loss", "in the large", "slope", "intercept"]
    print(f"{'scenario':<31}{'world':<21}{'sizes':>13}{'ECE':>8}{'width':>7}{'rmse':>7}{'corr.':>7}{'bins':>7}"
          + "".join(f"{name:>13}" for name in names))  # fmt: skip
    for scenario in SCENARIOS[:2] if asked.quick else SCENARIOS:
        for world_name, world in WORLDS.items():
            if asked.quick and world_name not in ("calibrated", "too high"):
                continue
            truth = truths(world)
            for size in SIZES[:2] if asked.quick else SIZES:
                rng = np.random.default_rng([size[0], size[1], len(scenario)])
                hits: dict[str, list[float]] = {
                    name: [] for name in ("ece", "width", "plain", "corrected", "bins", *names)
                }
                for place in range(sets):
                    labels, scores, options = sample(world, scenario, size, rng)
                    options["class_prior"] = told(asked.prior, world, labels, scenario, place)
                    diagram = reliability(labels, scores, redraws=300, **options)
                    error = diagram.error
                    edges = np.array([0.0, *(one.high for one in diagram.bins)])
                    target = world.binned_calibration_error(edges)
                    positive, _ = world.binned_masses(edges)
                    population = np.diff([world.population_below(edge) for edge in edges])
                    hits["ece"].append(target in error.interval)
                    hits["width"].append(error.interval.width)
                    hits["plain"].append((error.value - target) ** 2)
                    hits["corrected"].append((error.corrected - target) ** 2)
                    hits["bins"].append(
                        np.mean(
                            [
                                p / q in one.interval
                                for p, q, one in zip(positive, population, diagram.bins, strict=True)
                            ]
                        )
                    )
                    line = calibration_slope(labels, scores, **options)
                    for name, found in (
                        ("brier", brier_score(labels, scores, bins=5, **options)),
                        ("log loss", log_loss(labels, scores, bins=5, **options)),
                        ("in the large", calibration_in_the_large(labels, scores, **options)),
                        ("slope", line.slope),
                        ("intercept", line.intercept),
                    ):
                        hits[name].append(truth[name] in found.interval)
                means = {name: float(np.mean(values)) for name, values in hits.items()}
                print(
                    f"{scenario:<31}{world_name:<21}{size[0]:>6,}/{size[1]:<6,}{means['ece']:>8.3f}{means['width']:>7.3f}"
                    f"{means['plain'] ** 0.5:>7.4f}{means['corrected'] ** 0.5:>7.4f}{means['bins']:>7.3f}"
                    + "".join(f"{means[name]:>13.3f}" for name in names),
                    flush=True,
                )


if __name__ == "__main__":
    main()
