"""Gaps between groups: the terminal, the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulens.errors import PulensError


def show_gaps(file: str, given: Mapping[str, Any], title: str, arguments: Mapping[str, Any]) -> None:
    """Compare the groups of one column or several, write what was asked for, print the answer."""
    from pulens.cli._output import deliver, working
    from pulens.cli._write import to_json
    from pulens.groups.compare_groups import gaps_by
    from pulens.report.gaps import gaps_text

    group_by, explain = given["group_by"], given["explain"]
    if given["metrics"]:
        raise PulensError("--metric says what a table of segments shows: with --gaps, name the one metric there.")
    if file == "-" and len(group_by) > 1:
        raise PulensError(
            f"standard input can be read once, and --group-by was given {len(group_by)} times: save the rows in a file."
        )
    with working("Reading and counting groups", quiet=given["quiet"]):
        columns = group_by[0] if len(group_by) == 1 else group_by
        result = gaps_by(file, columns, given["gaps"], **arguments)
    heading = f"{title} by {', '.join(group_by)}"
    parts = list(result.values()) if isinstance(result, Mapping) else [result]
    deliver(
        {**given, "explain": explain or len(parts) > 1},
        lambda: "\n\n".join(gaps_text(part, "command", explain=explain) for part in parts),
        html=lambda: result.to_html(title=heading),
        markdown=lambda: result.to_markdown(title=heading),
        json=lambda: to_json(result.to_dict()),
    )
