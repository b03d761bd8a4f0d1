"""More columns than can be read are refused in every format, before any row is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.source_spec import MOST_COLUMNS, read_source
from dpdesk.io import failures, parquetload, preview
from dpdesk.io.database import in_memory
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import TableReader
from dpdesk.io.formats.worker import open_reader, read_table
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.odd_rows import FORMATS, NAMES, TYPED, people


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "home")
    yield opened
    opened.close()


def _opened(path: Path, name: str, private: bool) -> TableReader | None:
    """The reader of a file of a foreign format; that of Parquet only looks at it."""
    request = ReadRequest(
        str(path), "", name, encoding="utf-8" if private else None, private=private, wanted=NAMES
    )
    if name == "parquet" and not private:
        read_table(request, lambda answer: None)
        return None
    return open_reader(request)


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_the_number_of_columns_has_a_limit_in_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, private: bool
) -> None:
    path = tmp_path / f"a.{name}"
    FORMATS[name][0](path, people())
    monkeypatch.setattr(failures, "MOST_COLUMNS", len(NAMES))
    reader = _opened(path, name, private)
    if reader is not None:
        assert tuple(one.name for one in reader.variables) == NAMES
        reader.close()
    monkeypatch.setattr(failures, "MOST_COLUMNS", len(NAMES) - 1)
    with pytest.raises(InputError, match="found 5 columns, expected at most 4") as caught:
        _opened(path, name, private)
    assert caught.value.code == "read.columns"


@pytest.mark.parametrize(("header", "private"), [(True, False), (False, False), (True, True)])
def test_a_text_of_too_many_columns_is_refused_before_it_is_read(
    tmp_path: Path, workspace: Workspace, header: bool, private: bool
) -> None:
    line = ",".join(f"c{j}" for j in range(MOST_COLUMNS + 1))
    (tmp_path / "a.csv").write_text(f"{line}\n{line}\n", "utf-8")
    keys = {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "quote": '"', "header": header}
    spec = read_source({"path": "a.csv", **keys, **(TYPED if private else {})}, "the test")
    with pytest.raises(InputError, match=r"found 16,385 columns, expected at most 16,384\."):
        DataStore.open(spec, tmp_path, workspace, CancelToken(), silent, private=private)
    if not private:
        seen = preview.preview_source(spec, tmp_path, CancelToken())
        assert seen.problem is not None
        assert seen.problem.code == "read.columns"
        assert seen.columns == ()


def test_a_fixed_width_text_has_the_same_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("abc\ndef\n", "utf-8")
    monkeypatch.setattr(failures, "MOST_COLUMNS", 2)
    spec = read_source({"path": "a.txt", "widths": [1, 1, 1]}, "the test")
    with pytest.raises(InputError, match="found 3 columns, expected at most 2"):
        open_reader(ReadRequest(str(tmp_path / "a.txt"), "", "fixed", columns=spec.columns))


def test_a_wide_parquet_file_is_compared_some_columns_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement of many thousand sums takes its time to be planned."""
    monkeypatch.setattr(parquetload, "AT_ONCE", 2)
    path = tmp_path / "a.parquet"
    FORMATS["parquet"][0](path, people())
    asked: list[str] = []
    query = parquetload.query

    def watched(*given: object) -> object:
        asked.append(str(given))
        return query(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(parquetload, "query", watched)
    with in_memory() as con:
        spec = read_source({"path": "a.parquet"}, "the test")
        loaded = parquetload.load_parquet(con, path, spec, CancelToken(), silent)
    few = len(asked)
    monkeypatch.setattr(parquetload, "AT_ONCE", 5)
    asked.clear()
    with in_memory() as con:
        assert parquetload.load_parquet(con, path, spec, CancelToken(), silent) == loaded
    assert few > len(asked)
