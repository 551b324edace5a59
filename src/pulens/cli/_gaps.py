"""Gaps between groups: the terminal, the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulens.errors import PulensError


def show_gaps(
    file: str,
    group_by: Sequence[str],
    metric: str,
    paths: Mapping[str, str | None],
    title: str,
    arguments: Mapping[str, Any],
    *,
    explain: bool = False,
    quiet: bool = False,
) -> None:
    """Compare the groups of one column or several, write what was asked for, print the answer."""
    from pulens.cli._output import working
    from pulens.cli._write import to_json, write_texts
    from pulens.doors.compare_groups import gaps_by
    from pulens.report.gaps import gaps_text

    if "metrics" in arguments:
        raise PulensError("--metric says what a table of segments shows: with --gaps, name the one metric there.")
    if file == "-" and len(group_by) > 1:
        raise PulensError(
            f"standard input can be read once, and --group-by was given {len(group_by)} times: save the rows in a file."
        )
    with working("Reading and counting groups", quiet=quiet):
        columns = group_by[0] if len(group_by) == 1 else group_by
        found = gaps_by(file, columns, metric, **arguments)
    heading = f"{title} by {', '.join(group_by)}"
    with working("Making the report", quiet=quiet):
        makers = {
            "html": lambda: found.to_html(title=heading),
            "markdown": lambda: found.to_markdown(title=heading),
            "json": lambda: to_json(found.to_dict()),
        }
        texts = {str(path): makers[form]() for form, path in paths.items() if path is not None}
    write_texts(texts)
    if not quiet and "-" not in paths.values():
        import click

        parts = list(found.values()) if isinstance(found, Mapping) else [found]
        click.echo("\n\n".join(gaps_text(part, "command", explain=explain) for part in parts))
