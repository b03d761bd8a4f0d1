"""Hierarchy files: the CSV that ARX reads and writes.

One row per leaf, columns from the leaf to the top, no header, separated by ``;`` or ``,`` (or a
tab), quoted as RFC 4180 says.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.io.argus_hierarchies import RECODING, TREE, read_argus
from dpdesk.io.safewrite import PartialKeeper
from dpdesk.io.spelled_paths import as_on_disk
from dpdesk.io.textfile import decode, read_bytes, write_text

DELIMITERS = (";", ",", "\t")
_FALLBACK = "cp1252"
_TORN = re.compile(r'[;,\t]"')


@dataclass(frozen=True, eq=False)
class HierarchyReading:
    """A hierarchy and how its file was read; ``notes`` are sentences worth showing."""

    hierarchy: Hierarchy
    delimiter: str
    encoding: str
    notes: tuple[str, ...] = ()


def read_hierarchy(path: Path, attribute: str) -> Hierarchy:
    """The hierarchy in a CSV file; see :func:`open_hierarchy`."""
    return open_hierarchy(path, attribute).hierarchy


def open_hierarchy(path: Path, attribute: str) -> HierarchyReading:
    """Read and check a hierarchy file; delimiter and encoding are detected.

    UTF-8 (with or without BOM) and UTF-16 with BOM are read as such; anything else is read as
    Windows-1252, which a note names. Recodings (.grc) and code trees (.hrc) of ARGUS are read too.

    Raises
    ------
    StorageError
        ``hierarchy.unreadable``.
    InputError
        ``hierarchy.encoding``, ``hierarchy.nul``, ``hierarchy.too-large``, ``hierarchy.quoting``,
        and what :meth:`Hierarchy.from_rows` raises. Each sentence starts with the path and names
        the row and the values.
    """
    path = as_on_disk(path)
    if path.suffix.lower() in (RECODING, TREE):
        found = read_argus(path)
        hierarchy = Hierarchy.from_rows(attribute, found.rows, str(path))
        return HierarchyReading(replace(hierarchy, ranged=found.ranged), "", "", found.notes)
    file = decode(read_bytes(path, "hierarchy"), path, "hierarchy", fallback=_FALLBACK)
    where = str(path)
    notes: tuple[str, ...] = ()
    if file.encoding == _FALLBACK:
        where = f"{path} (read as Windows-1252)"
        notes = (f"{path.name} is not UTF-8; it was read as Windows-1252.",)
    first_error: InputError | None = None
    for delimiter in _likely_delimiters(file.text):
        try:
            rows = _rows(file.text, delimiter, where)
            hierarchy = _checked(attribute, rows, where)
        except InputError as error:
            first_error = first_error or error
            continue
        if first_error is not None and hierarchy.height == 0:
            # Any single row is a hierarchy of one value under a delimiter that it lacks.
            continue
        return HierarchyReading(hierarchy, delimiter, file.encoding, notes)
    assert first_error is not None
    raise first_error


def write_hierarchy(
    hierarchy: Hierarchy, path: Path, keeper: PartialKeeper, delimiter: str = ";"
) -> None:
    """Write a hierarchy as UTF-8 CSV with LF, whole or not at all.

    Reading the file gives an equal hierarchy. Raises StorageError ``hierarchy.unwritable``, and
    ValueError for a delimiter that the reader does not detect.
    """
    if delimiter not in DELIMITERS:
        raise ValueError(f"delimiter {delimiter!r} is none of {DELIMITERS}")
    # What could make the reader choose another delimiter is quoted too.
    special = {'"', "\r", "\n", "\ufeff", *DELIMITERS}
    lines = (delimiter.join(_quoted(field, special) for field in row) for row in hierarchy.rows())
    write_text(path, "".join(f"{line}\n" for line in lines), "hierarchy", keeper, follow=True)


def _quoted(field: str, special: set[str]) -> str:
    if special.isdisjoint(field):
        return field
    return '"' + field.replace('"', '""') + '"'


def _likely_delimiters(text: str) -> list[str]:
    """Delimiters, most likely first: same number of columns (above one) in the first rows.

    A quote that follows another delimiter inside a value speaks for that other delimiter, and a
    last column of nothing but ``*`` for the one that gives it.
    """

    def rank(delimiter: str) -> tuple[bool, bool, bool, bool]:
        widths: set[int] = set()
        torn = topped = False
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
            for number, row in enumerate(reader):
                if number == 100:
                    break
                if row:
                    widths.add(len(row))
                    torn = torn or any(_TORN.search(field) for field in row)
                    topped = row[-1] == "*" and (topped or number == 0)
        except csv.Error:
            widths.add(0)
        uneven = len(widths) != 1 or widths <= {0, 1}
        return (uneven, torn, max(widths, default=0) <= 1, not topped)

    return sorted(DELIMITERS, key=rank)


def _rows(text: str, delimiter: str, where: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(reader)
    except csv.Error as error:
        raise InputError(
            "hierarchy.quoting",
            f"{where}, line {reader.line_num}: the quotes are wrong ({error}), expected a quoted "
            "value to end with a quote before the delimiter.",
            hint='Write a quote inside a quoted value twice: "".',
            details={"line": reader.line_num},
        ) from None
    while rows and not rows[-1]:
        rows.pop()
    for number, row in enumerate(rows, start=1):
        if not row:
            raise InputError(
                "hierarchy.ragged",
                f"{where}, row {number}: found an empty line, expected a value and its levels.",
                hint="Remove the line.",
                details={"row": number},
            )
    return rows


def _checked(attribute: str, rows: list[list[str]], where: str) -> Hierarchy:
    try:
        return Hierarchy.from_rows(attribute, rows, where)
    except InputError as error:
        if error.code != "hierarchy.no-root" or len({row[-1] for row in rows[1:]}) != 1:
            raise
        raise InputError(
            error.code,
            error.sentence,
            hint="Row 1 looks like column names; remove it, hierarchy files have no header.",
            details=error.details,
        ) from None
