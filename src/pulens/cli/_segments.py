"""Evaluations per segment: their options, the terminal, the files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._options import asked
from pulens.errors import PulensError, listed

if TYPE_CHECKING:
    from pulens.groups.segments import Evaluations

#: Options that mean nothing for one evaluation, and those that mean nothing for several.
OF_SEGMENTS = {
    "gaps": "--gaps",
    "segment_priors": "--segment-prior",
    "class_prior_column": "--class-prior-column",
    "same_prior": "--same-prior",
    "metrics": "--metric",
}
OF_ONE = {
    "with_bounds": "--bounds",
    "scores_are": "--scores-are",
    "top": "--top",
    "per": "--per",
}


def refuse_without_group_by(given: Mapping[str, Any]) -> None:
    """Options that mean nothing for one evaluation are not passed over in silence."""
    for name, option in OF_SEGMENTS.items():
        if given[name]:
            raise PulensError(f"{option} is for segments: name their column with --group-by.")


def _refuse_for_segments(given: Mapping[str, Any]) -> None:
    """What cannot be had for each of several segments."""
    from pulens.evidence.combinations import refuse_together

    if given["labelled_within"] and given["gaps"] is not None:
        refuse_together("cells-gaps")
    if any(given[name] is not None for name in ("reviews", "reviewed_above", "reviewed_below_share", "id")):
        refuse_together("reviews-segments")
    whole = [option for name, option in OF_ONE.items() if given[name]]
    if whole:
        raise PulensError(f"{listed(whole)} is for one evaluation: leave out --group-by, and choose rows with --where.")
    group_by = given["group_by"]
    if given["gaps"] is None and len(group_by) > 1:
        raise PulensError(
            f"one evaluation per value of one column: --group-by was given {len(group_by)} times ({listed(group_by)}). "
            "Give one of them, or --gaps METRIC to compare the groups of each."
        )


def show_segments(file: str, given: dict[str, Any]) -> None:
    """Evaluate every segment, write what was asked for, print the table."""
    from pulens.cli._output import is_shown, page_title, working
    from pulens.groups.segments import evaluate_by

    _refuse_for_segments(given)
    arguments = asked(evaluate_by, {**given, "group_by": None, "worlds": given["worlds"]})
    priors = dict(given["segment_priors"])
    if priors:
        _refuse_beside_segment_priors(given)
        arguments["class_prior"] = _ByText(priors)
    title, quiet = page_title(file, given), given["quiet"]
    if given["gaps"] is not None:
        from pulens.cli._gaps import show_gaps

        show_gaps(file, given, title, arguments)
        return
    column = given["group_by"][0]
    with working("Reading, counting and evaluating segments", quiet=quiet) as tell:

        def progress(done: int, many: int) -> None:
            tell(f"Evaluating segments: {done:,} of {many:,}")

        result = evaluate_by(file, column, progress=progress, **arguments)
    with working("Making the report", quiet=quiet):
        _write(result, {form: given[f"{form}_path"] for form in ("html", "markdown", "json")}, f"{title} by {column}")
    if is_shown(given):
        _print(result, explain=given["explain"])


def _refuse_beside_segment_priors(given: Mapping[str, Any]) -> None:
    """A segment's class prior is given once."""
    for name in ("class_prior_column", "class_prior", "unlabelled_prior", "audit"):
        if given[name] is not None:
            other = f"--{name.replace('_', '-')}"
            raise PulensError(
                f"--segment-prior and {other} both say what a segment's class prior is: give one of them."
            )


def _write(result: Evaluations, paths: Mapping[str, str | None], title: str) -> None:
    """Write every form that was asked for, or none of them."""
    from pulens.cli._write import all_or_none, as_files, write_parts
    from pulens.report.segments_json import json_parts

    makers: dict[str, Callable[[], str]] = {
        "html": lambda: result.to_html(title=title),
        "markdown": lambda: result.to_markdown(title=title),
    }
    texts = {str(path): makers[form]() for form, path in paths.items() if path is not None and form in makers}
    with all_or_none(as_files(texts)):
        if paths["json"] is not None:
            write_parts(paths["json"], json_parts(result))


class _ByText(dict[Any, Any]):
    """Class priors by what a segment reads like: the command line has only text, a table may hold numbers or dates."""

    def __contains__(self, segment: object) -> bool:
        from pulens.groups.segments import title_of

        return super().__contains__(title_of(segment))

    def __getitem__(self, segment: Any) -> Any:
        from pulens.groups.segments import title_of

        return super().__getitem__(title_of(segment))


def _print(result: Any, *, explain: bool) -> None:
    """The text; where the same class prior was used for all segments, that is in bold."""
    from pulens.report.segments import segments_text

    lines = [*segments_text(result, "command", explain=explain).splitlines(), *_next(result)]
    if result.says_same_prior and sys.stdout.isatty():
        lines[0] = click.style(lines[0], bold=True)
    sys.stdout.write("\n".join(lines) + "\n")  # a letter that the terminal lacks becomes ?


def _next(result: Any) -> list[str]:
    """The test of all pairs of groups at once."""
    import shlex

    from pulens.cli._typed import typed_command
    from pulens.report.lines import pasteable

    if len(result) < 2 or result.within:
        return []
    typed = [word for words in typed_command(click.get_current_context()) if words[0] != "--explain" for word in words]
    return ["", "next: test all pairs of groups at once:", *pasteable(shlex.join([*typed, "--gaps", "recall"]))]
