"""pulens prior"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, files_read, offers, targets
from pulens.errors import PulensError
from pulens.scenario import Scenario

if TYPE_CHECKING:
    from pulens.counts.buckets import BucketTally
    from pulens.counts.tally import Tally
    from pulens.evaluation.clustering import Clustering
    from pulens.evaluation.reviews import Reviewed
    from pulens.priors import ClassPrior
    from pulens.priors.label_noise import LabelNoise

USEFUL_WIDTHS = (0.1, 0.05, 0.02)


@click.command(name="prior")
@click.argument("file", shell_complete=complete_file)
@offers(
    "ROWS ENGINE method* compare* label_noise scenario audit* combine REVIEWS labelled_within* cluster* confidence "
    "plot_path explain* json_path*",
    method={"flags": ("--method",), "help": "Estimator of the class prior.  [default: auto, unless --audit decides]"},
    compare={"flags": ("--all",), "is_flag": True, "help": "Show every estimator's result."},
    label_noise={
        "type": None,
        "default": "0",
        "help": "Share of labelled rows that are really negative, or 'estimate'.",
    },
    scenario="single-set: the prior of all rows together. case-control: of the population of the unlabelled rows.",
    plot_path="Draw the likelihood to an image file.",
)
def command(file: str, **given: Any) -> None:
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
    from pulens.cli._output import is_shown, show, working
    from pulens.cli._prior_shown import estimator_lines, paste_lines, prior_lines
    from pulens.cli._typed import check_lines
    from pulens.cli._write import all_or_none, as_files, check_targets, to_json
    from pulens.counts.tally import Tally
    from pulens.plots.backend import write_figure
    from pulens.priors import find

    check_targets(targets(given), *files_read(file, given))
    if given["labelled_within"]:
        _show_within(file, given)
        return
    scenario, confidence, json_path = (given[name] for name in ("scenario", "confidence", "json_path"))
    if given["label_noise"] != "estimate":
        find(given["method"] or "auto")  # an unknown name is refused before the file is read
    with working("Estimating the share of positives"):
        checked = _reviewed(file, given)
        noise_found = clusters = None
        if checked is not None:
            tally = checked.tally
            prior, answer = _by_checked_rows(checked, given)
        else:
            counted = _counted(file, given)
            tally = counted if isinstance(counted, Tally) else counted.tally
            prior, noise_found, answer = _estimated(counted, given)
            clusters = _clusters(counted)
            answer |= {} if clusters is None else {"clusters": clusters.to_dict()}
    advice = answer["rows_to_audit"] = _advice(prior, confidence, tally.totals.unlabelled)
    answer["notices"] = [str(notice) for notice in prior.notices]
    with all_or_none({} if json_path is None else as_files({json_path: to_json(answer)})):
        if given["plot_path"] is not None:
            write_figure(given["plot_path"], prior.plot().figure)
    if is_shown(given):
        explain = given["explain"]
        lines = prior_lines(prior, tally, Scenario(scenario), clusters, noise_found, advice, explain=explain)
        if "estimators" in answer:
            lines += estimator_lines(answer["estimators"])
        if checked is None and given["audit"] is None:
            lines += check_lines(tally, "drawn where answers matter; they settle it", "--goal", "class_prior") or [""]
        lines += paste_lines(prior, given, noise_found)
        show("\n".join(lines), explain=explain or given["compare"])


def _by_checked_rows(checked: Reviewed, given: dict[str, Any]) -> tuple[ClassPrior, dict[str, Any]]:
    """The audit's class prior, which nothing else may settle."""
    alone = {"method": None, "compare": False, "label_noise": "0", "audit": None, "combine": False}
    if any(given[name] != usual for name, usual in alone.items()):
        raise click.UsageError(
            "--reviews settles the class prior: leave out --method, --all, --label-noise, --audit and --combine."
        )
    return checked.class_prior, {"class_prior": checked.class_prior.to_dict()}


def _counted(file: str, given: dict[str, Any]) -> Tally | BucketTally:
    """The rows, by cluster where a column or the file itself says which of them belong together."""
    from pulens.inputs import holds_buckets, read_buckets, read_tally

    if given["cluster"] is not None or holds_buckets(file):
        return read_buckets(file, **asked(read_buckets, given))
    return read_tally(file, **asked(read_tally, given))


