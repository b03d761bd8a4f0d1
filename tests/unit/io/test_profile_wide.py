"""Many columns at a time give the same profile as one column after the other."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, Event, StepProgress
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import DataProfile
from dpdesk.io import profile
from dpdesk.io import profile as one_by_one
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

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
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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


def test_only_wide_tables_are_profiled_in_batches() -> None:
    assert profile.batch_size(12, 5_000_000) == 1
    assert profile.batch_size(10_000, 40) > 100
    assert profile.batch_size(10_000, 0) > 100
    assert profile.batch_size(200, 50_000_000) == 1
