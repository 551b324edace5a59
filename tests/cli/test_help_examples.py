"""Whatever ``--help`` shows as an example works on a file of the name that it shows."""

from __future__ import annotations

import csv
import datetime
import re
import shlex
import zlib
from pathlib import Path

import click
import numpy as np
import pytest

from command_lines import understood
from pulens.cli import COMMANDS, app, main

# these take long, fetch data, write into a home or need a history: other tests do them, here they must be understood
ONLY_READ = ("train", "fit", "compare", "bench", "reproduce", "demo", "completion", "watch", "merge")
PAGES = (Path(__file__).resolve().parents[2] / "docs").rglob("*.md")
ON_PAGES = {  # tests/test_docs.py runs these
    line for page in PAGES for line in re.findall(r"^\$ pulens (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
}
TABLE = re.compile(r"[\w-]+\.(csv|parquet)")


def commands_of(command: click.Command) -> list[click.Command]:
    return [command, *(one for inner in getattr(command, "commands", {}).values() for one in commands_of(inner))]


def examples(name: str) -> list[list[str]]:
    """The command lines in the help of a command and of those below it, in their order, each once."""
    result: dict[tuple[str, ...], None] = {}
    for command in commands_of(app.get_command(click.Context(app), name)):
        text = re.sub(r"\\\n\s*", " ", f"{command.help or ''}\n{command.epilog or ''}")
        for line in re.findall(r"(?:^|Examples?: )\s*pulens (.+)$", text, re.MULTILINE):
            result[tuple(shlex.split(line, comments=True))] = None
    return [list(words) for words in result]


def table(name: str) -> dict[str, np.ndarray]:
    """One table with every column that an example speaks of; visits have labels enough for each clinic."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    rare = name in ("scores.parquet", "run.parquet")  # whose class prior is said to be small
    rows, chance = (1000, 0.25) if name.startswith("visits") else (1600, 0.07) if rare else (600, 0.22)
    clinic = rng.choice(["north", "south"], rows)
    positive = rng.random(rows) < np.where(clinic == "north", 0.1, 0.3)
    labelled = positive & (rng.random(rows) < chance)
    probability = 1 / (1 + np.exp(-rng.normal(positive * 2.5 - 1.5)))
    place = np.arange(rows)
    begin = datetime.date(2026, 2, 20)
    day = np.array([(begin + datetime.timedelta(days=int(i * 60 // rows))).isoformat() for i in place])
    status = np.where(labelled, "confirmed", "")
    return {
        "score": probability.round(6),
        "label": labelled.astype(int),
        "p": probability.round(6),
        "margin": np.log(probability / (1 - probability)).round(6),
        "model_a": probability.round(6),
        "model_b": (1 / (1 + np.exp(-rng.normal(positive * 1.5 - 1)))).round(6),
        "size": rng.normal(positive).round(4),
        "age": rng.normal(-1.0 * positive).round(4),
        "fraud": status,
        "status": status,
        "class": np.where(positive, "spam", "ham"),
        "day": day,
        "scored_at": day,
        "country": rng.choice(["no", "se"], rows),
        "sex": rng.choice(["f", "m"], rows),
        "clinic": clinic,
        "patient": place // 3,
        "query": place % 6,
        "case": place,
        "customer_id": place,
        "text": np.array([f"row {i}" for i in place]),
    }


def write(path: Path, columns: dict[str, np.ndarray]) -> None:
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table({name: list(column) for name, column in columns.items()}), path)
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def columns_for(words: list[str], name: str) -> dict[str, np.ndarray]:
    """What a table of this command holds: all columns, or what there is to learn from."""
    label = "status" if "status" in words else "label"
    copied = [column for column in (label, "customer_id") if column in words]
    kept = {"train": [label], "score": copied, "synthesise": ["class"]}.get(words[0])
    result = table(name)
    return result if kept is None else {column: result[column] for column in ("size", "age", *kept)}


def prepare(words: list[str]) -> None:
    """The files that a command will read, unless an earlier example left them."""
    written = {words[place + 1] for place, word in enumerate(words) if word in ("--out", "-o", "--html", "--json")}
    for word in words:
        here = word in written or Path(word).exists()
        if TABLE.fullmatch(word) and not here and not word.startswith("queue"):
            write(Path(word), columns_for(words, word))
        elif word.startswith("lake/"):
            write(Path("lake/day.parquet"), table(word))
        elif word.startswith("duckdb:///") and not Path("scores.db").exists():
            import duckdb

            write(Path("t.parquet"), table(word))
            with duckdb.connect("scores.db") as database:
                database.execute("create table t as select * from 't.parquet'")
        elif word.endswith(".tally") and not here:
            write(Path("tallied.csv"), table(word))
            main(["tally", "tallied.csv", "-o", word])
    if words[0] == "score" and not Path("model").exists():
        write(Path("claims.csv"), columns_for(["train"], "claims"))
        main(["train", "claims.csv", "--method", "elkan_noto", "--out", "model"])
        Path("claims.csv").unlink()
        prepare(words)
    if words[:2] == ["audit", "plan"]:
        Path("queue.csv").unlink(missing_ok=True)  # one that is answered is not overwritten
    elif "queue.csv" in words:
        answered(Path("queue.csv"))


def answered(queue: Path) -> None:
    """A queue that somebody has filled in, with a second opinion."""
    if not queue.exists():
        write(Path("scores.csv"), table("scores.csv"))
        main(["audit", "plan", "scores.csv", "--threshold", "0.5", "--budget", "60", "--out", str(queue)])
    with queue.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with queue.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*dict.fromkeys([*rows[0], "answer2"])])
        writer.writeheader()
        for place, row in enumerate(rows):
            said = "no" if place % 3 else "yes"
            writer.writerow({**row, "answer": said, "answer2": said})


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ONLY_READ])
def test_examples_of_the_help_work(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = examples(name)
    assert shown, f"pulens {name} --help shows no example"
    for words in shown:
        prepare(words)
        if any(word.endswith(".xlsx") for word in words) or (shlex.join(words) in ON_PAGES and "-o" not in words):
            understood(words)  # Excel queues: tests/audits/test_queue.py
            continue
        main(words)
    capsys.readouterr()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name in ONLY_READ])
def test_examples_of_the_help_are_understood(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "mine.py").write_text("")
    shown = examples(name)
    assert shown, f"pulens {name} --help shows no example"
    for words in shown:
        understood(words[: words.index(">")] if ">" in words else words)
    capsys.readouterr()


@pytest.mark.parametrize("asked", ["--help", "--help-all"])
def test_no_line_of_any_help_is_longer_than_a_terminal(asked):
    """Examples were up to 114 columns wide."""
    for name in COMMANDS:
        for command in commands_of(app.get_command(click.Context(app), name)):
            context = click.Context(command, info_name=f"pulens {name}", terminal_width=80)
            context.meta["pulens.help-all"] = asked == "--help-all"
            text = command.get_help(context)
            assert max(map(len, text.splitlines())) <= 80, text
