"""Data are known again in another format, in another order, with another decimal mark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

ROWS = [("north", "1.5"), ("south", "2"), ("north", "12"), ("", "2")]


def prints(path: Path, workspace: Workspace) -> dict[str, str]:
    spec = SourceSpec(path.name)
    with closing(DataStore.open(spec, path.parent, workspace, CancelToken(), silent)) as store:
        return dict(zip(store.columns, store.content(store.columns, CancelToken()), strict=True))


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
def first(tmp_path: Path, workspace: Workspace) -> dict[str, str]:
    return prints(text(tmp_path / "first.csv", ROWS), workspace)


def test_order_decimal_mark_and_format_do_not_count(
    tmp_path: Path, workspace: Workspace, first: dict[str, str]
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
    tmp_path: Path, workspace: Workspace, first: dict[str, str]
) -> None:
    other = prints(text(tmp_path / "other.csv", [("north", "1.6"), *ROWS[1:]]), workspace)
    assert other["region"] == first["region"]
    assert other["pay"] != first["pay"]
    longer = prints(text(tmp_path / "longer.csv", [*ROWS, *ROWS]), workspace)
    assert not set(longer.values()) & set(first.values())
    assert first["region"] != first["pay"]
    twice = text(tmp_path / "twice.csv", [(pay, pay) for _, pay in ROWS])
    found = prints(twice, workspace)
    assert found["region"] != found["pay"]
