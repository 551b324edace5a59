"""pulens watch"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import asked, offers, targets
from pulens.errors import PulensError

STANDS = 3  # the exit code while an alarm stands


@click.command(name="watch")
@click.argument("reference", required=False, shell_complete=complete_file)
@click.argument("windows", nargs=-1, shell_complete=complete_file)
@offers(
    "time* by* reference_until* timezone group_by* control confirmed_at class_prior* audit label_noise scenario "
    "threshold* alpha life confidence noise labels_lag positives labelling* ROWS ENGINE cluster state* rejudge accept "
    "segment because explain html_path* json_path* quiet",
    group_by="Watch each value of this column separately too.",
    class_prior="Share of positives in the reference: 0.2, 0.1:0.3, or auto.",
    audit="K positives among R random unlabelled rows of the reference.",
    scenario="single-set: all rows are the population, labelled ones included. case-control: the unlabelled rows are.",
    threshold="The deployed one: predicted positive is score >= threshold.",
    cluster={"hidden": True},  # refused with the reason, which no unknown option has
    explain="Also print the notes, which scores moved, and more windows.",
    html_path="Write a self-contained page.",
    quiet="Print nothing while all is quiet, and one line while something is changing.",
)
def command(reference: str | None, windows: tuple[str, ...], **given: Any) -> None:
    """Follow a deployed model: are there more positives, since when, or did the scores themselves move?

    REFERENCE is a tally file, a quoted glob of them (its windows tell the day-to-day noise: give 30 or more) or, with
    --time, one table or database. WINDOWS are tally files in natural order of their names, or a quoted glob.

    Exit code 0: quiet, or changing and not yet certain (the last line then says CHANGING); 3: an alarm stands, also on
    later days until it is accepted; 2: bad input. The output ends with one line for a log.

    \b
    Examples:
      pulens watch 'ref/*.tally' 'days/*.tally' --class-prior 0.02 --threshold 0.5
      pulens watch 'ref/*.tally' 'days/*.tally' --state pulse.state --quiet
      pulens watch scores.parquet --time day --reference-until 2026-03-31
      pulens watch scores.parquet --time scored_at --by week --reference-until 2026-03-31 --group-by country
      pulens watch --state pulse.state --accept 2026-05-04 --because "campaign started"
    """
    from pulens.cli._output import is_shown, show, working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.locks import locked
    from pulens.monitoring.state import state_text
    from pulens.report.watch_text import watch_text

    if given.pop("cluster") is not None:
        from pulens.evidence.combinations import refuse_together

        refuse_together("clusters-watch")
    sources = [source for source in (reference, *windows) if source is not None]
    state, quiet, html_path, json_path = (given[name] for name in ("state", "quiet", "html_path", "json_path"))
    check_targets(targets(given), *sources)
    with nullcontext() if state is None else locked(state, say=None if quiet else _say):
        with working("Judging the windows", quiet=quiet):
            pulse = _kept(state) if reference is None else _judged(reference, windows, given)
            if given["accept"] is not None:
                pulse = pulse.accept(given["accept"], given["because"], segment=given["segment"])
            texts = {} if state is None else {state: state_text(pulse)}
            if html_path is not None:
                texts[html_path] = pulse.to_html(title=f"{given['score']} over time" if given.get("time") else None)
            if json_path is not None:
                texts[json_path] = to_json(pulse.to_dict())
        write_texts(texts)
    if is_shown({**given, "quiet": quiet and pulse.status != "alarm"}):
        show(watch_text(pulse, "command", explain=given["explain"]), explain=given["explain"])
    elif json_path != "-" and pulse.status == "changing":
        click.echo(pulse.log_line)
    if pulse.status == "alarm":
        sys.stdout.flush()
        sys.exit(STANDS)


def _say(words: str) -> None:
    click.echo(words, err=True)


def _kept(state: str | None) -> Any:
    from pulens.monitoring.state import read_state

    if state is None:
        raise PulensError("give a reference and windows, or --state, a file that an earlier watch wrote.")
    if not Path(state).exists():
        raise PulensError(f"{state}: there is no such state file; give a reference and windows to begin one.")
    return read_state(state)


def _judged(reference: str, windows: tuple[str, ...], given: dict[str, Any]) -> Any:
    from pulens.monitoring import watch
    from pulens.monitoring.door import judged

    usual = {"score": "score", "label": "label"}  # a tally file has its own
    chosen = asked(watch, {name: value for name, value in given.items() if usual.get(name) != value})
    needed = ("class_prior", "audit", "by", "time", "reference_until", "group_by", "state", "rejudge")
    many: Any = None if not windows else (windows[0] if len(windows) == 1 else list(windows))
    return judged(reference, many, **{**dict.fromkeys(needed), **chosen})
