"""Real labels with a truth: data sets in which somebody else decided which positives became known.

A folder holds one ``.npz`` file per source. Its ``worlds`` is a JSON list; an entry names the arrays of one data set:
``X`` (features), ``labelled`` and ``truth`` (0 or 1), where rows belong together ``group``, and ``scenario``. Records
that were collected separately from a survey come as ``records``, ``sites``, ``survey`` and ``background`` instead;
half of the records train the model. ``family`` (with ``cells``, where a source has several regions) says which data
sets share a way of labelling: they are left out together, so that what is learned is judged on labelling it has not
seen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pulens.errors import InputError
from pulens.evidence import Evidence, gather
from pulens.research.benchmark.datasets import DataUnavailableError
from pulens.scenario import Scenario
from pulens.selection import rank_correlations
from pulens.selection.distortion import distort, tilt_of
from pulens.selection.practice import Practice, learn
from pulens.selection.tilts import TiltDistribution
from pulens.types import Booleans, Floats

FOLDER, MIRROR = "PULENS_WILD", "PULENS_MIRROR"
METRICS = ("roc_auc", "average_precision", "precision", "recall", "f1")
FOLDS = 5
FEWEST_HIDDEN = 10  # positives, hidden or labelled, of a data set that shows where the tilt is off
SMALLEST_SIDE = 0.3  # of the rows, for a feature to split them into two groups
STEEPEST = (-6.0, 14.0)  # tilts beyond say that labelled and hidden positives do not overlap: how far, no row shows


@dataclass(frozen=True, eq=False)
class WildProblem:
    """Scores of one model on one data set, the labels somebody gave, and the truth."""

    name: str
    family: str
    model: str
    scenario: Scenario
    scores: Floats
    labelled: Booleans
    truth: Booleans
    side: Booleans | None = None  # whether a row lies in the upper half of its first feature: two groups

    @property
    def population(self) -> Booleans:
        """The rows that the truth is about."""
        return np.ones(self.truth.size, bool) if self.scenario is Scenario.SINGLE_SET else ~self.labelled

    @property
    def class_prior(self) -> float:
        return float(self.truth[self.population].mean())

    @property
    def threshold(self) -> float:
        """The score at which as many rows are flagged as are positive."""
        own = np.sort(self.scores[self.population])
        return float(own[own.size - max(1, round(self.class_prior * own.size))])

    @cached_property
    def evidence(self) -> Evidence:
        return gather(self.labelled.astype(int), self.scores, class_prior=self.class_prior, scenario=str(self.scenario))

    @cached_property
    def separation(self) -> float:
        """How far apart the classes would be if labels were random."""
        known = Practice(0.0, 0.0, 1.0, 1.0, 1.0, 0, 0)  # what is known of tilts does not enter
        return TiltDistribution(self.evidence, known).separation(self.evidence.class_prior.unlabelled)

    @cached_property
    def tilt(self) -> float:
        """The tilt that gives the hidden positives the mean rank that they have among the labelled ones."""
        from scipy.stats import rankdata

        hidden = self.scores[self.truth & ~self.labelled]
        labelled = self.scores[self.labelled]
        if not hidden.size or not labelled.size:
            return 0.0
        ranks = rankdata(np.concatenate([hidden, labelled]))[: hidden.size]
        outscored = (ranks.sum() - hidden.size * (hidden.size + 1) / 2) / (hidden.size * labelled.size)
        return float(np.clip(tilt_of(float(outscored)), *STEEPEST))

    def truths(self, threshold: float | None = None) -> dict[str, float]:
        """The metrics that the truth shows, at the threshold of :attr:`threshold` or another."""
        from sklearn.metrics import average_precision_score, roc_auc_score

        truth, scores = self.truth[self.population], self.scores[self.population]
        flagged = scores >= (self.threshold if threshold is None else threshold)
        hits = float((flagged & truth).sum())
        precision, recall = hits / max(float(flagged.sum()), 1.0), hits / float(truth.sum())
        both = 2 * hits / float(flagged.sum() + truth.sum())
        values = roc_auc_score(truth, scores), average_precision_score(truth, scores), precision, recall, both
        return dict(zip(METRICS, map(float, values), strict=True))


def models() -> dict[str, Callable[[], Any]]:
    """Two plain models of labelled rows against the rest."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "logistic": lambda: make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=500)),
        "boosting": lambda: HistGradientBoostingClassifier(max_iter=100, random_state=0),
    }


