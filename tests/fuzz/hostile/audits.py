"""Audits: plans made of any table, queues that people and programs have been at, plans that somebody changed."""

from __future__ import annotations

import io
import json
import random
import shutil
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from hostile.call import Call
from hostile.damage import NUMBERS, STRANGE, some, spoilt_bytes, spoilt_tree
from hostile.options import COLUMNS
from hostile.originals import QUEUES, originals
from hostile.road import source_of
from hostile.rows import PRIORS

BUDGETS = [*["40", "10", "100"] * 3, "0", "-1", "1", "2", "1e3", "x", "", "9" * 30, str(2**63), "9" * 5000]
GOALS = ["all", "f1", "precision", "recall", "class_prior", "roc_auc", "nope", ""]
RATES = ["0.02,0.05", "0:0.02,0:0.1", "0.5,0.5", "0,0", "1,1", "-1,2", "nan,nan", "0.1", "a,b", ":,:", "0.2:0.1,0", ""]
WORDS = [*["1", "0", "yes", "no", "", "?", "unsure"] * 3, "true", "-", "+", "1.0", "TRUE", "Ja", *STRANGE]
OUTS = [*[f"out.{kind}" for kind in QUEUES] * 6, "out.nope", "out", "", ".", "\x00.csv", "-", "queue.csv", "a/b.csv"]
SHEET = "xl/worksheets/sheet1.xml"
PARTS = [
    (b"<v>", b"<f>1+1</f><v>"), (b"<v>", b"<v>" + b"9" * 5000), (b"<v>", b"<v>1e999</v><v>"), (b"?>", b"?><!DOCTYPE>"),
    (b'<row r="3"', b'<row r="1048576"'), (b'<row r="3"', b'<row r="999999999"'), (b'r="A1"', b'r="XFD1"'),
    (b'<dimension ref="', b'<dimension ref="A1:XFD1048576" a="'), (b't="s"', b't="d"'), (b't="s"><v>', b't="s"><v>-'),
]  # fmt: skip
MADE = frozenset(
    {f"out.{kind}" for kind in (*QUEUES, "audit.json", "json")} | {"a.html", "queue.csv", "queue.audit.json"}
)


def plan(chance: random.Random, folder: Path) -> Call:
    """Draw rows out of a table: calm, with one option that is odd, or of a source that is."""
    mood = chance.choice(["calm", "one option", "one option", "source"])
    source, given, named = source_of(chance, folder, "evaluate", calm=mood != "source")
    options = some(chance, [
        ["--id", "case"], ["--keep", "site", "--keep", "other"], ["--goal", chance.choice(GOALS[:6])],
        ["--threshold", "0.5"], ["--show-scores"], ["--seed", "7"], ["--keep", "patient"],
    ], 0.3)  # fmt: skip
    options += ["--budget", chance.choice(BUDGETS[:3])] if chance.random() < 0.8 else ["--width", "0.3"]
    odd = [
        ["--budget", chance.choice(BUDGETS)], ["--width", chance.choice(NUMBERS)], ["--goal", chance.choice(GOALS)],
        ["--threshold", chance.choice(NUMBERS)], ["--id", chance.choice([*COLUMNS, "row", "answer", "probability"])],
        ["--keep", chance.choice([*COLUMNS, "answer", "batch", "row"])],
        ["--seed", chance.choice([*NUMBERS, str(2**70)])],
        ["--class-prior", chance.choice(PRIORS)], ["--unlabelled-prior", "0.3"], ["--weight", "weight"],
        ["--label-noise", chance.choice(NUMBERS)], ["--where", chance.choice(["label >= 0", "nope", "'"])],
        ["--tolerance", chance.choice(NUMBERS)], ["--positive", chance.choice(STRANGE)],
    ]  # fmt: skip
    if mood == "one option":
        options += chance.choice(odd)
    out = chance.choice(OUTS[:24] if mood == "calm" else OUTS)
    words = ["audit", "plan", source, *named, "--class-prior", chance.choice(["0.4", "0.3:0.5", "auto"]), *options]
    words += ["--scenario", chance.choice(["single-set", "case-control"]), "--json", "out.json", "-q", "--out", out]
    return Call("audit plan", words, MADE, standard_input=given)


