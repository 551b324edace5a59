"""Calibration as one self-contained page: the diagram at any class prior, the numbers, the fitted map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pulens.calibration.masses import count_bins
from pulens.calibration.probabilities import as_probabilities
from pulens.calibration.recalibrators import RECALIBRATORS
from pulens.estimate import Estimate
from pulens.notice import worst_first
from pulens.report.calibration import recalibrated_words, reviewed_words, verdict_words
from pulens.report.html import interval_name_of, render
from pulens.report.lines import NOTHING, RECOVERED, assumed_of
from pulens.report.page_data import largest_possible_prior, prior_data, track_end
from pulens.report.thinning import thin
from pulens.report.words import Assumption, assumed, counts_of, prior_words, title_of

if TYPE_CHECKING:
    from pulens.calibration import CalibrationError, CalibrationVerdict, Recalibration, Reliability
    from pulens.calibration.reviewed import ReviewedReliability
    from pulens.evidence import Evidence

SCRIPTS = (
    "words.js",
    "page_state.js",
    "recovery.js",
    "prior.js",
    "chart.js",
    "figures.js",
    "reliability.js",
    "calibration.js",
    "theme.js",
)
MEANINGS = {
    "calibration_in_the_large": "Mean score minus class prior: 0 if the model predicts as many positives as there are",
    "calibration_slope": "1 if scores are as extreme as they should be; below 1 they are too extreme",
    "calibration_intercept": "0 if scores are neither too high nor too low overall",
    "brier_score": "Mean squared gap between predicted and actual; 0 is perfect",
    "log_loss": "Mean negative log likelihood, in nats; 0 is perfect",
}
POINTS_OF_MAP = 201


def reliability_data(evidence: Evidence, reliability: Reliability, scores_are: str = "probability") -> dict[str, Any]:
    """Counts and sums of scores per bin, from which the diagram follows at any class prior."""
    edges = np.array([reliability.bins[0].low, *(one.high for one in reliability.bins)])
    counted = count_bins(as_probabilities(evidence, scores_are).tally, edges)
    rows = count_bins(as_probabilities(evidence.counted, scores_are).tally, edges)  # weights are not rows
    intervals = [one.interval for one in reliability.bins]
    return {
        "edges": edges.tolist(),
        "counts": counted.counts.tolist(),
        "rows": rows.counts[:2].tolist(),
        "sums": counted.sums.tolist(),
        "ends": {
            end: [None if interval is None else getattr(interval, end) for interval in intervals]
            for end in ("low", "high")
        },
    }


def calibration_page(
    evidence: Evidence,
    *,
    reliability: Reliability | None = None,
    others: Sequence[Estimate] = (),
    verdict: CalibrationVerdict | None = None,
    recalibration: Recalibration | None = None,
    scores_are: str = "probability",
    title: str | None = None,
    reviewed: ReviewedReliability | None = None,
) -> str:
    """The whole page as text."""
    notices = [*(reliability.notices if reliability else ()), *(recalibration.notices if recalibration else ())]
    notices += list(evidence.class_prior.notices)
    told = evidence.counted  # weights are not rows
    limit = largest_possible_prior(evidence, thin(evidence.tally).tally)
    data: dict[str, Any] = {
        "totals": evidence.tally.totals._asdict(),
        "scenario": str(evidence.scenario),
        "label_noise": evidence.label_noise,
        "prior": prior_data(evidence, limit, track_end(evidence, limit)),
        "bins": None,
    }
    if reliability is not None:
        bins = reliability_data(evidence, reliability, scores_are)
        data |= {"bins": bins, "ends": bins.pop("ends")}
    if recalibration is not None:
        data["map"] = _map(evidence, recalibration, scores_are)
    return render(
        "calibration.html.j2",
        SCRIPTS,
        data,
        title=title or "Calibration",
        counts=counts_of(told),
        verdict=_sentences(reliability, verdict, recalibration),
        prior_sentence=prior_words(told),
        population=evidence.target_population,
        notices=worst_first(notices),
        has_diagram=reliability is not None,
        has_map=recalibration is not None,
        map_words="" if recalibration is None else _map_words(recalibration.method),
        interval_name=interval_name_of(told.class_prior.interval),
        rows=_rows(reliability, others, recalibration),
        assumptions=_assumptions(evidence, checked=reviewed is not None),
        assumes=assumed_of(told.scenario, evidence.labelling, "calibrate"),
        nothing=NOTHING,
        recovered=RECOVERED,
        reviewed=None if reviewed is None else _reviewed(reviewed),
    )


def _assumptions(evidence: Evidence, *, checked: bool) -> tuple[Assumption, ...]:
    """What the answer takes for granted; checked rows need nothing of how positives came by their labels."""
    within = "" if evidence.within is None else evidence.within.cells.words
    return assumed(evidence, evidence.labelling, within)[checked:]


def _reviewed(result: ReviewedReliability) -> dict[str, Any]:
    """The bins of checked rows, as the template takes them."""
    return {
        "words": reviewed_words(result),
        "interval": f"{result.confidence:.0%} interval",
        "bins": [
            {
                "reach": f"{one.low:.3f} to {one.high:.3f}",
                "rows": f"{one.rows:,}",
                "checked": f"{one.checked:,}",
                "promised": f"{one.promised:.3f}",
                "share": "unknown" if math.isnan(one.share) else f"{one.share:.3f}",
                "interval": f"{one.interval.low:.3f} to {one.interval.high:.3f}",
                "verdict": one.verdict,
            }
            for one in result.bins
        ],
    }


def _map_words(method: str) -> str:
    """What kind of map was fitted, and its name."""
    return f"{RECALIBRATORS[method].summary} ({method})." if method in RECALIBRATORS else "The scores stay as they are."


def _map(evidence: Evidence, recalibration: Recalibration, scores_are: str) -> dict[str, Any]:
    low, high = float(evidence.tally.thresholds[-1]), float(evidence.tally.thresholds[0])
    if scores_are == "probability":
        low, high = 0.0, 1.0
    scores = np.linspace(low, high if high > low else low + 1.0, POINTS_OF_MAP)
    if scores_are == "probability":  # the page may draw it by powers of ten
        scores = np.unique(np.concatenate([scores, np.geomspace(1e-6, 1.0, POINTS_OF_MAP)]))
    return {
        "x": scores.tolist(),
        "y": np.asarray(recalibration(scores), float).tolist(),
        "method": recalibration.method,
        "probabilities": scores_are == "probability",
    }


def _sentences(
    reliability: Reliability | None, verdict: CalibrationVerdict | None, recalibration: Recalibration | None
) -> tuple[str, ...]:
    sentences = [] if verdict is None or reliability is None else [verdict_words(reliability, verdict)]
    if recalibration is not None:
        sentences.append(recalibrated_words(recalibration))
    return tuple(sentences)


def _ends(error: CalibrationError) -> str:
    return "no interval" if error.interval is None else f"{error.interval.low:.3f} to {error.interval.high:.3f}"


def _rows(
    reliability: Reliability | None, others: Sequence[Estimate], recalibration: Recalibration | None
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(title: str, value: float, meaning: str, interval: str = "", live: bool = False) -> None:
        shown = "undefined" if math.isnan(value) else f"{value:z.3f}"
        rows.append({"title": title, "value": shown, "interval": interval, "meaning": meaning, "live": live})

    if reliability is not None:
        error = reliability.error
        bins = f"{error.filled_bins} {'equal-size' if error.binning == 'mass' else 'equal-width'} bins"
        add("Expected calibration error", error.value, f"Mean gap between predicted and actual, {bins}", live=True)
        add("  corrected", error.corrected, "The same, corrected for its upward bias", _ends(error))
        add("  noise floor", error.noise_floor, "What a perfectly calibrated model would show at these sizes")
        add("  overconfident part", error.overconfidence, "From bins that predict too many positives")
        add("  underconfident part", error.underconfidence, "From bins that predict too few")
    for one in others:
        interval = "" if one.interval is None else f"{one.interval.low:z.3f} to {one.interval.high:z.3f}"
        add(title_of(one.metric), one.value, MEANINGS.get(one.metric, ""), interval)
    if recalibration is not None:
        words = f"Corrected error on rows the map was not fitted to, {recalibration.folds} folds"
        add("After recalibration", recalibration.after.corrected, words, _ends(recalibration.after))
    return rows
