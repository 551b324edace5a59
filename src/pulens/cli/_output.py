"""Where a command's answers go: files, standard output, the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pulens.cli._write import to_json

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation
    from pulens.doors.top import Top


EVERY = 60.0  # seconds between lines where standard error is no terminal


@contextmanager
def working(words: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A spinner on standard error while something takes time; a line a minute where that is not a terminal.

    What it gives changes the words.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        with console.status(words) as status:
            yield status.update
    else:
        with _minute_by_minute(words) as tell:
            yield tell


@contextmanager
def _minute_by_minute(words: str) -> Iterator[Callable[[str], None]]:
    """Say from time to time what is being done; nothing where it takes less than a minute."""
    import time
    from threading import Event, Thread

    import click

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
    paths: Mapping[str, str | None],
    title: str,
    *,
    quiet: bool = False,
    scores_are: str | None = None,
    more: Mapping[str, Any] | None = None,
    typed: Sequence[tuple[str, ...]] = (),
    tops: Sequence[Top] = (),
) -> dict[str, str]:
    """Every form that was asked for, by the path where it goes; all are made before the first is written.

    ``more`` is added to the JSON, ``typed`` is the command itself, for what to type next, ``tops`` are places of the
    list that the page and Markdown lead with.
    """
    if not any(path is not None for path in paths.values()):
        return {}
    from pulens.report import evaluation_markdown, evaluation_page

    shared = [(Path(words[0]).name,) if place == 2 else words for place, words in enumerate(typed)]  # no folders
    with working("Making the report", quiet=quiet):
        makers = {
            "html": lambda: evaluation_page(evaluation, title=title, scores_are=scores_are, typed=shared, tops=tops),
            "markdown": lambda: evaluation_markdown(evaluation, title=title, typed=shared, tops=tops),
            "json": lambda: to_json(evaluation.to_dict() | _next(evaluation, typed) | dict(more or {})),
        }
        texts = {form: makers[form]() for form, path in paths.items() if path is not None}
    return {str(paths[form]): text for form, text in texts.items()}


def _next(evaluation: Evaluation, typed: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    from pulens.report.next_steps import next_steps

    return {"next_steps": [step.to_dict() | {"shell": step.shell(typed)} for step in next_steps(evaluation)]}


def page_title(file: str, given: Mapping[str, Any]) -> str:
    """What is judged: the file, and the column where it is not the usual one."""
    # of an address only the last part: what stands before it, or after a question mark, may hold a password
    name = "standard input" if file == "-" else Path(file.partition("?")[0] if "://" in file else file).name
    score = given.get("score")
    return name if score in (None, "score") else f"{score} in {name}"
