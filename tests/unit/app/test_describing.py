"""Distributions, lines around a fault, and the risk of a table as it is."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.app import describing, opening
from dpdesk.app.context import AppContext
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import DataProfile
from dpdesk.io.store import DataStore

ROWS = 500


def value_of(n: int) -> tuple[str, str, str, str]:
    age = "" if n % 25 == 0 else str(n % 90)
    return (age, f"{n % 37 + n % 4 / 4:.2f}".replace(".", ","), "abcdefghijkl"[n % 12], f"p{n}")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[tuple[DataStore, DataProfile]]:
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows([("age", "pay", "letter", "id"), *(value_of(n) for n in range(ROWS))])
    token = CancelToken()
    with AppContext.open(tmp_path / "home") as context:
        store = opening.open_data(context, SourceSpec("people.csv"), tmp_path, token, silent)
        yield store, opening.profile(store, token, silent)
        store.close()


def test_whole_numbers_fall_into_intervals_that_leave_none_out(
    data: tuple[DataStore, DataProfile],
) -> None:
    store, profile = data
    spread = describing.distribution(store, profile.column("age"), CancelToken())
    wanted = Counter(int(value_of(n)[0]) // 4 for n in range(ROWS) if value_of(n)[0])
    assert spread.ordered
    assert spread.labels[:2] == ("0 – 3", "4 – 7")
    assert spread.counts == tuple(wanted[number] for number in range(len(spread.counts)))
    assert sum(spread.counts) == ROWS - profile.column("age").missing


def test_decimals_with_a_comma_are_counted_as_numbers(
    data: tuple[DataStore, DataProfile],
) -> None:
    store, profile = data
    spread = describing.distribution(store, profile.column("pay"), CancelToken())
    assert spread.ordered
    assert len(spread.counts) == describing.BINS
    numbers = [float(value_of(n)[1].replace(",", ".")) for n in range(ROWS)]
    low, high = min(numbers), max(numbers)
    width = (high - low) / describing.BINS
    wanted = Counter(min(describing.BINS - 1, math.floor((x - low) / width)) for x in numbers)
    assert spread.counts == tuple(wanted[number] for number in range(describing.BINS))


def test_texts_are_described_by_their_most_frequent_values_and_the_rest(
    data: tuple[DataStore, DataProfile],
) -> None:
    store, profile = data
    spread = describing.distribution(store, profile.column("letter"), CancelToken())
    assert not spread.ordered
    assert len(spread.labels) == 10
    assert sum(spread.counts) + spread.rest == ROWS


def test_the_risk_counts_rows_alike(data: tuple[DataStore, DataProfile]) -> None:
    store, _ = data
    risk = describing.current_risk(store, ("age", "letter"), 4, CancelToken())
    sizes = Counter((value_of(n)[0], value_of(n)[2]) for n in range(ROWS))
    assert risk.summary.uniques == sum(size == 1 for size in sizes.values())
    assert risk.summary.exposed == sum(size for size in sizes.values() if size < 4)
    assert risk.unique_share == risk.summary.uniques / ROWS
    assert sum(risk.chart.series[0].values) == pytest.approx(1)
    assert risk.chart.threshold_label == "k = 4"


@given(
    texts=st.lists(
        st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=9), min_size=1
    ),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1),
    wanted=st.integers(1, 40),
    chunk=st.integers(1, 16),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_lines_around_a_place_are_those_of_the_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    texts: list[str],
    ends: list[str],
    wanted: int,
    chunk: int,
) -> None:
    monkeypatch.setattr(describing, "_CHUNK", chunk)
    joined = "".join(text + ends[n % len(ends)] for n, text in enumerate(texts))
    path = tmp_path / "some.csv"
    path.write_bytes(joined.encode())
    lines = joined.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = describing.lines_around(
        SourceSpec("some.csv"), tmp_path, wanted, "utf-8", CancelToken(), 2
    )
    expected = [(n, text) for n, text in enumerate(lines, start=1) if abs(n - wanted) <= 2]
    assert list(found.lines) == expected


def test_a_line_in_another_encoding_and_one_that_is_too_long_are_shown_all_the_same(
    tmp_path: Path,
) -> None:
    (tmp_path / "old.csv").write_bytes("a\nGöß\n".encode("cp1252") + b"x" * 10_000 + b"\n")
    token = CancelToken()
    found = describing.lines_around(SourceSpec("old.csv"), tmp_path, 2, "cp1252", token)
    assert found.lines[1] == (2, "Göß")
    assert len(found.lines[2][1]) == 2_000


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no such file"):
        describing.lines_around(SourceSpec("none.csv"), tmp_path, 1, "utf-8", CancelToken())
