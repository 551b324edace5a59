"""pulens prior"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._cells import within_option
from pulens.cli._complete import complete_file
from pulens.cli._options import (
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
    scenario_option,
)
from pulens.errors import PulensError
from pulens.scenario import Scenario

if TYPE_CHECKING:
    from pulens.counts.buckets import BucketTally
    from pulens.counts.tally import Tally
    from pulens.doors.clustering import Clustering
    from pulens.doors.reviews import Reviewed
    from pulens.priors import ClassPrior
    from pulens.priors.label_noise import LabelNoise

USEFUL_WIDTHS = (0.1, 0.05, 0.02)


@click.command(name="prior")
@click.argument("file", shell_complete=complete_file)
@reading_options
@engine_options
@click.option(
    "--method",
    help="Estimator of the class prior.  [default: auto, unless --audit decides]",
)
@click.option("--all", "compare", is_flag=True, help="Show every estimator's result.")
@click.option(
    "--label-noise",
    default="0",
    show_default=True,
    help="Share of labelled rows that are really negative, or 'estimate'.",
)
@scenario_option("single-set: the prior of all rows together. case-control: of the population of the unlabelled rows.")
@audit_options
@review_options
@within_option
@cluster_option
@offers("confidence")
@click.option("--plot", "plot_path", metavar="PATH", help="Draw the likelihood to an image file.")
@offers("explain", "json_path")
def command(
    file: str,
    method: str | None,
    compare: bool,
    label_noise: str,
    scenario: str,
    audit: str | None,
    combine: bool,
    confidence: float,
    within: tuple[str, ...],
    plot_path: str | None,
    explain: bool,
    json_path: str | None,
    **given: Any,
) -> None:
    """Estimate the share of positives from scores and PU labels.

    FILE is a CSV, TSV, JSON Lines, Parquet, Arrow or Excel file, a folder or quoted glob of them, a .tally file,
    a database address with --table, or - for standard input.
    Scores must be out of sample: not those of rows the model was trained on.

    \b
    Examples:
      pulens prior scores.csv
      pulens prior scores.csv --audit 13/200
      pulens prior scores.csv --audit 13/200 --combine
      pulens prior scores.csv --reviews queue.csv
      pulens prior visits.csv --within clinic
      pulens prior visits.csv --cluster patient
      pulens prior scores.csv --label-noise estimate --json -
      pulens prior duckdb:///scores.db --table t --where "day > '2024-01-01'"
    """
    from pulens.cli._output import working
    from pulens.cli._prior_shown import estimator_lines, paste_lines, prior_lines
    from pulens.cli._write import all_or_none, as_files, check_targets, to_json
    from pulens.counts.tally import Tally
    from pulens.plots.backend import write_figure
    from pulens.priors import find

    check_targets({"--plot": plot_path, "--json": json_path}, *files_read(file, given))
    if within:
        alone = {
            "--all": compare,
            "--plot": plot_path,
            "--audit": audit,
            "--label-noise estimate": label_noise == "estimate",
            "--reviews": given["reviews"] is not None or given["reviewed_above"] is not None,
            "--cluster": given["cluster"],
        }
        _show_within(file, within, json_path, alone, method, scenario, label_noise, confidence, given)
        return
    if label_noise != "estimate":
        find(method or "auto")  # an unknown name is refused before the file is read
    asked: dict[str, Any] = {
        "method": method,
        "compare": compare,
        "label_noise": label_noise,
        "audit": audit,
        "combine": combine,
    }
    with working("Estimating the share of positives"):
        checked = _reviewed(file, given, scenario, confidence)
        noise_found = clusters = None
        if checked is not None:
            tally = checked.tally
            prior, answer = _by_checked_rows(checked, asked)
        else:
            counted = _counted(file, given)
            tally = counted if isinstance(counted, Tally) else counted.tally
            prior, noise_found, answer = _estimated(counted, scenario, confidence, **asked)
            clusters = _clusters(counted)
            answer |= {} if clusters is None else {"clusters": clusters.to_dict()}
    answer["rows_to_audit"] = _advice(prior, confidence, tally.totals.unlabelled)
    answer["notices"] = [str(notice) for notice in prior.notices]
    with all_or_none({} if json_path is None else as_files({json_path: to_json(answer)})):
        if plot_path is not None:
            write_figure(plot_path, prior.plot().figure)
    if json_path != "-":
        advice = answer["rows_to_audit"]
        lines = prior_lines(prior, tally, Scenario(scenario), clusters, noise_found, advice, explain=explain)
        if "estimators" in answer:
            lines += estimator_lines(answer["estimators"])
        if checked is None and audit is None:
            lines += ["", *_next(tally)]
        lines += paste_lines(prior, {**given, **asked}, noise_found)
        click.echo("\n".join(lines))


def _by_checked_rows(checked: Reviewed, asked: dict[str, Any]) -> tuple[ClassPrior, dict[str, Any]]:
    """The audit's class prior, which nothing else may settle."""
    if asked != {"method": None, "compare": False, "label_noise": "0", "audit": None, "combine": False}:
        raise click.UsageError(
            "--reviews settles the class prior: leave out --method, --all, --label-noise, --audit and --combine."
        )
    return checked.class_prior, {"class_prior": checked.class_prior.to_dict()}


