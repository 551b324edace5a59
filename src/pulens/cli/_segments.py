"""Evaluations per segment: their options, the terminal, the files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pulens.cli._complete import complete_column
from pulens.cli._options import Prior
from pulens.errors import PulensError, listed

if TYPE_CHECKING:
    from pulens.doors.segments import Evaluations

Command = TypeVar("Command", bound=Callable[..., Any])


class SegmentPrior(click.ParamType[Any]):
    """A segment and its class prior, written north=0.1, north=0.05:0.15 or north=auto."""

    name = "SEGMENT=SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        segment, found, share = value.rpartition("=")
        if not found or not segment:
            raise PulensError(f"--segment-prior is written SEGMENT=SHARE, such as north=0.1, got {value!r}.")
        return segment, Prior().convert(share, param, ctx)


def segment_options(command: Command) -> Command:
    """One evaluation per value of a column, and where each class prior comes from."""
    options = [
        click.option(
            "--group-by",
            metavar="COLUMN",
            multiple=True,
            shell_complete=complete_column,
            help="One evaluation per value of a column; with --gaps, once for each column to compare by.",
        ),
        click.option(
            "--gaps",
            metavar="METRIC",
            help="With --group-by: differences between groups in a metric, such as recall.",
        ),
        click.option(
            "--segment-prior",
            "segment_priors",
            type=SegmentPrior(),
            multiple=True,
            help="Class prior of one segment: north=0.1, north=0.05:0.15 or north=auto; once for each segment.",
        ),
        click.option(
            "--class-prior-column",
            metavar="COLUMN",
            shell_complete=complete_column,
            help="Column that contains each segment's class prior.",
        ),
        click.option(
            "--same-prior", is_flag=True, help="Use one class prior for all segments, although segments may differ."
        ),
        click.option(
            "--metric",
            "metrics",
            metavar="NAME",
            multiple=True,
            help="With --group-by: metrics for each segment; the table shows the first three.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def refuse_without_group_by(given: Mapping[str, Any]) -> None:
    """Options that mean nothing for one evaluation are not passed over in silence."""
    names = {
        "gaps": "--gaps",
        "segment_priors": "--segment-prior",
        "class_prior_column": "--class-prior-column",
        "same_prior": "--same-prior",
        "metrics": "--metric",
    }
    for name, option in names.items():
        if given[name]:
            raise PulensError(f"{option} is for segments: name their column with --group-by.")


def show_segments(
    file: str,
    group_by: Sequence[str],
    paths: Mapping[str, str | None],
    title: str,
    arguments: dict[str, Any],
    by_segment: Mapping[str, Any],
    whole: Mapping[str, bool],
    *,
    quiet: bool = False,
) -> None:
    """Evaluate every segment, write what was asked for, print the table."""
    explain = bool(click.get_current_context().params.get("explain"))
    from pulens.cli._output import working
    from pulens.doors.segments import evaluate_by

    asked = [option for option, is_given in whole.items() if is_given]
    if asked:
        raise PulensError(f"{listed(asked)} is for one evaluation: leave out --group-by, and choose rows with --where.")
    metric = by_segment["gaps"]
    if metric is None and len(group_by) > 1:
        raise PulensError(
            f"one evaluation per value of one column: --group-by was given {len(group_by)} times ({listed(group_by)}). "
            "Give one of them, or --gaps METRIC to compare the groups of each."
        )
    chosen = {name: value for name, value in by_segment.items() if value and name not in ("segment_priors", "gaps")}
    priors = dict(by_segment["segment_priors"])
    if priors:
        _refuse_beside_segment_priors(arguments, chosen)
        arguments = {**arguments, "class_prior": _ByText(priors)}
    if metric is not None:
        from pulens.cli._gaps import show_gaps

        show_gaps(file, group_by, metric, paths, title, {**arguments, **chosen}, explain=explain, quiet=quiet)
        return
    column = group_by[0]
    with working("Reading, counting and evaluating segments", quiet=quiet) as tell:

        def progress(done: int, many: int) -> None:
            tell(f"Evaluating segments: {done:,} of {many:,}")

        found = evaluate_by(file, column, progress=progress, **arguments, **chosen)
    with working("Making the report", quiet=quiet):
        _write(found, paths, f"{title} by {column}")
    if not quiet and "-" not in paths.values():
        _print(found, explain=explain)


def _refuse_beside_segment_priors(arguments: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    """A segment's class prior is given once."""
    beside = [name for name in ("class_prior", "unlabelled_prior", "audit") if arguments[name] is not None]
    if beside or "class_prior_column" in chosen:
        other = "--class-prior-column" if "class_prior_column" in chosen else f"--{beside[0].replace('_', '-')}"
        raise PulensError(f"--segment-prior and {other} both say what a segment's class prior is: give one of them.")


def _write(found: Evaluations, paths: Mapping[str, str | None], title: str) -> None:
    """Write every form that was asked for, or none of them."""
    from pulens.cli._write import all_or_none, as_files, write_parts
    from pulens.report.segments_json import json_parts

    makers: dict[str, Callable[[], str]] = {
        "html": lambda: found.to_html(title=title),
        "markdown": lambda: found.to_markdown(title=title),
    }
    texts = {str(path): makers[form]() for form, path in paths.items() if path is not None and form in makers}
    with all_or_none(as_files(texts)):
        if paths["json"] is not None:
            write_parts(paths["json"], json_parts(found))


class _ByText(dict[Any, Any]):
    """Class priors by what a segment reads like: the command line has only text, a table may hold numbers or dates."""

    def __contains__(self, segment: object) -> bool:
        from pulens.doors.segments import title_of

        return super().__contains__(title_of(segment))

    def __getitem__(self, segment: Any) -> Any:
        from pulens.doors.segments import title_of

        return super().__getitem__(title_of(segment))


def _print(found: Any, *, explain: bool) -> None:
    """The text; where the same class prior was used for all segments, that is in bold."""
    from pulens.report.segments import segments_text

    lines = [*segments_text(found, "command", explain=explain).splitlines(), *_next(found)]
    if found.says_same_prior and sys.stdout.isatty():
        lines[0] = click.style(lines[0], bold=True)
    sys.stdout.write("\n".join(lines) + "\n")  # a letter that the terminal lacks becomes ?


def _next(found: Any) -> list[str]:
    """The test of all pairs of groups at once."""
    import shlex

    from pulens.cli._typed import typed_command
    from pulens.report.lines import pasteable

    if len(found) < 2:
        return []
    typed = [word for words in typed_command(click.get_current_context()) if words[0] != "--explain" for word in words]
    return ["", "next: test all pairs of groups at once:", *pasteable(shlex.join([*typed, "--gaps", "recall"]))]
