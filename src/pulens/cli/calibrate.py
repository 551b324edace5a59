"""pulens calibrate"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, files_read, offers, targets
from pulens.errors import PulensError, shown
from pulens.inputs.addresses import shown_address

if TYPE_CHECKING:
    from pulens.calibration import Reliability
    from pulens.calibration.reviewed import ReviewedReliability
    from pulens.evidence import Evidence
    from pulens.evidence.review_options import ReviewOptions

METHODS = ("auto", "isotonic", "platt", "beta", "temperature", "histogram")


@click.command(name="calibrate")
@click.argument("file", shell_complete=complete_file)
@offers(
    "ROWS ENGINE cluster* ASSUMPTIONS AUDIT REVIEWS WITHIN scores_are* binning bins confidence method* out* column "
    "folds plot_path explain* html_path* json_path* quiet seed labelling*",
    scores_are={
        "type": click.Choice(["probability", "logit", "rank"]),
        "default": "probability",
        "show_default": True,
        "help": "What scores are. Logits become probabilities; ranks need --fit.",
    },
    method={
        "flags": ("--fit",),
        "type": click.Choice(METHODS),
        "help": "Fit a map from scores to probabilities.",
    },
    out="Write all rows of FILE with a column of recalibrated scores: .csv, .tsv, .parquet.",
    column={"default": "calibrated", "help": "Name of the column of recalibrated scores."},
    folds="Folds for the error after recalibration.",
    plot_path="Save the reliability diagram: .png, .svg, .pdf.",
    html_path="Write a self-contained page with the diagram.",
)
def command(file: str, **given: Any) -> None:
    """Are a model's probabilities right? From a table of scores and PU labels; repaired if asked.

    FILE is a CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, a folder or quoted glob of them, a .tally file,
    a database address with --table, or - for standard input.
    --out copies rows, so it needs one file.

    \b
    Examples:
      pulens calibrate scores.csv --score p --class-prior 0.1
      pulens calibrate scores.csv --score p --class-prior 0.1 --html calibration.html
      pulens calibrate scores.csv --score p --reviews queue.csv
      pulens calibrate visits.csv --score p --within clinic --cell-prior north=0.1 --cell-prior south=0.3
      pulens calibrate scores.csv --score p --class-prior 0.1 --fit isotonic --out mapped.csv
      pulens calibrate scores.parquet --score margin --scores-are rank --fit isotonic --class-prior 0.1:0.2 --json -
    """
    from pulens.cli._write import check_targets

    scores_are, method, out, column = (given[name] for name in ("scores_are", "method", "out", "column"))
    if out is not None:
        _check_out(file, out, method, column)
    check_targets(targets(given), *files_read(file, given))
    if scores_are == "rank" and method is None:
        raise PulensError("scores that only rank have no calibration error: add --fit isotonic to map them first.")
    from pulens import calibration
    from pulens.cli._output import is_shown, page_title, show, working
    from pulens.cli._write import all_or_none, as_files, to_json

    with working("Judging the probabilities", quiet=given["quiet"]):
        evidence, reviewed = _gathered(file, given)
        resolved: dict[str, Any] = {name: given[name] for name in ("scores_are", "confidence")}
        resolved["labelling"] = "random"  # what is assumed of labels is in the evidence
        judged = {**resolved, **{name: given[name] for name in ("binning", "bins", "seed")}}
        result = {} if scores_are == "rank" else _judged(evidence, resolved, judged)
        if method is not None:
            result["recalibration"] = calibration.recalibrate(evidence, method=method, folds=given["folds"], **judged)
    texts: dict[str, str] = {}
    if given["html_path"] is not None:
        from pulens.report.calibration_page import calibration_page

        shown = {"scores_are": scores_are, "title": page_title(file, given), "reviewed": reviewed}
        texts[given["html_path"]] = calibration_page(evidence, **result, **shown)
    if given["json_path"] is not None:
        texts[given["json_path"]] = to_json(_answer(evidence, result, reviewed))
    with all_or_none(as_files(texts)):
        if given["plot_path"] is not None:
            _save_plot(result.get("reliability"), given["plot_path"])
        if out is not None:
            from pulens.inputs.tables.copying import write_mapped
            from pulens.inputs.tables.dialect import NAMES, written_as

            read = {name: given[name] for name in ("score", "format")}
            read["delimiter"] = written_as(*(given[name] for name in NAMES))
            write_mapped(file, out, result["recalibration"].map, column=column, **read)
    if is_shown(given):
        from pulens.cli._typed import check_lines
        from pulens.report.calibration import calibration_text

        lines = [calibration_text(evidence, result, reviewed, explain=given["explain"])]
        if reviewed is None and scores_are != "rank":
            lines += check_lines(_told(evidence).tally, "then add --reviews queue.csv to this command")
        lines += [] if out is None else ["", f"wrote {out}"]
        show("\n".join(lines), explain=given["explain"])


def _gathered(file: str, given: dict[str, Any]) -> tuple[Evidence, ReviewedReliability | None]:
    """The rows counted and the class prior resolved, by checked rows where it was not given."""
    from pulens.evidence.review_options import ReviewOptions
    from pulens.selection.gathering import gather_labelled
    from pulens.strata import gather_within

    checked = ReviewOptions(**asked(ReviewOptions, given))
    if checked.is_silent:
        return gather_labelled(file, labelling=given["labelling"], **asked(gather_within, given)), None
    if given["scores_are"] == "rank":
        raise PulensError(
            "checked rows judge probabilities, and scores that only rank are not probabilities: leave --reviews out."
        )
    return _reviewed(file, given, checked)


def _reviewed(file: str, given: dict[str, Any], checked: ReviewOptions) -> tuple[Evidence, ReviewedReliability]:
    """The same with checked rows put back among the unlabelled ones, and what they show of the probabilities."""
    from pulens.calibration.probabilities import probabilities_of
    from pulens.calibration.reviewed import reviewed_reliability
    from pulens.evaluation.reviewed_groups import GroupedReviews
    from pulens.evidence import ASSUMED, IntervalOptions
    from pulens.inputs import ReadOptions
    from pulens.strata import gather_within

    said = asked(gather_within, given)
    within, split = said.pop("labelled_within", None), said.pop("split", None)
    question = IntervalOptions(**{name: value for name, value in said.items() if name in ASSUMED})
    reading = ReadOptions(**asked(ReadOptions, given))
    grouped = GroupedReviews.read(file, None, reading, checked, within, scenario=question.scenario)
    promised = probabilities_of(grouped.rows.scores, given["scores_are"])
    result = reviewed_reliability(grouped.rows, promised, confidence=given["confidence"])
    return grouped.gathered(question, split).evidence, result


def _check_out(file: str, out: str, method: str | None, column: str) -> None:
    """Refuse before any work is done what could not be written after it."""
    if method is None:
        raise PulensError("--out writes recalibrated scores: choose how with --fit, such as --fit isotonic.")
    if not column.strip():
        raise PulensError(
            f"--column must name the column of mapped scores, got {column!r}, such as --column calibrated."
        )
    if file == "-":
        raise PulensError("--out copies the rows of the input, so it needs a file: save standard input to one first.")
    from pulens.inputs.tallies import is_elsewhere, is_tally_file

    if is_tally_file(file) or is_elsewhere(file):
        raise PulensError(
            f"--out copies the rows of one file, got {shown(shown_address(file))}, which is not one: name a file, or "
            "leave --out and take the map from --json."
        )
    if Path(out).suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise PulensError(f"{out}: the ending must be .csv, .tsv or .parquet, which names the format.")


def _save_plot(reliability: Reliability | None, path: str) -> None:
    if reliability is None:
        raise PulensError("scores that only rank have no reliability diagram.")
    from pulens.plots.backend import pyplot, write_figure

    pyplot().switch_backend("agg")
    write_figure(path, reliability.plot()[0].figure)


def _judged(evidence: Any, resolved: dict[str, Any], judged: dict[str, Any]) -> dict[str, Any]:
    """The diagram, and the other numbers about probabilities."""
    from pulens import calibration

    bins = {name: judged[name] for name in ("binning", "bins")}
    line = calibration.calibration_slope(evidence, **resolved)
    others = (
        calibration.calibration_in_the_large(evidence, **resolved),
        line.slope,
        line.intercept,
        calibration.brier_score(evidence, **resolved, **bins),
        calibration.log_loss(evidence, **resolved, **bins),
    )
    diagram = calibration.reliability(evidence, **judged)
    return {"reliability": diagram, "others": others, "verdict": calibration.calibration_verdict(diagram, others)}


def _told(evidence: Any) -> Any:
    """Rows as they were counted, and the class prior of all of them: weights of cells are not rows."""
    return evidence.counted


def _cells_told(evidence: Any) -> dict[str, Any]:
    """The class prior of every cell, where labels are random within cells only."""
    from pulens.strata import priors_within

    return {} if evidence.within is None else {"within": priors_within(evidence.within).to_dict()}


def _answer(weighted: Any, result: dict[str, Any], reviewed: ReviewedReliability | None) -> dict[str, Any]:
    from pulens.selection import labelling_of

    evidence = _told(weighted)
    labelled, unlabelled, negative = evidence.tally.totals
    answer: dict[str, Any] = {
        "class_prior": evidence.class_prior.to_dict(),
        "scenario": str(evidence.scenario),
        "target_population": evidence.target_population,
        "labelling": labelling_of(weighted),
        "label_noise": evidence.label_noise,
        "counts": {"labelled": labelled, "unlabelled": unlabelled, "known_negative": negative},
        **_cells_told(weighted),
    }
    from pulens.evaluation.clustering import Clustering

    clustering = Clustering.of(evidence)
    if clustering is not None:
        answer["clusters"] = clustering.to_dict()
    if "reliability" in result:
        answer["verdict"] = result["verdict"].to_dict()
        answer["reliability"] = result["reliability"].to_dict()
        answer |= {one.metric: one.to_dict() for one in result["others"]}
    if "recalibration" in result:
        answer["recalibration"] = result["recalibration"].to_dict()
    return answer if reviewed is None else {**answer, "reviewed": reviewed.to_dict()}
