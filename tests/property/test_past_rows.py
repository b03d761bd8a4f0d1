"""Tables of some rows next to tables of others: what a run names, against an attacker who tries all
numbers of persons of each kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.app import past_tables
from dpdesk.app.past_rows import Source, described
from dpdesk.app.past_tables import earlier_notes
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import SourceSpec
from dpdesk.core.tabulation import CellAxis, CellTable
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from dpdesk.project.past_tables import PastAxis, PastRelease, PastTable, PastTables
from tests.reference.differencing import Cell, Person, told

COLUMNS = ("town", "sex")
VALUES = {"town": ("a", "b", "c"), "sex": ("f", "m")}
FILTERS: dict[str, Callable[[Person], bool]] = {
    "": lambda person: True,
    "SELECT * FROM data WHERE sex = 'f'": lambda person: person[1] == "f",
    "SELECT * FROM data WHERE town <> 'a'": lambda person: person[0] != "a",
    "SELECT * FROM data WHERE town = 'c' OR sex = 'm'": lambda person: (
        person[0] == "c" or person[1] == "m"
    ),
}
DIMENSIONS = (("town",), ("sex",), ("town", "sex"))
MOST = 2
POPULATIONS = count()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("DPDESK_WITNESS", str(home / "witness.jsonl"))
        patch.setattr(past_tables, "NAMED", 99)  # every cell
        opened = Workspace.open(home / "inside")
        yield opened
        opened.close()


def labels(column: str) -> tuple[str, ...]:
    return (*VALUES[column], "Total")


def cells(columns: tuple[str, ...], query: str) -> dict[str, Cell]:
    """What each cell of a table counts, by its words, in the order of its axes."""
    places: list[tuple[str, ...]] = [()]
    for column in columns:
        places = [(*place, label) for place in places for label in labels(column)]

    def counts(place: tuple[str, ...]) -> Cell:
        def inside(person: Person) -> bool:
            named = dict(zip(COLUMNS, person, strict=True))
            fits = all(
                label in ("Total", named[column])
                for column, label in zip(columns, place, strict=True)
            )
            return fits and FILTERS[query](person)

        return inside

    return {" × ".join(place): counts(place) for place in places}


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Person], list[tuple[tuple[str, ...], str, list[bool]]]]:
    """Kinds of persons that there are, and tables: dimensions, a choice, which cells are shown."""
    every = [(town, sex) for town in VALUES["town"] for sex in VALUES["sex"]]
    kinds = draw(st.lists(st.sampled_from(every), min_size=2, max_size=5, unique=True))
    tables = []
    for _ in range(draw(st.integers(2, 3))):
        columns = draw(st.sampled_from(DIMENSIONS))
        query = draw(st.sampled_from(sorted(FILTERS)))
        size = len(cells(columns, query))
        shown = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        tables.append((columns, query, shown))
    if not any(FILTERS[tables[0][1]](kind) for kind in kinds):
        tables[0] = (tables[0][0], "", tables[0][2])
    return kinds, tables


@given(worlds())
@settings(deadline=None)
def test_named_cells_are_those_that_an_attacker_finds(
    workspace: Workspace,
    world: tuple[list[Person], list[tuple[tuple[str, ...], str, list[bool]]]],
) -> None:
    kinds, ((columns, query, shown), *past) = world
    base, number = workspace.folder, next(POPULATIONS)
    rows = [",".join(kind) for kind in kinds for _ in range(5)]
    (base / "people.csv").write_text("\n".join([",".join(COLUMNS), *rows]) + "\n", "utf-8")
    spec = SourceSpec("people.csv", query=query or None)
    data = DataStore.open(spec, base, workspace, CancelToken(), silent)
    try:
        people = f"people {number}"
        register = PastTables(workspace.home, people, "")
        for place, (others, choice, known) in enumerate(past):
            own = SourceSpec("people.csv", query=choice or None)
            axes = tuple(
                PastAxis(name, labels(name), (*[len(VALUES[name])] * len(VALUES[name]), -1))
                for name in others
            )
            table = PastTable("t", '"count"', axes, tuple(known))
            noted = described(data.sha256, data.reading.as_dict(), own, {})
            register.enter(PastRelease(f"{number}.{place}", "t", "", (table,), noted))
        new = CellTable(
            "t",
            "t.csv",
            tuple(
                CellAxis(name, labels(name), (*[len(VALUES[name])] * len(VALUES[name]), -1))
                for name in columns
            ),
            tuple("1" if one else "" for one in shown),
            (),
        )
        source = Source(data, spec, base, workspace)
        budget = {"population": people}
        given_notes = workspace.home, budget, source, {"measure": "count"}, [new], CancelToken()
        notes = earlier_notes(*given_notes)
    finally:
        data.close()
    said = [note.sentence for note in notes if note.code == "table.differenced"]
    named = {cell for one in said for cell in re.findall("`([^`]+)`", one.partition(": ")[2])}
    mine = dict(zip(cells(columns, query).items(), shown, strict=True))
    open_ = [cell for (_, cell), one in mine.items() if one]
    earlier = [
        cell
        for others, choice, known in past
        for cell, one in zip(cells(others, choice).values(), known, strict=True)
        if one
    ]
    reached = {
        words
        for (words, cell), one in mine.items()
        if not one
        and told(cell, [*open_, *earlier], kinds, MOST)
        and not told(cell, open_, kinds, MOST)
    }
    assert named == reached
