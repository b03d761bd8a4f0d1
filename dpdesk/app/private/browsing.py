"""A released table to look at: its cells with the error of each, read from the release alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dpdesk.core.charts import Cell, ChartTable
from dpdesk.core.cuboid import Domain
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from dpdesk.core.release import ReleaseFacts

MOST_CELLS = 500


@dataclass(frozen=True)
class TableName:
    """A table of a release: its file, and how people call it."""

    file: str
    words: str


@dataclass(frozen=True)
class TablePreview:
    """The first cells of a table; ``width`` is ± in 95 % of its cells, or more of them.

    ``cells`` is how many there are in all.
    """

    name: TableName
    width: float
    cells: int
    table: ChartTable = field(repr=False)


def released_tables(facts: ReleaseFacts) -> tuple[TableName, ...]:
    """The tables that a release lists, in its order; none for a release of rows."""
    return tuple(
        TableName(str(item["file"]), _words(_texts(item["dimensions"]))) for item in _cuboids(facts)
    )


def _words(names: Sequence[object]) -> str:
    return " × ".join(map(str, names)) or "grand total"


def _cuboids(facts: ReleaseFacts) -> list[Mapping[str, object]]:
    listed = facts.section("result").get("cuboids")
    items = listed if isinstance(listed, list) else []
    return [
        item
        for item in items
        if isinstance(item, Mapping)
        and isinstance(item.get("dimensions"), list)
        and isinstance(item.get("file"), str)
        and isinstance(item.get("variance"), int | float)
    ]


def preview_table(facts: ReleaseFacts, file: str, token: CancelToken) -> TablePreview:
    """The first cells of a table with the error of each.

    Raises InputError ``release.table`` where the file cannot be read as the manifest says.
    """
    from dpdesk.io.csvgrammar import UnreadableTableError
    from dpdesk.io.cuboid_files import read_cuboid
    from dpdesk.report.cubes import table_width

    item = next((one for one in _cuboids(facts) if one["file"] == file), None)
    if item is None:
        raise InputError("release.table", f"{file}: the release lists no such table.")
    try:
        domain = Domain.from_json(facts.section("result").get("domains"))
        names = [str(name) for name in _texts(item["dimensions"])]
        places = [domain.dimensions.index(name) for name in names]
        found = read_cuboid(facts.public / file, file, domain.part(places), token)
    except (UnreadableTableError, OSError, TypeError, KeyError, ValueError) as error:
        sentence = f"{file}: the table cannot be read as the manifest describes it."
        raise InputError("release.table", sentence) from error
    width = table_width(item, facts.section("parameters"))
    values = found.values.reshape(-1)
    rows: list[tuple[Cell, ...]] = [
        (*_labels(found.domain, place), round(float(values[place]), 4), round(width, 2))
        for place in range(min(len(values), MOST_CELLS))
    ]
    name = TableName(file, _words(names))
    head = (*names, "value", "± in 95 %")
    return TablePreview(name, width, len(values), ChartTable(head, tuple(rows)))


def _texts(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _labels(domain: Domain, place: int) -> tuple[str, ...]:
    """The categories of a cell, which lie in domain order, the last dimension fastest."""
    found: list[str] = []
    for categories in reversed(domain.categories):
        place, at = divmod(place, len(categories))
        found.append(categories[at])
    return tuple(reversed(found))
