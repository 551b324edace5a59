"""The queue as a file that people fill in, and next to it the plan that makes their answers mean something."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pulens.atomic_write import is_channel, written_together
from pulens.audits.allocation import check_goal
from pulens.audits.ladder import ladder_from_dict, ladder_to_dict, thinned
from pulens.audits.plan import AuditPlan, PlannedRows, digest_of_strata
from pulens.audits.strata import Strata
from pulens.bounded_text import parse_json, read_bounded
from pulens.counts.exactness import LARGEST_WHOLE
from pulens.errors import InputError, PulensError, listed, shown
from pulens.frozen import FrozenMapping
from pulens.inference.kernels.resampling import check_seed
from pulens.inputs.addresses import check_name
from pulens.inputs.arrays import python_values
from pulens.inputs.columns import find_column, is_null
from pulens.inputs.tables.arrow import arrow_table, parquet_size
from pulens.inputs.tables.chunks import delimited_rows
from pulens.inputs.tables.excel import excel_bytes, openpyxl_for, read_excel
from pulens.inputs.tables.inert import inert, restored
from pulens.inputs.tables.streams import explained_file
from pulens.inputs.tables.whole import Table
from pulens.inputs.tables.writing import only_text, table_bytes
from pulens.locks import locked
from pulens.scalars import real
from pulens.scenario import Scenario, check_scenario

FORMAT = 1  # of plan files
ENDINGS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx"}
RESERVED = ("batch", "probability", "answer", "score", "stratum")
MOST_QUEUE_BYTES = 256 << 20
MOST_PLAN_BYTES = 256 << 20
ROW = "row"
LONGEST_CELL = 131_072  # characters that Python's reader of CSV files takes
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")
_QUOTED = re.compile(r'[",;\t\r\n]|^ | $')

AnyPath = str | PathLike[str]


def kind_of(path: AnyPath) -> str:
    """The format of a queue, by the ending of its file.

    >>> kind_of("queue.csv")
    'csv'
    """
    ending = Path(path).suffix.lower()
    if str(path) == "-" or is_channel(path):
        raise InputError(f"{path}: a queue is a file with its plan next to it; it cannot go through a pipe.")
    if ending not in ENDINGS:
        raise InputError(
            f"{path}: the file name must end with the format of the queue, one of {listed(ENDINGS)}; got "
            f"{'none' if not ending else repr(ending)}."
        )
    if ENDINGS[ending] == "xlsx":
        openpyxl_for("a queue in Excel")  # better now than when the rows are drawn
    return ENDINGS[ending]


def plan_path(path: AnyPath) -> Path:
    """Where the plan of a queue lies.

    >>> str(plan_path("work/queue.csv"))
    'work/queue.audit.json'
    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"a queue is named by its file, got {shown(path)}.")
    check_name(str(path))
    if not Path(path).name:  # a folder such as . or /
        raise InputError(f"{shown(str(path))} names no file: a queue is a file with its plan next to it.")
    return Path(path).with_suffix(".audit.json")


def next_queue(path: AnyPath) -> str:
    """The name of the larger queue that follows this one, in its folder.

    >>> next_queue("work/queue.csv"), next_queue("queue2.csv")
    ('work/queue2.csv', 'queue3.csv')
    """
    file = Path(path)
    counted = re.fullmatch(r"(.*\D)(\d+)", file.stem)
    stem = file.stem if counted is None else counted[1]
    return str(file.with_name(f"{stem}{2 if counted is None else int(counted[2]) + 1}{file.suffix}"))


def write_queue(plan: AuditPlan, path: AnyPath) -> None:
    """Write queue and plan, both or neither; a queue that somebody answered is not replaced."""
    contents = queue_files(plan, path)
    with queue_locked(path), written_together(contents):
        pass


@contextmanager
def queue_locked(path: AnyPath) -> Iterator[None]:
    """Have a queue and its plan for oneself while they are replaced: they belong together, and answers are kept."""
    with locked(plan_path(path)):  # which queues of other formats share
        refuse_answered(path)
        yield


def queue_files(plan: AuditPlan, path: AnyPath) -> dict[AnyPath, bytes]:
    """Both files as they will be written."""
    return {str(path): queue_bytes(plan, kind_of(path)), str(plan_path(path)): plan_bytes(plan)}


