"""Parquet: every column and row arrives, whatever computer, folder or names; faults are named."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.language import voice_of
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import KEEP
from dpdesk.io import parquetload
from dpdesk.io.formats import parquet_look, process
from dpdesk.io.formats.request import ReadDone, ReadRequest
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers import stat_files
from tests.helpers.stat_files import head

_ZONED = pa.timestamp("us", "America/New_York")


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    with closing(Workspace.open(private_home)) as found:
        yield found


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def opened(path: Path, workspace: Workspace) -> DataStore:
    """The store of a source whose rows without a value count."""
    return stat_files.opened(path, workspace, empty_rows=KEEP)


def _written(path: Path, *columns: Any, names: tuple[str, ...] = ("a",), **options: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(pa.Table.from_arrays(list(columns), names), path, **options)
    return path


def _rows(path: Path, workspace: Workspace) -> list[tuple[str, ...]]:
    with closing(opened(path, workspace)) as store:
        rows = store.page(0, 99)
    preview = preview_source(SourceSpec(str(path), empty_rows=KEEP), path.parent)
    assert preview.problem is None
    assert preview.rows[:99] == rows
    return list(rows)


def _fault(path: Path, workspace: Workspace) -> InputError:
    with pytest.raises(InputError) as caught:
        opened(path, workspace)
    german = voice_of("de")
    for said in (caught.value.sentence, caught.value.hint):
        assert german.say(said) != said
    assert str(path.parent) not in caught.value.sentence
    return caught.value


@pytest.mark.skipif(os.name == "nt", reason="the time zone of a process cannot be changed there")
@pytest.mark.usefixtures("in_berlin")
def test_moments_with_a_time_zone_are_told_in_utc(tmp_path: Path, workspace: Workspace) -> None:
    moments = pa.array([1_704_067_200_123_456, 0], _ZONED)
    path = _written(tmp_path / "a.parquet", moments)
    told = [("2024-01-01 00:00:00.123456+00",), ("1970-01-01 00:00:00+00",)]
    assert _rows(path, workspace) == told
    base = tmp_path / "a.duckdb"
    with duckdb.connect(str(base)) as con:
        con.execute(f"CREATE TABLE t AS SELECT * FROM read_parquet('{path}')")
    assert head(base).head == tuple(told)
    assert _rows(base, workspace) == told


@pytest.mark.parametrize("name", ["a", "ab", "é"])
def test_columns_of_the_same_name_are_refused(
    name: str, tmp_path: Path, workspace: Workspace
) -> None:
    texts = (pa.array(["x"]), pa.array(["y"]), pa.array(["z"]))
    fault = _fault(_written(tmp_path / "a.parquet", *texts, names=(name, "q", name)), workspace)
    assert fault.code == "parquet.duplicate-names"
    assert f"the columns 1 and 3 are both named `{name}`" in fault.sentence


def test_columns_whose_names_differ_by_case_alone_arrive(
    tmp_path: Path, workspace: Workspace
) -> None:
    names = ("a b", "A B", "A B_1")
    path = _written(tmp_path / "a.parquet", *(pa.array([j]) for j in range(3)), names=names)
    assert _rows(path, workspace) == [("0", "1", "2")]
    with closing(opened(path, workspace)) as store:
        assert store.columns == names


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_nan_is_missing_in_whatever_row_and_precision(
    at: int, kind: Any, tmp_path: Path, workspace: Workspace
) -> None:
    numbers, told = [-0.0, 2.5, np.inf, 7.0], [("0",), ("2.5",), ("inf",), ("7",)]
    numbers.insert(at, np.nan)
    told.insert(at, ("",))
    path = _written(tmp_path / "a.parquet", pa.array(np.array(numbers, kind)))
    assert _rows(path, workspace) == told
    finite = [number for number in numbers if number != np.inf]
    path = _written(tmp_path / "b.parquet", pa.array(np.array(finite, kind)))
    assert _rows(path, workspace) == [row for row in told if row != ("inf",)]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("number", [0.0, -0.0, 3.0, 0.5, np.inf, -np.inf])
def test_nan_next_to_one_number_alone_is_missing(
    number: float, kind: Any, tmp_path: Path, workspace: Workspace
) -> None:
    told = {0.0: "0", 3.0: "3", 0.5: "0.5", np.inf: "inf", -np.inf: "-inf"}[number]
    column = pa.array(np.array([np.nan, number, -np.nan, number], kind))
    path = _written(tmp_path / "a.parquet", column, pa.array(list("abcd")), names=("c0", "c1"))
    assert [row[0] for row in _rows(path, workspace)] == ["", told, "", told]
    with closing(opened(path, workspace)) as store:
        note = "Column `c0` holds NaN (not a number), which is read as a missing value. "
        assert f"{note}There are 2 such values." in store.reading.notes


def test_the_name_of_a_folder_adds_no_column(tmp_path: Path, workspace: Workspace) -> None:
    path = _written(tmp_path / "sex=7" / "a.parquet", pa.array([1, 2]))
    assert _rows(path, workspace) == [("1",), ("2",)]


def test_a_text_that_is_no_utf8_is_named_with_its_place(
    tmp_path: Path, workspace: Workspace
) -> None:
    ends = pa.py_buffer(np.array([0, 2, 4], "int32").tobytes())
    broken = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b"ab\xff\xfe")])
    path = _written(tmp_path / "a.parquet", pa.array([1, 2]), broken, names=("n", "town"))
    assert _fault(path, workspace).sentence == (
        "a.parquet, row 2, column `town`: found bytes that are not text in the encoding UTF-8."
    )


def _notes(path: Path, workspace: Workspace) -> list[str]:
    with closing(opened(path, workspace)) as store:
        told = [note for note in store.reading.notes if "no value but still" not in note]
    german = voice_of("de")
    assert all(german.say(note) != note for note in told)
    return told


def test_dates_of_other_years_are_kept_and_noted(tmp_path: Path, workspace: Workspace) -> None:
    days = pa.array([0, None, -800_000, 2**31 - 1, 2_932_897], pa.int32()).cast(pa.date32())
    path = _written(tmp_path / "a.parquet", days)
    told = [
        "Row 3, column `a`: the value 0222-09-04 (BC) is not a date of the years 1 to 9999; it is "
        "kept as this text. There are 3 such values."
    ]
    assert _notes(path, workspace) == told
    rows = _rows(path, workspace)
    assert rows[1:] == [("",), ("0222-09-04 (BC)",), ("infinity",), ("10000-01-01",)]
    base = tmp_path / "a.duckdb"
    with duckdb.connect(str(base)) as con:
        con.execute(f"CREATE TABLE t AS SELECT * FROM read_parquet('{path}')")
    assert _notes(base, workspace) == told
    assert _rows(base, workspace) == rows


def test_nanoseconds_that_are_cut_off_are_noted(tmp_path: Path, workspace: Workspace) -> None:
    some = pa.array([1_704_067_200_123_456_000, None, 1_001, -1], pa.timestamp("ns"))
    far = pa.array([-62_135_596_799_876_544, 253_402_300_799_999_999, 1, None], pa.timestamp("us"))
    path = _written(
        tmp_path / "a.parquet", far, some, names=("far", "near"),
        use_deprecated_int96_timestamps=True,
    )  # fmt: skip
    assert _notes(path, workspace) == [
        "Row 3, column `near`: the timestamp is finer than a microsecond; it is read to the "
        "microsecond. There are 2 such values."
    ]


@pytest.mark.parametrize(("unit", "word"), [("s", "seconds"), ("us", "microseconds")])
def test_durations_are_told_with_their_unit(
    unit: str, word: str, tmp_path: Path, workspace: Workspace
) -> None:
    path = _written(tmp_path / "a.parquet", pa.array([90], pa.duration(unit)))
    told = f"Column `a` holds durations in {word}; they are read as their numbers."
    assert _notes(path, workspace) == [told]
    assert _rows(path, workspace) == [("90",)]


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"data_page_version": "2.0"}])
def test_a_page_that_its_checksum_does_not_fit_is_refused(
    options: dict[str, Any], tmp_path: Path, workspace: Workspace
) -> None:
    numbers, texts = pa.array(range(5000)), pa.array([f"t{j}" for j in range(5000)])
    path = _written(
        tmp_path / "a.parquet", numbers, texts, names=("n", "t"), write_page_checksum=True,
        compression="none", row_group_size=2000, **options,
    )  # fmt: skip
    assert len(_rows(path, workspace)) == 99
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"t2500") + 1] = ord("9")
    path.write_bytes(raw)
    fault = _fault(path, workspace)
    assert fault.code == "read.damaged"
    assert fault.sentence == (
        "a.parquet, rows 2,001 to 4,000, column `t`: the checksum of a page does not agree with "
        "its bytes."
    )


def test_a_footer_at_which_the_library_ends_its_process_is_called_damaged(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"town": ["Ulm"]}), path)
    monkeypatch.setattr(process, "_WORKER", "import os; os.abort()")
    with pytest.raises(InputError, match=r"a\.parquet: the file is not a Parquet file") as caught:
        opened(path, workspace)
    assert caught.value.code == "parquet.damaged"
    problem = preview_source(SourceSpec(path.name), tmp_path).problem
    assert problem is not None
    assert problem.code == "parquet.damaged"


def _patched(path: Path, table: pa.Table, old: bytes, new: bytes) -> Path:
    parquet.write_table(table, path, store_schema=False)
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new))
    return path


def test_values_count_and_not_what_the_file_says_of_them(
    tmp_path: Path, workspace: Workspace
) -> None:
    """The file says that no value is missing; both readers find two when they look."""
    table = pa.table({"town": ["Ulm", "", None, None, "Rom"]})
    path = _patched(tmp_path / "a.parquet", table, b"6\x04(\x03Ulm", b"6\x00(\x03Ulm")
    assert _rows(path, workspace) == [("Ulm",), ("",), ("",), ("",), ("Rom",)]
    shown = preview_source(SourceSpec(path.name, empty_rows=KEEP), tmp_path)
    assert shown.rows[2] == ("",)
    numbers = [None] * 472 + [1.5] * 528
    table = pa.table({"pay": numbers, "town": [n and "Ulm" for n in numbers]})
    path = _patched(tmp_path / "b.parquet", table, b"\x16\xb0\x07", b"\x16\x80\x00")
    with closing(opened(path, workspace)) as store:
        for name in store.columns:
            counts = {one.value: one.rows for one in store.value_counts(name, CancelToken())}
            assert counts == {"": 472, {"pay": "1.5", "town": "Ulm"}[name]: 528}


def test_readers_that_disagree_on_values_are_not_believed(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "a.parquet", pa.array(["Ulm", None, "Rom"]), names=("c0",))
    look_at = parquetload.look_at

    def other(path: Path, limit: int | None, token: CancelToken) -> ReadDone:
        return replace(look_at(path, limit, token), empty=(2,))

    monkeypatch.setattr(parquetload, "look_at", other)
    with pytest.raises(InputError, match="missing values of column `c0`") as caught:
        opened(path, workspace)
    assert caught.value.code == "read.disagreement"
    assert "fehlende Werte der Spalte `c0`: 2 und 1" in voice_of("de").say(caught.value.sentence)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[("a", 1)]] * 9, pa.map_(pa.string(), pa.int64())),
        pa.array([[1]] * 9),
        pa.array([{"a": 1}] * 9),
        pa.array([[[{"a": b"x"}]]] * 9),
    ],
)
def test_columns_without_texts_are_refused_before_a_row_is_read(
    tmp_path: Path, column: pa.Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "a.parquet", pa.array(range(9)), column, names=("c0", "c1"))

    def read(*_: object, **__: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", read)
    with pytest.raises(InputError, match=r"a\.parquet: the column `c1` holds values of") as caught:
        parquet_look.look(ReadRequest(str(path), "", "parquet"))
    assert caught.value.code == "parquet.type"


def test_a_decimal_of_more_digits_than_its_type_has_is_refused(
    tmp_path: Path, workspace: Workspace
) -> None:
    raw = b"".join(number.to_bytes(16, "little", signed=True) for number in (9999, -1, 123456, 5))
    column = pa.Array.from_buffers(pa.decimal128(4, 2), 4, [None, pa.py_buffer(raw)])
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"size": column}), path, store_decimal_as_integer=True)
    with pytest.raises(InputError, match=r"a\.parquet, row 3, column `size`: found a decimal"):
        opened(path, workspace)


def test_times_of_day_in_utc_are_times_of_day_and_their_nanoseconds_noted(
    tmp_path: Path, workspace: Workspace
) -> None:
    table = pa.table({"at": pa.array([1_000, 1_500, None, 36_610 * 10**9], pa.time64("ns"))})
    path = _patched(tmp_path / "a.parquet", table, b"\x7c\x12\x1c\x3c", b"\x7c\x11\x1c\x3c")
    store = opened(path, workspace)
    wanted = [("00:00:00.000001",), ("00:00:00.000001",), ("",), ("10:10:10",)]
    assert list(store.page(0, 4)) == wanted
    assert [note for note in store.reading.notes if "no value but still" not in note] == [
        "Row 2, column `at`: the timestamp is finer than a microsecond; it is read to the "
        "microsecond.",
    ]


def test_a_column_whose_values_are_none_of_its_type_is_named(
    tmp_path: Path, workspace: Workspace
) -> None:
    hours = pa.array([3_600_000_000, 90_000_000_001], pa.int64()).view(pa.time64("us"))
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"town": ["Ulm", "Rom"], "worked": hours}), path)
    with pytest.raises(InputError, match=r"a\.parquet, column `worked`: a value cannot") as caught:
        opened(path, workspace)
    assert caught.value.code == "parquet.value"


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.opaque(pa.string(), "own", "nobody"),
    ],
    ids=str,
)
def test_empty_texts_of_every_type_are_counted_alike(
    tmp_path: Path, workspace: Workspace, kind: pa.DataType
) -> None:
    texts = pa.array(["a", "", None, "b"])
    if isinstance(kind, pa.ExtensionType):
        column = pa.ExtensionArray.from_storage(kind, texts)
    else:
        column = texts.cast(kind) if kind != pa.string() else texts
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"town": column}), path)
    assert [row[0] for row in opened(path, workspace).page(0, 4)] == ["a", "", "", "b"]