def _clusters(counted: Tally | BucketTally) -> Clustering | None:
    from pulens.counts.buckets import BucketTally
    from pulens.evaluation.clustering import Clustering
    from pulens.priors.clustered import design_effect

    if not isinstance(counted, BucketTally):
        return None
    return Clustering.counted(counted, "the area between labelled and unlabelled rows", design_effect(counted))


def _estimated(
    counted: Tally | BucketTally, given: dict[str, Any]
) -> tuple[ClassPrior, LabelNoise | None, dict[str, Any]]:
    """The class prior, the label noise if that was to be estimated too, and both as plain values."""
    from pulens.counts.tally import Tally
    from pulens.priors import estimate_from_buckets, estimate_from_tally, estimate_prior_and_noise

    tally = counted if isinstance(counted, Tally) else counted.tally
    method, scenario, confidence, audit = (given[name] for name in ("method", "scenario", "confidence", "audit"))
    if given["label_noise"] == "estimate":
        if not isinstance(counted, Tally):
            raise PulensError(
                "--label-noise estimate assumes independent rows, and --cluster says that they are not: give "
                "--label-noise as a share, or leave --cluster out."
            )
        if audit is not None:
            raise click.UsageError("--audit cannot be combined with --label-noise estimate.")
        both = estimate_prior_and_noise(tally, method=method or "auto", scenario=scenario, confidence=confidence)
        return both.class_prior, both.label_noise, both.to_dict()
    options: dict[str, Any] = {"scenario": scenario, "label_noise": _share(given["label_noise"])}
    options["confidence"] = confidence
    result: Any = estimate_from_tally if isinstance(counted, Tally) else estimate_from_buckets
    prior: ClassPrior = result(counted, method, audit=audit, combine=given["combine"], **options)
    answer: dict[str, Any] = {"class_prior": prior.to_dict()}
    if given["compare"]:
        answer["estimators"] = _every_estimator(tally, options)
    return prior, None, answer


def _reviewed(file: str, given: dict[str, Any]) -> Reviewed | None:
    """The rows that people checked, if any were named."""
    from pulens.evaluation.reviews import reviewed
    from pulens.evidence.review_options import ReviewOptions
    from pulens.inputs import ReadOptions

    checked = ReviewOptions(**asked(ReviewOptions, given))
    if given["cluster"] is not None and (given["reviews"] is not None or given["reviewed_above"] is not None):
        raise PulensError("checked rows were drawn one by one, whatever their cluster: leave --cluster out.")
    reading = ReadOptions(**asked(ReadOptions, {**given, "cluster": None}))
    kept = {name: given[name] for name in ("scenario", "confidence")}
    return reviewed(file, None, reading, checked, **kept, seed=0, check=False)


def _show_within(file: str, given: dict[str, Any]) -> None:
    """One class prior per cell, and that of all rows."""
    from pulens.cli._output import deliver, working
    from pulens.cli._typed import typed_command
    from pulens.cli._write import to_json
    from pulens.evaluation.stratified import estimate_prior_within
    from pulens.report.lines import pasteable
    from pulens.report.next_steps import another_command

    alone = {
        "--all": given["compare"],
        "--plot": given["plot_path"],
        "--audit": given["audit"],
        "--label-noise estimate": given["label_noise"] == "estimate",
        "--reviews": given["reviews"] is not None or given["reviewed_above"] is not None,
        "--cluster": given["cluster"],
        "--confidence": given["confidence"] != 0.95,
    }
    for option, said in alone.items():
        if said:
            raise PulensError(
                f"{option} is about one class prior, and --within estimates one for each cell: give one of them."
            )
    with working("Estimating the share of positives in each cell"):
        said = asked(estimate_prior_within, given, label_noise=_share(given["label_noise"]))
        result = estimate_prior_within(file, **said)
    named = () if given["method"] is None else ("--class-prior", given["method"])
    columns = tuple(word for name in given["labelled_within"] for word in ("--within", name))
    line = another_command(typed_command(click.get_current_context()), ("evaluate",), (*columns, *named))
    text = "\n".join([f"{result}\n", "To evaluate with these:", *pasteable(line)])
    deliver({**given, "explain": True}, lambda: text, json=lambda: to_json(result.to_dict()))


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
