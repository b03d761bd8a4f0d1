"""Rows of an Excel sheet as XML, made by Arrow for many rows at once.

Python would hold the interpreter for as long as it writes cell by cell, and a window would wait.
The text is, byte for byte, what xlsxwriter itself writes for such values; values that it would
write in another way are left to it.
"""

from __future__ import annotations

from typing import Any

_UNUSUAL = (
    "[\\x{00}-\\x{08}\\x{0b}-\\x{1f}\\x{fffe}\\x{ffff}]|_x[0-9a-fA-F]{4}_"
    "|^[\\s\\pZ\\x{85}]|[\\s\\pZ\\x{85}]$"
)
"""Control characters and what looks like one escaped, and blanks at an end."""
_LONG = 16_000
_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


def rows_xml(batch: Any, first: int) -> str | None:
    """The rows of an Arrow table of texts; the first gets the number ``first`` (from 1).

    None when some value is unusual or very long, see :data:`_UNUSUAL`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [column.combine_chunks().cast(pa.large_string()) for column in batch.columns]
    if any(_is_unusual(column) for column in columns):
        return None
    numbers = pa.array(range(first, first + batch.num_rows)).cast(pa.large_string())
    parts: list[Any] = ['<row r="', numbers, '">']
    for place, column in enumerate(columns):
        parts += [f'<c r="{_letters(place)}', numbers, '" t="inlineStr"><is><t>']
        parts += [_escaped(column), "</t></is></c>"]
    parts.append("</row>")
    wide = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
    rows = pc.binary_join_element_wise(*wide, pa.scalar("", pa.large_string()))
    end = pc.sum(pc.binary_length(rows)).as_py() or 0
    text = rows.buffers()[2]
    return str(memoryview(text)[:end], "utf-8")


def _is_unusual(column: Any) -> bool:
    import pyarrow.compute as pc

    if (pc.max(pc.binary_length(column)).as_py() or 0) > _LONG:
        return True
    return bool(pc.any(pc.match_substring_regex(column, _UNUSUAL)).as_py())


def _escaped(column: Any) -> Any:
    import pyarrow.compute as pc

    for sign, escape in _ESCAPES:
        if pc.any(pc.match_substring(column, sign)).as_py():
            column = pc.replace_substring(column, sign, escape)
    return column


def _letters(place: int) -> str:
    """The letters of a column of a sheet, counted from 0: A to Z, then AA and so on."""
    found = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        found = chr(ord("A") + rest) + found
    return found