def read(chance: random.Random, folder: Path) -> Call:
    """What answers prove, of a queue in any state."""
    queue = answered(chance, folder, spoil=chance.choice([0, 0, 1, 1, 2]))
    options = some(chance, [
        ["--interval", "strict"], ["--anytime"], ["--at", "0.6"], ["--reviewer-errors", "0.02,0.05"],
        ["--second", "site"], ["--source", "scores.csv"], ["--html", "a.html"],
    ], 0.1)  # fmt: skip
    odd = [
        ["--confidence", chance.choice(NUMBERS)], ["--interval", chance.choice(["strict", "nope", ""])],
        ["--at", chance.choice(NUMBERS)], ["--reviewer-errors", chance.choice(RATES)],
        ["--yes", chance.choice(WORDS)], ["--no", chance.choice(WORDS)],
        ["--second", chance.choice([*COLUMNS, "batch", "answer", "other.csv", queue, "scores.csv", "\x00.csv"])],
        ["--source", chance.choice([*_sources(chance, folder), queue])], ["--allow-changed"], ["--html", "a.html"],
        ["--source", chance.choice(_sources(chance, folder)), "--allow-changed"],
        ["--plan", chance.choice(["queue.audit.json", "scores.csv", "nope.json", "", ".", "\x00"])],
    ]  # fmt: skip
    options += chance.choice(odd) if chance.random() < 0.4 else []
    return Call("audit read", ["audit", "read", queue, *options, "--json", "out.json", "-q"], MADE)


def more(chance: random.Random, folder: Path) -> Call:
    """Add rows to a queue that may be in any state, of a table that may have changed."""
    queue = answered(chance, folder, spoil=chance.choice([0, 0, 1]))
    words = ["audit", "more", queue, "--budget", chance.choice([*["60", "100", "161"] * 4, *BUDGETS])]
    words += some(chance, [["--source", chance.choice(_sources(chance, folder))], ["--allow-changed"]], 0.3)
    return Call("audit more", [*words, "--json", "out.json", "-q", "--out", chance.choice(OUTS)], MADE)


def answered(chance: random.Random, folder: Path, *, spoil: int) -> str:
    """A queue of some format, its answers filled in, its files then spoilt so many times; its plan lies beside it."""
    kind = chance.choice([*QUEUES, *QUEUES, "rows"])
    for file in sorted((originals() / "audited" / kind).iterdir()):
        shutil.copyfile(file, folder / file.name)
    queue = folder / f"queue.{'csv' if kind == 'rows' else kind}"
    words = WORDS[: chance.choice([2, 2, 7, 25])] if chance.random() < 0.9 else WORDS
    _fill(chance, queue, words)
    for _ in range(spoil):
        file = chance.choice([queue, queue, folder / "queue.audit.json", folder / "scores.csv"])
        if file.suffix == ".json" and chance.random() < 0.8:
            _spoil_plan(chance, file)
        elif file.suffix == ".xlsx" and chance.random() < 0.8:
            _spoil_parts(chance, file)
        else:
            file.write_bytes(spoilt_bytes(chance, file.read_bytes(), share=1))
    return queue.name


def _sources(chance: random.Random, folder: Path) -> list[str]:
    """Names of tables: the one that rows were drawn from, the same with a line more, something else."""
    table = folder / "scores.csv"
    if table.exists() and chance.random() < 0.5:
        with table.open("ab") as file:
            file.write(
                chance.choice([b"0,0.5,0.5,1,a,p1,2026-01-01,c301\n", b"1,0.9,0.5,1,a,p1,2026-01-01,c7\n", b"x\n"])
            )
    return ["scores.csv"] * 4 + ["nope.csv", "", ".", "sqlite:///nope.db", "\x00"]


