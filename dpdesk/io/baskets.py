"""A text whose lines list items (baskets, diagnoses, pages): one column for each named item.

A line that is not blank is a row, and a column says whether its item is in the line: "1" or "0".
Items that the source does not name are left out, an item that is there twice is there once. Each
line is read by itself, whatever the method, so both kinds of methods read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import counted, msg
from dpdesk.core.plain import BLANKS
from dpdesk.core.schema import form
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.coded_rows import CodedRows
from dpdesk.io.coding import texts
from dpdesk.io.csvload import CHECK, LOAD, RAW, STEPS, Loaded, Source
from dpdesk.io.database import literal, query
from dpdesk.io.failures import LONGEST_LINE, check_width
from dpdesk.io.private.coded import lost_codes, occurring
from dpdesk.io.private.lines import Grammar, SplitLines, TextLines, line_codec
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.reading import PREVIEW_ROWS, Reading, SourcePreview
from dpdesk.io.sniff import encoding_of, read_head

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

ABSENT, PRESENT = "0", "1"
_VALUES = (ABSENT, PRESENT, UNREADABLE)
_LOST = 2
DELIMITERS = (" ", ",", ";", "\t", "|")
_SIGNS = "\x1a" + "".join(chr(sign) for one, last in BLANKS for sign in range(one, last + 1))
"""Characters that are removed at both ends of an item; Ctrl-Z is the last one of DOS texts."""
_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
Bits = NDArray[np.uint8]


@dataclass
class _Found:
    """What the lines hold: codes against :data:`_VALUES` (lines × items), and what is not read.

    ``others`` counts the items in lines that the source does not name, ``lines`` all lines, blank
    ones too, and ``lost`` those that are not text.
    """

    codes: list[Bits]
    others: int = 0
    lines: int = 0
    lost: int = 0

    def coded(self, items: int) -> CodedRows:
        """All rows, column by column."""
        rows = sum(len(block) for block in self.codes)
        columns: list[Bits] = [np.empty(rows, np.uint8) for _ in range(items)]
        start = 0
        for block in self.codes:
            for j, column in enumerate(columns):
                column[start : start + len(block)] = block[:, j]
            start += len(block)
        self.codes = []
        made = [occurring(column, _VALUES) for column in columns]
        return CodedRows(tuple(one for one, _ in made), tuple(codes for _, codes in made), rows)


class _Items:
    """The named items and the delimiter between those of a line."""

    def __init__(self, names: Sequence[str], delimiter: str) -> None:
        self._places = {form(name): place for place, name in enumerate(names)}
        self._delimiter = delimiter

    def take(self, lines: pyarrow.Array, found: _Found) -> Bits:
        """The rows of some lines, an array of large texts, which ``found`` counts."""
        import pyarrow as pa
        import pyarrow.compute as pc

        plain = pc.utf8_trim(lines, characters=_SIGNS)
        parts = pc.split_pattern(plain, pattern=self._delimiter)
        each = pc.utf8_trim(pc.list_flatten(parts), characters=_SIGNS).dictionary_encode()
        known = texts(each.dictionary)
        place = np.array([self._places.get(form(text), -1) for text in known], np.int64)
        other = np.array([text != "" for text in known], np.bool_) & (place < 0)
        numbers = each.indices.to_numpy()
        line, item = pc.list_parent_indices(parts).to_numpy(), place[numbers]
        bits = np.zeros((len(lines), len(self._places)), np.uint8)
        bits[line[item >= 0], item[item >= 0]] = 1
        bad = pc.equal(lines, pa.scalar(UNREADABLE, lines.type)).to_numpy(zero_copy_only=False)
        bits[bad] = _LOST
        filled = pc.not_equal(plain, "").to_numpy(zero_copy_only=False)
        found.others += int(other[numbers].sum()) - int(bad.sum())
        found.lost += int(bad.sum())
        return np.ascontiguousarray(bits[filled])

    def in_line(self, line: str) -> int:
        """How many of the items a line names."""
        return len(
            self._places.keys() & {form(text.strip()) for text in line.split(self._delimiter)}
        )


def load_baskets(
    source: Source, token: CancelToken, report: Report, *, private: bool, held: bool = False
) -> Loaded:
    """Load the named items of a text as columns into the table ``raw``, or ``held`` as codes.

    With ``private`` nothing is raised or noted for what a line holds. Else raises InputError
    ``baskets.text`` for a line that is not text, ``baskets.items`` where the file has none of the
    items. StorageError, Cancelled.
    """
    spec, path, items = source.spec, source.path, source.spec.items
    check_width(path.name, len(items))
    report(StepStarted(CHECK, 1, STEPS))
    codec = line_codec(_encoding(path, spec), path.name)
    delimiter = spec.delimiter or _likely_delimiter(path, spec, codec)
    lines = TextLines(path, codec, spec.skip or 0, token, report)
    report(StepStarted(LOAD, 2, STEPS))
    reader, found = _Items(items, delimiter), _Found([], lines=lines.number)
    for step in lines.split(Grammar(), 1, (0,)):
        token.check()
        _take(reader, step(), found, path, private=private)
    found.lines -= lines.number
    coded = found.coded(len(items))
    notes = () if private else _notes(found, coded, spec)
    if not private and not any(PRESENT in domain for domain in coded.domains):
        raise _nothing(path, delimiter)
    reading = _reading(spec, delimiter, codec, notes)
    facts: dict[str, object] = {}
    if private:
        facts = {"unreadable_lines": found.lost, **lost_codes(coded, items)}
    given = items, coded.rows, reading, lines.print
    if held:
        return Loaded(*given, columns=items, unreadable=facts, coded=coded.domains, held=coded)
    _put(source.con, path, coded, token)
    told = facts if private else None
    return Loaded(*given, columns=items, unreadable=told, coded=coded.domains)


def preview_baskets(path: Path, spec: SourceSpec) -> SourcePreview:
    """The first rows as they would be read; raises what :func:`load_baskets` does of them."""
    codec = line_codec(_encoding(path, spec), path.name)
    delimiter = spec.delimiter or _likely_delimiter(path, spec, codec)
    import pyarrow as pa

    head = list(_head_lines(path, codec, spec.skip or 0))
    reader, found = _Items(spec.items, delimiter), _Found([])
    bits = reader.take(pa.array(head, pa.large_string()), found)[:PREVIEW_ROWS]
    rows = tuple(tuple(_VALUES[code] for code in row) for row in bits.tolist())
    return SourcePreview(_reading(spec, delimiter, codec, ()), spec.items, rows)


def _take(reader: _Items, split: SplitLines, found: _Found, path: Path, *, private: bool) -> None:
    """Add the rows of some lines to what was found in the ones above."""
    before = found.lost
    found.codes.append(reader.take(split.table().column(0).combine_chunks(), found))
    if found.lost > before and not private:
        number = found.lines + _first_lost(split.data.tobytes())
        raise InputError(
            "baskets.text",
            msg(
                "{name}, line {number:,}: found bytes that are not text in the encoding of the "
                "file, or a line that is too long.",
                name=path.name,
                number=number,
            ),
            hint="Name the right `encoding` under [source], or correct the line.",
            details={"line": number},
        )
    found.lines += len(_LINES.findall(split.data.tobytes()))


def _first_lost(block: bytes) -> int:
    """The number of the first line that cannot be read, from 1."""
    lines = _LINES.findall(block)
    return 1 + next(j for j, line in enumerate(lines) if not _is_text(line))


def _is_text(line: bytes) -> bool:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return "\0" not in text and len(line) <= LONGEST_LINE


def _encoding(path: Path, spec: SourceSpec) -> str:
    if spec.encoding is not None:
        return spec.encoding
    return encoding_of(read_head(path)[0], None, path.name)[0]


def _head_lines(path: Path, codec: str, skip: int) -> Iterator[str]:
    """The first lines of a text; the last of them may be cut off where the text goes on."""
    data, complete = read_head(path)
    lines = data.decode(codec, "replace").splitlines()
    yield from lines[skip : None if complete else -1][: 10 * PREVIEW_ROWS]


def _likely_delimiter(path: Path, spec: SourceSpec, codec: str) -> str:
    """The delimiter with which the first lines have most of the items; of equal ones the first."""
    head = list(_head_lines(path, codec, spec.skip or 0))

    def seen(delimiter: str) -> int:
        return sum(map(_Items(spec.items, delimiter).in_line, head))

    return max(DELIMITERS, key=seen)


def _put(con: DuckDBPyConnection, path: Path, coded: CodedRows, token: CancelToken) -> None:
    """Make the table ``raw`` of coded rows."""
    import pyarrow as pa

    names = [f"f{j}" for j in range(len(coded.domains))]
    kinds = [", ".join(map(literal, domain or ("",))) for domain in coded.domains]
    listed = ", ".join(f"CAST(f{j} AS ENUM({kind})) AS c{j}" for j, kind in enumerate(kinds))
    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(codes.astype(np.int8)), pa.array(domain, pa.string())
        )
        for domain, codes in zip(coded.domains, coded.codes, strict=True)
    ]
    with query(con, token, path) as cursor:
        cursor.register("block", pa.table(arrays, names=names))
        cursor.execute(f"CREATE TABLE {RAW} AS SELECT {listed} FROM block")
        cursor.unregister("block")


def _reading(spec: SourceSpec, delimiter: str, codec: str, notes: tuple[str, ...]) -> Reading:
    skip = spec.skip or 0
    return Reading(
        "baskets", delimiter=delimiter, encoding=codec, missing=spec.missing, skip=skip, notes=notes
    )


def _notes(found: _Found, coded: CodedRows, spec: SourceSpec) -> tuple[str, ...]:
    told: list[str] = []
    if found.others:
        told.append(
            counted(
                "The lines hold {n:,} entry of an item that `items` does not name; it is left out.",
                "The lines hold {n:,} entries of items that `items` does not name; they are left "
                "out.",
                n=found.others,
            )
        )
    if blank := found.lines - coded.rows:
        told.append(
            counted(
                "{n:,} line without any text is left out; someone without any item needs a line "
                "with another text, such as `none`.",
                "{n:,} lines without any text are left out; someone without any item needs a line "
                "with another text, such as `none`.",
                n=blank,
            )
        )
    never = [
        item for item, one in zip(spec.items, coded.domains, strict=True) if PRESENT not in one
    ]
    if never:
        told.append(
            counted(
                "No line has the item `{item}`.",
                "No line has the item `{item}`, nor {others:,} other items that are named.",
                n=len(never),
                item=never[0],
                others=len(never) - 1,
            )
        )
    return tuple(told)


def _nothing(path: Path, delimiter: str) -> InputError:
    return InputError(
        "baskets.items",
        msg(
            "{name}: no line has any of the items that `items` names, with `{mark}` between "
            "the items of a line.",
            name=path.name,
            mark=delimiter,
        ),
        hint="Name the items as the lines write them, and the `delimiter` between them.",
        details={"key": "items"},
    )
