"""pulens watch"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from pulens.cli._complete import complete_file
from pulens.cli._options import (
    Confidence,
    Number,
    Prior,
    engine_arguments,
    engine_options,
    offers,
    reading_arguments,
    reading_options,
    scenario_option,
)
from pulens.errors import PulensError

STANDS = 3  # the exit code while an alarm stands


@click.command(name="watch")
@click.argument("reference", required=False, shell_complete=complete_file)
@click.argument("windows", nargs=-1, shell_complete=complete_file)
@click.option("--time", metavar="COLUMN", help="REFERENCE is one table, and this column tells its windows.")
@click.option("--by", type=click.Choice(["hour", "day", "week", "month"]), help="Cut --time into windows so long.")
@click.option("--reference-until", metavar="WHEN", help="The last window of --time that belongs to the reference.")
@click.option("--timezone", default="UTC", show_default=True, metavar="ZONE", help="Where --by cuts, as Europe/Paris.")
@click.option("--group-by", multiple=True, metavar="COLUMN", help="Watch each value of this column apart too.")
@click.option(
    "--control",
    type=click.Choice(["family", "fdr"]),
    default="family",
    show_default=True,
    help="Of segments: any false alarm, or the share of false ones among those in alarm (for more than 20).",
)
@click.option("--confirmed-at", metavar="COLUMN", help="When a label was confirmed: labels of one age are compared.")
@click.option("--class-prior", type=Prior(), help="Share of positives in the reference: 0.2, 0.1:0.3, or auto.")
@click.option("--audit", metavar="K/R", help="K positives among R random unlabelled rows of the reference.")
@click.option("--label-noise", type=Number(), default=0.0, show_default=True, help="Labelled rows not positive.")
@scenario_option(
    "single-set: all rows are the population, labelled ones included. case-control: the unlabelled rows are."
)
@click.option("--threshold", type=Number(), help="The deployed one: predicted positive is score >= threshold.")
@click.option("--alpha", type=Number(), default=0.05, show_default=True, help="Chance of any false alarm over a life.")
@click.option("--life", type=Number(), default=50.0, show_default=True, help="Windows in which half of it is spent.")
@click.option("--confidence", type=Confidence(), default=0.95, show_default=True, help="Level of the intervals.")
@click.option(
    "--kernel",
    type=click.Choice(["tilt", "placement"]),
    default="tilt",
    show_default=True,
    help="Which test of change.",
)
@click.option(
    "--noise",
    type=click.Choice(["default", "independent", "slow"]),
    default="default",
    show_default=True,
    help="How far neighbouring windows may share day-to-day noise.",
)
@click.option("--labels-lag", metavar="90d or WINDOWS", help="After how long a window's own labels are complete.")
@click.option(
    "--positives",
    type=click.Choice(["reference", "window"]),
    default="reference",
    show_default=True,
    help="Whose labelled positives judge a window once its own labels are complete.",
)
@reading_options
@engine_options
@click.option("--cluster", hidden=True)  # refused with the reason, which no unknown option has
@click.option("--state", metavar="PATH", help="Read if it is there, written whole: a new day costs one window.")
@click.option("--rejudge", is_flag=True, help="Judge everything anew, whatever the state says.")
@click.option("--accept", metavar="WINDOW", help="Accept the alarm: windows from this one on become the reference.")
@click.option("--segment", metavar="NAME", help="With --accept: the alarm of this segment alone.")
@click.option("--because", default="", metavar="WORDS", help="Why it is accepted; kept in the state.")
@offers("explain", explain="Also print the notes, which scores moved, and more windows.")
@click.option("--html", "html_path", metavar="PATH", help="Write a self-contained page.")
@click.option("--json", "json_path", metavar="PATH", help="Write the result as JSON; - for standard output.")
@click.option(
    "--quiet", "-q", is_flag=True, help="Print nothing while all is quiet, and one line while something is changing."
)
def command(
    reference: str | None,
    windows: tuple[str, ...],
    state: str | None,
    rejudge: bool,
    accept: str | None,
    segment: str | None,
    because: str,
    explain: bool,
    html_path: str | None,
    json_path: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Follow a deployed model: are there more positives, since when, or did the scores themselves move?

    REFERENCE is a tally file, a quoted glob of them (its windows tell the day-to-day noise: give 30 or more) or, with
    --time, one table or database. WINDOWS are tally files in natural order of their names, or a quoted glob.

    Exit code 0: quiet, or changing and not yet certain (the last line then says CHANGING); 3: an alarm stands, also on
    later days until it is accepted; 2: bad input. The output ends with one line for a log.

    \b
    Examples:
      pulens watch 'reference/*.tally' 'days/*.tally' --class-prior 0.02 --threshold 0.5
      pulens watch 'reference/*.tally' 'days/*.tally' --state pulse.state --json pulse.json --quiet
      pulens watch scores.parquet --time day --reference-until 2026-03-31
      pulens watch scores.parquet --time scored_at --by week --reference-until 2026-03-31 --group-by country
      pulens watch --state pulse.state --accept 2026-05-04 --because "campaign started"
    """
    from pulens.cli._output import working
    from pulens.cli._write import check_targets, to_json, write_texts
    from pulens.locks import locked
    from pulens.watching.state import state_text

    if given.pop("cluster") is not None:
        from pulens.doors.combinations import refuse_together

        refuse_together("clusters-watch")
    sources = [source for source in (reference, *windows) if source is not None]
    check_targets({"--state": state, "--html": html_path, "--json": json_path}, *sources)
    with nullcontext() if state is None else locked(state, say=None if quiet else _say):
        with working("Judging the windows", quiet=quiet):
            pulse = _kept(state) if reference is None else _judged(reference, windows, state, rejudge, given)
            if accept is not None:
                pulse = pulse.accept(accept, because, segment=segment)
            texts = {} if state is None else {state: state_text(pulse)}
            if html_path is not None:
                texts[html_path] = pulse.to_html()
            if json_path is not None:
                texts[json_path] = to_json(pulse.to_dict())
        write_texts(texts)
    if json_path != "-" and (pulse.status == "alarm" or not quiet):
        from pulens.report.watch_text import watch_text

        click.echo(watch_text(pulse, "command", explain=explain))
    elif json_path != "-" and pulse.status == "changing":
        click.echo(pulse.log_line)
    if pulse.status == "alarm":
        sys.stdout.flush()
        sys.exit(STANDS)


