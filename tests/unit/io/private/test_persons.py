"""Numbers that name persons against exact fractions, and in a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.frequency import RowRule
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import read_source
from dpdesk.engine.private.counting import place_rows
from dpdesk.engine.private.declared import DeclaredDomain, declare
from dpdesk.engine.private.kinds import Measure
from dpdesk.io.missing_forms import number_form_sql
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

_NUMBERS = st.from_regex(
    r" ?[+-]?(0{0,2}[012]{0,3}\.[0-2]{0,3}0?|[0-2]{1,4}|\.[0-2]{1,3})([eE][+-]?0?[0-3])? ?",
    fullmatch=True,
).filter(lambda text: any(sign.isdigit() for sign in text.partition("e")[0].partition("E")[0]))


def forms(texts: list[str]) -> list[str]:
    con = duckdb.connect()
    with closing(con):
        con.execute("CREATE TABLE d (n INTEGER, v VARCHAR)")
        con.executemany("INSERT INTO d VALUES (?, ?)", list(enumerate(texts)))
        found = con.execute(f"SELECT {number_form_sql('v')} FROM d ORDER BY n").fetchall()
    return [str(row[0]) for row in found]


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(_NUMBERS, min_size=1, max_size=30))
def test_texts_have_one_form_exactly_when_they_are_one_number(texts: list[str]) -> None:
    numbers = [Fraction(Decimal(text.strip())) for text in texts]
    found = forms(texts)
    for one, first in zip(numbers, found, strict=True):
        for other, second in zip(numbers, found, strict=True):
            assert (one == other) is (first == second), (texts, found)


def test_a_comma_is_read_and_no_exponent_fails() -> None:
    assert forms(["1,50", "1.5"]) == ["15e-1"] * 2
    assert forms(["1e9223372036854775807", "1e-9223372036854775808", "1e99999999999999999999"])
    assert len(forms(["9" * 5_000])[0]) > 5_000


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    made = Workspace.open(private_home)
    yield made
    made.close()


def test_a_person_written_as_a_number_in_several_ways_is_one_person(
    tmp_path: Path, workspace: Workspace
) -> None:
    ways = ["1", "1.0", "01", " 1", "+1", "1e0", "-9", "", "NA", "x", "2", "9007199254740993"]
    lines = [f"{way},f" for way in [*ways, "9007199254740992"]]
    (tmp_path / "t.csv").write_text("id,sex\n" + "\n".join(lines) + "\n", "utf-8")
    keys = {
        "path": "t.csv", "encoding": "utf-8", "delimiter": ",", "decimal": ".", "quote": '"',
        "header": True, "missing": ["", "NA", "-9"], "types": {"id": "number", "sex": "text"},
    }  # fmt: skip
    sex = DeclaredDomain((declare("sex", ("f", "m"), None, 0, None, "plan"),))
    spec, token = read_source(keys, "plan"), CancelToken()

    def counted(person: str | None) -> tuple[int, int]:
        data = DataStore.open(spec, tmp_path, workspace, token, silent, private=True, person=person)
        with closing(data):
            placed = place_rows(data, sex, Measure("count"), "id", 1, token)
            bounded = data.restricted(RowRule({}, "id", ("sex",), 1), token)
            texts = {row[0] for row in data.page(0, 100)}
        assert {"", "NA", "-9", UNREADABLE} <= texts
        return int(placed.counts.sum()), bounded.rows

    # The unreadable one names nobody in a release; a rule counts it where nothing says so.
    assert counted("id")[0] == counted("id")[1]
    assert counted(None)[0] == counted("id")[0] + 5
