"""Parquet and Arrow files, batch by batch; every batch is validated before its values are looked at.

Arrow trusts the offsets in a file: reading values through damaged ones may end the whole process. Validation finds
them first.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from pulens.errors import InputError, MissingDependencyError, cut
from pulens.inputs.arrays import plain_values
from pulens.inputs.columns import find_columns

LONGEST_REASON = 200  # characters of what Arrow says
OLD_FEATHER = b"FEA1"


def arrow_chunks(
    stream: IO[bytes], kind: str, wanted: Sequence[str], rows: int, roles: Sequence[str] = ()
) -> Iterator[list[Any]]:
    """The wanted columns of a file, this many rows at a time; ``roles`` are the arguments that name them."""
    for batch in _batches(stream, kind, wanted, rows, roles):
        if batch.num_rows:
            yield [plain_values(batch.column(batch.schema.get_field_index(name))) for name in wanted]


def arrow_names(stream: IO[bytes], kind: str) -> list[str]:
    """The columns of a file."""
    pa, parquet = _pyarrow(kind)
    with _explained(pa, kind):
        if kind == "parquet":
            return list(parquet.read_schema(stream).names)
        return list(_ipc_reader(pa, stream)[0].names)


def arrow_table(stream: IO[bytes], kind: str) -> Any:
    """A whole file."""
    pa, parquet = _pyarrow(kind)
    with _explained(pa, kind):
        source = _seekable(stream)
        if kind == "parquet":
            table = parquet.read_table(source)
        else:
            schema, batches = _ipc_reader(pa, source)
            table = pa.Table.from_batches(batches, schema)
        table.validate(full=True)
        return table


def write_as_parquet(stream: IO[bytes], target: Any) -> None:
    """The batches of an Arrow file, each validated, as a Parquet file."""
    pa, parquet = _pyarrow("arrow")
    with _explained(pa, "arrow"):
        schema, batches = _ipc_reader(pa, _seekable(stream))
        with parquet.ParquetWriter(target, schema) as writer:
            for batch in batches:
                batch.validate(full=True)
                writer.write_batch(batch)


def parquet_size(path: Any) -> tuple[int, int]:
    """Rows and uncompressed bytes of a Parquet file, as it says itself; zeros for what is no Parquet file."""
    try:
        pa, parquet = _pyarrow("parquet")
    except MissingDependencyError:
        return 0, 0
    try:
        told = parquet.read_metadata(path)
        return told.num_rows, sum(told.row_group(place).total_byte_size for place in range(told.num_row_groups))
    except (pa.ArrowException, OSError, ValueError):
        return 0, 0


def _batches(stream: IO[bytes], kind: str, wanted: Sequence[str], rows: int, roles: Sequence[str]) -> Iterator[Any]:
    pa, parquet = _pyarrow(kind)
    with _explained(pa, kind):
        source = _seekable(stream)
        if kind == "parquet":
            file = parquet.ParquetFile(source)
            names = _found(wanted, file.schema_arrow.names, roles)
            result = file.iter_batches(rows, columns=names)
        else:
            schema, result = _ipc_reader(pa, source)
            names = _found(wanted, schema.names, roles)
        for batch in result:
            chosen = pa.Table.from_batches([batch.select(names)])
            chosen.validate(full=True)
            yield from (chosen.slice(start, rows) for start in range(0, chosen.num_rows, rows))


def _found(wanted: Sequence[str], names: Sequence[str], roles: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(find_columns(wanted, names, roles=roles)))


def _ipc_reader(pa: Any, source: Any) -> tuple[Any, Iterator[Any]]:
    """The schema and the batches of an Arrow file or stream."""
    head = source.read(8)
    source.seek(0)
    if head.startswith(OLD_FEATHER):
        raise InputError("a Feather file of version 1, which Arrow no longer keeps safe: write it again as version 2.")
    if head.startswith(b"ARROW1"):
        reader = pa.ipc.open_file(source)
        return reader.schema, (reader.get_batch(place) for place in range(reader.num_record_batches))
    reader = pa.ipc.open_stream(source)
    return reader.schema, iter(reader)


def _seekable(stream: IO[bytes]) -> IO[bytes]:
    return stream if stream.seekable() else io.BytesIO(stream.read())


@contextmanager
def _explained(pa: Any, kind: str) -> Iterator[None]:
    """Whatever Arrow says about a damaged file, on one line and as an error of ours."""
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:  # lengths in a damaged file may ask for anything
        raise InputError(f"not a readable {kind} file: it asks for more memory than there is.") from error
    except (pa.ArrowException, ValueError, KeyError, IndexError, NotImplementedError) as error:
        said = cut(" ".join(str(error).split()), LONGEST_REASON)
        raise InputError(f"not a readable {kind} file: {said or type(error).__name__}") from error


def pyarrow_for(purpose: str) -> Any:
    """PyArrow with the parts that read and write files."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError("pyarrow", purpose=purpose, extra="data") from error
    return pyarrow


def _pyarrow(kind: str) -> tuple[Any, Any]:
    result = pyarrow_for(f"reading {kind} files")
    return result, result.parquet
