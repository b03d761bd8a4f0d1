"""Data are known again in another format, in another order, with another decimal mark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.prints import LEAST_DIFFERENT, CodedColumns, coded_print, counted_print
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

ROWS = [("north", "1.5"), ("south", "2"), ("north", "12"), ("", "2")]
ROWS += [("west", f"{i}.25") for i in range(8)]


def prints(path: Path, workspace: Workspace, *names: str) -> tuple[str, ...]:
    spec = SourceSpec(path.name)
    with closing(DataStore.open(spec, path.parent, workspace, CancelToken(), silent)) as store:
        return store.content(names or store.columns, CancelToken())


def text(path: Path, rows: list[tuple[str, str]], comma: str = ",", mark: str = ".") -> Path:
    lines = [comma.join(("region", "pay"))]
    lines += [comma.join((region, pay.replace(".", mark))) for region, pay in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with closing(Workspace.open(tmp_path / "home")) as found:
        yield found


@pytest.fixture
def first(tmp_path: Path, workspace: Workspace) -> tuple[str, ...]:
    found = prints(text(tmp_path / "first.csv", ROWS), workspace)
    assert len(found) == 1
    return found


def test_order_decimal_mark_and_format_do_not_count(
    tmp_path: Path, workspace: Workspace, first: tuple[str, ...]
) -> None:
    assert prints(text(tmp_path / "sorted.csv", sorted(ROWS)), workspace) == first
    assert prints(text(tmp_path / "commas.csv", ROWS[::-1], ";", ","), workspace) == first
    table = pyarrow.table(
        {
            "region": [region or None for region, _ in ROWS],
            "pay": [float(pay) for _, pay in ROWS],
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    assert prints(tmp_path / "table.parquet", workspace) == first


def test_other_values_other_names_and_other_rows_do(
    tmp_path: Path, workspace: Workspace, first: tuple[str, ...]
) -> None:
    changed = [("north", "1.6"), *ROWS[1:]]
    swapped = [("north", "2"), ("south", "1.5"), *ROWS[2:]]  # every column as it was
    joined = [("nort", "h1.5"), *ROWS[1:]]
    for rows in (changed, swapped, joined, ROWS[1:], [*ROWS, *ROWS], [*ROWS, ROWS[0]]):
        other = prints(text(tmp_path / "other.csv", rows), workspace)
        assert len(other) == 1
        assert other != first
    named = text(tmp_path / "named.csv", ROWS)
    assert prints(named, workspace, "pay", "region") == first
    named.write_text(named.read_text("utf-8").replace("region,pay", "region,wage"), "utf-8")
    assert prints(named, workspace) != first


def test_a_few_groups_of_the_same_sizes_are_no_sign_of_the_same_data(
    tmp_path: Path, workspace: Workspace
) -> None:
    place = text(tmp_path / "first.csv", ROWS)
    assert prints(place, workspace, "region") == ()
    assert len(prints(place, workspace, "pay")) == 1
    assert prints(text(tmp_path / "few.csv", ROWS[:9] * 5), workspace) == ()


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 4))
@settings(max_examples=examples(60), deadline=None)
def test_rows_and_their_counts_have_the_same_print(seed: int, rows: int, columns: int) -> None:
    """Whether equal rows are counted first or not, and where values are the same number."""
    draw = np.random.default_rng(seed)
    domain = ("", " a", "1", "1.0", "2,50", "b")
    codes = [draw.integers(0, draw.integers(1, 7), rows).astype(np.uint8) for _ in range(columns)]
    names = tuple(f"c{j}" for j in range(columns))
    tuples, counts = np.unique(np.column_stack(codes), axis=0, return_counts=True)
    none = (frozenset[int](),) * columns
    table = FrequencyTable(names, (domain,) * columns, tuples.astype(np.int32), counts, none)
    place, token = Path("a.csv"), CancelToken()
    single = coded_print(CodedColumns(names, (domain,) * columns, codes), place, token)
    assert single == counted_print(table, place, token)
    seen = {tuple({"1.0": "1", " a": "a"}.get(domain[k], domain[k]) for k in one) for one in tuples}
    assert bool(single) == (len(seen) >= LEAST_DIFFERENT)