def wild_folder() -> Path:
    """Where the data sets with a truth are, or an error that says how to name the place."""
    mirror = os.environ.get(MIRROR)
    for place in (os.environ.get(FOLDER), str(Path(mirror) / "wild") if mirror else None):
        if place and any(Path(place).glob("*.npz")):
            return Path(place)
    raise DataUnavailableError(
        f"real labels with a truth are not at hand: name their folder in {FOLDER}, or keep it as wild/ in the folder "
        f"that {MIRROR} names. docs/research/wild.md says how they look."
    )


def worlds(folder: str | Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every data set of a folder, with the file that holds it."""
    files = sorted(Path(folder).glob("*.npz"))
    if not files:
        raise InputError(f"{folder} holds no .npz file of real labels with a truth; see docs/research/wild.md.")
    for path in files:
        with np.load(path) as stored:
            if "worlds" in stored.files:
                yield from ((path, world) for world in json.loads(str(stored["worlds"])))


def family_of(world: Mapping[str, Any]) -> str:
    """The family of a data set; regions of a source count as families of their own."""
    return f"{world['family']}, {world['cells']}" if world.get("cells") else str(world["family"])


def read_problem(path: Path, world: Mapping[str, Any], model: str) -> WildProblem:
    """One data set, scored by a model out of fold."""
    with np.load(path) as stored:
        return _scored(world, stored, model)


def read_problems(folder: str | Path, names: Sequence[str] = ("logistic", "boosting")) -> Iterator[WildProblem]:
    """Every data set of a folder, scored by each model out of fold."""
    yield from (read_problem(path, world, name) for path, world in worlds(folder) for name in names)


def _scored(world: Mapping[str, Any], stored: Any, name: str) -> WildProblem:
    make, scenario = models()[name], Scenario(world["scenario"])
    if world.get("records"):
        records, sites, survey, background = (stored[world[k]] for k in ("records", "sites", "survey", "background"))
        order = np.random.default_rng(0).permutation(len(records))
        train, rest = records[order[: len(records) // 2]], records[order[len(records) // 2 :]]
        fitted = make().fit(np.concatenate([train, background]), np.repeat([1, 0], [len(train), len(background)]))
        scores = fitted.predict_proba(np.concatenate([rest, sites]))[:, 1]
        labelled = np.repeat([True, False], [len(rest), len(sites)])
        truth = np.concatenate([np.ones(len(rest), bool), survey.astype(bool)])
        side = upper_half(np.concatenate([rest, sites]))
    else:
        labelled, truth = (stored[world[key]].astype(bool) for key in ("labelled", "truth"))
        group = stored[world["group"]] if world.get("group") else None
        scores, side = _out_of_fold(make, stored[world["X"]], labelled, group), upper_half(stored[world["X"]])
    return WildProblem(world["world"], family_of(world), name, scenario, scores, labelled, truth, side)


def upper_half(features: Any) -> Booleans | None:
    """Whether a row lies above the median of the first feature that splits the rows nearly in half, if any does."""
    for column in np.asarray(features, float).T:
        above = column > np.nanmedian(column)
        if SMALLEST_SIDE < above.mean() < 1 - SMALLEST_SIDE:
            return np.asarray(above)
    return None


def _out_of_fold(make: Callable[[], Any], features: Any, labelled: Booleans, group: Any) -> Floats:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    folds = StratifiedKFold if group is None else StratifiedGroupKFold
    scores = np.empty(labelled.size)
    for train, rest in folds(FOLDS, shuffle=True, random_state=0).split(features, labelled, group):
        scores[rest] = make().fit(features[train], labelled[train]).predict_proba(features[rest])[:, 1]
    return scores


def learned(problems: Sequence[WildProblem]) -> Practice:
    """The distribution of tilts that these data sets show."""
    result = learn([p.separation for p in problems], [p.tilt for p in problems], [p.family for p in problems])
    together, local = per_disagreement(problems, result), local_spread(problems)
    return replace(result, problems=len({p.name for p in problems}), per_disagreement=together, local=local)


def local_spread(problems: Sequence[WildProblem]) -> float:
    r"""How far the tilt is off within a tenth of the list: the root mean square of what it leaves, over its shares.

    With :math:`o_b` the share of the hidden positives that a tenth holds and :math:`e_b` the one by the data set's own
    tilt, :math:`\sum_b ((o_b - e_b)^2 - v_b)/\sum_b e_b^2` with :math:`v_b` the variance by chance, of hidden and of
    labelled rows; families count alike.
    """
    left: dict[str, list[tuple[float, float]]] = {}
    for p in problems:
        hidden, labelled, listed = (p.scores[which] for which in (p.truth & ~p.labelled, p.labelled, p.population))
        if hidden.size < FEWEST_HIDDEN or labelled.size < FEWEST_HIDDEN:
            continue
        edges = np.unique(np.quantile(listed, np.linspace(0.1, 0.9, 9)))[::-1]
        above = [np.append((rows[None, :] > edges[:, None]).mean(axis=1), 1.0) for rows in (hidden, labelled)]
        seen, own, said = (np.diff(rates, prepend=0.0) for rates in (*above, distort(above[1], p.tilt)))
        known = own > 0
        seen, own, said = seen[known], own[known], said[known]
        chance = said * (1 - said) / hidden.size + said**2 * (1 - own) / own / labelled.size
        left.setdefault(p.family, []).append((float(((seen - said) ** 2 - chance).sum()), float((said**2).sum())))
    shares = [max(sum(off for off, _ in rows) / sum(of for _, of in rows), 0.0) for rows in left.values()]
    return float(np.sqrt(np.mean(shares))) if shares else 0.0


def per_disagreement(problems: Sequence[WildProblem], line: Practice) -> float:
    """What the correlation of two models' tilts lacks to 1, over what the rank correlation of their scores lacks.

    Tilts less what the line says; ranks are those of labelled rows; families count alike. 1 where no data set has two
    models.
    """
    by_set: dict[tuple[str, str], list[WildProblem]] = {}
    for p in problems:
        by_set.setdefault((p.family, p.name), []).append(p)
    pairs = [own[:2] for own in by_set.values() if len(own) > 1]
    if not pairs:
        return 1.0
    left = np.array([[p.tilt - line.intercept - line.slope * p.separation for p in pair] for pair in pairs])
    scores = [[p.scores for p in pair] for pair in pairs]
    of_pairs = zip(scores, pairs, strict=True)
    apart = [1 - rank_correlations(own, pair[0].labelled.astype(float))[0, 1] for own, pair in of_pairs]
    _, which, many = np.unique([pair[0].family for pair in pairs], return_inverse=True, return_counts=True)
    of = np.stack([np.diff(left, axis=1)[:, 0] ** 2, (left**2).sum(axis=1), apart]) @ (1 / many[which]) / many.size
    return float(of[0] / of[1] / of[2])


@dataclass(frozen=True, slots=True)
class WildAnswer:
    """What an evaluation said of one data set, beside the truth."""

    family: str
    name: str
    model: str
    metric: str
    labelled: int
    truth: float
    value: float
    low: float
    high: float
    uncorrected: float

    @property
    def holds(self) -> bool:
        return self.low - 1e-9 <= self.truth <= self.high + 1e-9


def judge(problem: WildProblem, labelling: str | Practice, **options: Any) -> list[WildAnswer]:
    """The public call on one data set: its class prior and threshold given unless ``options`` say otherwise."""
    from pulens.evaluation.evaluate import evaluate

    given = {"class_prior": problem.class_prior, "threshold": problem.threshold, **options}
    answer = evaluate(
        problem.labelled.astype(int), problem.scores, scenario=str(problem.scenario), labelling=labelling, **given
    )
    truths = problem.truths(answer.threshold)
    result = []
    for metric in METRICS:
        own = answer[metric]
        low, high = (own.interval.low, own.interval.high) if own.interval is not None else (own.value, own.value)
        told = (truths[metric], own.value, low, high, answer.uncorrected[metric].value)
        result.append(
            WildAnswer(
                problem.family, problem.name, problem.model, metric, int(problem.labelled.sum()), *map(float, told)
            )
        )
    return result


def leave_families_out(problems: Sequence[WildProblem], **options: Any) -> list[WildAnswer]:
    """Each family judged with a distribution learned on the others."""
    result: list[WildAnswer] = []
    for family in sorted({p.family for p in problems}):
        own = learned([p for p in problems if p.family != family])
        result += [row for p in problems if p.family == family for row in judge(p, own, **options)]
    return result


def coverage(judged: Sequence[WildAnswer]) -> dict[str, dict[str, float]]:
    """Per metric, families counting alike: how often intervals hold, how wide they are, how far values are off.

    >>> rows = [WildAnswer("a", "x", "m", "f1", 9, 0.5, 0.6, 0.4, 0.7, 0.1), WildAnswer("b", "y", "m", "f1", 9, 0.5, 0.3, 0.2, 0.4, 0.1)]
    >>> {name: round(value, 3) for name, value in coverage(rows)["f1"].items()}
    {'holds': 0.5, 'lowest': 0.0, 'width': 0.25, 'error': 0.15, 'uncorrected': 0.4}
    """  # noqa: E501
    result = {}
    for metric in dict.fromkeys(row.metric for row in judged):
        rows = [row for row in judged if row.metric == metric]
        families = [[row for row in rows if row.family == family] for family in dict.fromkeys(r.family for r in rows)]

        def mean(of: Callable[[WildAnswer], float], families: list[list[WildAnswer]] = families) -> float:
            means = [np.mean(known) for own in families if (known := [v for row in own if (v := of(row)) == v])]
            return float(np.mean(means)) if means else np.nan  # a value may be withheld

        result[metric] = {
            "holds": mean(lambda row: row.holds),
            "lowest": float(min(np.mean([row.holds for row in family]) for family in families)),
            "width": mean(lambda row: row.high - row.low),
            "error": mean(lambda row: abs(row.value - row.truth)),
            "uncorrected": mean(lambda row: abs(row.uncorrected - row.truth)),
        }
    return result


def by_family(judged: Sequence[WildAnswer]) -> dict[str, dict[str, float]]:
    """How often intervals hold in each family, per metric, and of how many runs."""
    result: dict[str, dict[str, float]] = {}
    for family in dict.fromkeys(row.family for row in judged):
        rows = [row for row in judged if row.family == family]
        held = {metric: float(np.mean([r.holds for r in rows if r.metric == metric])) for metric in METRICS}
        result[family] = {"runs": len(rows) / len(METRICS), **held}
    return result


def facts_of(problems: Sequence[WildProblem], judged: Sequence[WildAnswer]) -> dict[str, Any]:
    """What ``selection/practice.json`` holds: the distribution, and the figures it comes from."""
    rounded = {name: {key: round(v, 3) for key, v in row.items()} for name, row in coverage(judged).items()}
    families = {
        family: {
            **{key: round(value, 3) for key, value in held.items()},
            "tilt": round(float(np.mean([p.tilt for p in problems if p.family == family])), 2),
        }
        for family, held in by_family(judged).items()
    }
    return {"distribution": asdict(learned(problems)), "families_left_out": rounded, "families": families}
