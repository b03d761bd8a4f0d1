"""Hierarchy files: the CSV that ARX reads and writes.

One row per leaf, columns from the leaf to the top, no header, separated by ``;`` or ``,`` (or a
tab), quoted as RFC 4180 says.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.io.formats.argus import find_beside, lines_of, read_code_list
from dpdesk.io.safewrite import PartialKeeper, decode, read_bytes, write_text
from dpdesk.io.spelled_paths import as_on_disk

TREE, RECODING = ".hrc", ".grc"
_TOP = "*"
_RANGE = re.compile(r"(\d*)\s*-\s*(\d*)")
_MOST_CODES = 100_000
_MOST_LEVELS = 1_000
_LISTED = 5


@dataclass(frozen=True)
class ArgusHierarchy:
    """Rows from the leaf to ``*``, the leaves that stand there by a range alone, and notes."""

    rows: list[list[str]]
    ranged: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def read_argus(path: Path) -> ArgusHierarchy:
    """The hierarchy that a file of ARGUS describes.

    Raises InputError ``hierarchy.argus`` with the line, and StorageError.
    """
    return ArgusHierarchy(_tree(path)) if path.suffix.lower() == TREE else _Recoding(path).read()


# ---- trees: depth by leading signs


def _tree(path: Path) -> list[list[str]]:
    lines = [(n, line) for n, line in enumerate(lines_of(path, "hierarchy"), 1) if line.strip()]
    lead = next((line[0] for _, line in lines if not line[0].isalnum() and line[0] != " "), "@")
    above: list[str] = []
    leaves: list[list[str]] = []
    depths = [len(line) - len(line.lstrip(lead)) for _, line in lines]
    for at, (number, line) in enumerate(lines):
        depth, code = depths[at], line.lstrip(lead).strip()
        if not code or depth > len(above):
            found = (
                "found no code" if not code else msg("found a jump to depth {depth}", depth=depth)
            )
            raise _fault(
                path,
                number,
                msg("{found}, expected at most depth {above}", found=found, above=len(above)),
            )
        above = [*above[:depth], code]
        if at + 1 == len(lines) or depths[at + 1] <= depth:
            leaves.append(list(above))
    if not leaves:
        raise _fault(path, 1, "found no code")
    deepest = max(len(leaf) for leaf in leaves)
    return [_path_up(leaf, deepest) for leaf in leaves]


def _path_up(path: list[str], deepest: int) -> list[str]:
    """From the leaf up; a leaf that lies less deep stays itself until its parent's level."""
    return [path[-1]] * (deepest - len(path)) + path[::-1] + [_TOP]


# ---- recodings: a new code, a colon, the old ones


