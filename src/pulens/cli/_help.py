"""What every command's help and completion share: options in the order of a person's questions, by their names alone.

Options are declared in the commands; which question one answers, and what a shell may offer for it, follows from its
name, so a command gets both by using the names that the others use.
"""

from __future__ import annotations

from functools import partial

import click

from pulens.cli._complete import complete_column, complete_estimator, complete_label_value, complete_metric

OTHERS = "Other options"
#: The questions in the order in which a person meets them, and the options that answer each.
GROUPS = {
    "Columns and rows": (
        *("score", "label", "target", "weight", "positive", "negative", "unlabelled", "feature", "drop", "id", "keep"),
        *("time", "by", "reference_until", "timezone", "confirmed_at", "group_by", "cluster", "within", "per"),
        *("format", "delimiter", "decimal", "thousands", "encoding", "sheet", "table", "where", "tolerance", "source"),
        *("plan", "allow_changed"),
    ),
    "What you know": (
        *("class_prior", "unlabelled_prior", "class_prior_column", "segment_prior", "same_prior", "cell_prior"),
        *("split", "label_noise", "labelling", "noise", "scenario", "audit", "combine", "reviews", "reviewed_above"),
        *("labels_lag",),
        *("reviewed_below_share", "scores_are", "cost_miss", "cost_alarm", "cost_flag", "benefit_hit", "cost_ratio"),
        *("capacity", "volume", "recall_at_least", "precision_at_least", "control", "positives", "yes", "no"),
        *("reviewer_errors", "second", "nearly_random", "life"),
    ),
    "What to show": (
        *("threshold", "metric", "gaps", "top", "goal", "budget", "width", "method", "all", "binning"),
        *("bins", "fit", "folds", "choose", "capacity_certainty", "sensitivity", "worlds", "bounds"),
        *("confidence", "interval", "anytime", "at", "alpha", "kernel", "redraws", "seed", "show_scores"),
    ),
    "Where to write": (
        *("out", "column", "plot", "html", "markdown", "json", "csv", "latex"),
        *("summary", "sql", "truth", "validation", "test", "state", "quiet"),
    ),
}
COLUMNS = (
    *("score", "label", "target", "weight", "feature", "drop", "id", "keep", "time", "confirmed_at", "group_by"),
    *("cluster", "within", "per", "class_prior_column"),
)
ESTIMATORS = ("class_prior", "unlabelled_prior")
METRICS = ("metric", "gaps")
LABEL_VALUES = ("positive", "negative", "unlabelled")


def dressed(command: click.Command) -> click.Command:
    """The command, its options grouped in help and completed in shells; of a group, all of its commands."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            dressed(one)
        return command
    setattr(command, "format_options", partial(_write_groups, command))  # noqa: B010  (a method of this one command)
    for option in command.params:
        _complete(command, option)
    return command


def _complete(command: click.Command, option: click.Parameter) -> None:
    if option.param_type_name == "argument" or getattr(option, "is_flag", False):
        return
    if option._custom_shell_complete is not None or isinstance(option.type, click.Choice | click.types.IntParamType):
        return
    for names, complete in (
        (COLUMNS, complete_column),
        (ESTIMATORS, complete_estimator),
        (METRICS, complete_metric),
        (LABEL_VALUES, complete_label_value),
        (("method",) if command.name == "prior" else (), complete_estimator),
    ):
        if _name(option) in names:
            option._custom_shell_complete = complete


def _write_groups(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Options under the question that they answer; where none is sorted, as one list."""
    found: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, OTHERS)}
    for option in command.get_params(ctx):
        record = None if option.param_type_name == "argument" else option.get_help_record(ctx)
        if record is not None:
            found[_group_of(option)].append(record)
    sorted_at_all = any(found[title] for title in GROUPS)
    for title, records in found.items():
        if records:
            with formatter.section(title if sorted_at_all else "Options"):
                formatter.write_dl(records)


def _group_of(option: click.Parameter) -> str:
    return next((title for title, names in GROUPS.items() if _name(option) in names), OTHERS)


def _name(option: click.Parameter) -> str:
    """An option as it is typed, whatever the command calls it: ``group_by`` of ``--group-by``."""
    return max(option.opts, key=len).lstrip("-").replace("-", "_")