def _say(words: str) -> None:
    click.echo(words, err=True)


def _kept(state: str | None) -> Any:
    from pulens.watching.state import read_state

    if state is None:
        raise PulensError("give a reference and windows, or --state, a file that an earlier watch wrote.")
    if not Path(state).exists():
        raise PulensError(f"{state}: there is no such state file; give a reference and windows to begin one.")
    return read_state(state)


def _judged(reference: str, windows: tuple[str, ...], state: str | None, rejudge: bool, given: dict[str, Any]) -> Any:
    from pulens.watching.door import judged

    reading = reading_arguments(given) | engine_arguments(given)
    usual = {"score": "score", "label": "label"}
    reading = {name: value for name, value in reading.items() if value is not None and usual.get(name) != value}
    given["group_by"] = given["group_by"] or None
    names = (
        "time",
        "by",
        "reference_until",
        "timezone",
        "group_by",
        "control",
        "confirmed_at",
        "class_prior",
        "audit",
        "label_noise",
        "scenario",
        "threshold",
        "alpha",
    )
    more = ("life", "confidence", "kernel", "noise", "labels_lag", "positives")
    chosen = {name: given[name] for name in (*names, *more)}
    many: Any = None if not windows else (windows[0] if len(windows) == 1 else list(windows))
    return judged(reference, many, state=state, rejudge=rejudge, **chosen, **reading)
