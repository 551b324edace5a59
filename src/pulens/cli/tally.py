"""pulens tally"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._options import SEVERAL, asked, offers
from pulens.errors import PulensError


@click.command(name="tally")
@click.argument("source", metavar="SOURCE")
@offers(
    "out* ROWS ENGINE cluster*",
    shown="where",
    out={"required": True, "help": "The tally file to write, such as monday.tally."},
    score=SEVERAL
    | {
        "help": "Column of scores; higher is more positive. Give it once for each model to count them together, as "
        "pulens compare needs them.  [default: score]"
    },
)
def command(source: str, out: str, score: tuple[str, ...], **given: Any) -> None:
    """Count the rows of SOURCE into a small file that can be merged and evaluated later.

    SOURCE is whatever `pulens evaluate` takes: a file, a folder or glob of files, a database. Several scores make a
    joint tally, which counts the rows of each combination of scores: `pulens compare` reads it, and with --score any
    command that reads one score.

    \b
    Examples:
      pulens tally monday.parquet -o monday.tally
      pulens merge monday.tally tuesday.tally -o week.tally
      pulens evaluate week.tally --class-prior 0.1
      pulens tally scores.csv --score model_a --score model_b -o models.tally
      pulens compare models.tally --class-prior 0.1
      pulens tally visits.parquet --cluster patient -o monday.tally
    """
    from pulens.cli._write import check_targets
    from pulens.inputs import read_buckets, read_joint, read_tally
    from pulens.inputs.addresses import shown_address
    from pulens.inputs.tally_files import TallyFile, write_tally_file

    check_targets({"--out": out}, source)
    is_joint = len(score) > 1
    columns: Any = list(score) if is_joint else (*score, "score")[0]
    read: Any = read_joint if is_joint else read_tally
    if is_joint and given["tolerance"] is not None:
        raise PulensError("--tolerance bins one score; a joint tally of several keeps every combination of scores.")
    if given["cluster"] is not None:
        if is_joint:
            raise PulensError(
                "--cluster counts the rows of one score; name one with --score. pulens compare takes the rows "
                "themselves with --cluster."
            )
        read = read_buckets
    arguments = asked(read, given, score=columns)
    counted = read(source, allow_one_kind=True, **arguments)
    write_tally_file(out, TallyFile.of(counted, source=shown_address(source), **arguments))
    click.echo(counted_words(out, counted))


def counted_words(out: str, counted: Any, parts: str = "") -> str:
    """What a file of counts holds, and the command that reads it."""
    import shlex

    from pulens.report.lines import pasteable, wrapped

    kind, _, inside = str(counted).removesuffix(")").partition("(")
    of = kind.strip().removeprefix("JointTally of ") if kind.startswith("JointTally") else ""
    command = shlex.join(["pulens", "compare" if of else "evaluate", out])
    lines = wrapped(f"Counted into {out}{parts}: {inside}{f', scores {of}' if of else ''}.")
    return "\n".join([*lines, f"next:{pasteable(command, 1)[0]}"])
