"""The field for what is released exactly: a table or a cell in each line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpdesk.core.cube_parameters import CELLS, CUBOID, ExactParameter
from dpdesk.ui.forms.cubes.publishing import TIMES, read_tables, tables_text
from dpdesk.ui.forms.lists import LinesField

_IS = ":"


class ExactField(LinesField):
    """Tables such as ``age × sex``, and single cells such as ``age × sex: 20-29 × f``."""

    def __init__(self, parameter: ExactParameter) -> None:
        super().__init__(parameter)
        self._area.setPlaceholderText(f"age {TIMES} sex\nregion{_IS} north")

    def plain(self) -> object:
        """See :meth:`Field.plain`; None for no line, the text where a line cannot be read."""
        text = self._area.toPlainText()
        found = read_exact_lines(text)
        return text if found is None else found or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        items = list(value) if isinstance(value, list | tuple) else []
        if (self.plain() or []) != items:
            self._show(exact_lines(items))


def read_exact_lines(text: str) -> list[object] | None:
    """The plan's value of such lines; None where one cannot be read."""
    found: list[object] = []
    cells: dict[tuple[str, ...], list[list[str]]] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        names, colon, texts = line.partition(f"{_IS} ")
        tables = read_tables(names)
        if not colon:
            found += tables
            continue
        cell = [part.strip() for part in texts.split(f" {TIMES} ")]
        if len(tables) != 1 or len(cell) != len(tables[0]):
            return None
        key = tuple(tables[0])
        if key not in cells:
            cells[key] = []
            found.append({CUBOID: list(key), CELLS: cells[key]})
        cells[key].append(cell)
    return found


def exact_lines(items: Sequence[object]) -> str:
    """Lines that :func:`read_exact_lines` reads."""
    lines: list[str] = []
    for item in items:
        if isinstance(item, Mapping):
            names = tables_text([item[CUBOID]])
            lines += [f"{names}{_IS} {f' {TIMES} '.join(cell)}" for cell in item[CELLS]]
        elif isinstance(item, list | tuple):
            lines.append(tables_text([item]))
    return "\n".join(lines)
