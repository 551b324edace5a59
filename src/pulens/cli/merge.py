"""pulens merge"""

from __future__ import annotations

import click

from pulens.cli._options import offers


@click.command(name="merge")
@click.argument("files", metavar="TALLY...", nargs=-1, required=True)
@offers("out", out={"required": True, "help": "The tally file to write."})
@click.option("--allow-repeats", is_flag=True, help="Count parts with exactly the same counts more than once.")
def command(files: tuple[str, ...], out: str, allow_repeats: bool) -> None:
    """Add tallies up: of days, of shards, of machines. The order does not matter.

    \b
    Example:
      pulens merge shards/*.tally -o all.tally
    """
    from pulens.cli._write import check_targets
    from pulens.inputs.tally_files import merge, read_tally_file, write_tally_file

    check_targets({"--out": out}, *files)
    merged = merge((read_tally_file(file) for file in files), allow_repeats=allow_repeats)
    write_tally_file(out, merged)
    from pulens.cli.tally import counted_words

    many = len(merged.parts)
    click.echo(counted_words(out, merged.tally, f" from {many} part{'s' if many > 1 else ''}"))
