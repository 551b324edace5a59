"""What a shell may offer while a command is typed: files, columns of the file already named, learners."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Any file: the shell knows them best."""
    return [CompletionItem(incomplete, type="file")]


def complete_column(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Names in the first line of a plain CSV or TSV file that stands before the cursor; nothing for other files."""
    import csv

    # while an option waits for its value, what stands before it is not sorted into parameters yet
    file = ctx.params.get("file") or next(iter(ctx.args), None)
    separator = {".csv": ",", ".tsv": "\t"}.get(Path(str(file)).suffix.lower())
    if file is None or separator is None:
        return []
    try:
        with open(file, encoding="utf-8", newline="") as lines:
            names = next(csv.reader(lines, delimiter=separator), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        return []  # completion must never be the place where an error shows
    return [name for name in names if name.startswith(incomplete)]


def complete_learner(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Learners that can be trained, by name."""
    from pulens.learners import names

    return [name for name in names() if name.startswith(incomplete)]
