"""How much there is to read: lines and columns of every command's answer and help, names behind a tab, the docs.

python benchmarks/output_sizes.py

Answers are those on ``pulens.testing.claims``, 6,000 rows, as a terminal of 80 columns shows them. Words of the docs
are counted in the pages as they are written, code included.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

import pulens
from pulens.cli import app, main
from pulens.testing import claims

ROOT = Path(__file__).resolve().parents[1]
ROWS, COLUMNS = 6000, 80
LABEL = ("--label", "outcome", "--positive", "fraud")
SCORE = ("claims.csv", "--score", "risk_v2", *LABEL)
QUEUE = ("--reviews", "queue.csv", "--id", "claim")
PRIOR = ("--class-prior", "0.2")
FEATURES = ("--drop", "fraud", "--drop", "customer", "--id", "claim", "--learner", "elkan_noto")
SUMMARY = str(Path(pulens.__file__).parent / "research" / "benchmark" / "summary.csv.gz")
ASKED: Sequence[tuple[str, ...]] = (
    ("evaluate", *SCORE),
    ("evaluate", *SCORE, *PRIOR),
    ("evaluate", *SCORE, *PRIOR, "--group-by", "region"),
    ("evaluate", *SCORE, *PRIOR, "--group-by", "region", "--gaps", "recall"),
    ("evaluate", *SCORE, *PRIOR, "--top", "20", "--top", "100"),
    ("compare", *SCORE, "--score", "risk_v1", *PRIOR),
    ("calibrate", *SCORE, *PRIOR),
    ("prior", *SCORE),
    ("decide", *SCORE, *PRIOR, "--cost-miss", "500", "--cost-alarm", "20"),
    ("decide", *SCORE, *PRIOR, "--capacity", "10", "--volume", "190"),
    ("audit", "plan", *SCORE, "--id", "claim", "--threshold", "0.5", "--budget", "100", "--out", "queue.csv"),
    ("audit", "read", "queue.csv"),
    ("evaluate", *SCORE, *QUEUE),
    ("watch", *SCORE, *PRIOR, "--time", "day", "--reference-until", "2026-05-31"),
    ("fit", "claims.csv", *LABEL, *PRIOR, *FEATURES, "--folds", "2"),
    ("train", "claims.csv", *LABEL, *PRIOR, *FEATURES, "--out", "model"),
    ("score", "model", "claims.csv", "--out", "scored.csv"),
    ("learners", "advise", "claims.csv", *LABEL),
    ("tally", *SCORE, "--out", "claims.tally"),
    ("merge", "claims.tally", "--out", "merged.tally"),
    ("synthesise", "claims.csv", "--target", "region", "--positive", "north", "--labelled", "50", "--out", "made.csv"),
    ("bench", "plan", "smoke"),
    ("bench", "report", SUMMARY),
    ("reproduce", "--list"),
)


def answer(words: Sequence[str]) -> str:
    """What a command prints; whatever its exit code says."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as error:
        try:
            main(list(words))
        except SystemExit as stop:
            if stop.code not in (0, 1, 3):  # a demand that cannot be met, a change: answers too
                raise SystemExit(f"{' '.join(words)}\n{error.getvalue()}") from None
    return out.getvalue()


def sizes(text: str) -> tuple[int, int]:
    lines = text.rstrip("\n").split("\n")
    return len(lines), max(map(len, lines))


def short(words: Sequence[str]) -> str:
    """The command with the options that make it what it is."""
    kept = [one for one in words if one in ("advise", "plan", "read", "report", "smoke") or one.startswith("--")]
    common = {"--score", "--label", "--positive", "--id", "--out", "--drop", "--learner", "--folds", "--target"}
    said = dict.fromkeys(one for one in kept if one not in common)
    return " ".join((words[0], *said))


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
        return
    for each, one in inner.items():
        if not one.hidden:
            yield from commands(one, f"{name} {each}")


def shown_help(command: click.Command, name: str, *, everything: bool) -> str:
    context = click.Context(command, info_name=f"pulens {name}", terminal_width=COLUMNS)
    context.meta["pulens.help-all"] = everything
    return command.get_help(context)


def write_tables() -> None:
    table = claims(ROWS)
    with open("claims.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([table, *zip(*table.values(), strict=True)])


def fill_in() -> None:
    """The queue as somebody who knows every claim would fill it in."""
    truth = dict(zip((one := claims(ROWS))["claim"], one["fraud"], strict=True))
    with open("queue.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open("queue.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"answer": int(truth[row["claim"]])} for row in rows)


def answers() -> None:
    print(f"{'answer':<60}{'lines':>8}{'widest':>8}")
    for words in ASKED:
        lines, widest = sizes(answer(words))
        print(f"{short(words):<60}{lines:>8}{widest:>8}", flush=True)
        if words[:2] == ("audit", "plan"):
            fill_in()


def helps() -> None:
    print(f"\n{'help':<24}{'lines':>8}{'options':>9}{'widest':>8}{'all lines':>11}{'all options':>13}{'widest':>8}")
    for title in app.list_commands(click.Context(app)):
        command = app.get_command(click.Context(app), title)
        for name, one in () if command is None else commands(command, title):
            cells = []
            for everything in (False, True):
                text = shown_help(one, name, everything=everything)
                cells += [sizes(text)[0], len(re.findall(r"^  -", text, re.MULTILINE)), sizes(text)[1]]
            lines, options, widest, all_lines, all_options, all_widest = cells
            print(f"{name:<24}{lines:>8}{options:>9}{widest:>8}{all_lines:>11}{all_options:>13}{all_widest:>8}")


def names() -> None:
    found = pulens.evaluate("claims.csv", score="risk_v2", label="outcome", positive="fraud", class_prior=0.2)
    for title, one in (("pulens.<tab>", pulens), ("evaluation.<tab>", found)):
        print(f"{title:<24}{sum(not name.startswith('_') for name in dir(one)):>8} names")


def pages() -> None:
    entries = re.findall(
        r"```\{toctree\}\n(.*?)```", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.DOTALL
    )
    listed = [line for one in entries for line in one.splitlines() if line.strip() and not line.startswith(":")]
    written = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in written)
    print(f"{'pages in the sidebar':<24}{len(listed):>8}\n{'pages':<24}{len(written):>8}\n{'words':<24}{words:>8,}")


if __name__ == "__main__":
    os.environ["COLUMNS"] = str(COLUMNS)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            write_tables()
            answers()
            helps()
            print()
            names()
        finally:
            os.chdir(here)
    pages()
