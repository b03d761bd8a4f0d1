"""Where a table begins below titles, notes and empty lines, in texts and in sheets alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.looks import MISSING_CODES, datum, looks_like_code

Fields = Sequence[str]
_LOOKED_AT = 60
_MOST_COLUMNS = 200
_MOSTLY = 0.8
_SHOWN = 40
_CODES = 2
"""So many codes tell what a column holds."""
_WIDE = 3
"""A line of so many fields of which one is filled is no header. Of two columns one may lack a name:
then a line of one value is the header where a value of the next line comes again further down."""


@dataclass(frozen=True)
class TableStart:
    """The number of records above the table, and whether no other reading is likely."""

    above: int
    sure: bool


def table_start(records: Sequence[Fields], marks: Sequence[str] = ()) -> TableStart:
    """Where the table begins among the first records of a source that has a header.

    Titles are records with at most one value, or with far fewer fields than most; the header is
    the first other one. It is sure when its names are complete and stand above numbers or dates.
    Records without any value are never part of the table. Several that one of the ``marks`` divides
    into as many fields as the table has are rows of another delimiter, and no titles.
    """
    looked_at = [_trimmed(record) for record in records[:_LOOKED_AT]]
    widths = Counter(len(record) for record in looked_at if len(record) > 1)
    width = max(widths.items(), key=lambda item: (item[1], item[0]))[0] if widths else 0
    empty = next((n for n, record in enumerate(looked_at) if record), 0)
    above = next((n for n, one in enumerate(looked_at) if not _is_title(one, width)), None)
    if above is None or not _is_table(looked_at[above:]):
        return TableStart(empty, True)
    if _divided_otherwise(looked_at, above, marks):
        return TableStart(0, True)
    noted = above
    while _is_comment(looked_at[above:], width):
        above += 1
    if above > noted:
        return TableStart(above, False)
    header, below = looked_at[above], looked_at[above + 1 :]
    certain = _is_header(header, below, width)
    if above == empty:
        gaps = len(header) < width or _filled(header) < len(header)
        if gaps and below and _is_header(below[0], below[1:], width):
            return TableStart(above + 1, False)
        return TableStart(above, True)
    sure = certain and all(_filled(one) <= 1 for one in looked_at[:above])
    codes = any(looks_like_code(text) for one in looked_at[:above] for text in one)
    narrow = width < _WIDE and (codes or not below or _is_row(header, below))
    if not sure and (narrow or not _may_be_header(header)):
        return TableStart(empty, True)
    return TableStart(above, sure)


def _is_table(records: Sequence[Fields]) -> bool:
    """Whether most records have several fields; else one column is split here and there."""
    several = sum(1 for record in records if len(record) > 1)
    return several > 0 and several >= _MOSTLY * sum(1 for record in records if record)


def _trimmed(record: Fields) -> list[str]:
    """The fields up to the last one with a value, without blanks around them."""
    texts = [text.strip() for text in record[:_MOST_COLUMNS]]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _filled(record: Fields) -> int:
    return sum(1 for text in record if text)


def _is_title(record: Fields, width: int) -> bool:
    if width < _WIDE:
        return len(record) <= 1
    return _filled(record) <= 1 or len(record) < width - 1


def _is_comment(records: Sequence[Fields], width: int) -> bool:
    """Whether the first record begins with `#` and a header follows, some comments later."""
    rest = next((n for n, one in enumerate(records) if not (one and one[0].startswith("#"))), 0)
    return rest > 0 and _is_header(records[rest], records[rest + 1 :], width)


def _may_be_header(record: Fields) -> bool:
    return 2 * sum(datum(text) is None for text in record) > len(record)


def _is_row(record: Fields, below: Sequence[Fields]) -> bool:
    """Whether a value of the record comes again in its column, as names of columns do not."""
    return any(
        text and any(row[j : j + 1] == [text] for row in below) for j, text in enumerate(record)
    )


def _is_header(record: Fields, below: Sequence[Fields], width: int) -> bool:
    """Whether names stand above data: complete, each of its own, one above numbers or dates."""
    if len(record) < max(2, width) or not all(record) or len(set(record)) < len(record):
        return False
    return any(
        datum(name) is None
        and name not in MISSING_CODES
        and holds_data([row[j] for row in below if j < len(row)])
        for j, name in enumerate(record)
    )


def _divided_otherwise(records: Sequence[Fields], above: int, marks: Sequence[str]) -> bool:
    """Whether several records above a table have as many fields by one of the marks as it has."""
    texts = [record[0] for record in records[:above] if len(record) == 1]
    return len(texts) == above > 1 and any(
        all(text.count(mark) == len(records[above]) - 1 for text in texts) for mark in marks
    )


def holds_data(column: Sequence[str]) -> bool:
    """Whether most texts of a column are numbers or dates; False for a column without texts."""
    some = [text for text in column if text and text not in MISSING_CODES]
    return bool(some) and sum(datum(text) is not None for text in some) >= _MOSTLY * len(some)


def header_doubt(place: str, first: Fields, below: Sequence[Fields]) -> str:
    """What to say of a record that was taken as the header and may be a row; "" for no doubt.

    ``place`` is "Line 1" of a text or "Row 1" of a sheet, ``below`` the records below it.
    """
    columns = [
        [row[j].strip() for row in below if j < len(row)]
        for j in range(min(len(first), _MOST_COLUMNS))
    ]
    names = [name.strip() for name in first]
    kinds = [{*map(datum, {*column})} - {None} for column in columns]
    if any(datum(name) in kind for name, kind in zip(names, kinds, strict=False)):
        return msg(
            "{place} was taken as the header, though it holds numbers or dates as "
            "the ones below it do; set `header = false` if it is a row.",
            place=place,
        )
    repeated = [name for name, column in zip(names, columns, strict=False) if name in column]
    shown = next((name for name in repeated if name), "")
    if shown:
        return msg(
            "{place} was taken as the header, but `{shown}` is also a value further down; set "
            "`header = false` if it is a row.",
            place=place,
            shown=shown[:_SHOWN],
        )
    if columns and not any(kinds) and all(2 * len({*texts}) > len(texts) for texts in columns):
        # Neither numbers below, nor values that come again and again, tell it from a row.
        return msg(
            "{place} was taken as the header, although nothing distinguishes it from a row; "
            "set `header = false` if it is one.",
            place=place,
        )
    return ""


def titles_note(what: str, first: int, last: int, title: str) -> str:
    """What to say of skipped lines (``what`` is "Line") or rows of a sheet ("Row") with a title."""
    said = " ".join(title.replace("`", "'").split())
    shown = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
    begins = "write `skip = 0` under [source] if the table begins there."
    if last > first:
        return msg(
            "{what}s {first:,} to {last:,} (`{shown}`) are above the table; {begins}",
            what=what,
            first=first,
            last=last,
            shown=shown,
            begins=begins,
        )
    return msg(
        "{what} {first:,} (`{shown}`) is above the table; {begins}",
        what=what,
        first=first,
        shown=shown,
        begins=begins,
    )


def unsure_start(name: str, line: int, table_line: int, skip: int) -> InputError:
    """The refusal of a first line that looks like a title; ``skip`` lines are above the table."""
    return InputError(
        "csv.preamble",
        msg(
            "{name}, line {line}: the line looks like a title; the table seems to start "
            "on line {line2}.",
            name=name,
            line=line,
            line2=table_line,
        ),
        hint=msg(
            "Write `skip = {skip}` under [source] if it does, or `skip = 0` if line "
            "{line} belongs to it.",
            skip=skip,
            line=line,
        ),
        details={"line": line, "table_line": table_line, "skip": skip},
    )


def nothing_below(name: str, lines: int) -> InputError:
    """The refusal of a file that ends within the lines that are to be skipped."""
    return InputError(
        "source.option",
        msg(
            "{name}: found nothing below the first {lines:,} lines, which `skip` leaves out.",
            name=name,
            lines=lines,
        ),
        hint="Write a smaller number as `skip` under [source].",
        details={"key": "skip", "line": 1},
    )


def other_below(name: str, skip: int, above: str, below: str) -> InputError:
    """The refusal of lines that are split by another delimiter than those below them."""
    return InputError(
        "csv.preamble",
        msg(
            "{name}, line {skip}: the lines above are split by {shown_delimiter}, those "
            "from here on by {shown_delimiter2}.",
            name=name,
            skip=skip + 1,
            shown_delimiter=above,
            shown_delimiter2=below,
        ),
        hint=msg(
            "Write `skip = {skip}` under [source] if the table starts here, and name its "
            "`delimiter`.",
            skip=skip,
        ),
        details={"line": skip + 1, "skip": skip},
    )


def names_data(first: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether a text of the first line stands above numbers or dates, and so is a name."""
    return any(
        name.strip() and name.strip() not in MISSING_CODES and holds_data(column)
        for name, column in zip(first, columns, strict=False)
    )


def continues(first: str, column: Sequence[str]) -> bool:
    """Whether the first text of a column is a code as long as those below it."""
    codes = [text for text in column if text and text not in MISSING_CODES]
    if len(codes) < _CODES or not all(map(looks_like_code, (first, *codes))):
        return False
    lengths = [len(text) for text in codes]
    return min(lengths) <= len(first.strip()) <= max(lengths)
