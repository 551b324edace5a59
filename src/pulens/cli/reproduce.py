"""pulens reproduce"""

from __future__ import annotations

from pathlib import Path

import click

from pulens.errors import PulensError


@click.command(name="reproduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "list_them", is_flag=True, help="List the studies.")
@click.option("--all", "run_all", is_flag=True, help="Run every study.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: minutes instead of hours, wider errors.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for figures and tables.")
@click.option("--seed", default=0, show_default=True)
def command(names: tuple[str, ...], list_them: bool, run_all: bool, quick: bool, out: Path | None, seed: int) -> None:
    """Rebuild tables and figures of the papers, ours beside the published ones, with a verdict on each claim.

    \b
    Examples:
      pulens reproduce --list
      pulens reproduce pulp-table-1 --quick --out figures/
    """
    from rich.console import Console

    from pulens import studies

    console = Console()
    if list_them:
        for name in studies.names():
            console.print(f"{name:<24}{studies.find(name).title}", highlight=False)
        return
    chosen = studies.names() if run_all else names
    if not chosen:
        raise PulensError("name a study, or say --all or --list.")
    found = [(name, studies.find(name)) for name in chosen]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    for name, study in found:
        console.print(f"[bold]{name}[/] {study.title} ({study.source})", highlight=False)
        with console.status("") as status:
            outcome = study.run(studies.Workbench(quick, out, seed, status.update))
        for table in outcome.tables:
            console.print(f"\n{table}", highlight=False, markup=False, soft_wrap=True)
        console.print()
        for claim in outcome.claims:
            console.print(str(claim), highlight=False, markup=False)
        for path in outcome.files:
            console.print(f"saved {path}", highlight=False, markup=False)
