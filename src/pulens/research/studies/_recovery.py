"""The experiment behind Tables 1 and 2 of Jain et al. 2017: areas recovered from PU data beside those of full labels.

What the paper compares, in its words and in ours:

- *the truth* is the area of the same kind of ensemble trained and scored with full labels ("traditional setting"), not
  that of the PU-trained ensemble itself. Errors therefore hold what training on PU labels costs. Errors against the
  PU-trained scores' own area are printed beside ("own").
- ``alpha`` is the share of positives left among the unlabelled rows of the run, ``beta`` the share of positives among
  the labelled ones. *Real* (IR, DR) uses both, *Estimated* takes both from the scores alone: IE and DE by the package's
  default, IA and DA by AlphaMax, which the paper used.
- the truth of AUC-PR depends on the share of positives; the published one moves with alpha, so ours is read at alpha.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pulens.atomic_write import write_whole
from pulens.counts.tally import Tally
from pulens.curves.precision_recall import curve_areas, precision_recall_curve
from pulens.metrics import find
from pulens.priors import estimate_prior_and_noise
from pulens.recovery.assumptions import UNCORRECTED, Assumptions
from pulens.recovery.contingency import Contingency
from pulens.research.studies._recovery_networks import out_of_bag_scores
from pulens.research.studies._stored import store_path, unreadable
from pulens.research.studies._study import Workbench
from pulens.scenario import Scenario

BETAS = (1.0, 0.95, 0.75)
MOST_UNLABELLED = 10_000
# name in the paper -> data set of the package, labelled rows; Gas has 3,095 of its 5,574 rows here, so half the labels
SETS = {
    "Bank": ("bank_marketing", 1000),
    "Concrete": ("concrete", 100),
    "Gas": ("gas_drift", 500),
    "Housing": ("boston_housing", 100),
    "Landsat": ("landsat", 1000),
    "Mushroom": ("mushroom", 1000),
    "Pageblock": ("page_blocks", 100),
    "Pendigit": ("pendigits", 1000),
    "Pima": ("pima", 100),
    "Shuttle": ("shuttle", 1000),
    "Spambase": ("spambase", 1000),
    "Wine": ("wine_quality", 1000),
}


@dataclass(frozen=True, slots=True)
class RecoveryDesign:
    """How much of the protocol is done; the paper has 100 networks and 50 repetitions."""

    networks: int = 100
    repetitions: int = 10
    most_unlabelled: int = MOST_UNLABELLED
    seed: int = 0
    sets: tuple[str, ...] = tuple(SETS)

    @classmethod
    def of(cls, bench: Workbench) -> RecoveryDesign:
        if bench.quick:
            return cls(networks=20, repetitions=1, most_unlabelled=2_500, seed=bench.seed)
        return cls(seed=bench.seed)

    def __str__(self) -> str:
        times = "one repetition" if self.repetitions == 1 else f"{self.repetitions} repetitions"
        return (
            f"{self.networks} networks per ensemble, {times}, at most {self.most_unlabelled:,} unlabelled rows "
            "(paper: 100, 50, 10,000)"
        )


@dataclass(frozen=True, slots=True)
class RecoveryRun:
    """One repetition: areas, not errors. AUC first, then AUC-PR at the run's own share of positives."""

    data: str
    beta: float
    alpha: float
    estimated_alpha: float
    estimated_beta: float
    alphamax_alpha: float
    alphamax_beta: float
    full: float
    own: float
    auc: dict[str, float]
    pr_full: float
    pr_own: float
    pr_full_at_data_share: float
    pr_auc: dict[str, float]

    @property
    def contrast_error(self) -> float:
        """Absolute error in beta - alpha: the published e."""
        return abs(self.estimated_beta - self.estimated_alpha - (self.beta - self.alpha))


Runs = dict[tuple[str, float], list[RecoveryRun]]


def experiment(bench: Workbench) -> tuple[RecoveryDesign, Runs]:
    """All runs of the design; those already in ``recovery-runs-*.json`` of the output folder are not done again."""
    design = RecoveryDesign.of(bench)
    store = store_path(bench, "recovery-runs", ".json")
    if store is None and design in _MADE:
        return design, _MADE[design]
    _MADE[design] = _run_all(design, bench.progress, store)
    return design, _MADE[design]


_MADE: dict[RecoveryDesign, Runs] = {}  # two studies read the same runs: within a process they are made once


def _run_all(design: RecoveryDesign, progress: Callable[[str], None], store: Path | None) -> Runs:
    kept = _read(store, design)
    runs: Runs = {}
    for name in design.sets:
        rows: tuple[NDArray[np.float32], NDArray[np.bool_]] | None = None
        for place, beta in enumerate(BETAS):
            if (name, beta) not in kept:
                rows = rows or load(name)
                done = []
                for repetition in range(design.repetitions):
                    progress(f"{name}, beta {beta:g}, repetition {repetition + 1} of {design.repetitions}")
                    rng = np.random.default_rng([design.seed, repetition, place, *name.encode()])
                    done.append(one_run(name, *rows, beta, design, rng))
                kept[name, beta] = done
                _write(store, design, kept)
            runs[name, beta] = kept[name, beta]
    return runs