class _Recoding:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._labels: dict[str, str] = {}
        self._groups: list[tuple[int, str, str]] = []
        self._notes: list[str] = []

    def read(self) -> ArgusHierarchy:
        """Every line, then the codes of every group."""
        for number, line in enumerate(lines_of(self._path, "hierarchy"), start=1):
            text = line.strip()
            if text.startswith("<"):
                self._option(text)
            elif ":" in text:
                new, _, old = text.partition(":")
                self._groups.append((number, new.strip(), old.strip()))
            elif text:
                raise _fault(
                    self._path,
                    number,
                    msg("found `{text}`, expected `new: old, old`", text=text[:60]),
                )
        return self._expanded()

    def _option(self, text: str) -> None:
        word, _, value = text[1:].partition(">")
        value = value.strip()
        if word.strip().upper() == "CODELIST":
            name = Path(value.strip('"').replace("\\", "/")).name
            found = find_beside(self._path, name)
            if found is None:
                self._notes.append(
                    msg(
                        "{file}: the code list {list} is not next to it, so its groups are named "
                        "by their codes.",
                        file=self._path.name,
                        list=name,
                    )
                )
            self._labels = {} if found is None else read_code_list(found)
        elif word.strip().upper() == "MISSING" and value:
            self._notes.append(
                msg(
                    "{file} declares codes of its groups missing ({codes}); this is not taken "
                    "over.",
                    file=self._path.name,
                    codes=value,
                )
            )

    def _expanded(self) -> ArgusHierarchy:
        names = self._names({new for _, new, _ in self._groups})
        largest = _largest(old for _, _, old in self._groups)
        rows: dict[str, list[str]] = {}
        ranged, named = set[str](), set[str]()
        for number, new, old in self._groups:
            for code, by_range in _codes(self._path, number, old, largest):
                row = [code, names[new], _TOP]
                if rows.setdefault(code, row) != row:
                    raise _fault(
                        self._path, number, msg("the code `{code}` is recoded twice", code=code)
                    )
                (ranged if by_range else named).add(code)
        if not rows:
            raise _fault(self._path, 1, "found no recoding")
        return ArgusHierarchy(list(rows.values()), frozenset(ranged - named), tuple(self._notes))

    def _names(self, codes: set[str]) -> dict[str, str]:
        """How the new codes are called: by their labels, where these tell all of them apart."""
        labels = {code: label for code, label in self._labels.items() if label}
        named = {code: labels.get(code, code) for code in codes}
        lacking = sorted(codes - labels.keys()) if self._labels else []
        if lacking:
            listed = ", ".join(f"`{code}`" for code in lacking[:_LISTED])
            self._notes.append(
                msg(
                    "{name}: the code list has no label for {listed}{lacking}.",
                    name=self._path.name,
                    listed=listed,
                    lacking=", …" if len(lacking) > _LISTED else "",
                )
            )
        if len(set(named.values())) == len(codes):
            return named
        self._notes.append(
            msg(
                "{file}: two of its groups have the same label, so all of them are named by their "
                "codes.",
                file=self._path.name,
            )
        )
        return {code: code for code in codes}


def _largest(texts: Iterator[str]) -> int:
    """Where an open range ends: the largest number of as many digits as the longest code has."""
    digits = [len(found) for text in texts for found in re.findall(r"\d+", text)]
    return int("9" * max(digits, default=1))


def _codes(path: Path, number: int, text: str, largest: int) -> Iterator[tuple[str, bool]]:
    """The old codes, each with whether it is one of a range."""
    for part in text.split(","):
        item = part.strip()
        found = _RANGE.fullmatch(item)
        if found is None or item == "-":
            if item:
                yield item, False
            continue
        low, high = int(found[1] or 0), int(found[2] or largest)
        if high < low or high - low > _MOST_CODES:
            raise _fault(
                path,
                number,
                msg("found the range `{item}`, expected a smaller number first", item=item),
            )
        yield from ((str(code), True) for code in range(low, high + 1))


def _fault(path: Path, number: int, what: str) -> InputError:
    return InputError(
        "hierarchy.argus",
        msg("{path}, line {number}: {what}.", path=path, number=number, what=what),
        hint="Correct the line, or build the hierarchy in a different way.",
        details={"line": number},
    )


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
        notes = (msg("{name} is not UTF-8; it was read as Windows-1252.", name=path.name),)
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
            msg(
                "{where}, line {line}: the quotes are wrong ({error}), expected a quoted value "
                "to end with a quote before the delimiter.",
                where=where,
                line=reader.line_num,
                error=error,
            ),
            hint='Write a quote inside a quoted value twice: "".',
            details={"line": reader.line_num},
        ) from None
    while rows and not rows[-1]:
        rows.pop()
    for number, row in enumerate(rows, start=1):
        if not row:
            raise InputError(
                "hierarchy.ragged",
                msg(
                    "{where}, row {row}: found an empty line, expected a value and its levels.",
                    where=where,
                    row=number,
                ),
                hint="Remove the line.",
                details={"row": number},
            )
    return rows


def _checked(attribute: str, rows: list[list[str]], where: str) -> Hierarchy:
    levels = max(map(len, rows), default=0)
    if levels > _MOST_LEVELS:
        raise InputError(
            "hierarchy.levels",
            msg(
                "{name}: found {n:,} columns, expected at most {most:,}.",
                name=where,
                n=levels,
                most=_MOST_LEVELS,
            ),
            hint="Check that the lines of the file end where its rows do.",
        )
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
