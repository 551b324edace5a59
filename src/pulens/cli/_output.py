"""Where a command's answers go: files, standard output, the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pulens.cli._write import to_json, write_texts

if TYPE_CHECKING:
    from pulens.evaluation.evaluate import Evaluation
    from pulens.evaluation.top import Top


EVERY = 60.0  # seconds between lines where standard error is no terminal


@contextmanager
def working(words: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while something takes time; a line a minute where that is not a terminal.

    What it gives changes the words.
    """
    if quiet:
        yield lambda _: None
    elif sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(words) as status:
            yield status.update
    else:
        with _minute_by_minute(words) as tell:
            yield tell


@contextmanager
def _minute_by_minute(words: str) -> Iterator[Callable[[str], None]]:
    """Say from time to time what is being done; nothing where it takes less than a minute."""
    import time
    from threading import Event, Thread

    now, over, began = [words], Event(), time.monotonic()

    def say() -> None:
        while not over.wait(EVERY):
            click.echo(f"{now[0]}: {(time.monotonic() - began) / 60:.0f} min so far", err=True)

    thread = Thread(target=say, daemon=True)
    thread.start()
    try:
        yield lambda told: now.__setitem__(0, told)
    finally:
        over.set()
        thread.join()


def answer_texts(
    evaluation: Evaluation,
    given: Mapping[str, Any],
    title: str,
    *,
    more: Mapping[str, Any] | None = None,
    typed: Sequence[tuple[str, ...]] = (),
    tops: Sequence[Top] = (),
) -> dict[str, str]:
    """Every form that was asked for, by the path where it goes; all are made before the first is written.

    ``more`` is added to the JSON, ``typed`` is the command itself, for what to type next, ``tops`` are places of the
    list that the page and Markdown lead with.
    """
    paths = {form: given[f"{form}_path"] for form in ("html", "markdown", "json")}
    if not any(path is not None for path in paths.values()):
        return {}
    from pulens.report import evaluation_markdown, evaluation_page

    shared = [(Path(words[0]).name,) if place == 2 else words for place, words in enumerate(typed)]  # no folders
    page: dict[str, Any] = {"title": title, "typed": shared, "tops": tops}
    with working("Making the report", quiet=given["quiet"]):
        makers = {
            "html": lambda: evaluation_page(evaluation, scores_are=given["scores_are"], **page),
            "markdown": lambda: evaluation_markdown(evaluation, **page),
            "json": lambda: to_json(evaluation.to_dict() | _next(evaluation, typed) | dict(more or {})),
        }
        return {path: makers[form]() for form, path in paths.items() if path is not None}


def deliver(given: Mapping[str, Any], text: Callable[[], str], **makers: Callable[[], str]) -> None:
    """Write every form that was asked for (``html``, ``markdown``, ``json``), all or none; print the text.

    Everything is made before the first file is written, so an error leaves no half of an answer.
    """
    made = {path: make() for form, make in makers.items() if (path := given.get(f"{form}_path")) is not None}
    shown = text() if is_shown(given) else ""
    write_texts(made)
    if shown:
        show(shown, explain=bool(given.get("explain")))


def is_shown(given: Mapping[str, Any]) -> bool:
    """Whether the terminal gets the answer: not where it is to be quiet, nor where a file goes there."""
    taken = (given.get(name) for name in ("html_path", "markdown_path", "json_path", "scores_path"))
    return not given.get("quiet") and "-" not in taken


def show(text: str, *, explain: bool = False) -> None:
    """Print an answer, with as many of its blank lines as 24 lines have room for."""
    from pulens.report.lines import on_one_screen

    blocks = [block.split("\n") for block in text.split("\n\n")]
    click.echo("\n".join(on_one_screen(blocks, "", spread=explain)))


def _next(evaluation: Evaluation, typed: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    from pulens.report.next_steps import next_steps

    return {"next_steps": [step.to_dict() | {"shell": step.shell(typed)} for step in next_steps(evaluation)]}


def page_title(file: str, given: Mapping[str, Any]) -> str:
    """What is judged: the file, and the column where it is not the usual one."""
    # of an address only the last part: what stands before it, or after a question mark, may hold a password
    name = "standard input" if file == "-" else Path(file.partition("?")[0] if "://" in file else file).name
    score = given.get("score")
    return name if score in (None, "score") else f"{score} in {name}"
