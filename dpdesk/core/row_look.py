"""How rows are looked at: in which order, and which of them. Nothing is changed by it."""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.core.schema import ColumnType


@dataclass(frozen=True)
class CellFilter:
    """Rows whose cell holds exactly ``text``, or without ``whole`` one that contains it.

    Without a ``column`` any cell may; ``text`` None asks for a missing value. With ``without``,
    all other rows. Letters are alike in both cases where they are searched for.
    """

    column: str
    text: str | None
    whole: bool = True
    without: bool = False


@dataclass(frozen=True)
class RowLook:
    """Rows that all ``filters`` let through, ordered by a column, as in the source without one.

    ``kind`` and ``date_order`` say what its values are (see ``ColumnProfile``): numbers and days
    are ordered as such, texts by their letters. Missing values come last in both directions.
    """

    column: str = ""
    descending: bool = False
    kind: ColumnType = ColumnType.TEXT
    date_order: str = ""
    filters: tuple[CellFilter, ...] = ()
