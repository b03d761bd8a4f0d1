"""Protected tables as CSV files: a row per cell in domain order, for the public and the agency."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, count, product
from math import isfinite
from pathlib import Path

from dpdesk.core.cuboid import Domain
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.tabulation import INTERNAL_COLUMNS, MOVED_COLUMNS, WIDTH, CellAxis, CellTable
from dpdesk.io.csvgrammar import UnreadableTableError, check_grammar
from dpdesk.io.cuboid_files import batches, check_places, text_bytes
from dpdesk.io.recode import csv_field, header_line

_PUBLIC = ("value", "status")
_FURTHER = (WIDTH, *MOVED_COLUMNS)
_NUMBERS = frozenset((WIDTH, *INTERNAL_COLUMNS)) - {"status"}
_WHOLE = re.compile("0|-?[1-9][0-9]*")
_PIECE = 1 << 17


def write_table(table: CellTable, path: Path, token: CancelToken, *, internal: bool) -> None:
    """Write a table to a new file. Raises OSError, Cancelled."""
    import pyarrow as pa
    import pyarrow.compute as pc

    public = {"value": table.values, "status": table.status}
    inside = [name for name in (*INTERNAL_COLUMNS, *_FURTHER) if name in table.internal]
    columns = {name: table.internal[name] for name in inside} if internal else public
    domain = _domain(table.axes)
    fields = [pa.array([csv_field(text) for text in axis.labels]) for axis in table.axes]
    with path.open("xb") as file:
        if internal:
            path.chmod(0o600)
        file.write(header_line([*domain.dimensions, *columns]).encode("utf-8"))
        for start in range(0, domain.cells, _PIECE):
            token.check()
            codes = domain.codes(start, min(_PIECE, domain.cells - start))
            parts = [each.take(pa.array(c)) for each, c in zip(fields, codes, strict=True)]
            parts += [pa.array(texts[start : start + _PIECE]) for texts in columns.values()]
            lines = pc.binary_join_element_wise(*parts, ",")
            file.write(text_bytes(pc.binary_join_element_wise(lines, pa.scalar(""), "\n")))


def write_below(tables: Sequence[CellTable], path: Path, token: CancelToken) -> None:
    """Write public tables below each other into one new CSV file.

    The column ``table`` (``table_2`` and so on where a dimension is called so) holds the name, and
    a dimension that a table lacks is empty there. Raises OSError, Cancelled.
    """
    dimensions = list(dict.fromkeys(axis.name for table in tables for axis in table.axes))
    names = chain(["table"], (f"table_{number}" for number in count(2)))
    first = next(name for name in names if name not in dimensions)
    with path.open("xb") as file:
        file.write(header_line([first, *dimensions, *_PUBLIC]).encode("utf-8"))
        for table in tables:
            token.check()
            places = product(*(axis.labels for axis in table.axes))
            lines = zip(places, table.values, table.status, strict=True)
            own = [axis.name for axis in table.axes]
            for place, value, status in lines:
                given = dict(zip(own, place, strict=True))
                shown = [table.name, *(given.get(name, "") for name in dimensions)]
                line = ",".join([*map(csv_field, shown), value, status])
                file.write(f"{line}\n".encode())


def read_table(
    name: str,
    path: Path,
    file: str,
    axes: Sequence[CellAxis],
    token: CancelToken,
    *,
    internal: bool,
) -> CellTable:
    """Read a table of known dimensions, strictly.

    Raises
    ------
    UnreadableTableError
        The file is not a valid CSV file, its columns or categories differ, a cell is missing or
        out of order, or a number is not in its shortest form; with the row.
    OSError
        The file cannot be read.
    Cancelled
    """
    columns = INTERNAL_COLUMNS if internal else _PUBLIC
    domain = _domain(axes)
    fields, rows = check_grammar(path, token)
    more = fields - len(domain.dimensions) - len(columns)
    if internal and 0 < more <= len(_FURTHER):
        # One is the width, two are of moves.
        columns = (*columns, *(_FURTHER[more % 2 == 0 :][:more]))
    names = [*domain.dimensions, *columns]
    if fields != len(names):
        raise UnreadableTableError(
            msg("has {fields} columns, expected {names}", fields=fields, names=len(names))
        )
    if rows != domain.cells:
        raise UnreadableTableError(
            msg("has {rows:,} cells, expected {cells:,}", rows=rows, cells=domain.cells)
        )
    found: dict[str, list[str]] = {column: [] for column in columns}
    start = 0
    for batch in batches(path, names):
        token.check()
        codes = domain.codes(start, batch.num_rows)
        for i, categories in enumerate(domain.categories):
            check_places(batch.column(i), categories, codes[i], start, names[i])
        for i, column in enumerate(columns, start=len(domain.dimensions)):
            found[column] += batch.column(i).to_pylist()
        start += batch.num_rows
    _check_numbers({column: found[column] for column in columns if column in _NUMBERS})
    texts = {column: tuple(values) for column, values in found.items()}
    return CellTable(
        name, file, tuple(axes), texts["value"], texts["status"], texts if internal else {}
    )


def _check_numbers(columns: Mapping[str, Sequence[str]]) -> None:
    """Texts that other programs may read as another number, or not at all, are no numbers here."""
    for name, texts in columns.items():
        for row, text in enumerate(texts, start=2):
            if text and _WHOLE.fullmatch(text) is None and not _is_shortest(text):
                raise UnreadableTableError(
                    msg(
                        "row {row:,}: `{value}` is not a finite number in its shortest form",
                        row=row,
                        value=name,
                    )
                )


def _is_shortest(text: str) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    return isfinite(number) and repr(number) == text and number != 0


def _domain(axes: Sequence[CellAxis]) -> Domain:
    return Domain(tuple(axis.name for axis in axes), tuple(axis.labels for axis in axes))


def axes_of(raw: Sequence[Mapping[str, object]]) -> tuple[CellAxis, ...]:
    """The dimensions of a table of a manifest. Raises TypeError, KeyError or ValueError."""
    axes = tuple(CellAxis.from_json(each) for each in raw)
    names = list(chain((axis.name for axis in axes), INTERNAL_COLUMNS))
    if len(set(names)) < len(names) or not axes:
        raise ValueError("the columns of a table have different names")
    return axes
