"""Many columns at a time give the same profile as one column after the other."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, Event, StepProgress
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import DataProfile
from dpdesk.io import profile
from dpdesk.io import profile as one_by_one
from dpdesk.io.count_kernels import count_texts
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.searching import examples

KINDS = (
    ["1", "2", "30", "-4", "7", "7", "7", "0"],
    ["1.5", "2", "", "NA", "1e3", "2", "-.5", "9"],
    ["yes", "no", "NO", "yes", "", "no", "yes", "yes"],
    ["2024-01-31", "2024-02-29", "1999-12-31", "", "2024-01-31", "2001-01-01", "NA", "2020-02-02"],
    ["31.12.2024", "1.1.1999", "5.6.2001", "5.6.2001", "", "", "", ""],
    ["13/12/2024", "1/1/1999", "5/6/2001", "5/6/2001", "", "", "", ""],
    ["2024-01-32", "2024-02-29", "a", "b", "c", "d", "e", "f"],
    ["", "", "", "NA", "NA", "", "", ""],
    [" 12 ", "x", "y", "é", "Z", "z", "x", "x"],
    ["a", "b", "c", "d", "e", "f", "g", "h"],
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with_home = Workspace.open(tmp_path / "home")
    yield with_home
    with_home.close()


def quiet(event: Event) -> None:
    """Listen to nothing."""


def opened(columns: list[list[str]], folder: Path, workspace: Workspace) -> DataStore:
    path = folder / "wide.csv"
    with path.open("w", newline="", encoding="utf-8") as target:
        writer = csv.writer(target)
        writer.writerow([f"column {number}" for number in range(len(columns))])
        writer.writerows(zip(*columns, strict=True))
    spec = SourceSpec(path.name, empty_rows="keep", missing=("", "NA"), delimiter=",")
    return DataStore.open(spec, folder, workspace, CancelToken(), quiet)


def profiles(
    data: DataStore, monkeypatch: pytest.MonkeyPatch, size: int
) -> tuple[DataProfile, list[Event]]:
    events: list[Event] = []
    monkeypatch.setattr(one_by_one, "batch_size", lambda columns, rows: size)
    return data.profile(CancelToken(), events.append), events


def test_batches_give_the_same_profile(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = opened([list(kind) for kind in KINDS] * 3, tmp_path, workspace)
    single, _ = profiles(data, monkeypatch, 1)
    for size in (2, 7, 400):
        assert profiles(data, monkeypatch, size)[0] == single
    assert len({each.type for each in single.columns}) == 6
    data.close()


def test_batches_tell_how_far_they_are(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = opened([list(kind) for kind in KINDS], tmp_path, workspace)
    _, events = profiles(data, monkeypatch, 4)
    assert [each.done for each in events if isinstance(each, StepProgress)] == [4, 8, 10]
    data.close()


@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.lists(st.sampled_from(["", "NA", "1", "2.5", "x", "no", "1.1.2020"]), min_size=6),
        min_size=3,
        max_size=8,
    ).map(lambda columns: [(column * 6)[:6] for column in columns])
)
def test_any_mixture_is_profiled_alike(
    tmp_path: Path, workspace: Workspace, columns: list[list[str]]
) -> None:
    data = opened(columns, tmp_path, workspace)
    with pytest.MonkeyPatch.context() as patch:
        assert profiles(data, patch, 3)[0] == profiles(data, patch, 1)[0]
    data.close()


NUMBERS = st.from_regex(
    r"[ ]?[+-]?[0-9]{0,3}\.?[0-9]{0,2}([eE][+-]?[0-9]{1,2})?[ ]?", fullmatch=True
)
ODD_NUMBERS = st.sampled_from(
    [
        *("\u00a01", "\t1", "1,5", "1e400", "-1e400", "1e-400", "0e999", "-0", "0", "00", "-0.0"),
        *("9" * 37, "1" + "0" * 37, "9" * 40, f"1.{'0' * 60}1", f"0.{'0' * 300}1", ".", "-", "e1"),
        *("9007199254740993", "9007199254740992", "9007199254740992.5", "+1", "01", "1.", ".5"),
        *("1e", "NA", ""),
    ]
)


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.lists(NUMBERS | ODD_NUMBERS | st.integers().map(str), min_size=1, max_size=9),
        min_size=2,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_numbers_are_known_as_the_database_knows_them(
    tmp_path: Path, workspace: Workspace, columns: list[list[str]], random: Random
) -> None:
    repeated = [[random.choice(column) for _ in range(30)] for column in columns]
    data = opened(repeated, tmp_path, workspace)
    with pytest.MonkeyPatch.context() as patch:
        assert profiles(data, patch, 400)[0] == profiles(data, patch, 1)[0]
    data.close()


def test_the_first_of_equal_ends_is_told(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [["7", "1", "07", "01", "+1", "2.0", "7.0"], ["1"] * 7]
    data = opened(columns, tmp_path, workspace)
    for size in (1, 2):
        found = profiles(data, monkeypatch, size)[0].columns[0]
        assert (found.minimum, found.maximum) == ("+1", "07")
    data.close()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("aé\x00😀", max_size=3), max_size=40))
def test_texts_are_counted_as_python_counts_them(texts: list[str]) -> None:
    import pyarrow as pa

    pool = pa.array(texts, pa.large_string())
    buffers = profile._buffers(pool)
    places, counts = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
    known = count_texts(*buffers, 3, places, counts)
    found = {texts[place]: n for place, n in zip(places[:known], counts[:known], strict=True)}
    assert found == Counter(texts)
    assert len(found) == known
    least = sorted(found.items(), key=lambda item: (-item[1], item[0].encode()))[: profile.TOP]
    top = profile._most_frequent(pool.take(pa.array(places[:known])), counts[:known])
    assert [(each.value, each.rows) for each in top] == least


def test_only_wide_tables_are_profiled_in_batches() -> None:
    assert profile.batch_size(12, 5_000_000) == 1
    assert profile.batch_size(10_000, 40) > 100
    assert profile.batch_size(10_000, 0) > 100
    assert profile.batch_size(200, 50_000_000) == 1
