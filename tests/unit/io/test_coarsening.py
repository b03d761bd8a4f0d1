"""Numbers that a source cuts at their ends and rounds, against decimal arithmetic row by row."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import voice_of
from dpdesk.core.source_spec import Coarsened, SourceSpec, read_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

TEXT = "id;age;pay\n1;19;1000,5\n2;;2449,99\n3;90;9\n4;90,0;-3\n5;104;2450\n6;25;2550\n"
AGE = Coarsened(Fraction(20), Fraction(90))
PAY = Coarsened(Fraction(0), None, Fraction(100))


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def column(folder: Path, workspace: Workspace, name: str, **options: object) -> list[str]:
    spec = dataclasses.replace(SourceSpec("t.csv"), **options)  # type: ignore[arg-type]
    store = DataStore.open(spec, folder, workspace, CancelToken(), silent)
    try:
        place = store.columns.index(name)
        return [row[place] for row in store.page(0, 1_000)]
    finally:
        store.close()


def test_ends_have_one_text_and_what_does_not_change_keeps_its_own(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    given_ = {"coarsen": (("age", AGE), ("pay", PAY))}
    assert column(tmp_path, workspace, "age", **given_) == ["20", "", "90", "90", "90", "25"]
    pay = column(tmp_path, workspace, "pay", **given_)
    assert pay == ["1000", "2400", "0", "0", "2500", "2600"]
    assert column(tmp_path, workspace, "id", **given_) == list("123456")


def test_where_numbers_are_rounded_no_notation_tells_which_were_round_before(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text("id;pay\n1;100,0\n2;99\n3;0100\n4;1e2\n")
    hundreds = {"coarsen": (("pay", Coarsened(step=Fraction(100))),)}
    assert column(tmp_path, workspace, "pay", **hundreds) == ["100"] * 4


def test_no_number_becomes_a_missing_value(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    ends = {"coarsen": (("age", Coarsened(top=Fraction(99))),), "missing": ("", "99")}
    with pytest.raises(InputError, match="makes numbers of `age` 99, which means a missing value"):
        column(tmp_path, workspace, "age", **ends)


def test_a_query_comes_first_and_missing_values_are_left_alone(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "t.csv").write_text(TEXT.replace("104", "99"))
    options = {"coarsen": (("age", AGE),), "missing": ("", "99")}
    query = "SELECT id, age FROM data WHERE id <> 1"
    found = column(tmp_path, workspace, "age", query=query, **options)
    assert found == ["", "90", "90", "99", "25"]


def test_other_formats_are_made_coarser_alike(tmp_path: Path, workspace: Workspace) -> None:
    pq.write_table(
        pa.table({"age": [19, None, 104], "who": ["a", "b", "c"]}), tmp_path / "t.parquet"
    )
    found = column(tmp_path, workspace, "age", path="t.parquet", coarsen=(("age", AGE),))
    assert found == ["20", "", "90"]


@pytest.mark.parametrize(
    ("table", "name", "private", "said"),
    [
        (TEXT, "Age", False, "`coarsen` names the column `Age`, which the source does not have"),
        (TEXT.replace("104", "old"), "age", False, "row 5: `age` is `old`, expected a number"),
        (TEXT.replace("104", "1.040"), "age", False, "row 5: `age` is `1.040`, expected a number"),
        (TEXT, "age", True, "`coarsen` does not apply to differentially private methods"),
    ],
)
def test_what_cannot_be_made_coarser_is_refused_in_both_languages(
    tmp_path: Path, workspace: Workspace, table: str, name: str, private: bool, said: str
) -> None:
    (tmp_path / "t.csv").write_text(table)
    types = tuple((each, "number") for each in ("id", "age", "pay"))
    marks = {"delimiter": ";", "decimal": ",", "quote": '"', "header": True, "encoding": "utf-8"}
    spec = SourceSpec("t.csv", missing_named=True, types=types, coarsen=((name, AGE),), **marks)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=said) as caught:
        DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=private).close()
    for english in filter(None, (caught.value.sentence, caught.value.hint)):
        assert voice_of("de").known(english) not in (None, english), english


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ("age", "a table of columns"),
        ({"age": 5}, "a table with `bottom`, `top` or `round`"),
        ({"age": {"top": "90"}}, "a number"),
        ({"age": {"round": 0}}, "a number above 0"),
        ({"age": {"bottom": 5, "top": 5}}, "a number below `top`"),
        ({"age": {"floor": 5}}, "floor"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(given_: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_source({"path": "t.csv", "coarsen": given_}, "plan.toml")


ONE_FOLDER = HealthCheck.function_scoped_fixture
numbers = st.decimals(-1000, 1000, allow_nan=False, places=2)
steps = st.sampled_from(["0.05", "0.5", "1", "2.5", "7", "100"]).map(Decimal)


@given(st.lists(numbers, min_size=1, max_size=12), steps, numbers, numbers)
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_rounding_and_cutting_are_exact(
    tmp_path: Path,
    workspace: Workspace,
    values: list[Decimal],
    step: Decimal,
    one: Decimal,
    other: Decimal,
) -> None:
    low, high = min(one, other), max(one, other) + 1
    (tmp_path / "t.csv").write_text("v,w\n" + "".join(f"{value},x\n" for value in values))
    said = {"bottom": low, "top": high, "round": step}
    spec = read_source({"path": "t.csv", "coarsen": {"v": said}}, "plan.toml")
    assert read_source(spec.as_plain(), "plan.toml").coarsen == spec.coarsen
    found = column(tmp_path, workspace, "v", coarsen=spec.coarsen)
    half = Decimal("0.5")
    near = [(each / step + half).to_integral_value(ROUND_FLOOR) * step for each in values]
    assert [Decimal(text) for text in found] == [min(max(value, low), high) for value in near]
