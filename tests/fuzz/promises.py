"""What every call keeps, whatever it was given: see docs/project/security.md."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from answers import differences, parse, unbounded_metrics, wrong_numbers
from hostile.call import Call
from in_process import Outcome, run

from pulens.errors import LONGEST_MESSAGE

MOST_MEMORY = 1 << 30  # bytes beyond what the process held: inputs here are small
UNBOUNDED = ("evaluate", "compare")


def check(call: Call, folder: Path, *, thorough: bool) -> tuple[str, int]:
    """How one call ended, and how many runs that took; an AssertionError where it broke a promise.

    ``thorough`` repeats an answer, for the same bytes, and asks for it without the limits of metrics.
    """
    before = digests(folder)
    outcome = run(call.words, folder, standard_input=call.standard_input)
    after = digests(folder)
    kept = {name: digest for name, digest in before.items() if name.partition("/")[0] not in call.changes}
    assert {name: after.get(name) for name in kept} == kept, "an input was changed"
    assert outcome.memory <= MOST_MEMORY, f"took {outcome.memory / 1e9:.1f} GB"
    assert outcome.code in call.codes, f"exit code {outcome.code}: {outcome.said[-300:]}"
    _check_words(outcome)
    made = {name for name in set(after) - set(before) if name.partition("/")[0] not in call.changes}
    if outcome.code == 2:
        assert not made, f"left behind after an error: {sorted(made)[:4]}"
        written = [name for name in call.changes if before.get(name) != after.get(name)]
        assert not written, f"written in spite of an error: {written[:4]}"
        return "refused", 1
    left = {name for name in made if name.partition("/")[0] not in call.makes}
    assert not left, f"left behind: {sorted(left)[:4]}"
    for name in made:
        _check_file(folder / name, call)
    runs = 1
    if call.alike:
        runs += _check_agreement(call, folder)
    elif thorough and call.repeats:
        runs += _check_repeated(call, folder, outcome, before, after)
    if thorough and call.kind in UNBOUNDED and "out.json" in made:
        runs += _check_unbounded(call, folder)
    return "answered", runs


def digests(folder: Path) -> dict[str, str]:
    """Every file below a folder, and every empty folder, by what it holds."""
    result = {}
    for entry in folder.rglob("*"):
        if entry.is_file():
            result[str(entry.relative_to(folder))] = hashlib.sha256(entry.read_bytes()).hexdigest()
        elif not any(entry.iterdir()):
            result[str(entry.relative_to(folder))] = "empty"
    return result


def _check_words(outcome: Outcome) -> None:
    """One message of readable length where there was an error; else lines of readable length, if any."""
    said = outcome.said
    assert "Traceback" not in said, said[-800:]
    assert not outcome.warned, f"Python warned: {outcome.warned[0][:300]}"
    if outcome.code == 2:
        message = said.strip().rpartition("Error: ")[2] if "Usage: " in said else said.strip()
        assert message, "an error without a word"
        lines = message.splitlines()
        assert all("left out" in line for line in lines[:-1]), f"more than one line: {message!r}"
        assert message.isprintable() or "\n" in message, f"characters that no terminal shows: {message!r}"
    for line in said.splitlines():
        assert len(line) <= LONGEST_MESSAGE + len("pulens: Error: "), f"{len(line)} characters: {line}"


def _check_file(path: Path, call: Call) -> None:
    """What a command wrote can be read again, and says nothing impossible."""
    if path.suffix == ".json" and path.name not in ("learner.json", "columns.json"):
        wrong = list(wrong_numbers(parse(path.read_bytes())))
        assert not wrong, f"numbers that contradict each other: {wrong[:3]}"
    elif call.kind == "score":
        wrong = [score for score in _column(path, "score") if not 0 <= score <= 1]
        assert not wrong, f"scores that are no shares: {wrong[:3]}"
    elif path.name == "mapped.csv":
        wrong = [score for score in _column(path, "calibrated", "new", "score") if not 0 <= score <= 1]
        assert not wrong, f"calibrated scores that are no shares: {wrong[:3]}"


def _column(path: Path, *names: str) -> list[float]:
    """The first of these columns that a table has, as numbers."""
    import csv
    import json

    from pyarrow import feather, parquet

    if path.suffix in (".csv", ".tsv"):
        with path.open(newline="") as file:
            rows: list[dict[str, Any]] = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        rows = (parquet.read_table if path.suffix == ".parquet" else feather.read_table)(path).to_pylist()
    name = next((name for name in names if rows and name in rows[0]), None)
    return [] if name is None else [float(row[name]) for row in rows if row[name] not in ("", None)]


def _check_agreement(call: Call, folder: Path) -> int:
    """Every road to the same rows gives the same numbers."""
    first, runs = parse((folder / "out.json").read_bytes()), 0
    for road, name in call.alike:
        for words in road:
            outcome = run(words, folder)
            runs += 1
            assert outcome.code in call.codes - {2}, f"{name}: exit code {outcome.code}: {outcome.said[-300:]}"
        wrong = list(differences(_comparable(first), _comparable(parse((folder / name).read_bytes()))))
        assert not wrong, f"{name} and out.json differ: {wrong[:3]}"
    return runs


def _comparable(answer: Any) -> Any:
    """An answer without its words for people: what to do next names the file."""
    return {name: value for name, value in answer.items() if name not in ("next_steps", "verdict", "source")}


def _check_repeated(call: Call, folder: Path, outcome: Outcome, before: dict[str, str], after: dict[str, str]) -> int:
    for name in set(after) - set(before):
        path = folder / name
        path.unlink() if path.is_file() else path.rmdir()
    again = run(call.words, folder, standard_input=call.standard_input)
    assert again.code == outcome.code, "a second run failed"
    other = sorted(name for name, digest in digests(folder).items() if after.get(name) != digest)
    assert not other, f"a second run wrote other bytes: {other[:4]}"
    assert again.shown == outcome.shown, "a second run showed something else"
    return 1


def _without_page(words: list[str]) -> list[str]:
    """A page draws what a metric can be, and where nothing is cut that may be without end."""
    return [
        word for place, word in enumerate(words) if word != "--html" and (place == 0 or words[place - 1] != "--html")
    ]


def _check_unbounded(call: Call, folder: Path) -> int:
    """Before anything is cut to what a metric can be, values lie in their intervals all the same."""
    with unbounded_metrics():
        outcome = run(_without_page(call.words), folder, standard_input=call.standard_input)
    if outcome.code == 0:
        answer = parse((folder / "out.json").read_bytes())
        wrong = list(wrong_numbers(answer, ranges=False))
        assert not wrong, f"before cutting: {wrong[:3]}"
    return 1
