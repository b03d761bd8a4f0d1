"""CSV files of cuboids: a column for each dimension and ``value``, one row for each cell.

Rows stand in domain order, the last dimension fastest. Writing and reading work on whole columns in
Arrow; texts are quoted as RFC 4180 requires and numbers are the shortest that read back the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable, Domain, listed_tables
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list
from dpdesk.io.csvgrammar import UnreadableTableError, check_grammar
from dpdesk.io.recode import csv_field, header_line

VALUE, TABLE = "value", "table"
_PIECE = 1 << 17
_BLOCK = 8 << 20
_MOST_LISTED = 10_000


def write_cuboid(table: CuboidTable, path: Path, token: CancelToken) -> None:
    """Write one cuboid to a new file. Raises OSError, Cancelled."""
    header = header_line([*table.domain.dimensions, VALUE])
    with path.open("xb") as file:
        file.write(header.encode("utf-8"))
        for lines in _lines(table, table.domain.dimensions, "", token):
            file.write(lines)


def write_long(
    tables: Sequence[tuple[str, CuboidTable]],
    dimensions: Sequence[str],
    path: Path,
    token: CancelToken,
) -> None:
    """Write named tables below each other into one new CSV file.

    The column ``table`` (``table_2`` and so on where a dimension is called so) holds the name, and
    a dimension that a table lacks is empty there. Raises OSError, Cancelled.
    """
    names = chain([TABLE], (f"{TABLE}_{number}" for number in count(2)))
    first = next(name for name in names if name not in dimensions)
    header = header_line([first, *dimensions, VALUE])
    with path.open("xb") as file:
        file.write(header.encode("utf-8"))
        for name, table in tables:
            for lines in _lines(table, dimensions, csv_field(name), token):
                file.write(lines)


def _lines(
    table: CuboidTable, dimensions: Sequence[str], name: str, token: CancelToken
) -> Iterator[memoryview]:
    """The lines of a table in pieces: its name (where there is one), categories, value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values, domain = table.values.reshape(-1), table.domain
    fields = {
        each: pa.array([csv_field(text) for text in part])
        for each, part in zip(domain.dimensions, domain.categories, strict=True)
    }
    own = pa.array([csv_field(text) for text in table.labels]) if table.labels else None
    for start in range(0, len(values), _PIECE):
        token.check()
        piece = values[start : start + _PIECE]
        codes = dict(zip(domain.dimensions, domain.codes(start, len(piece)), strict=True))
        columns = [pa.scalar(name)] if name else []
        columns += [
            fields[each].take(pa.array(codes[each])) if each in fields else pa.scalar("")
            for each in dimensions
        ]
        shown = number_texts(piece) if own is None else own.take(pa.array(piece))
        lines = pc.binary_join_element_wise(*columns, shown, ",")
        yield text_bytes(pc.binary_join_element_wise(lines, pa.scalar(""), "\n"))


