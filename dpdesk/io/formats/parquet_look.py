"""What Arrow says of a Parquet file: its columns, labels, checksums; runs in the reading process.

Arrow's library ends its process at some damaged footers, which must not be that of the window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.labels import NO_BOOK, Codebook, Variable
from dpdesk.core.messages import msg
from dpdesk.io.canonical import UnreadableJsonError, parse_canonical
from dpdesk.io.csvw import labels_of
from dpdesk.io.database import identifier, in_memory, parquet_source
from dpdesk.io.failures import check_swollen, check_width, storage_error
from dpdesk.io.formats.moments import finer_sentence
from dpdesk.io.formats.request import ReadDone, ReadRequest
from dpdesk.io.formats.table import Notes, damaged
from dpdesk.io.tablewriters import LABELS_KEY

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.parquet import ParquetFile

_BATCH = 65_536
_AT_ONCE = 100
_MOST_DIGITS = 38
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_NANOS_UTC = "Time(isAdjustedToUTC=true, timeUnit=nanoseconds)"
_UNKNOWN = re.compile(
    r"not (yet )?(implemented|supported)|unsupported|unknown|FromBigEndian was [1-9]"
    "|Invalid BYTE_ARRAY length for decimal",
    re.IGNORECASE,
)
"""Words of Arrow about what it cannot read; decimals of more bytes than they need among it."""


def look(request: ReadRequest) -> ReadDone:
    """Columns with their labels, the number of rows, notes; with a limit no page is read.

    With ``faults`` the first text that is no UTF-8 is looked for instead. Raises InputError
    ``parquet.*``, ``read.damaged`` for a page that differs from its checksum, and
    ``encoding.undecodable``; StorageError.
    """
    path = Path(request.path)
    if request.faults:
        _refuse_undecodable(path)
        return ReadDone((), 0)
    names, rows = _shape(path)
    book, told = _labels(path, names)
    notes = Notes()
    empty: tuple[int, ...] = ()
    if request.limit is not None:
        _refuse_swollen_head(path, rows, request.limit)
    else:
        _refuse_swollen(path, rows)
        _note_values(path, names, notes)
        empty = _read_again(path, notes)
    variables = tuple(book.get(name) or Variable(name) for name in names)
    described = tuple(variable.name for variable in book.variables)
    return ReadDone(variables, rows, (*told, *notes.told()), empty=empty, described=described)


def _refuse_swollen(path: Path, rows: int) -> None:
    """Raise InputError ``read.swollen``; the database sums up lengths without making the texts."""
    import duckdb

    con = in_memory()
    try:
        described = con.execute(f"DESCRIBE SELECT * FROM {parquet_source(path)}").fetchall()
        texts = [identifier(str(row[0])) for row in described if row[1] == "VARCHAR"]
        held = 0
        for first in range(0, len(texts), _AT_ONCE):
            listed = " + ".join(
                f"coalesce(sum(strlen({name})), 0)" for name in texts[first : first + _AT_ONCE]
            )
            held += int(
                con.execute(f"SELECT {listed} FROM {parquet_source(path)}").fetchall()[0][0]
            )
    except duckdb.Error:  # what it cannot read is told where it is read
        return
    finally:
        con.close()
    check_swollen(path.name, held, rows * len(described), path.stat().st_size)


def _refuse_swollen_head(path: Path, rows: int, limit: int) -> None:
    """The same of the first rows alone, of which each text is taken once."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.parquet import ParquetFile

    held = 0
    try:
        with path.open("rb") as file, ParquetFile(file) as parquet:
            texts = [field.name for field in parquet.schema_arrow if _is_text(field.type)]
        with path.open("rb") as file, ParquetFile(file, read_dictionary=texts) as parquet:
            batch = next(parquet.iter_batches(limit, columns=texts), None)
            for column in () if batch is None else batch.columns:
                if pa.types.is_dictionary(column.type):
                    lengths = pc.binary_length(column.dictionary).take(column.indices)
                    held += pc.sum(lengths).as_py() or 0
    except (pa.ArrowException, OSError):  # what it cannot read is told where it is read
        return
    check_swollen(path.name, held, min(rows, limit) * max(1, len(texts)), path.stat().st_size)


