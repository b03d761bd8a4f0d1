"""The store: counts agree with Python's Counter, cancel stops it, faults leave nothing behind."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Event, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import ColumnType, Role
from dpdesk.io import coding, counting, csvload, database
from dpdesk.io.formats import coded
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


def opened(folder: Path, text: str, workspace: Workspace, **options: object) -> DataStore:
    (folder / "t.csv").write_bytes(text.encode())
    spec = SourceSpec("t.csv", **options)  # type: ignore[arg-type]
    return DataStore.open(spec, folder, workspace, CancelToken(), silent)


PEOPLE = [(f"p{i}", str(20 + i * 7 % 50), "fm?"[i % 3], ["", "NA", "x"][i % 3]) for i in range(300)]
TEXT = "id,age,sex,note\n" + "".join(",".join(row) + "\n" for row in PEOPLE)


@pytest.mark.parametrize("way", ["packed", "short", "texts", "many rows", "wide"])
def test_a_frequency_table_counts_what_counter_counts(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(coding, "MOST_CODED_COLUMNS", 0 if way in ("texts", "many rows") else 1_000)
    monkeypatch.setattr(counting, "_MOST_CELLS", 0)
    monkeypatch.setattr(counting, "_MOST_TEXTS", 0 if way == "many rows" else 1_000)
    monkeypatch.setattr(counting, "_MOST_CODES", 0 if way == "short" else 1_000)
    monkeypatch.setattr(counting, "_KEY_BITS", 1 if way == "wide" else 63)
    monkeypatch.setattr(counting, "_SHORT_BITS", 32 if way == "short" else 1)
    store = opened(tmp_path, TEXT, workspace, missing=("", "?"))
    table = store.frequency_table(["sex", "age", "note"], CancelToken())
    found = {
        tuple(table.domains[j][code] for j, code in enumerate(codes)): int(count)
        for codes, count in zip(table.codes.tolist(), table.counts, strict=True)
    }
    assert found == Counter((sex, age, note) for _, age, sex, note in PEOPLE)
    assert all(list(domain) == sorted(domain) for domain in table.domains)
    missing = [{table.domains[j][c] for c in codes} for j, codes in enumerate(table.missing)]
    assert missing == [{"?"}, set(), {""}]
    assert table.codes.tolist() == sorted(table.codes.tolist())
    store.close()


def test_counts_of_fewer_columns_come_from_those_of_more(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path, TEXT, workspace, missing=("", "?"))
    subsets = (["note", "sex"], ["sex", "age"], ["age", "note"], ["note", "age", "sex"])
    counted = [store.frequency_table(names, CancelToken()) for names in subsets]
    monkeypatch.setattr(counting, "ROWS_EACH", 0)
    store.frequency_table(["sex", "age", "note"], CancelToken())
    monkeypatch.setattr(counting, "_by_key", None)  # nothing is counted from now on
    for names, before in zip(subsets, counted, strict=True):
        found = store.frequency_table(names, CancelToken())
        assert (found.attributes, found.domains) == (before.attributes, before.domains)
        assert found.missing == before.missing
        assert found.codes.tolist() == before.codes.tolist()
        assert found.counts.tolist() == before.counts.tolist()
    store.close()


def test_a_column_that_is_nearly_unique_in_its_second_half_stays_text(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coding, "_SOME_ROWS", 100)
    for module in (coding, coded):
        monkeypatch.setattr(module, "FEW_VALUES", 10)
    rows = "".join(f"{'same' if i < 500 else i},{i % 5}\n" for i in range(1_000))
    store = opened(tmp_path, "late,few\n" + rows, workspace)
    assert [column.domain is None for column in store._columns.values()] == [True, False]


def test_rows_come_in_source_order_from_many_threads(tmp_path: Path, workspace: Workspace) -> None:
    store = opened(tmp_path, TEXT, workspace)
    with ThreadPoolExecutor(4) as pool:
        pages = list(pool.map(lambda start: store.page(start, 50), range(0, 300, 50)))
    assert [row for page in pages for row in page] == PEOPLE
    assert store.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    store.close()


def test_an_unknown_column_is_named_with_the_nearest(tmp_path: Path, workspace: Workspace) -> None:
    store = opened(tmp_path, TEXT, workspace)
    with pytest.raises(InputError, match="no column `sxe`") as caught:
        store.frequency_table(["sxe"], CancelToken())
    assert "sex" in caught.value.hint
    store.close()


def test_types_ends_and_roles_of_a_profile(tmp_path: Path, workspace: Workspace) -> None:
    rows = [(f"k{i}", i, f"{i},5", f"2001-02-{i % 28 + 1:02d}", "yes" if i % 2 else "no", "")
            for i in range(40)]  # fmt: skip
    text = "person_id;age;inc;day;yn;none\n"
    text += "".join(";".join(map(str, row)) + "\n" for row in rows)
    profile = opened(tmp_path, text, workspace).profile(CancelToken(), silent)
    kinds = [column.type for column in profile.columns]
    assert kinds == [
        ColumnType.TEXT, ColumnType.INTEGER, ColumnType.DECIMAL,
        ColumnType.DATE, ColumnType.BOOLEAN, ColumnType.EMPTY,
    ]  # fmt: skip
    assert (profile.column("age").minimum, profile.column("age").maximum) == ("0", "39")
    assert (profile.column("inc").minimum, profile.column("inc").maximum) == ("0,5", "39,5")
    assert profile.column("none").missing == 40
    assert profile.column("person_id").suggestion.role is Role.IDENTIFIER
    assert profile.column("person_id").unique == 40


@pytest.mark.parametrize("step", [csvload.CHECK, csvload.LOAD, csvload.CODE])
def test_a_cancel_in_any_step_leaves_nothing_behind(
    tmp_path: Path, workspace: Workspace, step: str
) -> None:
    (tmp_path / "t.csv").write_bytes(b"\n" + TEXT.encode("utf-8"))
    token = CancelToken()

    def report(event: Event) -> None:
        if getattr(event, "step", "") == step:
            token.cancel()

    with pytest.raises(Cancelled):
        DataStore.open(SourceSpec("t.csv"), tmp_path, workspace, token, report)
    assert [path.name for path in workspace.folder.iterdir()] == ["lock"]


def test_a_full_disk_is_said_and_nothing_is_kept(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")

    def on_full_disk(self: Workspace, suffix: str = "") -> Path:
        path = self.folder / f"full{suffix}"
        if suffix == ".csv":
            os.symlink("/dev/full", path)
        return path

    monkeypatch.setattr(Workspace, "new_path", on_full_disk)
    original = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda self, mode="r", *a, **k: original(self, mode.replace("x", "w"), *a, **k),
    )
    monkeypatch.setattr(Path, "chmod", lambda self, mode: None)
    with pytest.raises(StorageError, match="the disk is full") as caught:
        opened(tmp_path, "\n" + TEXT, workspace)
    assert caught.value.code == "storage.disk-full"
    assert caught.value.sentence.startswith(f"{workspace.home}:")
    assert "DPDESK_HOME" in caught.value.hint
    assert [path.name for path in workspace.folder.iterdir()] == ["lock"]


def test_a_database_that_cannot_spill_says_which_disk_is_full(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    monkeypatch.setattr(database, "MEMORY_LIMIT", "40MB")
    spill = workspace.new_path(".spill")
    con = database.connect(spill)
    con.execute("SET max_temp_directory_size = '1MB'")
    statement = "SELECT i, hash(i)::VARCHAR AS t FROM range(4000000) r(i) ORDER BY t DESC"
    place = tmp_path / "people.csv"
    with pytest.raises(StorageError) as caught, database.query(con, CancelToken(), place) as cursor:
        cursor.execute(f"CREATE TABLE sorted AS {statement}")
    con.close()
    assert isinstance(caught.value.__cause__, duckdb.Error)
    assert caught.value.code == "storage.disk-full"
    assert caught.value.sentence.startswith(f"{workspace.home}:")
    assert "DPDESK_HOME" in caught.value.hint


def test_missing_files_folders_and_later_formats_are_named(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, code in (
        ("absent.csv", "storage.missing"),
        ("folder.csv", "storage.folder"),
        ("book.ods", "source.format"),
    ):
        problem = preview_source(SourceSpec(name), tmp_path).problem
        assert problem is not None
        assert problem.code == code
        assert name in problem.sentence


def test_what_the_plan_names_wins_over_detection(tmp_path: Path, workspace: Workspace) -> None:
    store = opened(
        tmp_path, "a,b;'c'\n1,2;3\n", workspace, delimiter=";", header=False, quote="'", decimal=","
    )
    assert store.page(0, 9) == (("a,b", "c"), ("1,2", "3"))
    assert (store.reading.delimiter, store.reading.quote) == (";", "'")
    assert (store.reading.header, store.reading.decimal) == (False, ",")
    store.close()


def test_parquet_gives_canonical_texts_and_null_as_the_empty_text(
    tmp_path: Path, workspace: Workspace
) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"n": [1, None], "x": [0.1, 2.0], "t": ["01", ""], "b": [True, False]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    store = DataStore.open(SourceSpec("t.parquet"), tmp_path, workspace, CancelToken(), silent)
    assert store.page(0, 2) == (("1", "0.1", "01", "true"), ("", "2", "", "false"))
    store.close()
    (tmp_path / "t.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="not a Parquet file"):
        DataStore.open(SourceSpec("t.parquet"), tmp_path, workspace, CancelToken(), silent)
