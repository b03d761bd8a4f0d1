"""Missing values of a plan that the source writes in another way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import exact_number
from dpdesk.core.source_spec import NUMBER, TEXT, SourceSpec
from dpdesk.io.missing_forms import listed_number_sql
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

MISSING = ("", "99", "?")
PINNED = SourceSpec(
    "a.csv", encoding="utf-8", delimiter=";", decimal=".", quote='"', header=True, missing=MISSING
)


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def opened(spec: SourceSpec, folder: Path, workspace: Workspace, *, private: bool) -> DataStore:
    return DataStore.open(spec, folder, workspace, CancelToken(), silent, private=private)


def test_a_number_in_another_form_is_noted_with_the_line_to_write(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "a.csv").write_text("age;job\n20;x\n99.00;y\n 99;y\n99; ?\n31;?\n")
    store = opened(PINNED, tmp_path, workspace, private=False)
    told = [str(note) for note in store.reading.notes if "another way" in note]
    assert told == [
        "Values such as ` 99` are written in another way than the missing ones that the plan "
        "lists, so they count as values, in `age` (2 rows) and `job` (1 row). If they are missing, "
        'write `missing = ["", "99", "?", " 99", " ?", "99.00"]` under [source].'
    ]
    assert store.reading.missing_candidates[-3:] == (" 99", " ?", "99.00")  # for the button
    store.close()
    whole = dataclasses.replace(PINNED, missing=("", "99", "?", " 99", " ?", "99.00"))
    store = opened(whole, tmp_path, workspace, private=False)
    assert not [note for note in store.reading.notes if "another way" in note]
    table = store.frequency_table(["age"], CancelToken())
    assert {table.domains[0][code] for code in table.missing[0]} == {" 99", "99", "99.00"}
    store.close()


def test_nothing_is_noted_where_nothing_is_written_in_another_way(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "a.csv").write_text("age;job\n20;x\n99;?\n990;a ?\n9.9;9 9\n")
    for spec in (PINNED, dataclasses.replace(PINNED, missing=("",))):
        store = opened(spec, tmp_path, workspace, private=False)
        assert not [note for note in store.reading.notes if "another way" in note]
        store.close()


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_private_method_takes_it_for_the_missing_value(
    tmp_path: Path, workspace: Workspace, decimal: str
) -> None:
    written = (
        "99",
        "99.00",
        " 99",
        "+99",
        "099",
        "9.9e1",
        "99.01",
        "-99",
        " ?",
        "1e9999999999999",
        "",
        "x",
    )
    lines = (f"{text};{text or 0}\n".replace(".", decimal) for text in written)
    (tmp_path / "a.csv").write_text("pay;code\n" + "".join(lines))
    types = (("pay", NUMBER), ("code", TEXT))
    spec = dataclasses.replace(PINNED, decimal=decimal, types=types)
    store = opened(spec, tmp_path, workspace, private=True)
    rows = store.page(0, 20)
    alike = [place for place, row in enumerate(rows) if row[0] == "99"]
    assert alike == [0, 1, 2, 3, 4, 5]
    assert [row[0] for row in rows[6:9]] == [f"99{decimal}01", "-99", "?"]
    assert [row[0] for row in rows[10:]] == ["", UNREADABLE]
    assert [row[1] for row in rows[:3]] == ["99", f"99{decimal}00", "99"]
    table = store.frequency_table(["pay"], CancelToken())
    assert {table.domains[0][code] for code in table.missing[0]} == {"", "99", "?", UNREADABLE}
    assert not store.reading.notes
    store.close()


_parts = st.text("0123456789", max_size=3)
_numbers = st.builds(
    lambda sign, whole, rest, power: f"{sign}{whole}{rest and '.' + rest}{power}",
    st.sampled_from(["", "-", "+"]), _parts, _parts, st.sampled_from(["", "e1", "E-2", "e0"]),
)  # fmt: skip


def one_of(text: str, missing: list[str]) -> str | None:
    """The first listed text that is the same number."""
    number = exact_number(text)
    if number is None:
        return None
    return next((each for each in missing if exact_number(each) == Fraction(number)), None)


@settings(max_examples=examples(100))
@given(st.lists(_numbers, min_size=1, max_size=5), st.lists(_numbers, min_size=1, max_size=30))
def test_the_same_number_is_found_whatever_its_form(missing: list[str], found: list[str]) -> None:
    may, which = listed_number_sql("v", missing, ".") or ("false", "NULL")
    sql = f"CASE WHEN {may} THEN {which} END"
    with duckdb.connect() as con:
        for text in found:
            told = con.execute(f"SELECT {sql} FROM (SELECT ? AS v)", [text]).fetchall()
            assert told == [(one_of(text, missing),)], (text, missing)
