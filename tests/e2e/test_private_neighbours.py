"""Whole runs on two files that differ in one row, in every format: only values differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.neighbours import (
    METHODS,
    PURCHASES,
    Told,
    faults,
    purchase,
    release,
    without_noise,
)
from tests.helpers.odd_sources import SOURCES, OddSource, postgres_source
from tests.helpers.postgres import postgres_server

SAMPLE = {
    "csv": ("dp-cube", b'zz,"f,1,,1'), "csv-utf-16": ("dp-graph", b"zz,\xff,1,,1"),
    "fixed": ("dp-graph", b"K\xf8benhavn,f,1,,1"), "xlsx": ("dp-graph", '<row r="2">'),
    "xlsm": ("dp-cube", 't="s"><v>999999'), "parquet": ("dp-cube", b"\xed\xa0\x80"),
    "parquet-texts": ("dp-graph", "e\u0301"), "sqlite": ("priview", b"\xc3"),
    "duckdb": ("dp-graph", 1e308), "duckdb-texts": ("itemsets", "2020-02-30"),
    "sav": ("priview", b"\xc3"), "zsav": ("dp-graph", 5e-324), "dta": ("dp-graph", b"a\0b"),
    "sas7bdat": ("dp-cube", b"\xff\xfe"), "xpt-5": ("dp-graph", b"\0"),
    "xpt-8": ("dp-cube", b"\xe2\x82"),
}  # fmt: skip
"""By format a method, and what the odd row holds; the long test tries each with each."""


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with without_noise(monkeypatch):
        yield


def holds(odd: object, part: object) -> bool:
    if isinstance(odd, tuple):
        return any(item == part for item in odd)
    return part in odd  # type: ignore[operator]


def check(folder: Path, source: OddSource, method: str, part: object) -> None:
    rows = source.people()
    base = release(folder / "one", source, rows, method)
    assert base.code == 0, base.said
    odd = next(row for row in source.odd() if holds(row, part))
    found = release(folder / "two", source, [*rows[:7], odd, *rows[7:]], method)
    assert not faults(base, found, method)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_row_more_changes_values_within_the_bound_and_nothing_else(
    tmp_path: Path, name: str
) -> None:
    assert SAMPLE.keys() == SOURCES.keys()
    check(tmp_path, SOURCES[name], *SAMPLE[name])


def test_so_it_is_on_a_server(tmp_path: Path) -> None:
    with postgres_server() as url:
        check(tmp_path, postgres_source(url), "dp-cube", "infinity")


BOUGHT = {"csv": b'zz,"f,1,,1', "xlsx": '<row r="2">', "duckdb-texts": "2020-02-30"}
"""By format an odd row."""


@pytest.mark.parametrize(("name", "wanted"), [*zip(BOUGHT, PURCHASES, strict=True)])
def test_so_it_is_when_a_table_is_bought(
    tmp_path: Path, name: str, wanted: tuple[str, ...]
) -> None:
    source = SOURCES[name]
    rows = source.people()
    odd = next(row for row in source.odd() if holds(row, BOUGHT[name]))
    base, found = (
        purchase(tmp_path / place, source, each, wanted)
        for place, each in (("one", rows), ("two", [*rows[:7], odd, *rows[7:]]))
    )
    assert base.code == 0, base.said
    assert len(base.tables) == 2, base.tables
    assert "Nothing was spent" in base.said[0]
    assert not faults(base, found, "dp-cube")


def test_the_comparison_of_purchases_finds_two_persons(tmp_path: Path) -> None:
    source = SOURCES["csv"]
    rows = source.people()
    two = [*rows, b"Xa,f,1,1980-01-01,1", b"Xb,f,1,1980-01-01,1"]
    base, found = (
        purchase(tmp_path / place, source, each, PURCHASES[0])
        for place, each in (("one", rows), ("two", two))
    )
    assert any("changes by 2" in one for one in faults(base, found, "dp-cube"))
    refused = Told(1, ("", "no"), {}, {})
    assert faults(base, refused, "dp-cube")


@pytest.mark.parametrize("method", METHODS)
def test_the_comparison_finds_what_one_person_must_not_do(tmp_path: Path, method: str) -> None:
    source = SOURCES["csv"]
    rows = source.people()
    base = release(tmp_path / "one", source, rows, method)
    two = [*rows, b"Xa,f,1,1980-01-01,1", b"Xb,f,1,1980-01-01,1"]
    if method == "dp-graph":
        two = [*rows, "Åsa 1,f,1,,1".encode(), "Åsa 2,m,1,,1".encode()]
    told = faults(base, release(tmp_path / "two", source, two, method), method)
    if method == "dp-choice":  # the same bits choose the same, so that nothing differs
        assert not told
    else:
        assert any("changes by 2" in one or "changes by 4" in one for one in told), told
    refused = release(tmp_path / "three", source, rows, method)
    assert faults(base, type(refused)(2, ("", "no"), {}, {}), method)