def _counted(file: str, given: dict[str, Any]) -> Tally | BucketTally:
    """The rows, by cluster where a column or the file itself says which of them belong together."""
    from pulens.inputs import holds_buckets, read_buckets, read_tally

    reading = {**reading_arguments(given), **engine_arguments(given)}
    if given["cluster"] is not None:
        return read_buckets(file, cluster=given["cluster"], **reading)
    return read_buckets(file, **reading) if holds_buckets(file) else read_tally(file, **reading)


def _clusters(counted: Tally | BucketTally) -> Clustering | None:
    from pulens.counts.buckets import BucketTally
    from pulens.doors.clustering import Clustering
    from pulens.priors.clustered import design_effect

    if not isinstance(counted, BucketTally):
        return None
    return Clustering.counted(counted, "the area between labelled and unlabelled rows", design_effect(counted))


def _estimated(
    counted: Tally | BucketTally,
    scenario: str,
    confidence: float,
    *,
    method: str | None,
    compare: bool,
    label_noise: str,
    audit: str | None,
    combine: bool,
) -> tuple[ClassPrior, LabelNoise | None, dict[str, Any]]:
    """The class prior, the label noise if that was to be estimated too, and both as plain values."""
    from pulens.counts.tally import Tally
    from pulens.priors import estimate_from_buckets, estimate_from_tally, estimate_prior_and_noise

    tally = counted if isinstance(counted, Tally) else counted.tally
    if label_noise == "estimate":
        if not isinstance(counted, Tally):
            raise PulensError(
                "--label-noise estimate assumes independent rows, and --cluster says that they are not: give "
                "--label-noise as a share, or leave --cluster out."
            )
        if audit is not None:
            raise click.UsageError("--audit cannot be combined with --label-noise estimate.")
        both = estimate_prior_and_noise(tally, method=method or "auto", scenario=scenario, confidence=confidence)
        return both.class_prior, both.label_noise, both.to_dict()
    options: dict[str, Any] = {"scenario": scenario, "label_noise": _share(label_noise), "confidence": confidence}
    found: Any = estimate_from_tally if isinstance(counted, Tally) else estimate_from_buckets
    prior: ClassPrior = found(counted, method, audit=audit, combine=combine, **options)
    answer: dict[str, Any] = {"class_prior": prior.to_dict()}
    if compare:
        answer["estimators"] = _every_estimator(tally, options)
    return prior, None, answer


