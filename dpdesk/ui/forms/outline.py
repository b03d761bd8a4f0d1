"""Nested tables and lists of texts as an indented outline that people can type.

A line that ends with a colon is a group, the lines indented below it are what it holds; a line
``---`` separates the parts of a list of tables. A text that would be misread is written in quotes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication

from dpdesk.core.jsontext import read_json

translate = QCoreApplication.translate

STEP = "  "
PART = "---"
_Line = tuple[int, str]


def to_outline(value: object) -> str:
    """The outline of nested tables (mappings), lists and texts; empty for None."""
    return "" if value is None else "\n".join(_lines(value, ""))


def from_outline(text: str) -> object:
    """The nested value of an outline: mappings, lists and texts; None when it is empty.

    Raises ValueError with a sentence that names the line.
    """
    lines: list[_Line] = []
    for number, line in enumerate(text.split("\n"), start=1):
        plain = line.expandtabs(len(STEP)).rstrip()
        if plain:
            if not plain.lstrip().rstrip(":"):
                raise ValueError(
                    translate("Outline", "Line {number}: the group has no name.").format(
                        number=number
                    )
                )
            lines.append((len(plain) - len(plain.lstrip()), plain.lstrip()))
    if not lines:
        return None
    value, rest = _block(lines, 0)
    if rest < len(lines):
        text = translate("Outline", "`{line}` is indented less than the first line.")
        raise ValueError(text.format(line=lines[rest][1]))
    return value


def _lines(value: object, indent: str) -> list[str]:
    if isinstance(value, Mapping):
        found: list[str] = []
        for label, inner in value.items():
            found.append(f"{indent}{_quoted(str(label))}:")
            found.extend(_lines(inner, indent + STEP))
        return found
    if isinstance(value, list | tuple):
        return _list_lines(value, indent)
    return [indent + _quoted(str(value))]


def _list_lines(items: Sequence[object], indent: str) -> list[str]:
    found: list[str] = []
    tables = len(items) > 1 and all(isinstance(item, Mapping) for item in items)
    for number, item in enumerate(items):
        if tables and number:
            found.append(indent + PART)
        found.extend(_lines(item, indent))
    return found


def _quoted(text: str) -> str:
    plain = text == text.strip() and text != PART and not text.endswith(":")
    if plain and text and not text.startswith('"') and "\n" not in text and "\t" not in text:
        return text
    return json.dumps(text, ensure_ascii=False)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return str(read_json(text))
        except ValueError:
            return text
    return text


def _block(lines: Sequence[_Line], start: int) -> tuple[object, int]:
    """The lines from ``start`` on that are not indented less than the first of them."""
    depth = lines[start][0]
    parts: list[list[object]] = [[]]
    place = start
    while place < len(lines) and lines[place][0] >= depth:
        text = lines[place][1]
        place += 1
        if text == PART:
            parts.append([])
        elif text.endswith(":") and not (text.startswith('"') and text.endswith('"')):
            inner: object = []
            if place < len(lines) and lines[place][0] > lines[place - 1][0]:
                inner, place = _block(lines, place)
            parts[-1].append({_unquoted(text[:-1].rstrip()): inner})
        else:
            parts[-1].append(_unquoted(text))
    if len(parts) == 1:
        return _joined(parts[0]), place
    return [_joined(part) for part in parts], place


def _joined(items: list[object]) -> object:
    """Groups alone are one table; anything else is a list."""
    table: dict[str, object] = {}
    for item in items:
        if not isinstance(item, dict) or table.keys() & item.keys():
            return items
        table |= item
    return table if items else []
