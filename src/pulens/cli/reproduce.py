"""pulens reproduce"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pulens.errors import MissingDependencyError, PulensError

if TYPE_CHECKING:
    from rich.console import Console

    from pulens.research.studies import Outcome

VERDICTS = ("reproduced", "differs", "not testable here")


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a study: its outcome, or the error that ended it."""

    name: str
    seconds: float
    outcome: Outcome | None
    error: Exception | None = None

    @property
    def fate(self) -> str:
        """``"not run"`` for want of data or of a library is no fault of the study; anything else is."""
        if self.error is None:
            return "done"
        from pulens.research.benchmark.datasets import DataUnavailableError

        return "not run" if isinstance(self.error, DataUnavailableError | MissingDependencyError) else "failed"


@click.command(name="reproduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "list_them", is_flag=True, help="List the studies.")
@click.option("--all", "run_all", is_flag=True, help="Run every study; one that fails does not stop the others.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: minutes instead of hours, wider errors.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for figures and tables.")
@click.option("--seed", default=0, show_default=True, help="Random seed.")
def command(names: tuple[str, ...], list_them: bool, run_all: bool, quick: bool, out: Path | None, seed: int) -> None:
    """Rebuild tables and figures of the papers, ours beside the published ones, with a verdict on each claim.

    \b
    Examples:
      pulens reproduce --list
      pulens reproduce pulp-table-1 --quick --out figures/
      pulens reproduce --all --quick
    """
    from rich.console import Console

    from pulens.report.lines import wrapped
    from pulens.research import studies

    console = Console()
    if list_them:
        for name in studies.names():
            click.echo("\n".join(wrapped(f"{name:<18}{studies.find(name).title}", 18)))
        return
    if run_all and names:
        raise PulensError(f"--all runs every study, and {names[0]!r} asks for one: say either.")
    chosen = studies.names() if run_all else names
    if not chosen:
        raise PulensError("name a study, or say --all or --list.")
    for name in chosen:
        studies.check(name)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    ran = []
    for name in chosen:
        started = time.perf_counter()
        try:
            outcome = _run(console, name, quick, out, seed)
        except Exception as error:
            if not run_all:
                raise
            ran.append(Ran(name, time.perf_counter() - started, None, error))
            console.print(f"{ran[-1].fate}: {_reason(error)}\n", highlight=False, markup=False)
        else:
            ran.append(Ran(name, time.perf_counter() - started, outcome))
            _show(console, outcome)
    if len(ran) > 1:
        console.print(summary(ran), highlight=False, markup=False, soft_wrap=True)
    if any(one.fate == "failed" for one in ran):
        sys.exit(1)


def _run(console: Console, name: str, quick: bool, out: Path | None, seed: int) -> Outcome:
    from pulens.research import studies

    study = studies.find(name)
    console.print(f"[bold]{name}[/] {study.title} ({study.source})", highlight=False)
    with console.status("") as status:
        return study.run(studies.Workbench(quick, out, seed, status.update))


def _show(console: Console, outcome: Outcome) -> None:
    for table in outcome.tables:
        console.print(f"\n{table}", highlight=False, markup=False, soft_wrap=True)
    console.print()
    for claim in outcome.claims:
        console.print(str(claim), highlight=False, markup=False)
    for path in outcome.files:
        console.print(f"saved {path}", highlight=False, markup=False)
    console.print()


def _reason(error: Exception) -> str:
    """The error in a line; where it happened too, unless it is one of ours that says what to do."""
    import traceback

    if isinstance(error, PulensError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"


def summary(ran: list[Ran]) -> str:
    """One line per study: how many claims got which verdict, and how long it took.

    >>> print(summary([Ran("a", 2.0, None, ValueError("no"))]))
    study                reproduced     differs   not testable here   seconds
    a                        failed                                         2
    all                           0           0                   0         2
    """
    lines = [f"{'study':<18}{VERDICTS[0]:>13}{VERDICTS[1]:>12}{VERDICTS[2]:>20}{'seconds':>10}"]
    total: Counter[str] = Counter()
    for one in ran:
        counted: Counter[str] = Counter(claim.verdict for claim in one.outcome.claims) if one.outcome else Counter()
        total.update(counted)
        cells = [counted[verdict] for verdict in VERDICTS] if one.outcome else [one.fate, "", ""]
        lines.append(f"{one.name:<18}{cells[0]:>13}{cells[1]:>12}{cells[2]:>20}{one.seconds:>10.0f}")
    cells = [total[verdict] for verdict in VERDICTS]
    seconds = sum(one.seconds for one in ran)
    lines.append(f"{'all':<18}{cells[0]:>13}{cells[1]:>12}{cells[2]:>20}{seconds:>10.0f}")
    return "\n".join(lines)
