"""pulens page"""

from __future__ import annotations

import click


@click.command(name="page")
@click.option("-o", "--out", required=True, metavar="PATH", help="The HTML file to write; - is standard output.")
def command(out: str) -> None:
    """Write one HTML file that takes a table in a browser and shows its report.

    For colleagues without Python, and for data that may not leave their machine: the file works offline, loads
    nothing and sends nothing.

    Example: pulens page --out pulens.html
    """
    from pathlib import Path

    from pulens.cli._write import check_targets, write_text
    from pulens.report.one_file import one_page

    check_targets({"--out": out})
    write_text(out, one_page())
    if out != "-":
        click.echo(f"{out}: open it in a browser, {Path(out).resolve().as_uri()}")