def refuse_answered(path: AnyPath) -> None:
    """Refuse to replace a queue that holds answers, or the plan that one of another format shares: they took an \
afternoon."""
    for ending in ENDINGS:
        file = Path(path).with_suffix(ending)
        if file.is_file():
            _refuse_answers_in(file)


def _refuse_answers_in(file: Path) -> None:
    try:
        answered = sum(not is_null(one) for one in read_queue(file).column("answer"))
    except PulensError:
        return  # something else, which may be replaced as any file may
    if answered:
        raise PulensError(
            f"{file} holds {answered:,} answer{'s' if answered > 1 else ''}, which would be lost, or lose their plan: "
            "name another file, or remove this one first."
        )


def queue_columns(plan: AuditPlan) -> dict[str, list[Any]]:
    """The columns of a queue, in order: what identifies rows, what was kept, batch, probability, answer."""
    rows = plan.rows
    columns: dict[str, list[Any]] = {ROW if plan.id is None else plan.id: _numbers_if_all(rows.name)}
    columns |= {name: list(values) for name, values in rows.kept.items()}
    if plan.show_scores:
        columns |= {"score": rows.score.tolist(), "stratum": (rows.stratum + 1).tolist()}
    columns["batch"] = rows.batch.tolist()
    columns["probability"] = plan.probability[rows.stratum].tolist()
    columns["answer"] = [None] * len(rows)
    _carry(columns, rows)
    return columns


def _carry(columns: dict[str, list[Any]], rows: PlannedRows) -> None:
    """Put what people wrote into the queue before into its place, columns of their own last."""
    theirs = dict.fromkeys(name for cells in rows.carried.values() for name in cells)
    for name in theirs:
        before = columns.setdefault(name, [None] * len(rows))
        for index, one in enumerate(rows.name):
            if name in rows.carried.get(one, {}):
                before[index] = rows.carried[one][name]


def queue_bytes(plan: AuditPlan, kind: str) -> bytes:
    """The queue as a file of the format holds it; the same plan is the same bytes."""
    columns = queue_columns(plan)
    if kind == "xlsx":
        return excel_bytes(columns)
    if kind == "parquet":
        typed = {name: _text_column(values) if _is_mixed(name, values) else values for name, values in columns.items()}
        return table_bytes("parquet", typed)
    columns["probability"] = [format(one, ".17g") for one in columns["probability"]]
    between = "\t" if kind == "tsv" else ","
    lines = [columns, *zip(*columns.values(), strict=True)]
    text = "".join(f"{between.join(map(_cell, line))}\n" for line in lines)
    with only_text():
        return text.encode()


def _cell(value: Any) -> str:
    """One cell of a text file: null as nothing, what could be a formula as text.

    Python's own writer leaves a carriage return without quotes, and readers end the line there.
    """
    text = "" if is_null(value) else str(inert(value if isinstance(value, str) else str(value)))
    if len(text) > LONGEST_CELL:
        raise InputError(
            f"a cell has {len(text):,} characters, and programs that read CSV files take {LONGEST_CELL:,} at most. "
            "Write .parquet instead, or leave its column out."
        )
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _numbers_if_all(names: tuple[str, ...]) -> list[Any]:
    """Row numbers and ids of digits as numbers, all of them or none: 007 and 1e5 are read back as they were."""
    return [int(name) for name in names] if all(map(_WHOLE.fullmatch, names)) else list(names)


def _is_mixed(name: str, values: list[Any]) -> bool:
    """Arrow columns have one type: answers are text, and so is what people typed beside numbers."""
    kinds = {type(one) for one in values if one is not None}
    return name == "answer" or kinds == {str} or not (len(kinds) <= 1 or kinds <= {int, float})


def _text_column(values: list[Any]) -> Any:
    from pulens.inputs.tables.arrow import pyarrow_for

    pa = pyarrow_for("writing parquet files")
    with only_text():
        return pa.array([None if is_null(value) else str(value) for value in values], pa.string())


def strata_to_dict(plan: AuditPlan) -> dict[str, Any]:
    """Edges and counts of a plan's strata as plain values."""
    strata = plan.strata
    return {
        "edges": list(strata.edges),
        "flagged": strata.flagged,
        "rows": strata.rows.tolist(),
        "labelled": strata.labelled.tolist(),
        "known_negative": strata.known_negative.tolist(),
        "batches": [batch.tolist() for batch in plan.batches],
    }


