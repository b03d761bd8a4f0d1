"""Cells that the data store adds up, next to the same cells counted row by row."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import SourceSpec
from dpdesk.core.tabulation import Tabulated, Tabulation
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.reference.table_cells import cells

NODES = {"town": ("a", "b", "c", "north", "Total"), "sex": ("f", "m", "Total")}
PATHS = {"town": {"a": ("north",), "b": ("north",)}, "sex": {}}
NUMBERS = ("", "0", "7", "-7", "7.0", "12.5", "-0.25", "2e3", "9e17", "-88888888888888888888")
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcx"),
        st.sampled_from("fm"),
        st.sampled_from(NUMBERS),
        st.sampled_from(("1", "2.5", "3", "", "4000000000")),
        st.sampled_from("pqr"),
        st.sampled_from(("", "yes")),
    ),
    min_size=1,
    max_size=12,
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("DPDESK_WITNESS", str(home / "witness.jsonl"))
        opened = Workspace.open(home / "inside")
        yield opened
        opened.close()


def members(column: str) -> dict[str, tuple[int, ...]]:
    labels = NODES[column]
    values = labels[:3] if column == "town" else labels[:2]
    above = {value: (value, *PATHS[column].get(value, ()), "Total") for value in values}
    return {value: tuple(map(labels.index, path)) for value, path in above.items()}


def tabulated(
    folder: Workspace, rows: list[tuple[str, ...]], asked: Tabulation, decimal: str
) -> Tabulated:
    lines = ["town,sex,value,weight,person,asks", *(",".join(map(_quoted, row)) for row in rows)]
    path = folder.folder / "rows.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    spec = SourceSpec(str(path), encoding="utf-8", delimiter=",", decimal=decimal, header=True)
    data = DataStore.open(spec, folder.folder, folder, CancelToken(), silent)
    try:
        return data.tabulate(asked, CancelToken())
    finally:
        data.close()


def _quoted(text: str) -> str:
    return f'"{text}"'


@settings(deadline=None, max_examples=60)
@given(ROWS, st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3), st.sampled_from(".,"))
def test_cells_are_those_of_the_rows(
    workspace: Workspace,
    rows: list[tuple[str, ...]],
    sums: bool,
    weighted: bool,
    people: bool,
    top: int,
    decimal: str,
) -> None:
    value, weight = "value" if sums else None, "weight" if weighted else None
    who = "person" if people else None
    asked = Tabulation(
        ("town", "sex"), (members("town"), members("sex")), (5, 3), value, weight, who, top,
        request=("asks", ("yes",)), waive=("asks", ("yes",)),
    )  # fmt: skip
    written = [tuple(one.replace(".", decimal) for one in row) for row in rows]
    found = tabulated(workspace, written, asked, decimal)
    names = ("town", "sex", "value", "weight", "person", "asks")
    plain = [dict(zip(names, row, strict=True)) for row in rows]
    places = {(t, s): 3 * i + j for i, t in enumerate(NODES["town"]) for j, s in enumerate("fm")}
    places |= {(t, "Total"): 3 * i + 2 for i, t in enumerate(NODES["town"])}
    within = [row for row in plain if row["town"] != "x"]
    numbered = [dict(row, number=str(n)) for n, row in enumerate(plain) if row in within]
    expected = cells(numbered, ("town", "sex"), PATHS, value or "", weight or "", who or "number")
    unit = Fraction(10) ** -found.scale
    asking = {row[who or "number"] for row in numbered if row["asks"] and _counts(row, asked)}
    bound = {row[who or "number"] for row in numbered if not row["asks"] and _counts(row, asked)}
    for cell, place in places.items():
        given_by = expected.get(cell, {})
        assert found.frequency[place] == len(given_by)
        assert found.totals[place] * unit == sum(given_by.values(), Fraction(0))
        assert found.sizes[place] * unit == sum(map(abs, given_by.values()), Fraction(0))
        sizes = sorted(map(abs, given_by.values()), reverse=True)[:top]
        assert [one * unit for one in found.top[place, : len(sizes)]] == sizes
        assert (found.who[place, len(sizes) :] == -1).all()
        _names_are_right(found, place, given_by, people)
        if not people:
            assert found.asking is not None
            assert found.holding is not None
            largest = [abs(amount) for name, amount in given_by.items() if name in asking]
            assert found.asking[place] * unit == max(largest, default=0)
            held = [abs(amount) for name, amount in given_by.items() if name in bound]
            assert (
                found.holding[place] == -1
                if not held
                else max(held) == (found.holding[place] * unit)
            )
    assert found.left_out == sum(not _counts(row, asked) for row in plain)


def _counts(row: dict[str, str], asked: Tabulation) -> bool:
    return all(row[name] for name in (asked.value, asked.weight) if name is not None)


def _names_are_right(
    found: Tabulated, place: int, given_by: dict[str, Fraction], people: bool
) -> None:
    """Each of the largest is named once, with what it gives; of equal ones the first rows are."""
    shown = [int(one) for one in found.who[place] if one >= 0]
    assert len(set(shown)) == len(shown)
    if people:
        return
    order = sorted(given_by, key=lambda name: (-abs(given_by[name]), int(name)))
    assert [str(one) for one in shown] == order[: len(shown)]
