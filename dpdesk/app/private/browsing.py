"""A released table to look at: its cells with the error of each, read from the release alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from dpdesk.core.charts import Cell, ChartTable
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import CuboidTable, Domain, listed_tables
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.pivot import shown_half
from dpdesk.core.plain import ExactFloat

if TYPE_CHECKING:
    from dpdesk.core.release import Manifest, ReleaseFacts

MOST_CELLS = 500
PER_PERSON = " / n"
EDGES = "edges"
ALL, SOME = "all", "some"


@dataclass(frozen=True)
class TableName:
    """A table of a release: its file, how people call it, and how many dimensions it has."""

    file: str
    words: str
    dimensions: int = 0


@dataclass(frozen=True)
class TablePreview:
    """The first cells of a table, as released; ``width`` is the stated ±.

    ``cells`` is how many there are in all, ``unit`` what values are counted in. Of an average the
    width is that of a cell with one person, and each cell has its own (``per_cell``). ``exact``
    says that ``all`` cells, ``some`` or none (empty) are without noise. ``notes`` say what was done
    to the values besides, so that the width does not hold (``holds``) for what is shown. Of values
    that were ``chosen`` the width is by how many rows another may be better.
    """

    name: TableName
    width: float
    cells: int
    unit: str = ""
    per_cell: bool = False
    exact: str = ""
    notes: tuple[str, ...] = ()
    holds: bool = True
    table: ChartTable = field(repr=False, default=ChartTable((), ()))
    chosen: bool = False


def released_tables(facts: ReleaseFacts) -> tuple[TableName, ...]:
    """The tables that a release lists, in its order; none for a release of rows."""
    return tuple(_name(item) for item in _cuboids(facts))


def _name(item: Mapping[str, object]) -> TableName:
    return TableName(str(item["file"]), table_words(item), len(_texts(item["dimensions"])))


def table_words(item: Mapping[str, object], spelled: Callable[[object], str] = str) -> str:
    """The dimensions of a table, each ``spelled``, and its measure where there are several; of a
    graph's its name, of choices what is chosen.
    """
    if isinstance(item.get("table"), str):
        return str(item["table"])
    if "candidates" in item:
        from dpdesk.engine.methods.dp_choice.settings import Wanted

        return Wanted.stated(item).name
    name = " × ".join(map(spelled, _texts(item["dimensions"]))) or msg("grand total")
    return f"{name} ({item['measure']})" if "measure" in item else name


def _cuboids(facts: ReleaseFacts) -> list[Mapping[str, object]]:
    items = listed_tables(facts.manifest.result)
    return [
        item
        for item in items
        if isinstance(item, Mapping)
        and isinstance(item.get("dimensions"), list)
        and isinstance(item.get("file"), str)
        and isinstance(item.get("error" if "candidates" in item else "variance"), int | float)
    ]


def preview_table(facts: ReleaseFacts, file: str, token: CancelToken) -> TablePreview:
    """The first cells of a table with the error of each.

    Raises InputError ``release.table`` where the file cannot be read as the manifest says.
    """
    from dpdesk.report.cubes import table_width, unit_words

    item = next((one for one in _cuboids(facts) if one["file"] == file), None)
    if item is None:
        raise InputError(
            "release.table", msg("{file}: the release lists no such table.", file=file)
        )
    found = _read(facts, item, token)
    if "candidates" in item:
        return _chosen(item, found)
    parameters = facts.manifest.parameters
    width = table_width(item, facts.manifest)
    unit = unit_words(str(item.get("measure", "")), parameters.get("measure"))
    unit = EDGES if "table" in item else unit
    people = _people(facts, item, token) if unit.endswith(PER_PERSON) else None
    unit = unit.removesuffix(PER_PERSON)
    values = found.values.reshape(-1)
    exact, notes = _exact_labels(item), _notes(facts.manifest)
    rows: list[tuple[Cell, ...]] = []
    for place in range(min(len(values), MOST_CELLS)):
        labels = _labels(found.domain, place)
        error = 0.0 if labels in exact else _width(width, people, place)
        rows.append((*labels, _exact(values[place]), error))
    head = (*found.domain.dimensions, "value", "±" if notes else "± in 95 %")
    return TablePreview(
        _name(item),
        width,
        len(values),
        unit,
        people is not None,
        ALL if item.get("exact") is True else SOME if exact else "",
        notes,
        not notes,
        ChartTable(head, tuple(rows)),
    )


def _chosen(item: Mapping[str, object], found: CuboidTable) -> TablePreview:
    """What was chosen in the first groups; the error is one of rows, not of the value."""
    values = found.values.reshape(-1)
    rows = [
        (
            *_labels(found.domain, place),
            found.labels[int(values[place])] if found.labels else _exact(values[place]),
        )
        for place in range(min(len(values), MOST_CELLS))
    ]
    table = ChartTable((*found.domain.dimensions, "value"), tuple(rows))
    error = float(str(item["error"]))
    return TablePreview(_name(item), error, len(values), chosen=True, table=table)


def _read(facts: ReleaseFacts, item: Mapping[str, object], token: CancelToken) -> CuboidTable:
    from dpdesk.io.csvgrammar import UnreadableTableError
    from dpdesk.io.cuboid_files import read_listed

    file = str(item["file"])
    try:
        domain = Domain.from_json(facts.manifest.result.get("domains"))
        return read_listed(facts.public / file, domain, item, token)
    except (UnreadableTableError, OSError, TypeError, KeyError, ValueError) as error:
        sentence = msg("{file}: the table cannot be read as the manifest describes it.", file=file)
        raise InputError("release.table", sentence) from error


def _people(
    facts: ReleaseFacts, item: Mapping[str, object], token: CancelToken
) -> NDArray[Any] | None:
    """The released numbers of people in the cells of an average; None where it has none."""
    for other in _cuboids(facts):
        if other.get("measure") == COUNT and other["dimensions"] == item["dimensions"]:
            return _read(facts, other, token).values.reshape(-1)
    return None


def _width(width: float, people: NDArray[Any] | None, place: int) -> float | None:
    """± of a cell; of an average it falls with the people there, and below 1 it tells nothing."""
    if people is None:
        return shown_half(width, 2)
    return shown_half(width / float(people[place]), 2) if people[place] >= 1 else None


def _exact(value: float) -> Cell:
    """A value as released: whole where it is, else with all its digits."""
    number = float(value)
    return int(number) if number.is_integer() else ExactFloat(number)


def _notes(manifest: Manifest) -> tuple[str, ...]:
    """What the errors do not hold: steps after the noise that move values."""
    notes = []
    if manifest.result.get("biased") is True:
        notes.append(
            "Negative values were removed: cells with few persons, and sums of many such cells, "
            "are too large on average; the ± is that of the values before this step and holds "
            "less often."
        )
    if manifest.parameters.get("consistency") in ("l1", "linf"):
        notes.append(
            "The tables were made to agree by a rule whose errors are larger than those of least "
            "squares, for which the ± is stated: it holds less often."
        )
    return tuple(notes)


def _exact_labels(item: Mapping[str, object]) -> set[tuple[str, ...]]:
    """The categories of single cells without noise."""
    return {tuple(map(str, _texts(cell))) for cell in _texts(item.get("exact_cells"))}


def _texts(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _labels(domain: Domain, place: int) -> tuple[str, ...]:
    """The categories of a cell."""
    codes = domain.codes(place, 1)
    parts = zip(domain.categories, codes, strict=True)
    return tuple(categories[int(code[0])] for categories, code in parts)