def _fill(chance: random.Random, queue: Path, words: list[str]) -> None:
    """Answer the rows from the top, as far as somebody got; sometimes a column more, lines out of order."""
    table = _columns(queue)
    size = len(table["answer"])
    reached = chance.choice([0, 1, size // 2, size, size])
    table["answer"] = [chance.choice(words) if place < reached else "" for place in range(size)]
    if chance.random() < 0.2:
        table[chance.choice(["notes", "site", "score", "", "checked"])] = [chance.choice(words) for _ in range(size)]
    if chance.random() < 0.2:
        order = chance.sample(range(size), size)
        table = {name: [values[place] for place in order] for name, values in table.items()}
    _write(chance, queue, table)


def _columns(queue: Path) -> dict[str, list[Any]]:
    if queue.suffix == ".parquet":
        return parquet.read_table(queue).to_pydict()
    if queue.suffix == ".xlsx":
        import openpyxl

        lines = [list(row) for row in openpyxl.load_workbook(queue).active.iter_rows(values_only=True)]
    else:
        between = "\t" if queue.suffix == ".tsv" else ","
        lines = [line.split(between) for line in queue.read_text().splitlines()]
    return {str(name): [line[place] for line in lines[1:]] for place, name in enumerate(lines[0])}


def _write(chance: random.Random, queue: Path, table: dict[str, list[Any]]) -> None:
    """As the program would that people fill queues in with."""
    lines = [list(table), *map(list, zip(*table.values(), strict=True))]
    if queue.suffix == ".parquet":
        texts = {
            name: [str(one).encode("utf-8", "replace").decode() for one in values] for name, values in table.items()
        }
        plain = {
            name: texts[name] if name not in ("batch", "probability") else values for name, values in table.items()
        }
        parquet.write_table(pa.table(plain), queue)
    elif queue.suffix == ".xlsx":
        _write_sheet(chance, queue, lines)
    else:
        between = chance.choice(["\t" if queue.suffix == ".tsv" else ",", ";" if chance.random() < 0.1 else ","])
        ends = chance.choice(["\n", "\n", "\r\n"])
        text = ends.join(between.join("" if one is None else str(one) for one in line) for line in lines)
        queue.write_bytes(text.encode("utf-8", "surrogatepass"))


def _write_sheet(chance: random.Random, queue: Path, lines: list[list[Any]]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row, line in enumerate(lines, start=1):
        for column, value in enumerate(line, start=1):
            if value in (None, ""):
                continue
            if isinstance(value, str):  # Excel has no halves of characters
                value = value.encode("utf-8", "replace").decode()
            cell = book.active.cell(row, column)
            try:
                cell.value = value  # a formula, where it looks like one
                if value in ("0", "1") and chance.random() < 0.5:
                    cell.value = chance.choice([int(value), float(value), bool(int(value))])
            except (ValueError, openpyxl.utils.exceptions.IllegalCharacterError):
                cell.value = "x"
    if chance.random() < 0.1:
        book.active.insert_rows(chance.choice([1, 5]))
    if chance.random() < 0.1:
        book.create_sheet("another", chance.choice([0, 1]))
    book.save(queue)


def _spoil_plan(chance: random.Random, file: Path) -> None:
    try:
        told = json.loads(file.read_bytes())
    except ValueError:  # spoilt before
        return
    file.write_text(json.dumps(spoilt_tree(chance, told, times=chance.choice([1, 1, 3]))))


def _spoil_parts(chance: random.Random, file: Path) -> None:
    """One of the parts that an Excel file is packed from, with bytes changed, or another in its place."""
    try:
        with zipfile.ZipFile(file) as pack:
            parts = {name: pack.read(name) for name in pack.namelist()}
    except (OSError, zipfile.BadZipFile, zlib.error):  # spoilt before
        return
    name = chance.choice([*sorted(parts), SHEET, SHEET, "xl/sharedStrings.xml"])
    content = parts.pop(name, b"")
    if chance.random() < 0.9:
        old, new = chance.choice(PARTS) if chance.random() < 0.5 else (b"", b"")
        changed = content.replace(old, new, 1) if old else content
        parts[name] = changed if changed != content else spoilt_bytes(chance, content, share=1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, inner in parts.items():
            pack.writestr(name, inner)
    file.write_bytes(packed.getvalue())