def _reviewed(file: str, given: dict[str, Any], scenario: str, confidence: float) -> Reviewed | None:
    """The rows that people checked, if any were named."""
    from pulens.doors.reviews import reviewed
    from pulens.doors.reviews_asked import ReviewsAsked
    from pulens.inputs import Reading

    asked = ReviewsAsked(**review_arguments(given))
    if given["cluster"] is not None and (given["reviews"] is not None or given["reviewed_above"] is not None):
        raise PulensError("checked rows were drawn one by one, whatever their cluster: leave --cluster out.")
    reading = Reading(**reading_arguments(given), **engine_arguments(given))
    return reviewed(file, None, reading, asked, scenario=scenario, confidence=confidence, seed=0, check=False)


def _next(tally: Tally) -> list[str]:
    """The check that would settle the class prior, whatever the scores and labels are like."""
    from pulens.cli._typed import typed_command
    from pulens.report.lines import pasteable
    from pulens.report.next_steps import another_command, rows_to_check

    rows = rows_to_check(tally.totals.unlabelled)
    if not rows:
        return []
    options = ("--goal", "class_prior", "--budget", str(rows), "--out", "queue.csv")
    command = another_command(typed_command(click.get_current_context()), ("audit", "plan"), options)
    return [f"next: check {rows} rows, drawn where answers matter; they settle it:", *pasteable(command)]


def _show_within(
    file: str,
    within: tuple[str, ...],
    json_path: str | None,
    alone: dict[str, Any],
    method: str | None,
    scenario: str,
    label_noise: str,
    confidence: float,
    given: dict[str, Any],
) -> None:
    """One class prior per cell, and that of all rows."""
    from pulens.cli._output import working
    from pulens.cli._typed import typed_command
    from pulens.cli._write import to_json, write_texts
    from pulens.doors.within import estimate_prior_within
    from pulens.report.next_steps import another_command

    for option, said in {**alone, "--confidence": confidence != 0.95}.items():
        if said:
            raise PulensError(
                f"{option} is about one class prior, and --within estimates one for each cell: give one of them."
            )
    columns: Any = within[0] if len(within) == 1 else list(within)
    asked: dict[str, Any] = {"scenario": scenario, "label_noise": _share(label_noise), "method": method}
    with working("Estimating the share of positives in each cell"):
        reading = {**reading_arguments(given), **engine_arguments(given)}
        found = estimate_prior_within(file, labelled_within=columns, **asked, **reading)
    if json_path is not None:
        write_texts({json_path: to_json(found.to_dict())})
    if json_path != "-":
        command = typed_command(click.get_current_context())
        named = () if method is None else ("--class-prior", method)
        columns_typed = tuple(word for name in within for word in ("--within", name))
        line = another_command(command, ("evaluate",), (*columns_typed, *named))
        from pulens.report.lines import pasteable

        click.echo("\n".join([f"{found}\n", "To evaluate with these:", *pasteable(line)]))


def _every_estimator(tally: Tally, options: dict[str, Any]) -> dict[str, float]:
    """The share of positives among the unlabelled rows by each estimator."""
    from pulens.priors import estimate_from_tally, names

    return {name: estimate_from_tally(tally, name, **options).unlabelled for name in names()}


def _share(text: str) -> float:
    from pulens.errors import AssumptionError
    from pulens.recovery.assumptions import check_label_noise

    try:
        return check_label_noise(float(text))
    except ValueError as error:
        if isinstance(error, AssumptionError):
            raise
        raise AssumptionError(f"--label-noise must be a share such as 0.05, or 'estimate', got {text!r}.") from None


def _advice(prior: ClassPrior, confidence: float, unlabelled: float) -> dict[str, int]:
    """Rows to check by hand for an interval of useful width, if the estimate is right: at most all there are."""
    from pulens.priors import rows_to_audit

    needed = {width: rows_to_audit(prior.unlabelled, width, confidence=confidence) for width in USEFUL_WIDTHS}
    return {f"{width:g}": min(rows, int(unlabelled)) for width, rows in needed.items()}
