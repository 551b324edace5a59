"""pulens bench"""

from __future__ import annotations

import sys
from copy import copy
from pathlib import Path
from typing import Any

import click

from pulens.errors import InputError


@click.group(name="bench")
def command() -> None:
    """Compare PU learners: plan runs, run them into an archive that can be resumed, publish tables.

    \b
    Examples:
      pulens bench plan full
      pulens bench run smoke --archive results
      pulens bench run conventional --archive results --datasets spambase --device cuda
      pulens bench new-learner mine
    """


def _opened(folder: Path) -> Any:
    """An archive to read, or a summary of one; files in it that are no results are named and left out."""
    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.archive.summary import SummaryArchive

    if folder.is_file():
        return SummaryArchive(folder)
    result = read(folder)
    _name_damaged(result.damaged, f"{folder / 'runs'}", "left out")
    return result


def _name_damaged(files: Any, where: str, so: str) -> None:
    for name, why in list(files.items())[:8]:
        click.echo(f"pulens: {where}/{name} was {so}: {why}.", err=True)
    if len(files) > 8:
        click.echo(f"pulens: and {len(files) - 8:,} more files of {where} were {so}.", err=True)


def _several(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if text else []


def _plan(protocol: str, given: dict[str, Any]) -> Any:
    from pulens.research.benchmark.plan import expand
    from pulens.research.benchmark.protocol import load_protocol

    chosen = _several(given["learners"])
    seeds = _several(given["seeds"])
    if not all(seed.isdigit() for seed in seeds):
        raise InputError(f"--seeds must be whole numbers such as 2,25,42, got {given['seeds']!r}.")
    loaded = load_protocol(
        protocol,
        learners=chosen or None,
        datasets=_several(given["datasets"]) or None,
        seeds=[int(seed) for seed in seeds] or None,
        precision=given.get("precision"),
        precisions={} if given.get("precision") else None,
        standardise=given.get("standardise") or None,
    )
    return expand(loaded)


def _choosing(function: Any) -> Any:
    """Options that narrow or change what a protocol says."""
    for option in (
        click.option(
            "--learners",
            "--methods",
            "learners",
            help="Only these, separated by commas; a .py file is a learner of yours. (--methods: the older spelling.)",
        ),
        click.option("--datasets", help="Only these, separated by commas; may be others than the protocol's."),
        click.option("--seeds", help="Only these, separated by commas."),
        click.option("--precision", type=click.Choice(["float32", "tf32", "bfloat16"]), help="Of networks."),
        click.option("--standardise", is_flag=True, help="Scale the columns of every table."),
    ):
        function = option(function)
    return function


@command.command(name="run")
@click.argument("protocol")
@click.option(
    "--archive", required=True, type=click.Path(path_type=Path), help="Folder of results; runs there are kept."
)
@_choosing
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--jobs", default=1, show_default=True, help="Processes at the same time; on a GPU they share it.")
@click.option("--ray", help="Run on a Ray cluster: its address, or 'auto' for the one here (or a new local one).")
@click.option("--stack", "most", type=int, help="Most runs trained as one. Default: what fits the memory.")
@click.option("--retry-failed", is_flag=True, help="Try runs again that failed before.")
@click.option("--time-limit", type=float, metavar="SECONDS", help="Begin nothing new after so long; resume later.")
def run_command(protocol: str, archive: Path, **given: Any) -> None:
    """Do the runs of a protocol that the archive lacks.

    Kill it whenever you like: the next call goes on where it stopped. Several calls may share an archive. The exit code
    is 1 if any run of the plan failed, and 3 if a time limit left some undone.

    PROTOCOL is conventional, as-published, label-frequency, selection-bias, full, tables, smoke or a YAML file of
    yours.
    """
    from pulens.research.benchmark.archive import read
    from pulens.research.benchmark.run import Options, progress, run_plan

    plan = _plan(protocol, given)
    names = ("device", "jobs", "ray", "most", "retry_failed", "time_limit")
    options = Options(**{name: given[name] for name in names})
    with progress(len(plan.runs)) as watch:
        summary = run_plan(plan, archive, options, watch=watch)
    _name_damaged(summary.damaged, str(archive / "runs"), "left out")
    click.echo(f"{summary}. Archive: {archive}")
    if summary.failed:
        keys = {run.key for run in plan.runs}
        reasons: dict[str, list[Any]] = {}
        for row in read(archive).failed:
            if row["key"] in keys:
                reasons.setdefault(row["reason"], []).append(row)
        for reason, rows in list(reasons.items())[:10]:
            one = rows[0]
            more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
            click.echo(
                f"failed: {one['learner']} on {one['dataset']}, {one['mechanism_alias']}, label frequency "
                f"{one['label_frequency']:g}, seed {one['seed']}{more}: {reason}",
                err=True,
            )
        sys.exit(1)
    if summary.left:
        sys.exit(3)


@command.command(name="plan")
@click.argument("protocol")
@_choosing
@click.option("--rates", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Other rates than shipped.")
@click.option("--archive", type=click.Path(path_type=Path), help="Say also what of it is done there.")
@click.option("--list", "list_runs", is_flag=True, help="Print every run with its key.")
@click.option(
    "--run-learners",
    "--run-methods",
    "run_learners",
    is_flag=True,
    help="Run files of learners that cannot be read without running them.",
)
def plan_command(
    protocol: str, rates: Path | None, archive: Path | None, list_runs: bool, run_learners: bool, **given: Any
) -> None:
    """Say what a protocol would run, and how much time and memory that takes.

    Nothing of a learner's file is run: its settings are read from the text.

    PROTOCOL is conventional, as-published, label-frequency, selection-bias, full, tables, smoke or a YAML file of
    yours.
    """
    from contextlib import nullcontext

    from pulens.report.lines import narrow
    from pulens.research.benchmark.forecast import plan_lines
    from pulens.research.benchmark.methods import without_running

    with nullcontext() if run_learners else without_running():
        plan = _plan(protocol, given)
    if list_runs:
        for run in plan.runs:
            click.echo(f"{run.key}  {run}")
        return
    for line in list(plan_lines(plan, rates, archive)):  # all of it or an error, not half of it
        click.echo(narrow(line))


@command.command(name="rates")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--out", default="-", help="File to write; default: standard output.")
@click.option("--source", help="What to call the archive there; default: its folder's name.")
def rates_command(archive: Path, out: str, source: str | None) -> None:
    """Measure what runs cost from an archive, for `bench plan --rates`."""
    from pulens.cli._write import write_text
    from pulens.research.benchmark.rates import rates_text

    write_text(out, rates_text(_opened(archive), source or archive.resolve().name))


@command.command(name="vectors")
@click.argument("dataset", type=click.Choice(["newsgroups20", "imdb"]))
@click.option(
    "--texts",
    type=click.Path(path_type=Path),
    help="The texts, where you have them: the makers' archive or its folder (imdb), a Parquet file with the columns "
    "text, label and split (newsgroups20). Default: fetched.",
)
@click.option("--model", help="A folder with all-MiniLM-L6-v2. Default: fetched by that name.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the file. Default: the cache of data sets.")
def vectors_command(dataset: str, texts: Path | None, model: str | None, out: Path | None) -> None:
    """Make the sentence vectors of a data set of texts.

    They are checked: rows and classes must be those of the data set, and some vectors must agree with ours to 0.001.
    From then on the data set loads under its own name, from the cache or from the folder that PULENS_DATA_HOME or
    PULENS_MIRROR names.
    """
    from pulens.research.benchmark import datasets

    click.echo(datasets.make(dataset, texts=texts, folder=out, model=model))


@command.command(name="new-learner")
@click.argument("name")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=Path("."), help="Where to write.")
def new_learner_command(name: str, folder: Path) -> None:
    """Write a commented file for a learner of your own, and the tests that every learner must pass.

    \b
    Example:
      pulens bench new-learner mine
      pytest test_mine.py
      pulens bench run conventional --learners nnpu,mine.py --datasets spambase --archive results
    """
    from pulens.research.benchmark.new_method import write_method

    learner, tests = write_method(name, folder)
    click.echo(f"Wrote {learner} and {tests}. Try:")
    click.echo(f"  pulens bench run smoke --learners nnpu,{learner} --archive results")


_older_name = copy(new_learner_command)  # scripts say new-method
_older_name.hidden = True
command.add_command(_older_name, "new-method")


@command.command(name="judge")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option(
    "--prior",
    type=click.Choice(["known", "estimated", "both"]),
    default="both",
    show_default=True,
    help="Class prior known, estimated, or both.",
)
@click.option("--json", "json_path", metavar="FILE", help="Every judgement as JSON; - for standard output.")
def judge_command(archive: Path, prior: str, json_path: str | None) -> None:
    """How good would evaluation without negatives have been? Estimates and intervals of every run beside the truth."""
    from pulens.cli._write import to_json, write_text
    from pulens.research.benchmark.analyse.judgement import coverage, epoch_regret, judge, learner_regret

    runs = _opened(archive)
    if not runs.done:
        raise InputError(f"{archive} has no finished run.")
    judged = [row for one in (["known", "estimated"] if prior == "both" else [prior]) for row in judge(runs, prior=one)]
    tables = {
        "95% intervals from PU labels of the test rows": coverage(judged),
        "choosing the epoch (loss of test accuracy against the best epoch)": epoch_regret(runs),
        "choosing the learner (loss of test accuracy against the best learner)": learner_regret(runs, judged),
    }
    if json_path is not None:
        plain = {title: _without_nan(rows) for title, rows in tables.items()}
        write_text(json_path, to_json({**plain, "runs": _without_nan(judged)}))
        return
    for title, rows in tables.items():
        click.echo(f"{title}:\n{_lines(rows)}\n")


def _without_nan(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def _lines(rows: list[dict[str, Any]]) -> str:
    """Rows of a table in columns that line up."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    titles = {"mechanism_alias": "labels", "without_answer": "no answer", "rank_correlation": "rank correlation"}

    def cell(value: Any) -> str:
        return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)

    texts = [
        [titles.get(name, name.replace("_", " ")) for name in names],
        *([cell(row.get(name)) for name in names] for row in rows),
    ]
    widths = [max(len(line[place]) for line in texts) for place in range(len(names))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in texts
    )


@command.command(name="report")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option(
    "--metric",
    default="accuracy",
    show_default=True,
    help="Any metric of the catalogue (`pulens.metrics.names()`): accuracy, matthews_correlation, ...",
)
@click.option(
    "--selection",
    default="own",
    show_default=True,
    help="Of the epoch: own (each learner's), proxy_accuracy, proxy_roc_auc, loss, last, oracle_accuracy or oracle_f1; "
    "the oracles read true labels.",
)
@click.option("--reference", default="nnpu", show_default=True, help="The learner that others are compared with.")
@click.option("--condition", help="Strategy and label frequency, such as 'S1 0.1'. Default: Table 1's, or most runs'.")
@click.option("--html", "html_path", metavar="PATH", help="Write the leaderboard as one self-contained page.")
@click.option("--csv", "csv_path", metavar="PATH", help="Write the table as CSV; - for standard output.")
@click.option("--latex", "latex_path", metavar="PATH", help="Write the table as LaTeX; - for standard output.")
@click.option(
    "--summary", "summary_path", metavar="PATH", help="Write every run's metrics as small CSV (.gz packs it)."
)
@click.option(
    "--judge",
    default="300",
    show_default=True,
    metavar="RUNS",
    help="Most runs whose evaluation without negatives is held against the truth with an estimated class prior "
    "(with the known one it is every run); 'all', or 0 for no such evaluation at all.",
)
@click.option("--explain", is_flag=True, help="Also print every data set, the tests, costs and judgements.")
@click.option("--quiet", "-q", is_flag=True, help="Show nothing but errors; for scripts that only want files.")
def report_command(archive: Path, **given: Any) -> None:
    """Say which learners of an archive are better, how certain that is, at what cost, and how PU-only evaluation fared.

    ARCHIVE is a folder of results, or the summary of one (a file), which has no curves and scores.

    \b
    Examples:
      pulens bench report results
      pulens bench report results --metric matthews_correlation --selection oracle_f1
      pulens bench report results --html leaderboard.html --csv table.csv --latex table.tex
    """
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, write_text
    from pulens.research.benchmark.leaderboard import board, brief_text, judged, report_text
    from pulens.research.benchmark.leaderboard.page import leaderboard_page

    check_targets({f"--{name}": given[f"{name}_path"] for name in ("html", "csv", "latex", "summary")})
    if given["judge"] != "all" and not given["judge"].isdigit():
        raise InputError(f"--judge must be a number of runs, 0 or all, got {given['judge']!r}.")
    most = None if given["judge"] == "all" else int(given["judge"])
    source = _opened(archive)
    chosen = {name: given[name] for name in ("metric", "selection", "reference", "condition")}
    with working("Reading the archive", quiet=given["quiet"]):
        result = board(source, **chosen)
        wanted = most != 0 and not archive.is_file() and (given["explain"] or given["html_path"] is not None)
        fared = judged.judge_within(source, result.condition, most) if wanted else None
        page = None if given["html_path"] is None else leaderboard_page(source, result, fared)
    if page is not None:
        write_text(given["html_path"], page)
    if given["csv_path"] is not None:
        write_text(given["csv_path"], result.csv().rstrip("\n"))
    if given["summary_path"] is not None:
        _write_summary(given["summary_path"], source)
    if given["latex_path"] is not None:
        write_text(given["latex_path"], result.latex().rstrip("\n"))
    if not given["quiet"] and "-" not in [given[f"{name}_path"] for name in ("csv", "latex", "html", "summary")]:
        click.echo(report_text(result, source, fared) if given["explain"] else brief_text(result, source))


def _write_summary(path: str, source: Any) -> None:
    from pulens.atomic_write import whole_file
    from pulens.cli._write import write_text
    from pulens.research.benchmark.archive.summary import packed, summary_text

    text = summary_text(source)
    if not path.endswith(".gz"):
        write_text(path, text.rstrip("\n"))
        return
    with whole_file(path) as temporary:
        temporary.write_bytes(packed(text))


@command.command(name="wild")
@click.argument("folder", type=click.Path())
@click.option(
    "--labelling",
    default="practice",
    show_default=True,
    metavar="random or practice",
    help="How positives were labelled.",
)
@click.option("--learn", "path", metavar="FILE", help="Write the distribution that these data sets show, as JSON.")
@click.option("--by-family", "families", is_flag=True, help="Also show each family by itself.")
@click.option("--fetch", is_flag=True, help="Fetch what FOLDER lacks from the makers first; licences are shown.")
def wild(folder: str, labelling: str, path: str | None, families: bool, fetch: bool) -> None:
    """Count how often 95% intervals hold the truth on real labels, in families of data sets left out.

    FOLDER holds data sets that somebody else labelled, with a truth: .npz files (see docs/research/wild.md).

    \b
    Examples:
      pulens bench wild labels/
      pulens bench wild labels/ --labelling random --by-family
      pulens bench wild labels/ --learn practice.json
      pulens bench wild labels/ --fetch
    """
    from pulens.atomic_write import write_whole
    from pulens.cli._write import check_targets, to_json
    from pulens.research.benchmark.wild import (
        METRICS,
        by_family,
        coverage,
        facts_of,
        judge,
        leave_families_out,
        read_problems,
    )
    from pulens.research.benchmark.wild_sources import SOURCES, fetch_wild
    from pulens.selection import check_labelling

    practice = check_labelling(labelling)
    check_targets({"--learn": path})
    if fetch:
        for name in SOURCES:
            fetch_wild(name, folder, tell=click.echo)
    problems = list(read_problems(folder))
    if practice is None:
        judged = [row for problem in problems for row in judge(problem, "random")]
    else:
        judged = leave_families_out(problems)
    click.echo(f"{len(problems):,} runs, {len({p.family for p in problems})} families, labelling {labelling}")
    click.echo(f"{'':<20}{'holds':>8}{'lowest':>8}{'width':>8}{'error':>8}{'uncorrected':>13}")
    for metric, row in coverage(judged).items():
        numbers = f"{row['holds']:>8.1%}{row['lowest']:>8.0%}{row['width']:>8.3f}{row['error']:>8.3f}"
        click.echo(f"{metric:<20}{numbers}{row['uncorrected']:>13.3f}")
    if families:
        click.echo(f"\n{'family':<34}{'runs':>6}" + "".join(f"{metric:>19}" for metric in METRICS))
        for family, held in by_family(judged).items():
            click.echo(f"{family:<34}{held['runs']:>6.0f}" + "".join(f"{held[m]:>19.0%}" for m in METRICS))
    if path is not None:
        write_whole(path, to_json(facts_of(problems, judged)) + "\n")
