"""What a shell may offer while a command is typed: files, columns and label values of the file already named, names.

Completion must never be the place where an error shows: what cannot be read offers nothing.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import click
from click.shell_completion import CompletionItem

MOST_ROWS = 10_000  # of a file, looked at for the values of its labels
MOST_VALUES = 50


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Any file: the shell knows them best."""
    return [CompletionItem(incomplete, type="file")]


def complete_column(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Columns of the file that stands before the cursor, whatever its format; of a folder or glob, of its first."""
    return _beginning(incomplete, _columns(ctx))


def complete_label_value(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Values in the column of labels, as it is named so far, in the first rows of the file."""
    label = ctx.params.get("label")
    return _beginning(incomplete, _values(ctx, label)) if isinstance(label, str) else []


def complete_learner(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Learners that can be trained, by name."""
    from pulens.learning.learners import names

    return _beginning(incomplete, names())


def complete_estimator(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Estimators of the class prior, by name."""
    from pulens.priors import names

    return _beginning(incomplete, names())


def complete_metric(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Metrics, by name."""
    from pulens.metrics import names

    return _beginning(incomplete, names())


def _beginning(incomplete: str, names: Any) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _columns(ctx: click.Context) -> list[str]:
    from pulens.inputs.tables.chunks import column_names

    try:
        path, kind, written = _file(ctx)
        return list(dict.fromkeys(column_names(path, kind, written)))
    except Exception:  # the file may be anything
        return []


def _values(ctx: click.Context, label: str) -> list[str]:
    from contextlib import ExitStack

    from pulens.inputs.columns import is_null
    from pulens.inputs.tables.chunks import read_chunks
    from pulens.inputs.tables.streams import open_stream

    try:
        path, kind, written = _file(ctx)
        with ExitStack() as stack:
            (column,) = next(read_chunks(open_stream(path, stack), kind, (label,), written))
        result = dict.fromkeys(str(value) for value in islice(column, MOST_ROWS) if not is_null(value))
    except Exception:  # the file may be anything
        return []
    return list(result) if len(result) <= MOST_VALUES else []


def _file(ctx: click.Context) -> tuple[str, str, Any]:
    """The file before the cursor, its format and how it is written."""
    from pulens.inputs.tables.dialect import NAMES, written_as
    from pulens.inputs.tables.formats import format_of
    from pulens.inputs.tables.found_files import expand

    # while an option waits for its value, what stands before it is not sorted into parameters yet
    named = (ctx.params.get(name) for name in ("file", "source", "reference"))
    typed = next((name for name in named if name), None) or ctx.args[-1 if ctx.command.name == "score" else 0]
    path = str(expand(str(typed))[0])
    said = [ctx.params.get(name) for name in NAMES]
    return path, format_of(path, ctx.params.get("format")), written_as(*said)
