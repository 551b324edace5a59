"""pulens tally"""

from __future__ import annotations

from typing import Any

import click

from pulens.cli._options import engine_arguments, engine_options, reading_arguments, reading_options


@click.command(name="tally")
@click.argument("source", metavar="SOURCE")
@click.option("-o", "--out", required=True, metavar="PATH", help="The tally file to write, such as monday.tally.")
@reading_options
@engine_options
def command(source: str, out: str, **given: Any) -> None:
    """Count the rows of SOURCE into a small file that can be merged and evaluated later.

    SOURCE is whatever `pulens evaluate` takes: a file, a folder or glob of files, a database.

    \b
    Examples:
      pulens tally monday.parquet -o monday.tally
      pulens merge monday.tally tuesday.tally -o week.tally
      pulens evaluate week.tally --class-prior 0.1
    """
    from pulens.cli._write import check_targets
    from pulens.inputs import read_tally
    from pulens.inputs.addresses import shown_address
    from pulens.inputs.tally_files import TallyFile, write_tally_file

    check_targets({"--out": out}, source)
    arguments = {**reading_arguments(given), **engine_arguments(given)}
    tally = read_tally(source, allow_one_kind=True, **arguments)
    file = TallyFile.of(tally, source=shown_address(source), **arguments)
    write_tally_file(out, file)
    click.echo(f"{out}: {tally}")
