"""Texts put together from two: the refusal says that the file itself is broken, and where."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace

LINES = ["name,age,town", *(f"M\u00fcller{n},{n % 90},T{n % 5}" for n in range(60))]


def refused(folder: Path, data: bytes) -> InputError:
    (folder / "a.csv").write_bytes(data)
    with (
        closing(Workspace.open(folder / "home")) as workspace,
        pytest.raises(InputError) as caught,
    ):
        DataStore.open(SourceSpec("a.csv"), folder, workspace, CancelToken(), silent)
    return caught.value


@pytest.mark.parametrize("mark", [";", "\t", "|"])
@pytest.mark.parametrize(
    ("other", "line"),
    [({30}, 31), (set(range(30, 61)), 31), (set(range(1, 61, 2)), 2)],
    ids=["one line", "a half", "in turns"],
)
def test_two_delimiters_are_a_fault_of_the_file(
    tmp_path: Path, mark: str, other: set[int], line: int
) -> None:
    """Options that leave out half of the rows, or make one value of a row, were offered once."""
    lines = [each.replace(",", mark) if n in other else each for n, each in enumerate(LINES)]
    error = refused(tmp_path, "\n".join(lines).encode())
    assert error.code == "csv.two-delimiters"
    assert f"line {line}:" in error.sentence
    assert "itself has two delimiters" in error.hint


@pytest.mark.parametrize("first", [True, False])
def test_two_encodings_are_a_fault_of_the_file(tmp_path: Path, first: bool) -> None:
    halves = ["\n".join(LINES[:30]) + "\n", "\n".join(LINES[30:])]
    data = [
        half.encode("cp1252" if (n == 0) is first else "utf-8") for n, half in enumerate(halves)
    ]
    error = refused(tmp_path, b"".join(data))
    assert error.code == "encoding.mixed"
    assert f"line {2 if first else 31}," in error.sentence
    assert "itself has two encodings" in error.hint
    assert "become others" in error.hint


def test_titles_above_a_table_are_still_titles(tmp_path: Path) -> None:
    data = "Income, age and town\nA note, with, commas, in it\na;b;c\n" + "x;1;2\n" * 20
    (tmp_path / "a.csv").write_text(data, "utf-8")
    with closing(Workspace.open(tmp_path / "home")) as workspace:
        data_at = SourceSpec("a.csv"), tmp_path, workspace, CancelToken(), silent
        with closing(DataStore.open(*data_at)) as store:
            assert store.columns == ("a", "b", "c")
            assert store.rows == 20
