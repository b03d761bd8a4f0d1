"""Values of a Stata file that would be lost without a word.

In Stata every number from 2¹⁰²³ on (of single precision from 2¹²⁷) is missing, and 27 of them are
the ones that it writes: ``.`` and ``.a`` to ``.z``. Others come from other programs; they are read
as missing, as Stata does, and noted with their place, like NaN. A long text (strL) may hold a NUL,
at which the reading library ends it: it is refused. What stands behind the NUL of a text of fixed
length is no part of it: Stata fills up with random bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.failures import check_swollen
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.stat_faults import breaks_off, note_cut, nul_in_text
from dpdesk.io.formats.stata.layout import DOUBLE, DtaLayout, read_any_layout, read_layout
from dpdesk.io.formats.table import Notes, damaged

# Texts of a Stata file that end inside a character: refused or noted.
#
# Up to version 13 Stata kept texts in the encoding of the computer and told nobody which, so a plan
# names it; from 14 on they are UTF-8. See :mod:`dpdesk.io.formats.endings`.


_BYTES_OF_TEXT, _HIGH = 4 << 20, 0x80


def check_texts(
    path: Path, names: Sequence[str], limit: int | None, notes: Notes, endings: Endings
) -> bool:
    """Whether texts were cut off inside their last character, which is noted.

    ``names`` are those of the columns; with ``limit`` only the first rows are looked at. Texts of
    any length (strL) are not: the library takes them as UTF-8, and refuses what is none. Raises
    InputError ``encoding.undecodable`` for a text that seems to be in another encoding, and
    ``read.damaged`` when the file cannot be followed.
    """
    layout = read_any_layout(path)
    if not endings.looks or layout is None or layout.columns != len(names) or not layout.strings:
        return False
    cut = False
    rows = layout.rows if limit is None else min(limit, layout.rows)
    size = max(1, _BYTES_OF_TEXT // layout.row_bytes)
    with path.open("rb") as file:
        file.seek(layout.start)
        for start in range(0, rows, size):
            data = file.read(min(size, rows - start) * layout.row_bytes)
            count = len(data) // layout.row_bytes
            table = np.frombuffer(data, np.uint8, count * layout.row_bytes)
            table = table.reshape(count, layout.row_bytes)
            foreign, some = _foreign(table, layout, names, start, notes, endings)
            cut |= some
            if foreign:
                row, column = min(foreign)
                raise breaks_off(path.name, start + row + 1, names[column], endings.encoding)
    return cut


def _foreign(
    table: NDArray[np.uint8],
    layout: DtaLayout,
    names: Sequence[str],
    start: int,
    notes: Notes,
    endings: Endings,
) -> tuple[list[tuple[int, int]], bool]:
    """Row and column of the first text of each column in another encoding.

    Those that were cut off are noted; the second says that there are some.
    """
    found, some = [], False
    for j, at, width in layout.strings:
        raw = table[:, at : at + width]
        if not (raw >= _HIGH).any():
            continue
        raw = np.where(np.logical_or.accumulate(raw == 0, axis=1), np.uint8(0), raw)
        broken = endings.rows(raw)
        foreign = broken & endings.foreign(raw)
        cut = np.flatnonzero(broken & ~foreign)
        if foreign.any():
            found.append((int(np.argmax(foreign)), j))
        if len(cut):
            some = True
            note_cut(notes, start + int(cut[0]) + 1, names[j], len(cut))
    return found, some


_BYTES = 4 << 20
_MARK = b"GSO"
_KINDS, _IN_ANY_ENCODING = (129, 130), 117
_LETTERS = 26
_COLUMN_BITS, _ALL = {117: 32, 118: 16, 119: 24}, (1 << 64) - 1
"""Bits of the number of a column in a cell of a long text, by the format."""
_CODES = {
    DOUBLE: (2.0**1023, 0x7FE0000000000000, 1 << 40, "f8", "u8"),
    4: (2.0**127, 0x7F000000, 1 << 11, "f4", "u4"),
}
"""The first missing number, its bits, the step of bits to the next, the types."""


def refuse_losses(path: Path, names: Sequence[str], limit: int | None, notes: Notes) -> None:
    """Raise InputError ``read.nul`` for a long text with a NUL; note numbers read as missing.

    ``names`` are those of the columns; with ``limit`` only the first rows are looked at. Raises
    InputError ``read.damaged`` when the file cannot be followed.
    """
    layout = read_layout(path)
    if layout is None:
        notes.add(
            "old",
            "Stata wrote the file before 2003; numbers in it that are missing only because of "
            "their size are not reported.",
        )
        return
    if layout.columns != len(names):
        what = msg(
            "it describes {columns:,} columns, but {names:,} were found",
            columns=layout.columns,
            names=len(names),
        )
        raise damaged(path.name, what)
    rows = layout.rows if limit is None else min(limit, layout.rows)
    with path.open("rb") as file:
        if layout.floats:
            _note_numbers(file, layout, names, rows, notes)
        if layout.texts:
            keys = _refuse_nul(file, layout, names, rows, path)
            if keys is not None:
                _refuse_nowhere(file, layout, names, keys, path)


def _note_numbers(
    file: IO[bytes], layout: DtaLayout, names: Sequence[str], rows: int, notes: Notes
) -> None:
    file.seek(layout.start)
    spans = _spans(layout)
    size = max(1, _BYTES // layout.row_bytes)
    for start in range(0, rows, size):
        data = file.read(min(size, rows - start) * layout.row_bytes)
        count = len(data) // layout.row_bytes
        if not count:
            return
        table = np.frombuffer(data, np.uint8, count * layout.row_bytes)
        table = table.reshape(count, layout.row_bytes)
        for columns, at, width in spans:
            part = table[:, at : at + width * len(columns)]
            numbers, odd = _odd(part, layout.order, width)
            for k in np.flatnonzero(odd.any(axis=0)):
                _note(notes, names[columns[k]], numbers[:, k], odd[:, k], start)


def _spans(layout: DtaLayout) -> list[tuple[list[int], int, int]]:
    """Columns side by side that are alike: their numbers, their place, the bytes of one."""
    found: list[tuple[list[int], int, int]] = []
    for j, at, width in layout.floats:
        if found and found[-1][2] == width and found[-1][1] + width * len(found[-1][0]) == at:
            found[-1][0].append(j)
        else:
            found.append(([j], at, width))
    return found


def _odd(raw: NDArray[np.uint8], order: str, width: int) -> tuple[Any, NDArray[np.bool_]]:
    """Numbers of some columns, and which of them are missing but none that Stata writes."""
    first, bits, step, floating, whole = _CODES[width]
    numbers = np.ascontiguousarray(raw).view(f"{order}{floating}")
    odd = ~(numbers < first)
    if odd.any():
        behind = numbers.view(f"{order}{whole}").astype(np.int64) - bits
        odd &= (behind % step != 0) | (behind < 0) | (behind // step > _LETTERS)
    return numbers, odd


def _note(notes: Notes, name: str, numbers: Any, odd: NDArray[np.bool_], start: int) -> None:
    nan = np.isnan(numbers)
    for kind, marked in (("nan", odd & nan), ("large", odd & ~nan)):
        if not marked.any():
            continue
        at = int(np.argmax(marked))
        place = msg("Row {start:,}, column `{name}`", start=start + at + 1, name=name)
        sentence = msg(
            "{place}: the number is not a number (NaN); it is read as missing.", place=place
        )
        if kind == "large":
            sentence = msg(
                "{place}: the number {numbers} is so large that Stata takes it for missing; it is "
                "read as missing.",
                place=place,
                numbers=number_text(numbers[at]),
            )
        notes.add(f"{kind} {name}", sentence, int(np.count_nonzero(marked)))


def _refuse_nul(
    file: IO[bytes], layout: DtaLayout, names: Sequence[str], rows: int, path: Path
) -> dict[int, int] | None:
    """Follow the long texts, which stand in the order of the rows that have them first.

    What cells of all of them hold, with the bytes of each; None when there are more than those of
    ``rows``.
    """
    head = struct.Struct(f"{layout.order}3sI{'I' if layout.wide == 4 else 'Q'}BI")
    keys: dict[int, int] = {}
    whole = rows == layout.rows
    file.seek(layout.texts)
    while (raw := file.read(head.size)).startswith(_MARK):
        if len(raw) < head.size:
            raise damaged(path.name, "the long texts after its rows break off")
        _, column, row, kind, length = head.unpack(raw)
        if row > rows and not whole:
            return None
        if row > rows or not 1 <= column <= layout.columns or kind not in _KINDS:
            what = "a long text belongs to a row, a column or a kind that the file does not have"
            raise damaged(path.name, what)
        text = file.read(length).rstrip(b"\0")
        if b"\0" in text:
            raise nul_in_text(path.name, row, names[column - 1])
        if layout.release == _IN_ANY_ENCODING and not _is_utf8(text):
            raise _no_utf8(path.name, row, names[column - 1])
        keys[_key(layout, column, row)] = length
    return keys


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _no_utf8(name: str, row: int, column: str) -> InputError:
    return InputError(
        "encoding.undecodable",
        msg(
            "{name}, row {row:,}, column `{column}`: the long text is not in UTF-8, and long "
            "texts of Stata 13 can be read here in no other encoding.",
            name=name,
            row=row,
            column=column,
        ),
        hint="Save the file again with Stata 14 or later, or as CSV.",
        details={"row": row, "column": column},
    )


def _key(layout: DtaLayout, column: int, row: int) -> int:
    """The 8 bytes of a cell that points to a long text, as a number."""
    bits = _COLUMN_BITS[layout.release]
    if layout.order == "<":
        return (row << bits | column) & _ALL
    return (column << (64 - bits) | row) & _ALL


def _refuse_nowhere(
    file: IO[bytes], layout: DtaLayout, names: Sequence[str], keys: dict[int, int], path: Path
) -> None:
    """Raise InputError ``read.damaged`` for the first cell that points to no long text.

    ``read.swollen`` where all cells together point to more than a file of its size should hold.
    """
    known, sizes = np.array([0, *keys], np.uint64), np.array([0, *keys.values()], np.int64)
    order = np.argsort(known)
    held = 0
    file.seek(layout.start)
    size = max(1, _BYTES // layout.row_bytes)
    for start in range(0, layout.rows, size):
        data = file.read(min(size, layout.rows - start) * layout.row_bytes)
        table = np.frombuffer(data, np.uint8, len(data) // layout.row_bytes * layout.row_bytes)
        table = table.reshape(-1, layout.row_bytes)
        lost = []
        for j, at in layout.longs:
            cells = np.ascontiguousarray(table[:, at : at + 8]).view(f"{layout.order}u8")[:, 0]
            bad = np.flatnonzero(~np.isin(cells, known))
            lost += [(int(bad[0]), j)] if len(bad) else []
            places = np.minimum(np.searchsorted(known, cells, sorter=order), len(known) - 1)
            held += int(sizes[order[places]].sum())
        if lost:
            row, j = min(lost)
            what = msg(
                "column `{names}` points to a long text that the file does not have", names=names[j]
            )
            raise damaged(path.name, what, start + row + 1)
    check_swollen(path.name, held, layout.rows * layout.columns, path.stat().st_size)
