"""SPSS, Stata and SAS files: every value is kept, labels come along, faults are named."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, InputError, StorageError
from dpdesk.core.jobs import CancelToken, Event, StepProgress, silent
from dpdesk.core.labels import Kind
from dpdesk.core.plan import SourceSpec
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.sas.transport_layout import NAMESTR, from_ieee, to_ieee
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.stat_files import head, opened, real, write_people


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_a_labelled_file_is_read_with_its_labels(
    tmp_path: Path, workspace: Workspace, ending: str
) -> None:
    store = opened(write_people(tmp_path / f"people{ending}"), workspace)
    assert store.page(0, 4) == (
        ("1", "34", "Aach", "1.5"),
        ("2", "52", "Übersee", "2.25"),
        ("2", "71", "", "1e-07"),
        ("9", "99", "東京", "123456.789"),
    )
    sex = store.book.get("sex")
    assert sex is not None
    assert sex.label == "Sex of the person"
    assert sex.value_labels == {"1": "male", "2": "female", "9": "refused"}
    assert store.profile(CancelToken(), silent).column("age").label == "Age in years"
    store.close()
    assert not any(workspace.folder.glob("*.parquet"))


def test_user_missing_values_stay_themselves_and_count_as_missing(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = write_people(tmp_path / "people.sav")
    store = opened(path, workspace)
    table = store.frequency_table(["sex", "age", "town"], CancelToken())
    missing = [{table.domains[j][c] for c in codes} for j, codes in enumerate(table.missing)]
    assert missing == [{"9"}, {"99"}, {""}]
    profile = store.profile(CancelToken(), silent)
    assert [profile.column(name).missing for name in ("sex", "age", "weight")] == [6, 6, 0]
    assert profile.column("age").maximum == "71"
    assert store.histogram("age", (0, 100), 2, CancelToken()) == (6, 12)
    store.close()
    nothing = opened(path, workspace, missing=())
    assert nothing.frequency_table(["sex"], CancelToken()).missing == (frozenset(),)
    nothing.close()


def test_the_preview_shows_what_the_whole_reading_gives(
    tmp_path: Path, workspace: Workspace
) -> None:
    path = write_people(tmp_path / "people.sav")
    preview = preview_source(SourceSpec(path.name), tmp_path)
    assert preview.problem is None
    store = opened(path, workspace)
    assert preview.rows == store.page(0, 24)
    assert (preview.columns, preview.reading) == (store.columns, store.reading)
    store.close()


@pytest.mark.data
def test_lettered_missing_values_of_stata_and_sas_are_kept() -> None:
    stata = head(real("statfiles", "pyreadstat", "missing_data", "missing_test.dta"))
    assert stata.head == ((".a", ".b", ".c", ".x", ".y", ".z", "", "", "1"),)
    assert stata.variables[0].value_labels == {".a": "missing"}
    assert stata.variables[0].missing.holds(".q")
    sas = head(real("statfiles", "pyreadstat", "missing_data", "missing_test.sas7bdat"))
    assert sas.head == ((".A", ".B", ".C", ".X", ".Y", ".Z", "._", "", "1"),)


@pytest.mark.data
@pytest.mark.parametrize("name", ["sample.sav", "sample.zsav", "sample.dta", "sample.sas7bdat"])
def test_dates_and_times_are_readable_in_every_format(name: str) -> None:
    found = head(real("statfiles", "pyreadstat", "basic", name))
    columns = [variable.name for variable in found.variables]
    rows = [dict(zip(columns, row, strict=True)) for row in found.head]
    assert [row["mydate"] for row in rows] == ["2018-05-06", "1880-05-06", "1960-01-01",
                                               "1583-01-01", ""]  # fmt: skip
    assert [row["dtime"] for row in rows][:2] == ["2018-05-06 10:10:10", "1880-05-06 10:10:10"]
    assert [row["mytime"] for row in rows] == ["10:10:10", "23:10:10", "00:00:00", "16:10:10", ""]
    assert [row["mynum"] for row in rows] == ["1.1", "1.2", "-1000.3", "-1.4", "1000.3"]


@pytest.mark.data
def test_every_real_file_is_read_whole(workspace: Workspace) -> None:
    folder = real("statfiles")
    paths = [path for path in folder.rglob("*") if path.suffix in (".sav", ".sas7bdat", ".dta")]
    assert len(paths) > 20
    for path in [*paths, real("misc", "SD2011_labelled.sav")]:
        found = head(path, limit=10_000)
        assert found.variables
        assert all(len(row) == len(found.variables) for row in found.head)


@pytest.mark.data
def test_a_sas_catalogue_gives_the_labels_and_a_broken_one_is_named(tmp_path: Path) -> None:
    folder = real("statfiles", "pyreadstat", "sas_catalog")
    data = folder / "test_data_linux.sas7bdat"
    found = head(data, catalog=str(folder / "test_formats_linux.sas7bcat"))
    labels = {variable.name: dict(variable.value_labels) for variable in found.variables}
    assert labels["SEXA"] == {"1": "Male", "2": "Female"}
    broken = tmp_path / "broken.sas7bcat"
    broken.write_bytes((folder / "test_formats_linux.sas7bcat").read_bytes()[:3000])
    with pytest.raises(InputError, match=r"broken\.sas7bcat") as caught:
        head(data, catalog=str(broken))
    assert caught.value.code == "catalog.unreadable"
    with pytest.raises(StorageError, match="no such file"):
        head(data, catalog=str(tmp_path / "absent.sas7bcat"))


def test_a_number_that_is_no_date_is_kept_and_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"day": [13744944000.0, 9e15, 13744944061.5, math.nan]})
    path = tmp_path / "days.sav"
    pyreadstat.write_sav(frame, path, variable_format={"day": "DATE11"})
    found = head(path)
    assert found.head == (
        ("2018-05-06",), ("9000000000000000",), ("2018-05-06 00:01:01.5",), ("",),
    )  # fmt: skip
    assert found.variables[0].kind is Kind.DATE
    assert found.notes == (
        "Row 2, column `day`: the number 9000000000000000 is not a date of the years 1 to 9999; it "
        "is kept as a number.",
    )


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_refused_with_its_row(
    tmp_path: Path, workspace: Workspace, ending: str, share: float
) -> None:
    path = write_people(tmp_path / f"people{ending}")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(InputError) as caught:
        opened(path, workspace)
    assert path.name in caught.value.sentence
    assert caught.value.code == "read.damaged"
    assert not any(workspace.folder.glob("*.parquet"))


def test_a_file_of_another_kind_and_an_empty_table_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.sav").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a valid SPSS file"):
        head(tmp_path / "x.sav")
    pyreadstat.write_sav(pd.DataFrame({"a": np.array([], float)}), tmp_path / "none.sav")
    with pytest.raises(InputError, match="1 columns and no rows"):
        head(tmp_path / "none.sav")


def test_a_wrong_encoding_is_named_with_row_and_column(tmp_path: Path) -> None:
    path = write_people(tmp_path / "people.sav")
    with pytest.raises(InputError, match="not text in the encoding ASCII") as caught:
        head(path, encoding="ascii")
    assert caught.value.code == "encoding.undecodable"
    assert caught.value.details == {"row": 2, "column": "town"}
    broken = tmp_path / "broken.sav"
    broken.write_bytes(path.read_bytes().replace("東京".encode(), b"\xe6\xff" + "京".encode(), 1))
    with pytest.raises(InputError, match="row 4, column `town`"):
        head(broken)
    with pytest.raises(
        InputError, match="the plan names the encoding nonsense, which is not known"
    ):
        head(path, encoding="nonsense")


def test_a_cancel_ends_the_reading_at_once(tmp_path: Path, workspace: Workspace) -> None:
    path, token = write_people(tmp_path / "people.sav"), CancelToken()

    def report(event: Event) -> None:
        if isinstance(event, StepProgress) and event.unit == "rows":
            token.cancel()

    with pytest.raises(Cancelled):
        DataStore.open(SourceSpec(path.name), tmp_path, workspace, token, report)
    assert not any(workspace.folder.glob("*.parquet"))


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(number=finite)
def test_the_text_of_a_number_reads_back_as_the_number(number: float) -> None:
    text = number_text(number)
    assert float(text) == number
    assert not text.endswith(".0")


@settings(max_examples=15, deadline=None)
@given(numbers=st.lists(finite.filter(lambda x: abs(x) < 1e300), min_size=1, max_size=30))
def test_numbers_of_an_spss_file_come_with_all_their_digits(
    numbers: list[float], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("numbers") / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"x": numbers}), path)
    assert [row[0] for row in head(path).head] == [number_text(number) for number in numbers]


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=400).map(
            lambda text: text.rstrip()
        ),
        min_size=1,
        max_size=8,
    )
)
def test_texts_of_an_spss_file_come_whole(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("texts") / "x.sav"
    pyreadstat.write_sav(pd.DataFrame({"n": 1.0, "x": texts}), path)
    assert [row[1] for row in head(path).head] == texts


@given(numbers=st.lists(finite.filter(lambda x: x == 0 or 1e-70 < abs(x) < 1e70), min_size=1))
def test_numbers_survive_the_hexadecimal_form_of_transport_files(numbers: list[float]) -> None:
    given_ones = np.array(numbers)
    back, letters, cut = to_ieee(from_ieee(given_ones))
    assert (back == given_ones).all()
    assert not letters.any()
    assert not cut.any()


def transport_file(path: Path, rows: bytes, table: bytes = b"PEOPLE") -> bytes:
    """A transport file of version 5 with a number of 8 bytes and a text of 3."""

    def card(text: bytes) -> bytes:
        return text.ljust(80)

    def column(kind: int, width: int, number: int, name: bytes, start: int) -> bytes:
        return NAMESTR.pack(
            kind, 0, width, number, name.ljust(8), b"Label of " + name.ljust(31), b"".ljust(8),
            0, 0, 0, b"", b"".ljust(8), 0, 0, start, b"", 0, b"",
        )  # fmt: skip

    head = b"HEADER RECORD*******%sHEADER RECORD!!!!!!!"
    names = column(1, 8, 1, b"N", 0) + column(2, 3, 2, b"T", 8)
    text = (
        card(head % b"LIBRARY " + b"0" * 30) + card(b"SAS") * 2
        + card(head % b"MEMBER  " + b"0" * 17 + b"1600000000140") + card(head % b"DSCRPTR " + b"0")
        + card(b"SAS     " + table) + card(b"")
        + card(head % b"NAMESTR " + b"0000000002" + b"0" * 20)
        + names.ljust(320) + card(head % b"OBS     " + b"0" * 30)
        + rows.ljust(-(-len(rows) // 80) * 80)
    )  # fmt: skip
    path.write_bytes(text)
    return text


def test_a_transport_file_keeps_lettered_missing_values_and_all_rows(tmp_path: Path) -> None:
    one = from_ieee(np.array([1.0])).astype(">u8").tobytes()
    rows = one + b"abc" + b"A" + bytes(7) + b"   " + b"_" + bytes(7) + b"\xc3\xa4 "
    rows += b"." + bytes(7) + b"xyz"
    text = transport_file(tmp_path / "a.xpt", rows)
    found = head(tmp_path / "a.xpt")
    assert found.head == (("1", "abc"), (".A", ""), ("._", "ä"), ("", "xyz"))
    assert [variable.label for variable in found.variables] == ["Label of N", "Label of T"]
    (tmp_path / "cut.xpt").write_bytes(text[: text.index(rows) + 27])
    with pytest.raises(InputError, match=r"cut\.xpt, row 3: the file ends inside a row"):
        head(tmp_path / "cut.xpt")
    (tmp_path / "head.xpt").write_bytes(text.replace(b"0000000002", b"00000\x000002"))
    with pytest.raises(InputError, match="a header of the file is damaged"):
        head(tmp_path / "head.xpt")
    (tmp_path / "latin.xpt").write_bytes(text.replace(b"\xc3\xa4 ", b"\xe4  "))
    with pytest.raises(InputError, match="row 3, column `T`"):
        head(tmp_path / "latin.xpt")
    assert head(tmp_path / "latin.xpt", encoding="cp1252").head[2] == ("._", "ä")


@pytest.mark.data
def test_transport_files_of_both_versions_are_read() -> None:
    folder = real("statfiles", "pyreadstat", "basic")
    old, new = head(folder / "sample.xpt"), head(folder / "dates_xpt_v8.xpt")
    assert old.head[0] == (
        "a", "1.1", "2018-05-06", "2018-05-06 10:10:10", "1", "1", "10:10:10",
    )  # fmt: skip
    assert [row[0] for row in new.head] == [row[1] for row in new.head]
    assert [row[3] for row in new.head] == [row[4] for row in new.head]
    assert [row[5] for row in new.head] == [row[6] for row in new.head]
    assert new.variables[0].label.endswith("accuracy of transformations")


def test_two_tables_in_a_transport_file_are_told(tmp_path: Path) -> None:
    one = from_ieee(np.array([1.0])).astype(">u8").tobytes()
    first = transport_file(tmp_path / "b.xpt", one + b"two", b"SECOND")[240:]
    text = transport_file(tmp_path / "a.xpt", one + b"one")
    (tmp_path / "a.xpt").write_bytes(text + first)
    found = head(tmp_path / "a.xpt")
    assert found.head == (("1", "one"),)
    assert "first of 2 tables was read, `PEOPLE`" in found.notes[0]
    assert head(tmp_path / "a.xpt", table="SECOND").head == (("1", "two"),)


def test_moments_of_which_stata_shows_the_time_of_day_alone_keep_their_day(tmp_path: Path) -> None:
    moment = 22_000 * 86_400_000.0 + 36_000_000
    frame = pd.DataFrame({"at": [moment, 36_000_000.0, moment + 1, math.nan, 1e300]})
    path = tmp_path / "p.dta"
    pyreadstat.write_dta(frame, path, variable_format={"at": "%tcHH:MM"})
    found = head(path)
    assert [row[0] for row in found.head] == [
        "2020-03-26 10:00:00", "10:00:00", "2020-03-26 10:00:00.001", "", "1e+300",
    ]  # fmt: skip
    assert found.notes == (
        "Column `at` shows only times of day (%tcHH:MM) but contains timestamps of other days; "
        "these are read with their day.",
        "Row 5, column `at`: the number 1e+300 is not a time of a day; it is kept as a number.",
    )
