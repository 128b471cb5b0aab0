"""Tables in Parquet files, by pyarrow, which is optional: columns by name, each with its unit.

The unit of a column is in the metadata of its field, under `unit`; what belongs to the table is in the metadata of the
schema.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fmumbs.errors import SolverError

TYPES = ("float", "int", "bool", "text")
_AT_ONCE = 256  # files whose rows become a group of rows of the joined file


def library() -> Any:
    """The module pyarrow. Raises SolverError if it is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise SolverError("Parquet files need pyarrow. Install it with: pip install 'fmumbs[sweep]'.") from error
    return pyarrow


def table_of(
    columns: Mapping[str, Any],
    units: Mapping[str, str],
    types: Mapping[str, str],
    about: Mapping[str, str],
    descriptions: Mapping[str, str] | None = None,
    *,
    gaps: bool = True,
) -> Any:
    """A pyarrow table. types: of columns, one of TYPES, by default float. gaps: NaN and None become null."""
    pyarrow = library()
    kinds = {"float": pyarrow.float64(), "int": pyarrow.int64(), "bool": pyarrow.bool_(), "text": pyarrow.string()}
    notes = {name: {"unit": units.get(name, "")} for name in columns}
    for name, text in (descriptions or {}).items():
        if name in notes:
            notes[name]["description"] = text
    fields = [pyarrow.field(name, kinds[types.get(name, "float")], metadata=notes[name]) for name in columns]
    schema = pyarrow.schema(fields, metadata=dict(about))
    arrays = [
        pyarrow.array(_texts(values) if field.type == "string" else values, type=field.type, from_pandas=gaps)
        for values, field in zip(columns.values(), fields, strict=True)
    ]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _texts(values: Iterable[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def write_table(table: Any, file: BinaryIO, *, briefly: bool = False) -> None:
    """Writes a table to an open file. briefly: it is soon read again, so that its size matters less than the time."""
    options: dict[str, Any] = {"use_dictionary": False, "write_statistics": False, "compression": "none"}
    library().parquet.write_table(table, file, **(options if briefly else {}))


def join(parts: Sequence[Path], file: BinaryIO) -> None:
    """Writes the tables of files that have one schema to an open file, one after the other."""
    pyarrow = library()
    with pyarrow.parquet.ParquetWriter(file, pyarrow.parquet.read_schema(parts[0])) as writer:
        for first in range(0, len(parts), _AT_ONCE):
            tables = [_whole_table(part) for part in parts[first : first + _AT_ONCE]]
            writer.write_table(pyarrow.concat_tables(tables))


def _whole_table(path: Path) -> Any:
    """The table of a file, read by one thread, which few rows of many columns take less time by."""
    with library().parquet.ParquetFile(path) as file:
        return file.read(use_threads=False)


def read_columns(path: Path, names: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """(rows,) values of columns by name; of all, if names is None. Missing numbers are NaN, missing texts None."""
    with _readable(path) as parquet:
        table = parquet.read_table(path, columns=None if names is None else list(names), partitioning=None)
        return {name: np.asarray(table[name].to_numpy()) for name in table.column_names}


def read_head(path: Path) -> tuple[dict[str, str], dict[str, str], int]:
    """The metadata of a file's table, the units of its columns by name, and the number of rows."""
    with _readable(path) as parquet:
        meta = parquet.read_metadata(path)
        schema = meta.schema.to_arrow_schema()
    about = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    return about, _notes(schema, b"unit"), int(meta.num_rows)


def read_descriptions(path: Path) -> dict[str, str]:
    """The descriptions of a file's columns by name."""
    with _readable(path) as parquet:
        return _notes(parquet.read_schema(path), b"description")


def _notes(schema: Any, what: bytes) -> dict[str, str]:
    return {field.name: (field.metadata or {}).get(what, b"").decode() for field in schema}


@contextmanager
def _readable(path: Path) -> Iterator[Any]:
    """pyarrow.parquet; the errors of a file that it cannot read become a SolverError."""
    pyarrow = library()
    try:
        yield pyarrow.parquet
    except (pyarrow.ArrowException, OSError) as error:
        raise SolverError(f"'{path}' cannot be read as Parquet: {str(error).strip().rstrip('.')}.") from error