def write_rows(domain: Domain, codes: NDArray[np.int32], path: Path, token: CancelToken) -> None:
    """Write rows by their places in a domain, shape (rows, dimensions), to a new file.

    Raises OSError, Cancelled.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = [pa.array([csv_field(text) for text in each]) for each in domain.categories]
    with path.open("wb") as file:
        file.write(header_line(domain.dimensions).encode("utf-8"))
        for start in range(0, len(codes), _PIECE):
            token.check()
            piece = codes[start : start + _PIECE]
            columns = [field.take(pa.array(piece[:, i])) for i, field in enumerate(fields)]
            lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
            file.write(text_bytes(pc.binary_join_element_wise(lines, pa.scalar(""), "\n")))


def number_texts(values: NDArray[Any]) -> Any:
    """An Arrow array of the shortest texts that read back as the same numbers."""
    import pyarrow as pa

    return pa.array(values + 0 if values.dtype.kind == "f" else values).cast(pa.string())


def text_bytes(texts: Any) -> memoryview:
    """The texts of an Arrow array, one after the other, without a copy."""
    offsets, data = texts.buffers()[1:]
    ends = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])]


def read_listed(
    path: Path, domain: Domain, item: Mapping[str, object], token: CancelToken
) -> CuboidTable:
    """Read a table by its line in a result; one that is ``listed`` names its rows itself, and one
    of ``texts`` has categories of its ``column`` as values.

    Raises as :func:`read_cuboid`; TypeError, KeyError, ValueError for a line of another form.
    """
    file = str(item["file"])
    if item.get("listed") is not True:
        labels: tuple[str, ...] = ()
        if item.get("texts") is True:
            labels = domain.categories[domain.dimensions.index(str(item["column"]))]
        return read_cuboid(path, file, domain.table(item), token, labels)
    (name,) = map(str, as_list(item["dimensions"]))
    fields, rows = check_grammar(path, token)
    if fields != len((name, VALUE)) or rows > _MOST_LISTED:
        raise UnreadableTableError(
            msg("has {fields} columns and {rows:,} rows, expected a list", fields=fields, rows=rows)
        )
    texts = [text for batch in batches(path, [name, VALUE]) for text in batch.column(0).to_pylist()]
    return read_cuboid(path, file, Domain((name,), (tuple(texts),)), token)


def read_cuboid(
    path: Path, file: str, domain: Domain, token: CancelToken, labels: tuple[str, ...] = ()
) -> CuboidTable:
    """Read one cuboid of a declared domain, strictly; with ``labels`` its values are among these.

    Raises
    ------
    UnreadableTableError
        The file is not a valid CSV file, its columns or categories differ, a cell is missing
        or out of order, or a value is no finite number in its shortest form; with the row.
    OSError
        The file cannot be read.
    Cancelled
    """
    fields, rows = check_grammar(path, token)
    names = [*domain.dimensions, VALUE]
    expected = domain.cells
    if fields != len(names):
        raise UnreadableTableError(
            msg("has {fields} columns, expected {names}", fields=fields, names=len(names))
        )
    if rows != expected:
        raise UnreadableTableError(
            msg("has {rows:,} cells, expected {expected:,}", rows=rows, expected=expected)
        )
    values = np.empty(expected, dtype=np.float64)
    start = 0
    for batch in batches(path, names):
        token.check()
        count = batch.num_rows
        codes = domain.codes(start, count)
        for i, categories in enumerate(domain.categories):
            check_places(batch.column(i), categories, codes[i], start, names[i])
        found = batch.column(len(names) - 1)
        read = _places(found, labels, start) if labels else _numbers(found, start)
        values[start : start + count] = read
        start += count
    values = values.astype(np.int64) if labels else values
    return CuboidTable(domain, values.reshape(-1 if domain.pairs else domain.shape), file, labels)


def batches(path: Path, names: list[str]) -> Any:
    """The rows of a CSV file with these columns as record batches of texts.

    Raises UnreadableTableError for other columns, OSError.
    """
    import pyarrow as pa
    from pyarrow import csv

    plain = [f"f{i}" for i in range(len(names))]
    with path.open("rb") as opened:
        header = _header(opened)
        if header != names:
            raise UnreadableTableError("row 1: the columns are others than the domain's")
    options = csv.ConvertOptions(
        column_types={name: pa.string() for name in plain},
        strings_can_be_null=False,
        quoted_strings_can_be_null=False,
    )
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(
            column_names=plain, skip_rows_after_names=1, block_size=_BLOCK
        ),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=options,
    )


def _header(opened: Any) -> list[str]:
    import csv
    import io

    text = io.TextIOWrapper(opened, encoding="utf-8", newline="")
    try:
        found = next(csv.reader(text, strict=True))
    except csv.Error:
        raise UnreadableTableError("row 1: the columns are others than the domain's") from None
    text.detach()
    return found


def check_places(
    texts: Any, categories: Sequence[str], codes: NDArray[np.int32], start: int, name: str
) -> None:
    """Whether the texts of a column are the categories with these codes; UnreadableTableError with
    the row (``start`` rows lie before) where one is not.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(list(categories), pa.string()).take(pa.array(codes))
    same = pc.equal(texts, wanted)
    if not pc.all(same).as_py():
        row = int(np.flatnonzero(~same.to_numpy(zero_copy_only=False))[0]) + start + 2
        raise UnreadableTableError(
            msg(
                "row {row:,}: column `{name}` holds another category than the domain has there",
                row=row,
                name=name,
            )
        )


def _places(texts: Any, labels: Sequence[str], start: int) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(texts, pa.array(list(labels), pa.string()))
    if places.null_count:
        row = int(np.flatnonzero(places.is_null().to_numpy(zero_copy_only=False))[0]) + start + 2
        raise UnreadableTableError(
            msg(
                "row {row:,}: `{value}` is not a category that can be chosen",
                row=row,
                value=VALUE,
            )
        )
    return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)


def _numbers(texts: Any, start: int) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        raise UnreadableTableError(_bad_number(texts, start)) from None
    found: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
    again = number_texts(found)
    same = pc.equal(texts, again).to_numpy(zero_copy_only=False) & np.isfinite(found)
    if not same.all():
        same |= _whole_texts(texts)
    if not same.all():
        row = int(np.flatnonzero(~same)[0]) + start + 2
        raise UnreadableTableError(
            msg(
                "row {row:,}: `{value}` is not a finite number in its shortest form",
                row=row,
                value=VALUE,
            )
        )
    return found


def _whole_texts(texts: Any) -> NDArray[np.bool_]:
    """Which are whole numbers in plain digits, as tables of integers have them at any size."""
    import pyarrow.compute as pc

    whole = pc.match_substring_regex(texts, "^(0|-?[1-9][0-9]{0,18})$")
    return np.asarray(whole.to_numpy(zero_copy_only=False))


def _bad_number(texts: Any, start: int) -> str:
    for place, text in enumerate(texts.to_pylist()):
        try:
            float(text)
        except ValueError:
            return msg(
                "row {place:,}: `{value}` is {text!r}, expected a number",
                place=place + start + 2,
                value=VALUE,
                text=text[:40],
            )
    return msg("`{value}` contains something that is not a number", value=VALUE)


def read_tables(manifest: Manifest, public: Path, token: CancelToken) -> dict[str, CuboidTable]:
    """All tables that the result of a manifest lists, by file, checked cell by cell.

    Raises UnreadableTableError with the file's name in front; OSError; TypeError, KeyError and
    ValueError for a manifest of another form; Cancelled.
    """
    domain = Domain.from_json(manifest.result["domains"])
    found: dict[str, CuboidTable] = {}
    for item in listed_tables(manifest.result):
        token.check()
        file = str(item["file"])
        try:
            found[file] = read_listed(public / file, domain, item, token)
        except UnreadableTableError as error:
            raise UnreadableTableError(
                msg("{file}: {note}", file=file, note=error.sentence)
            ) from error
    return found
