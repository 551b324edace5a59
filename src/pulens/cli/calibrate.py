"""pulens calibrate"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._cells import cell_arguments, cell_options
from pulens.cli._complete import complete_file
from pulens.cli._options import (
    assumption_options,
    audit_options,
    cluster_option,
    engine_arguments,
    engine_options,
    files_read,
    offers,
    reading_arguments,
    reading_options,
    review_arguments,
    review_options,
)
from pulens.errors import PulensError, shown
from pulens.inputs.addresses import shown_address

if TYPE_CHECKING:
    from pulens.calibration import Reliability
    from pulens.calibration.reviewed import ReviewedReliability
    from pulens.doors.reviews_asked import ReviewsAsked
    from pulens.evidence import Evidence

METHODS = ("auto", "isotonic", "platt", "beta", "temperature", "histogram")


@click.command(name="calibrate")
@click.argument("file", shell_complete=complete_file)
@reading_options
@engine_options
@cluster_option
@assumption_options
@audit_options
@review_options
@cell_options
@click.option(
    "--scores-are",
    type=click.Choice(["probability", "logit", "rank"]),
    default="probability",
    show_default=True,
    help="What scores are. Logits become probabilities; ranks need --fit.",
)
@click.option(
    "--binning",
    type=click.Choice(["mass", "width"]),
    default="mass",
    show_default=True,
    help="Bins of equal population share, or of equal width.",
)
@click.option("--bins", type=int, help="Number of bins. Default: by the number of rows.")
@offers("confidence")
@click.option("--fit", "method", type=click.Choice(METHODS), help="Fit a map from scores to probabilities.")
@offers(out="Write all rows of FILE with a column of recalibrated scores: .csv, .tsv, .parquet.")
@click.option("--column", default="calibrated", show_default=True, help="Name of the column of recalibrated scores.")
@click.option("--folds", type=int, default=5, show_default=True, help="Folds for the error after recalibration.")
@click.option("--plot", "plot_path", metavar="PATH", help="Save the reliability diagram: .png, .svg, .pdf.")
@offers("explain", "html_path", "json_path", "quiet", "seed", html_path="Write a self-contained page with the diagram.")
def command(
    file: str,
    scores_are: str,
    binning: str,
    bins: int | None,
    confidence: float,
    method: str | None,
    out: str | None,
    column: str,
    folds: int,
    plot_path: str | None,
    html_path: str | None,
    json_path: str | None,
    explain: bool,
    quiet: bool,
    seed: int,
    **given: Any,
) -> None:
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

    if out is not None:
        _check_out(file, out, method, column)
    targets = {"--out": out, "--plot": plot_path, "--html": html_path, "--json": json_path}
    check_targets(targets, *files_read(file, given))
    if scores_are == "rank" and method is None:
        raise PulensError("scores that only rank have no calibration error: add --fit isotonic to map them first.")
    from pulens import calibration
    from pulens.cli._output import page_title, working
    from pulens.cli._write import all_or_none, as_files, to_json

    with working("Judging the probabilities", quiet=quiet):
        evidence, reviewed = _gathered(file, given, scores_are, confidence)
        settled: dict[str, Any] = {"scores_are": scores_are, "confidence": confidence}
        judged = {**settled, "binning": binning, "bins": bins, "seed": seed}
        found = {} if scores_are == "rank" else _judged(evidence, settled, judged)
        if method is not None:
            found["recalibration"] = calibration.recalibrate(evidence, method=method, folds=folds, **judged)
    texts: dict[str, str] = {}
    if html_path is not None:
        from pulens.report.calibration_page import calibration_page

        title = page_title(file, given)
        texts[html_path] = calibration_page(evidence, **found, scores_are=scores_are, title=title, reviewed=reviewed)
    if json_path is not None:
        texts[json_path] = to_json(_answer(evidence, found, reviewed))
    with all_or_none(as_files(texts)):
        if plot_path is not None:
            _save_plot(found.get("reliability"), plot_path)
        if out is not None:
            from pulens.inputs.tables.copying import write_mapped
            from pulens.inputs.tables.dialect import NAMES, written_as

            read = {name: given[name] for name in ("score", "format")}
            read["delimiter"] = written_as(*(given[name] for name in NAMES))
            write_mapped(file, out, found["recalibration"].map, column=column, **read)
    if json_path != "-" and not quiet:
        from pulens.report.calibration import calibration_text

        click.echo(calibration_text(evidence, found, reviewed, explain=explain))
        for line in _next(evidence) if reviewed is None and scores_are != "rank" else ():
            click.echo(line)
        if out is not None:
            click.echo(f"\nwrote {out}")


def _gathered(
    file: str, given: dict[str, Any], scores_are: str, confidence: float
) -> tuple[Evidence, ReviewedReliability | None]:
    """The rows counted and the class prior settled, by checked rows where it was not given."""
    from pulens.cells import gather_within
    from pulens.doors.reviews_asked import ReviewsAsked
    from pulens.evidence import ASSUMED

    assumed = {name: given[name] for name in ASSUMED if name in given}
    assumed |= (cells := cell_arguments(given, given["class_prior"]))
    reading = {**reading_arguments(given), **engine_arguments(given)}
    if given["cluster"] is not None:
        reading["cluster"] = given["cluster"]
    asked = ReviewsAsked(**review_arguments(given))
    if asked.is_silent:
        return gather_within(file, **assumed, **reading), None
    if scores_are == "rank":
        raise PulensError("checked rows judge probabilities, and scores that only rank are none: leave --reviews out.")
    within, split = assumed.pop("labelled_within", None), assumed.pop("split", None)
    return _reviewed(file, reading, asked, (within, split, bool(cells)), assumed, (scores_are, confidence))


def _reviewed(
    file: str,
    reading: dict[str, Any],
    asked: ReviewsAsked,
    cells: tuple[Any, str | None, bool],
    assumed: dict[str, Any],
    judged: tuple[str, float],
) -> tuple[Evidence, ReviewedReliability]:
    """The same with checked rows put back among the unlabelled ones, and what they show of the probabilities."""
    from pulens.calibration.probabilities import probabilities_of
    from pulens.calibration.reviewed import reviewed_reliability
    from pulens.cells import WeightedEvidence
    from pulens.doors.reviewed_groups import GroupedReviews
    from pulens.evidence import Question
    from pulens.inputs import Reading

    within, split, has_cells = cells
    question = Question(**assumed)
    grouped = GroupedReviews.read(file, None, Reading(**reading), asked, within, scenario=question.scenario)
    scores_are, confidence = judged
    promised = probabilities_of(grouped.rows.scores, scores_are)
    found = reviewed_reliability(grouped.rows, promised, confidence=confidence)
    if has_cells:
        return WeightedEvidence.of(grouped.cell_evidence(question, split)), found
    return grouped.evidence(grouped.question(question)), found


def _next(evidence: Any) -> list[str]:
    """The check that would judge the probabilities, however labels were chosen."""
    from pulens.cli._typed import typed_command
    from pulens.report.lines import pasteable
    from pulens.report.next_steps import another_command, rows_to_check

    rows = rows_to_check(_told(evidence).tally.totals.unlabelled)
    if not rows:
        return []
    options = ("--budget", str(rows), "--out", "queue.csv")
    command = another_command(typed_command(click.get_current_context()), ("audit", "plan"), options)
    return [
        "",
        f"next: check {rows} rows, then add --reviews queue.csv to this command:",
        *pasteable(command),
    ]


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


def _judged(evidence: Any, settled: dict[str, Any], judged: dict[str, Any]) -> dict[str, Any]:
    """The diagram, and the other numbers about probabilities."""
    from pulens import calibration

    bins = {name: judged[name] for name in ("binning", "bins")}
    line = calibration.calibration_slope(evidence, **settled)
    others = (
        calibration.calibration_in_the_large(evidence, **settled),
        line.slope,
        line.intercept,
        calibration.brier_score(evidence, **settled, **bins),
        calibration.log_loss(evidence, **settled, **bins),
    )
    diagram = calibration.reliability(evidence, **judged)
    return {"reliability": diagram, "others": others, "verdict": calibration.calibration_verdict(diagram, others)}


def _told(evidence: Any) -> Any:
    """Rows as they were counted, and the class prior of all of them: weights of cells are not rows."""
    return evidence.counted


def _cells_told(evidence: Any) -> dict[str, Any]:
    """The class prior of every cell, where labels are random within cells only."""
    from pulens.cells import priors_within

    return {} if evidence.within is None else {"within": priors_within(evidence.within).to_dict()}


def _answer(weighted: Any, found: dict[str, Any], reviewed: ReviewedReliability | None) -> dict[str, Any]:
    evidence = _told(weighted)
    labelled, unlabelled, negative = evidence.tally.totals
    answer: dict[str, Any] = {
        "class_prior": evidence.class_prior.to_dict(),
        "scenario": str(evidence.scenario),
        "target_population": evidence.target_population,
        "label_noise": evidence.label_noise,
        "counts": {"labelled": labelled, "unlabelled": unlabelled, "known_negative": negative},
        **_cells_told(weighted),
    }
    from pulens.doors.clustering import Clustering

    clustering = Clustering.of(evidence)
    if clustering is not None:
        answer["clusters"] = clustering.to_dict()
    if "reliability" in found:
        answer["verdict"] = found["verdict"].to_dict()
        answer["reliability"] = found["reliability"].to_dict()
        answer |= {one.metric: one.to_dict() for one in found["others"]}
    if "recalibration" in found:
        answer["recalibration"] = found["recalibration"].to_dict()
    return answer if reviewed is None else {**answer, "reviewed": reviewed.to_dict()}