def load(name: str) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Columns that vary, standardised, and which rows are positive."""
    from pulens.research.benchmark import datasets

    data = datasets.load(SETS[name][0])
    features = np.asarray(data.X, np.float64)
    spread = features.std(axis=0)
    assert data.y is not None
    scaled = (features[:, spread > 0] - features.mean(axis=0)[spread > 0]) / spread[spread > 0]
    return scaled.astype(np.float32), data.y


def one_run(
    name: str,
    features: NDArray[np.float32],
    positive: NDArray[np.bool_],
    beta: float,
    design: RecoveryDesign,
    rng: np.random.Generator,
) -> RecoveryRun:
    """Hide labels, train both ensembles on the same rows, recover."""
    n_labelled = SETS[name][1]
    wrong = round((1 - beta) * n_labelled)
    chosen, others = rng.permutation(np.flatnonzero(positive)), rng.permutation(np.flatnonzero(~positive))
    labelled = np.concatenate([chosen[: n_labelled - wrong], others[:wrong]])
    left = rng.permutation(np.concatenate([chosen[n_labelled - wrong :], others[wrong:]]))
    unlabelled = left[: design.most_unlabelled]
    rows, labels = np.concatenate([labelled, unlabelled]), np.repeat([1, 0], [n_labelled, unlabelled.size])
    truth, alpha = positive[rows], float(positive[unlabelled].mean())
    scores, supervised = out_of_bag_scores(
        features[rows], np.stack([labels, truth.astype(labels.dtype)]), networks=design.networks, rng=rng
    )
    tally = Tally.from_arrays(labels, scores)
    known = Assumptions(alpha, wrong / n_labelled, Scenario.CASE_CONTROL)
    estimated, alphamax = (_estimated(tally, method) for method in ("auto", "alphamax"))
    area, precision = find("roc_auc").compute, find("average_precision").compute
    full_tally, own_tally = (Tally.from_arrays(np.where(truth, 1, -1), one) for one in (supervised, scores))
    return RecoveryRun(
        name,
        beta,
        alpha,
        estimated.unlabelled_prior,
        estimated.labelled_purity,
        alphamax.unlabelled_prior,
        alphamax.labelled_purity,
        area(full_tally, UNCORRECTED),
        area(own_tally, UNCORRECTED),
        {
            "PU": area(tally, UNCORRECTED),
            "IR": area(tally, known, method="indirect"),
            "DR": _clipped(area(tally, known)),
            "IE": area(tally, estimated, method="indirect"),
            "DE": _clipped(area(tally, estimated)),
            "IA": area(tally, alphamax, method="indirect"),
            "DA": _clipped(area(tally, alphamax)),
        },
        precision_at_share(full_tally, alpha),
        precision_at_share(own_tally, alpha),
        precision_at_share(full_tally, float(positive.mean())),
        {
            "PU": precision(tally, UNCORRECTED),
            "IR": _clipped(precision(tally, known)),
            "IE": _clipped(precision(tally, estimated)),
            "IA": _clipped(precision(tally, alphamax)),
            "IR roc": _clipped(precision(tally, known, form="roc")),
            "IE roc": _clipped(precision(tally, estimated, form="roc")),
        },
    )


def _estimated(tally: Tally, method: str) -> Assumptions:
    result = estimate_prior_and_noise(tally, method=method, scenario=Scenario.CASE_CONTROL)
    return Assumptions(result.class_prior.unlabelled, result.label_noise.value, Scenario.CASE_CONTROL)


def precision_at_share(tally: Tally, share: float) -> float:
    """Average precision that fully labelled scores have where a given share of the rows is positive.

    >>> tally = Tally.from_arrays(np.array([1, -1, 1, -1]), np.array([0.9, 0.8, 0.7, 0.1]))
    >>> round(precision_at_share(tally, 0.5), 6), round(precision_at_share(tally, 0.1), 6)
    (0.833333, 0.590909)
    """
    recall, alarms = tally.labelled / tally.labelled[-1], tally.negative / tally.negative[-1]
    table = Contingency(np.asarray(tally.thresholds, float), recall, alarms, share, 1 - share)
    return curve_areas(precision_recall_curve(table)).average_precision


def _clipped(value: float) -> float:
    """Areas outside [0, 1] are set to its ends, as in the paper."""
    return min(max(float(value), 0.0), 1.0)


def _read(store: Path | None, design: RecoveryDesign) -> Runs:
    if store is None or not store.exists():
        return {}
    runs: Runs = {}
    try:
        stored = json.loads(store.read_text(encoding="utf-8"))
        for entry in stored["runs"]:
            runs.setdefault((entry["data"], entry["beta"]), []).append(RecoveryRun(**entry))
        same = stored["design"] == _plain(design)
    except (ValueError, TypeError, KeyError) as error:
        raise unreadable(store, error) from error
    if not same:
        raise unreadable(store)
    return runs


def _plain(design: RecoveryDesign) -> Any:
    return json.loads(json.dumps(asdict(design)))


def _write(store: Path | None, design: RecoveryDesign, runs: Runs) -> None:
    if store is not None:
        entries = [asdict(run) for group in runs.values() for run in group]
        write_whole(store, json.dumps({"design": _plain(design), "runs": entries}))
