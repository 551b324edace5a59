"""Options for labels that are random only within cells; the same for every command that has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from pulens.cli._options import Prior, offers
from pulens.errors import PulensError

Command = TypeVar("Command", bound=Callable[..., Any])


class CellPrior(click.ParamType[Any]):
    """A cell and its class prior, written north=0.1 or north=0.05:0.15."""

    name = "CELL=SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        cell, found, share = value.rpartition("=")
        if not found or not cell:
            raise PulensError(f"--cell-prior is written CELL=SHARE, such as north=0.1, got {value!r}.")
        return cell, Prior().convert(share, param, ctx)


within_option = offers("within")


def cell_options(command: Command) -> Command:
    """Within which columns labels are random, and the class priors of their cells."""
    options = [
        within_option,
        click.option(
            "--split",
            type=click.Choice(["estimated", "equal"]),
            help="With --within: how one class prior is divided among cells, by estimates (default) or equally.",
        ),
        click.option(
            "--cell-prior",
            "cell_priors",
            type=CellPrior(),
            multiple=True,
            help="With --within: class prior of one cell, north=0.1 or north=0.05:0.15 (crossed: 'north / f=0.1'); "
            "once for each cell.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def cell_arguments(given: dict[str, Any], class_prior: Any) -> dict[str, Any]:
    """What these options say, as keyword arguments; taken out of what was given."""
    within, split = given.pop("within", ()), given.pop("split", None)
    priors = dict(given.pop("cell_priors", ()))
    if not within:
        for option, value in (("--split", split), ("--cell-prior", priors)):
            if value:
                raise PulensError(f"{option} is for cells: name their column with --within.")
        return {}
    found: dict[str, Any] = {"labelled_within": within[0] if len(within) == 1 else list(within)}
    if split is not None:
        found["split"] = split
    if priors:
        if class_prior is not None:
            raise PulensError("--cell-prior and --class-prior both say what a cell's class prior is: give one of them.")
        found["class_prior"] = priors
    return found


def refuse_beside_segments(arguments: Mapping[str, Any]) -> None:
    """Segments are evaluated one by one, each with labels that are random within it."""
    if "labelled_within" in arguments:
        from pulens.doors.combinations import refuse_together

        refuse_together("cells-segments")
