"""Calibration as plain text: what is wrong with the probabilities, how sure that is, and what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pulens.notice import worst_first
from pulens.report.lines import IF_RANDOM, NOTHING, RECOVERED, assumed_of, folded, p_value, titled, wrapped
from pulens.report.words import prior_in_short, title_of

if TYPE_CHECKING:
    from pulens.calibration import CalibrationVerdict, Recalibration, Reliability
    from pulens.calibration.reviewed import ReviewedReliability
    from pulens.estimate import Estimate, Interval
    from pulens.notice import Notice

MOST_BINS_SHOWN = 40
BINS_IN_SHORT = 5
MOST_REVIEWED = 6  # bins of checked rows in short
IN_SHORT = ("calibration_in_the_large", "calibration_slope", "brier_score")
MEANS = {
    "calibration_in_the_large": "mean score minus class prior",
    "calibration_slope": "slope (1 is right, below 1 too extreme)",
    "calibration_intercept": "intercept (0 is right)",
}


def calibration_text(
    weighted: Any, result: Mapping[str, Any], reviewed: ReviewedReliability | None, *, explain: bool = False
) -> str:
    """The verdict, a few numbers and bins, what is assumed; every number, bin and note where the reader asked.

    ``result`` holds what was computed: ``reliability`` with ``others`` and ``verdict``, ``recalibration``.
    """
    reliability: Reliability | None = result.get("reliability")
    recalibration: Recalibration | None = result.get("recalibration")
    lines: list[str] = [] if reviewed is None else [*_reviewed(reviewed, explain=explain), ""]
    notices: list[Notice] = []
    if reviewed is not None and recalibration is None and not explain:
        return "\n".join([*lines, *_head(weighted, checked=True), "", *titled("more", f"--explain: {IF_RANDOM}")])
    if reviewed is not None:
        lines += [f"{RECOVERED}", ""]
    if reliability is not None:
        lines += wrapped(verdict_words(reliability, result["verdict"]), 0)
        notices += reliability.notices
    if recalibration is not None:
        lines += wrapped(recalibrated_words(recalibration), 0)
        notices += recalibration.notices
    if reliability is not None and (explain or (reviewed is None and recalibration is None)):
        lines += ["", *_numbers(reliability, result["others"], explain=explain)]
    if reliability is not None and (explain or reviewed is None):
        lines += ["", *_bins(reliability, explain=explain)]
    lines += ["", *_head(weighted)]
    if explain and reliability is not None:
        lines += ["", *wrapped(str(result["verdict"]), 0)]
    if explain and recalibration is not None:
        lines += ["", *wrapped(str(recalibration.map), 0)]
    return "\n".join([*lines, *folded(worst_first(notices), "command", explain=explain)])


def verdict_words(reliability: Reliability, verdict: CalibrationVerdict) -> str:
    """Whether the probabilities are right, where they are not, and by how much.

    What the error alone leaves open another number may settle, so the first sentence is that of all tests together.
    """
    error = reliability.error
    reach = "" if error.interval is None else f" ({_level(error.interval)}{_ends(error.interval)})"
    gap = f"Predicted and actual shares of positives differ by {error.corrected:.3f} on average{reach}."
    least = min((one.corrected for one in verdict.tests), default=math.nan)
    mean = f"the mean score is {reliability.mean_score:.3f}, the class prior {reliability.class_prior:.3f}"
    if verdict.status == "untested":
        return f"Calibration was not tested: no number about it has an interval. {gap}"
    if verdict.status == "miscalibrated":
        seen = _where(reliability) or _shown_by(verdict) or mean
        return f"The probabilities are wrong ({p_value(least)}): {seen}. {gap}"
    if verdict.status == "inconclusive":
        tests = len(verdict.tests)
        return f"Not clear whether the probabilities are right ({p_value(least)}, corrected for {tests} tests): {mean}."
    return f"No evidence that the probabilities are wrong ({p_value(least)}): {mean}. {gap}"


def _shown_by(verdict: CalibrationVerdict) -> str:
    """The slope or the intercept, where it shows most clearly that probabilities are wrong; empty where it does not."""
    clearest = min(verdict.tests, key=lambda one: one.corrected)
    wanted = {"calibration_slope": ("slope", "1 is right"), "calibration_intercept": ("intercept", "0 is right")}
    if clearest.name not in wanted:
        return ""
    name, right = wanted[clearest.name]
    return f"the {name} is {clearest.value:.3f} ({right})"


def _where(reliability: Reliability) -> str:
    """Which scores are too high and which too low; empty where no bin shows it."""
    marked = list(zip(reliability.bins, reliability.verdicts, strict=True))
    high = [one for one, said in marked if said == "overconfident"]
    low = [one for one, said in marked if said == "underconfident"]
    if high and low and high[-1].high <= low[0].low:
        return f"too high below {high[-1].high:.3f}, too low above {low[0].low:.3f}"
    if high and low and low[-1].high <= high[0].low:
        return f"too low below {low[-1].high:.3f}, too high above {high[0].low:.3f}"
    parts = [
        f"too {word} in {len(ones)} of {len(marked)} bins, from {ones[0].low:.3f} to {ones[-1].high:.3f}"
        for word, ones in (("high", high), ("low", low))
        if ones
    ]
    return " and ".join(parts)


def recalibrated_words(result: Recalibration) -> str:
    """How far predictions and actual shares differ once the map was applied."""
    before = "" if result.before is None else f" instead of {result.before.corrected:.3f}"
    reach = "" if result.after.interval is None else f" ({_ends(result.after.interval)})"
    return (
        f"Recalibrated ({result.method}), predicted and actual shares differ by {result.after.corrected:.3f}{reach}"
        f"{before}, on rows that the map was not fitted to ({result.folds} folds)."
    )


def reviewed_words(result: ReviewedReliability) -> str:
    """Whether the checked rows contradict the probabilities, however labels were chosen."""
    off = sum(bool(one.verdict) for one in result.bins)
    first = (
        f"The checked rows contradict the probabilities in {off} of {len(result.bins)} bins"
        if off
        else f"The checked rows do not contradict the probabilities in any of {len(result.bins)} bins"
    )
    return f"{first}: predicted and actual shares differ by {result.error:.3f} on average ({result.checked:,} rows)."


def _reviewed(result: ReviewedReliability, *, explain: bool) -> list[str]:
    head, *bins = str(result).splitlines()[1:]
    step = 1 if explain else math.ceil(len(bins) / MOST_REVIEWED)
    return [*wrapped(reviewed_words(result), 0), "", head, *bins[::-step][::-1]]


def _numbers(reliability: Reliability, others: Sequence[Estimate], *, explain: bool) -> list[str]:
    error = reliability.error
    rows = [
        (MEANS.get(one.metric, title_of(one.metric)), one.value, one.interval)
        for one in others
        if explain or one.metric in IN_SHORT
    ]
    if explain:
        rows = [
            ("expected calibration error", error.value, None),
            ("  bias-corrected", error.corrected, error.interval),
            ("  noise floor (a calibrated model)", error.noise_floor, None),
            ("  from scores that are too high", error.overconfidence, None),
            ("  from scores that are too low", error.underconfidence, None),
            *rows,
        ]
    level = next((f"{_level(interval)}".strip() for _, _, interval in rows if interval is not None), "")
    lines = [f"{'':<40}{'value':>8}{level.removesuffix(' interval') + ' interval' if level else '':>20}".rstrip()]
    for name, value, interval in rows:
        lines.append(f"{name:<40}{value:>z8.3f}{'' if interval is None else _ends(interval):>20}".rstrip())
    return lines


def _bins(reliability: Reliability, *, explain: bool) -> list[str]:
    """Bins as rows; in short a few of them, from the lowest scores to the highest."""
    pairs = list(zip(reliability.bins, reliability.verdicts, strict=True))
    many = len(pairs)
    if explain:
        chosen = pairs[:MOST_BINS_SHOWN]
    else:
        filled = [pair for pair in pairs if pair[0].interval is not None]
        step = max((len(filled) - 1) / max(BINS_IN_SHORT - 1, 1), 1)
        chosen = [filled[round(place * step)] for place in range(min(BINS_IN_SHORT, len(filled)))]
    said = {"overconfident": "too high", "underconfident": "too low", "": ""}
    lines = [f"{'scores up to':>12}{'labelled':>10}{'unlabelled':>12}{'predicted':>11}{'actual':>8}{'interval':>18}"]
    for one, verdict in chosen:
        counts = f"{one.high:>12.4f}{one.labelled:>10,.10g}{one.unlabelled:>12,.10g}"
        if one.interval is None:
            lines.append(f"{counts}{'no rows':>11}")
            continue
        lines.append(
            f"{counts}{one.confidence:>11.3f}{one.clipped:>8.3f}{_ends(one.interval):>18} {said[verdict]}".rstrip()
        )
    if len(chosen) < many:
        rest = f"{many - len(chosen):,} more bins: see --json" if explain else f"{len(chosen)} of {many} bins"
        lines.append(f"  {rest}" + ("" if explain else "; all of them: add --explain"))
    return lines


def _head(weighted: Any, *, checked: bool = False) -> list[str]:
    from pulens.evaluation.clustering import Clustering
    from pulens.selection import labelling_of

    evidence = weighted.counted
    labelled, unlabelled, negative = evidence.tally.totals
    known = f", {negative:,.10g} known negative" if negative else ""
    noise = f"; label noise {evidence.label_noise:g}" if evidence.label_noise else ""
    lines = titled("rows", f"{labelled:,.10g} labelled, {unlabelled:,.10g} unlabelled{known}")
    if (clustering := Clustering.of(evidence)) is not None:
        lines += titled("clusters", str(clustering))
    lines += titled("class prior", prior_in_short(evidence.class_prior))
    if weighted.within is not None:
        lines += titled("within", f"labels random within {weighted.cells.cells.words} only")
    if checked:
        return lines + titled("assumes", NOTHING)
    return lines + titled("assumes", f"{assumed_of(evidence.scenario, labelling_of(weighted), 'calibrate')}{noise}")


def _level(interval: Interval) -> str:
    return "" if interval.confidence is None else f"{interval.confidence:.0%} interval "


def _ends(interval: Interval) -> str:
    return f"{interval.low:z.3f} to {interval.high:z.3f}"
