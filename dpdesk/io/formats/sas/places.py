"""Whether the reading library finds the rows of a SAS file (.sas7bdat) where they are.

Rows behind descriptions begin at a multiple of eight bytes. In files of 32 bits that other programs
wrote they may begin four bytes before it; the library guesses by these four bytes, and a first row
that begins with zeros or blanks looks like padding. And it leaves out as many rows as the file says
to be deleted, even where they are not marked so.
"""

from __future__ import annotations

import struct
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.sas.layout import NONE, Page, SasFile
from dpdesk.io.formats.table import Notes, damaged

_PAD, _WORD = 4, 8
_CONTROL = 0x20
_LEAST, _MOST = 1e-60, 1e60
"""Numbers beyond are not what a table holds; a shifted number mostly is."""
_MISSING = (1 << 40) - 1
"""The bits of a number that are zero in the missing values of SAS."""
_MARKED, _DELETED = 0x80, 5


def check_places(path: Path, limit: int | None, notes: Notes) -> None:
    """Raise InputError ``read.places`` for rows that would be read four bytes beside their place.

    Noted when that cannot be told. Without a ``limit``, raises ``read.damaged`` when other rows are
    marked as deleted than the file says.
    """
    try:
        with path.open("rb") as file:
            sas = SasFile(file)
            if sas.guessed and sas.method == NONE:
                _check_start(sas, path, notes)
            marked = _marked(sas) if sas.deleted and limit is None else sas.deleted
    except (ValueError, struct.error, IndexError):
        return
    if marked != sas.deleted:
        what = msg(
            "it says that {deleted:,} of its rows are deleted, but marks {marked:,} as such",
            deleted=sas.deleted,
            marked=marked,
        )
        raise damaged(path.name, what)


def _check_start(sas: SasFile, path: Path, notes: Notes) -> None:
    described = takewhile(lambda page: not page.has_rows_alone, sas.pages())
    page = next((page for page in described if page.is_mixed), None)
    if page is None or sas.described_end(page) % _WORD != _PAD:
        return
    start = _start(sas, page)
    if start is None:
        notes.add(
            "places",
            "The file was written by a program other than SAS, and where its first rows begin "
            "cannot be determined for certain; compare the first row with what that program "
            "shows.",
        )
    elif start != sas.rows_start(page):
        raise InputError(
            "read.places",
            msg(
                "{name}, row 1: the first rows would be read four bytes away from their place, "
                "which gives wrong values.",
                name=path.name,
            ),
            hint="Save the file as SAS transport (.xpt), SPSS, Stata or CSV with its program.",
            details={"row": 1},
        )


def _start(sas: SasFile, page: Page) -> int | None:
    """Where the rows of a mixed page begin, by what they hold, else by what its head counts."""
    near = sas.described_end(page)
    count = min(sas.mixed_rows, sas.rows)
    odd = [_odd(sas, page, start, count) for start in (near, near + _PAD)]
    if odd[0] != odd[1]:
        return near + _PAD * int(odd[1] < odd[0])
    parts = sas.parts(page)
    low = int(parts.starts[parts.sizes > 0].min(initial=len(page.raw)))
    marks = -(-sas.mixed_rows // 8)
    counted = low - sas.unused(page) - count * sas.row_bytes - marks
    return counted if counted in (near, near + _PAD) else None


def _odd(sas: SasFile, page: Page, start: int, count: int) -> int:
    """How many cells are odd when the rows begin there."""
    size = sas.row_bytes
    if start + count * size > len(page.raw):
        return count * sas.columns + 1
    rows = np.frombuffer(page.raw, np.uint8, count * size, start).reshape(count, size)
    texts = sum(
        int((rows[:, at : at + width] < _CONTROL).any(axis=1).sum()) for _, at, width in sas.texts
    )
    return texts + sum(
        _odd_numbers(rows[:, at : at + width], sas.order) for _, at, width in sas.numbers
    )


def _odd_numbers(raw: NDArray[np.uint8], order: str) -> int:
    """How many of some numbers, of which the last bytes may be left out, no table holds."""
    whole = np.zeros((len(raw), _WORD), np.uint8)
    if order == "<":
        whole[:, _WORD - raw.shape[1] :] = raw
    else:
        whole[:, : raw.shape[1]] = raw
    numbers = whole.view(f"{order}f8")[:, 0]
    bits = whole.view(f"{order}u8")[:, 0]
    size = np.abs(numbers)
    with np.errstate(invalid="ignore"):
        odd = (size > _MOST) | ((size < _LEAST) & (size > 0))
    odd |= np.isnan(numbers) & (bits & np.uint64(_MISSING) != 0)
    return int(np.count_nonzero(odd))


def _marked(sas: SasFile) -> int:
    """How many rows are marked as deleted."""
    found = done = 0
    for page in sas.pages():
        if page.is_index:
            continue
        if sas.method != NONE and not page.has_rows_alone:
            found += int(np.count_nonzero(sas.parts(page).packed == _DELETED))
            continue
        if not (page.has_rows_alone or page.is_mixed):
            continue
        start, count = sas.head_bytes, page.blocks
        if page.is_mixed:
            start, count = sas.rows_start(page), min(sas.mixed_rows, sas.rows - done)
        done += count
        if page.kind & _MARKED:
            at = start + count * sas.row_bytes + sas.unused(page)
            raw = np.frombuffer(page.raw, np.uint8, -(-count // 8), at)
            found += int(np.unpackbits(raw)[:count].sum())
    return found