def _is_text(kind: pyarrow.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


@contextmanager
def footer_told(path: Path) -> Iterator[None]:
    """Say what is wrong with the footer of a file, or with the disk. InputError, StorageError."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        # Arrow raises OSError for damaged files too, which is not an error of the system.
        if isinstance(problem, OSError) and problem.errno is not None:
            raise storage_error(problem, path, "read") from problem
        raise InputError(
            "parquet.damaged",
            msg("{name}: the file is not a Parquet file, or it is damaged.", name=path.name),
            hint="Write it again with the program it comes from.",
        ) from None


def _shape(path: Path) -> tuple[tuple[str, ...], int]:
    """Column names and number of rows that the file's footer declares."""
    import pyarrow.parquet

    with (
        footer_told(path),
        path.open("rb") as file,
        pyarrow.parquet.ParquetFile(file) as parquet,
    ):
        schema = parquet.schema_arrow
        names = tuple(schema.names)
        rows = int(parquet.metadata.num_rows)
        unpacked = _unpacked(parquet)
    check_width(path.name, len(names))
    check_swollen(path.name, unpacked, rows * len(names), path.stat().st_size)
    _check_types(path, schema)
    _check_decimals(path, schema)
    _check_names(path, names)
    if rows == 0 or not names:
        raise InputError(
            "parquet.no-rows",
            msg(
                "{name}: found {columns} columns and {rows} rows.",
                name=path.name,
                columns=len(names),
                rows=rows,
            ),
        )
    return names, rows


def _unpacked(parquet: ParquetFile) -> int:
    """How many bytes the pages say that they take, each of which is unpacked as a whole."""
    groups = (parquet.metadata.row_group(j) for j in range(parquet.num_row_groups))
    return sum(
        group.column(j).total_uncompressed_size
        for group in groups
        for j in range(group.num_columns)
    )


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    seen: dict[str, int] = {}
    for j, name in enumerate(names):
        first = seen.setdefault(name, j)
        if first != j:
            raise InputError(
                "parquet.duplicate-names",
                msg(
                    "{source}: the columns {i} and {j} are both named `{name}`, expected a "
                    "different name for each.",
                    source=path.name,
                    i=first + 1,
                    j=j + 1,
                    name=name,
                ),
                hint="Rename one of them.",
                details={"column": name},
            )


def _check_types(path: Path, schema: pyarrow.Schema) -> None:
    """Refuse columns of values that have no text, before any of them is read."""
    import pyarrow as pa

    for field in schema:
        if pa.types.is_nested(field.type):
            raise no_text_type(path, str(field.name), str(field.type))


def no_text_type(path: Path, column: str, kind: str) -> InputError:
    """The error for a column of lists, maps, structures or bytes."""
    return InputError(
        "parquet.type",
        msg(
            "{name}: the column `{column}` holds values of type {kind}, expected texts, "
            "numbers, dates or truth values.",
            name=path.name,
            column=column,
            kind=kind,
        ),
        hint="Leave the column out, or turn it into text first.",
        details={"column": column},
    )


def _check_decimals(path: Path, schema: pyarrow.Schema) -> None:
    """Refuse decimals that the database would round to floating-point numbers."""
    for field in schema:
        digits = getattr(field.type, "precision", 0)
        if digits > _MOST_DIGITS:
            raise InputError(
                "parquet.type",
                msg(
                    "{name}: the column `{column}` holds decimals of up to {digits} digits, "
                    "expected at most {most}.",
                    name=path.name,
                    column=field.name,
                    digits=digits,
                    most=_MOST_DIGITS,
                ),
                hint="Write it with fewer digits, or turn it into text first.",
                details={"column": str(field.name)},
            )


def _labels(path: Path, names: tuple[str, ...]) -> tuple[Codebook, tuple[str, ...]]:
    """What an export of DPDesk says of its columns in the metadata of the file, and notes on it."""
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_schema(path).metadata or {}
    raw = metadata.get(LABELS_KEY.encode())
    if raw is None:
        return NO_BOOK, ()
    try:
        book = labels_of(parse_canonical(raw))
    except UnreadableJsonError:
        return NO_BOOK, ("The labels in the metadata of the file are damaged; it is read without.",)
    found = tuple(variable for variable in book.variables if variable.name in names)
    return Codebook(found), (
        ("Labels and values declared missing come from the metadata of the file."),
    )


def _note_values(path: Path, names: Sequence[str], notes: Notes) -> None:
    """Note durations, which are read as numbers, and moments with nanoseconds that are cut off."""
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file, ParquetFile(file) as parquet:
        for field in parquet.schema_arrow:
            unit = _UNITS.get(getattr(field.type, "unit", ""), "")
            if unit and str(field.type).startswith("duration"):
                notes.add(
                    f"duration {field.name}",
                    msg(
                        "Column `{name}` holds durations in {unit}; they are read as their "
                        "numbers.",
                        name=field.name,
                        unit=unit,
                    ),
                )
        old = [column.path for column in _leaves(parquet) if column.physical_type == "INT96"]
    _note_finer(notes, path, [name for name in names if name in old])


def _leaves(parquet: ParquetFile) -> Iterator[Any]:
    schema = parquet.schema
    return (schema.column(j) for j in range(len(schema)))


def _note_finer(notes: Notes, path: Path, columns: Sequence[str]) -> None:
    """Note moments of the old type INT96 with nanoseconds, which the database cuts off."""
    if not columns:
        return
    done = 0
    for fine, coarse in zip(*(_int96(path, columns, unit) for unit in ("ns", "us")), strict=True):
        for name, exact, cut in zip(columns, fine, coarse, strict=True):
            # Moments of other years than 1677 to 2262 overflow, but on both sides alike.
            rest = exact - cut * 1000
            places = rest.nonzero()[0]
            if len(places):
                row = done + int(places[0]) + 1
                notes.add(f"finer {name}", finer_sentence(row, name), len(places))
        done += len(fine[0])


def _int96(path: Path, columns: Sequence[str], unit: str) -> Iterator[list[Any]]:
    """Columns of moments as whole numbers since 1970 (none: 0), batch by batch."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file, ParquetFile(file, coerce_int96_timestamp_unit=unit) as parquet:
        for batch in parquet.iter_batches(_BATCH, columns=list(columns)):
            yield [batch.column(name).cast(pa.int64()).fill_null(0).to_numpy() for name in columns]


def _read_again(path: Path, notes: Notes) -> tuple[int, ...]:
    """How many values of each column are none or the empty text: what Arrow finds in every page.

    The database takes the statistics of a file at their word, compares no checksum and lets
    decimals of too many digits run over. Nothing where Arrow cannot read a column that the
    database may. Raises InputError ``read.damaged`` or ``parquet.value`` with rows and column.
    """
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file, ParquetFile(file, page_checksum_verification=True) as parquet:
        empty = [0] * len(parquet.schema_arrow.names)
        utc = {column.path for column in _leaves(parquet) if str(column.logical_type) == _NANOS_UTC}
        done = 0
        for group in range(parquet.num_row_groups):
            try:
                for batch in parquet.iter_batches(_BATCH, row_groups=[group]):
                    for j, (field, column) in enumerate(zip(batch.schema, batch, strict=True)):
                        empty[j] += _empty(column)
                        _note_nan(notes, field.name, column)
                        _refuse_long(path, field.name, column, done)
                        if field.name in utc:
                            _note_nanoseconds(notes, field.name, column, done)
                    done += batch.num_rows
            except Exception as problem:
                what = _fault(problem)
                if what is None:
                    return ()
                raise _disagreeing(path, parquet, group, what) from problem
    return tuple(empty)


def _fault(problem: Exception) -> str | None:
    """What stopped the reading of a page, None for what Arrow does not know how to read."""
    import pyarrow as pa

    if not isinstance(problem, pa.ArrowException | OSError):
        raise problem
    words = str(problem)
    if isinstance(problem, pa.ArrowNotImplementedError) or _UNKNOWN.search(words):
        return None
    if "CRC" in words:
        return "the checksum of a page does not agree with its bytes"
    return "a page does not hold what the file says of it"


def _disagreeing(path: Path, parquet: ParquetFile, group: int, what: str) -> DpdeskError:
    names = parquet.schema_arrow.names
    column = next((name for name in names if not _agree(parquet, group, name)), names[0])
    above = sum(parquet.metadata.row_group(j).num_rows for j in range(group))
    last = above + parquet.metadata.row_group(group).num_rows
    return damaged(
        msg(
            "{name}, rows {above:,} to {last:,}, column `{column}`",
            name=path.name,
            above=above + 1,
            last=last,
            column=column,
        ),
        what,
    )


def _agree(parquet: ParquetFile, group: int, column: str) -> bool:
    import pyarrow as pa

    try:
        for _ in parquet.iter_batches(_BATCH, row_groups=[group], columns=[column]):
            pass
    except (pa.ArrowException, OSError):
        return False
    return True


def _empty(column: pyarrow.Array) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    missing = int(column.null_count)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        missing += _not_numbers(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        missing += pc.sum(pc.equal(pc.binary_length(column), 0)).as_py() or 0
    return missing


def _not_numbers(column: pyarrow.Array) -> int:
    """How many values of floating-point numbers are NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wide = column.cast(pa.float64()) if pa.types.is_float16(column.type) else column
    return pc.sum(pc.is_nan(wide)).as_py() or 0


def _refuse_long(path: Path, name: str, column: pyarrow.Array, done: int) -> None:
    """Raise InputError ``parquet.value`` for a decimal of more digits than its type has."""
    import pyarrow as pa

    if not pa.types.is_decimal(column.type) or _is_valid(column):
        return
    first, count = 0, len(column)
    while count > 1:
        half = count // 2
        if _is_valid(column.slice(first, half)):
            first, half = first + half, count - half
        count = half
    row = done + first + 1
    raise InputError(
        "parquet.value",
        msg(
            "{name}, row {row:,}, column `{column}`: found a decimal of more digits than its "
            "type ({type}) has.",
            name=path.name,
            row=row,
            column=name,
            type=column.type,
        ),
        hint="Write the file again with the program it comes from, with a wider type.",
        details={"row": row, "column": name},
    )


def _is_valid(column: pyarrow.Array) -> bool:
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _note_nan(notes: Notes, name: str, column: pyarrow.Array) -> None:
    """Note values that are no numbers, which are missing."""
    import pyarrow as pa

    found = _not_numbers(column) if pa.types.is_floating(column.type) else 0
    if found:
        sentence = msg(
            "Column `{name}` holds NaN (not a number), which is read as a missing value.", name=name
        )
        notes.add(f"nan {name}", sentence, found)


def _note_nanoseconds(notes: Notes, name: str, column: pyarrow.Array, done: int) -> None:
    """Note times of day in UTC with nanoseconds, which the database cuts off."""
    import pyarrow as pa

    places = (column.cast(pa.int64()).fill_null(0).to_numpy() % 1_000).nonzero()[0]
    if len(places):
        notes.add(
            f"finer {name}",
            finer_sentence(done + int(places[0]) + 1, name),
            len(places),
        )


def _refuse_undecodable(path: Path) -> None:
    """Raise InputError ``encoding.undecodable`` for the first text that is no UTF-8."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with path.open("rb") as file, ParquetFile(file) as parquet:
            done = 0
            for batch in parquet.iter_batches(_BATCH):
                for field, column in zip(batch.schema, batch.columns, strict=True):
                    at = _first_broken(column)
                    if at is not None:
                        raise _no_utf8(path, field.name, done + at + 1)
                done += batch.num_rows
    except (pyarrow.ArrowException, OSError):
        return


def _first_broken(column: pyarrow.Array) -> int | None:
    """The place of the first text of a column that is no UTF-8."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type, safe=False)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raw = column.cast(pa.large_binary()).to_pylist()
        return next((j for j, value in enumerate(raw) if value and _broken(value)), None)
    return None


def _broken(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _no_utf8(path: Path, column: str, row: int) -> InputError:
    return InputError(
        "encoding.undecodable",
        msg(
            "{name}, row {row:,}, column `{column}`: found bytes that are not text in the "
            "encoding UTF-8.",
            name=path.name,
            row=row,
            column=column,
        ),
        hint="Correct the value in the program that wrote the file.",
        details={"row": row, "column": column},
    )