def plan_bytes(plan: AuditPlan) -> bytes:
    """The plan as JSON: all that reading answers needs, and nothing that depends on the time or the machine."""
    rows = plan.rows
    told = {
        "pulens_audit": FORMAT,
        "source": plan.source,
        "id": plan.id,
        "keep": list(rows.kept),
        "show_scores": plan.show_scores,
        "reading": dict(plan.reading),
        "scenario": str(plan.scenario),
        "label_noise": plan.label_noise,
        "positives": plan.positives,
        "goal": plan.goal,
        "seed": plan.seed,
        "threshold": plan.threshold,
        "threshold_choice": plan.threshold_choice,
        "strata": strata_to_dict(plan),
        "digest": plan.digest,
        "rows": {
            "name": list(rows.name),
            "stratum": rows.stratum.tolist(),
            "score": rows.score.tolist(),
            "batch": rows.batch.tolist(),
        },
        "counts": ladder_to_dict(thinned(plan.tally, [*plan.strata.edges, plan.threshold, *rows.score.tolist()])),
    }
    # one line for each part: readable enough, and a queue of 200 rows stays small
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in told.items())
    return f"{{\n{lines}\n}}\n".encode()


def read_plan(path: AnyPath) -> AuditPlan:
    """The plan of a queue (its columns that people see stay in the queue), checked in every part."""
    file = plan_path(path)  # refuses what names no file
    file = Path(path) if str(path).endswith(".audit.json") else file
    if not file.is_file():
        raise InputError(
            f"{file}: the plan that was written next to the queue is missing, and without it there is no record of how "
            "the rows were chosen. Put it back, or name it (plan=..., --plan). Rows with their chance of being "
            "checked in a column probability can be read as reviews instead: pulens evaluate TABLE --reviews."
        )
    told = parse_json(read_bounded(file, most=MOST_PLAN_BYTES), str(file))
    if not isinstance(told, Mapping) or "pulens_audit" not in told:
        raise InputError(f"{file}: this is not the plan of an audit.")
    if told["pulens_audit"] != FORMAT:
        raise InputError(
            f"{file}: a plan of format {shown(told['pulens_audit'])}; this version reads format {FORMAT}. Use the "
            "version that wrote it, or a newer one."
        )
    try:
        return _plan(told)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    except PulensError as error:
        raise InputError(f"{file}: the plan is damaged: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else error
        raise InputError(f"{file}: the plan is damaged: {said}. Plan again, or take a copy of the file.") from error


def _plan(told: Mapping[str, Any]) -> AuditPlan:
    given = told["strata"]
    edges = tuple(float(edge) for edge in given["edges"])
    kinds = [_whole(given[name], name) for name in ("rows", "labelled", "known_negative")]
    batches = tuple(_whole(batch, "batches") for batch in given["batches"])
    threshold = float(told["threshold"])
    strata = Strata(threshold, edges, int(given["flagged"]), *kinds)
    rows = told["rows"]
    planned = PlannedRows(
        tuple(rows["name"]),
        _whole(rows["stratum"], "stratum").astype(np.intp),
        np.array(rows["score"], np.float64),
        _whole(rows["batch"], "batch").astype(np.intp),
        FrozenMapping({str(name): () for name in told["keep"]}),
    )
    plan = AuditPlan(
        strata=strata,
        batches=batches,
        rows=planned,
        tally=ladder_from_dict(told["counts"]),
        goal=check_goal(told["goal"]),
        scenario=Scenario(check_scenario(told["scenario"])),
        seed=check_seed(told["seed"]),
        label_noise=_number(told["label_noise"], "label_noise", 1),
        positives=None if told["positives"] is None else _number(told["positives"], "positives", LARGEST_WHOLE),
        threshold_choice=str(told["threshold_choice"]),
        source=str(told["source"]),
        id=None if told["id"] is None else str(told["id"]),
        reading=FrozenMapping({str(name): value for name, value in told["reading"].items()}),
        show_scores=bool(told["show_scores"]),
    )
    _check(plan, str(told["digest"]))
    return plan


def _check(plan: AuditPlan, digest: str) -> None:
    """What hangs together in a plan that was written must hang together in the one that is read."""
    plan.counts  # noqa: B018  (refuses counts that no table has)
    _check_strata(plan.strata, plan.threshold, digest)
    _check_rows(plan.rows)
    _check_batches(plan)


def _check_strata(strata: Strata, threshold: float, digest: str) -> None:
    falls = all(upper > lower for upper, lower in zip(strata.edges, strata.edges[1:], strict=False))
    if len(strata.edges) != len(strata) - 1 or not falls or not np.isfinite([*strata.edges, threshold]).all():
        raise InputError("the plan is damaged: its strata and their edges do not fit together.")
    if digest_of_strata(strata) != digest:
        raise InputError(
            "the plan was changed since it was written: its counts do not match its digest. Take the "
            "file that was written, or plan again."
        )


def _check_rows(rows: PlannedRows) -> None:
    lengths = {len(rows.name), len(rows.stratum), len(rows.score), len(rows.batch)}
    names = all(isinstance(name, str) for name in rows.name) and len(set(rows.name)) == len(rows.name)
    if len(lengths) != 1 or not names or not np.isfinite(rows.score).all():
        raise InputError("the plan is damaged: its rows are not one name, stratum, score and batch each.")


def _check_batches(plan: AuditPlan) -> None:
    strata, rows, size = plan.strata, plan.rows, len(plan.strata)
    if any(len(batch) != size for batch in plan.batches) or (rows.stratum >= size).any():
        raise InputError("the plan is damaged: it names strata that it does not have.")
    for number, batch in enumerate(plan.batches, start=1):
        listed_rows = np.bincount(rows.stratum[rows.batch == number], minlength=size)
        if not np.array_equal(listed_rows, batch):
            raise InputError(f"the plan is damaged: batch {number} has other rows than it says.")
    if not np.isin(rows.batch, np.arange(1, len(plan.batches) + 1)).all() or (plan.allocation > strata.rows).any():
        raise InputError("the plan is damaged: it holds more rows than there are.")


def _whole(values: Any, name: str) -> Any:
    if not isinstance(values, list) or not all(type(one) is int and one >= 0 for one in values):
        raise InputError(f"the plan is damaged: {name} must be whole numbers, got {shown(values)}.")
    return np.array(values, np.int64)


def _number(value: Any, name: str, most: float) -> float:
    if not 0 <= real(value) <= most:
        raise InputError(f"the plan is damaged: {name} must be a number between 0 and {most:g}, got {shown(value)}.")
    return float(value)


def read_queue(path: AnyPath) -> Table:
    """The table that people filled in, cells as they are written; what was made inert is restored."""
    kind = kind_of(path)
    file = Path(path)
    try:
        size = file.stat().st_size
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}.") from error
    if size > MOST_QUEUE_BYTES:
        raise InputError(f"{file}: is larger than {MOST_QUEUE_BYTES:,} bytes, and no queue needs as many.")
    if kind == "xlsx":
        table = read_excel(file)
    elif kind == "parquet":
        table = _read_parquet(file)
    else:
        table = _read_text(file, "\t" if kind == "tsv" else ",")
    with explained_file(str(file), kind):
        for name in table.names:
            if name:
                find_column(name, table.names)  # two columns of one name could not be distinguished
    return table


def _read_parquet(file: Path) -> Table:
    if parquet_size(file)[1] > 4 * MOST_QUEUE_BYTES:
        raise InputError(f"{file}: is larger than {4 * MOST_QUEUE_BYTES:,} bytes when unpacked, and no queue is.")
    with file.open("rb") as stream, explained_file(str(file), "parquet"):
        result = arrow_table(stream, "parquet")
        return Table(list(result.column_names), [python_values(column) for column in result.columns])


def _read_text(file: Path, delimiter: str) -> Table:
    """Spreadsheets in many countries write semicolons, and some write tabs: the first line tells."""
    content = file.read_bytes()
    head = content.partition(b"\n")[0]
    if delimiter.encode() not in head:
        delimiter = next((other for other in (";", "\t") if other.encode() in head), delimiter)
    with explained_file(str(file), "csv"), delimited_rows(io.BytesIO(content), delimiter) as (names, rows):
        body = [[restored(cell) for cell in row] for row in rows]
        return Table(
            [restored(name) for name in names], [[row[column] for row in body] for column in range(len(names))]
        )
