"""Days, periods, moments and times in files that are written: their values and their formats."""

from __future__ import annotations

import datetime
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from dpdesk.app.labelling import plain_variable
from dpdesk.core.labels import Codebook, Kind, UserMissing, Variable
from dpdesk.io.formats.moments import kind_of
from tests.helpers.stat_files import head
from tests.helpers.written import NAMES, VARIABLES, WRITERS, lost, written

SPSS_FORMATS = {
    "QYR8": "2018-04-01",
    "QYR6": "2018-04-01",
    "MOYR8": "2018-04-01",
    "WKYR10": "2018-04-02",
    "DATE11": "2018-05-06",
    "DATE9": "2018-05-06",
    "ADATE10": "2018-05-06",
    "EDATE8": "2018-05-06",
    "SDATE10": "2018-05-06",
    "JDATE7": "2018-05-06",
    "DATETIME20": "2018-05-06 10:10:10",
    "DATETIME17": "2018-05-06 10:10:10",
    "DATETIME23.2": "2018-05-06 10:10:10.25",
    "YMDHMS20": "2018-05-06 10:10:10",
    "TIME8": "10:10:10",
    "TIME5": "10:10:00",
    "TIME11.2": "10:10:10.25",
    "MTIME8": "00:10:10",
    "DTIME12": "100000",
    "DTIME15.2": "100000.25",
    "WKDAY9": "3",
    "MONTH3": "4",
}


def _book_of(path: Path) -> Codebook:
    """What a release of the file would say of its columns."""
    return Codebook(tuple(plain_variable(variable) for variable in head(path).variables))


def test_formats_of_days_periods_and_times_of_spss_come_back(tmp_path: Path) -> None:
    names = [f"v{j}" for j in range(len(SPSS_FORMATS))]
    book = Codebook(
        tuple(
            Variable(name, "", kind_of("sav", form), format=form)
            for name, form in zip(names, SPSS_FORMATS, strict=True)
        )
    )
    rows = [list(SPSS_FORMATS.values()), [""] * len(names)]
    first = written(tmp_path, "sav", names, rows, book)
    assert [variable.format for variable in head(first).variables] == list(SPSS_FORMATS)
    assert head(first).head[0] == tuple(SPSS_FORMATS.values())
    again = written(tmp_path, "sav", names, rows, _book_of(first))
    meta = pyreadstat.read_sav(again, metadataonly=True)[1]
    assert list(meta.original_variable_types.values()) == list(SPSS_FORMATS)


@pytest.mark.parametrize(
    ("form", "kind", "value", "shown"),
    [
        ("EDATE10", Kind.DATE, "2018-05-06", "EDATE10"),
        ("%td", Kind.DATE, "2018-05-06", "SDATE10"),
        ("QYR41", Kind.DATE, "2018-04-01", "QYR8"),
        ("MONTH2", Kind.DATE, "2018-04-01", "SDATE10"),
        ("DATETIME16", Kind.DATETIME, "2018-05-06 10:10:10", "DATETIME20"),
        ("TIME8", Kind.TIME, "10:10:10.5", "TIME11.2"),
        ("QYR8", Kind.NUMBER, "7", "F8.0"),
        ("WKDAY9", Kind.NUMBER, "Monday", "A6"),
    ],
)
def test_a_format_that_spss_cannot_show_the_values_in_is_not_written(
    tmp_path: Path, form: str, kind: Kind, value: str, shown: str
) -> None:
    book = Codebook((Variable("v", "", kind, format=form),))
    meta = pyreadstat.read_sav(written(tmp_path, "sav", ["v"], [[value]], book), metadataonly=True)
    assert meta[1].original_variable_types["v"] == shown


@pytest.mark.parametrize(
    ("form", "kind", "value", "shown"),
    [
        ("DATETIME22.3", Kind.DATETIME, "2018-05-06 10:10:10.125", "DATETIME24.3"),
        ("TIME12.3", Kind.TIME, "10:10:10.125", "TIME12.3"),
        ("TIME20.3", Kind.TIME, "10:10:10", "TIME12.3"),
        ("DATETIME20", Kind.DATETIME, "2018-05-06 10:10:10", "DATETIME20"),
    ],
)
def test_formats_of_times_of_sas_get_room_for_their_decimals(
    tmp_path: Path, form: str, kind: Kind, value: str, shown: str
) -> None:
    said = Variable("v", "", kind, format=form, missing=UserMissing(letters=True))
    path = written(tmp_path, "sav", ["v"], [[value]], Codebook((said,)))
    meta = pyreadstat.read_sav(path, metadataonly=True)[1]
    assert meta.original_variable_types["v"] == shown
    assert head(path).head == ((value,),)


def test_letters_that_nothing_calls_missing_are_texts_and_told(tmp_path: Path) -> None:
    for form in ("dta", "xpt"):
        told: list[str] = []
        rows = [[".a", "1", ".a"], [".b", ".a", ".b"], ["", "", ""]]
        book = Codebook((Variable("w", "", Kind.NUMBER, missing=UserMissing(letters=True)),))
        found = head(written(tmp_path, form, ["v", "u", "w"], rows, book, told=told))
        assert [one.kind for one in found.variables] == [Kind.TEXT, Kind.NUMBER, Kind.NUMBER]
        said = "are written as texts: each is a point and a letter, and nothing says"
        assert [said in sentence and "`v`" in sentence for sentence in told].count(True) == 1


@pytest.mark.parametrize("form", ["DATE11", "QYR8", "EDATE10"])
def test_dates_of_spss_with_a_time_of_day_stay_dates(tmp_path: Path, form: str) -> None:
    book = Codebook((Variable("v", "", Kind.DATE, format=form),))
    rows = [["2018-05-06"], ["2018-05-06 10:10:10"], ["2018-05-06 00:00:00.25"], [""]]
    found = head(written(tmp_path, "sav", ["v"], rows, book))
    assert found.head == tuple(tuple(row) for row in rows)
    assert found.variables[0].kind is Kind.DATE
    assert found.variables[0].format == form


def test_dates_with_a_time_of_day_are_texts_where_dates_count_days(tmp_path: Path) -> None:
    book = Codebook((Variable("v", "", Kind.DATE),))
    rows = [["2018-05-06"], ["2018-05-06 10:10:10"]]
    for form in ("dta", "xpt"):
        found = head(written(tmp_path, form, ["v"], rows, book))
        assert found.head == tuple(tuple(row) for row in rows)
        assert found.variables[0].kind is Kind.TEXT


def test_the_width_of_a_format_of_sas_is_not_one_of_spss(tmp_path: Path) -> None:
    missing = UserMissing(letters=True)
    book = Codebook((Variable("v", "", Kind.DATE, format="DATE9", missing=missing),))
    meta = pyreadstat.read_sav(written(tmp_path, "sav", ["v"], [["2018-05-06"]], book))[1]
    assert meta.original_variable_types["v"] == "DATE11"


@pytest.mark.parametrize("form", WRITERS)
def test_days_before_the_calendar_of_a_program_stay_texts(form: str, tmp_path: Path) -> None:
    book = Codebook((Variable("d", kind=Kind.DATE), Variable("m", kind=Kind.DATETIME)))
    first = {"sav": "1582-10-14", "xpt": "1582-01-01", "dta": "0100-01-01"}[form]
    for day, kept in ((first, True), ("1581-12-31", form == "dta")):
        rows = [[day, f"{day} 10:00:00"], ["2018-05-06", "2018-05-06 10:10:10"]]
        found = head(written(tmp_path, form, ["d", "m"], rows, book))
        assert [list(row) for row in found.head] == rows
        kinds = {variable.kind for variable in found.variables}
        assert kinds == ({Kind.DATE, Kind.DATETIME} if kept else {Kind.TEXT})


@pytest.mark.parametrize("form", ["%tq", "%tmMonth_CCYY", "%-tw", "%th", "%tC"])
def test_periods_of_stata_come_back(tmp_path: Path, form: str) -> None:
    book = Codebook((Variable("v", "", Kind.NUMBER, format=form),))
    first = written(tmp_path, "dta", ["v"], [["233"], [""]], book)
    assert [variable.format for variable in head(first).variables] == [form]
    assert head(first).head == (("233",), ("",))
    assert _book_of(first).variables[0].format == form


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Kind.DATE, ["1900-01-01", "2018-05-06"]),
        (Kind.DATETIME, ["1900-01-01 00:00:00", "2018-05-06 10:10:10.5"]),
        (Kind.TIME, ["23:59:59", "10:10:10"]),
    ],
)
def test_labels_and_missing_values_of_dates_are_dates(
    kind: Kind, values: list[str], tmp_path: Path
) -> None:
    unknown = values[0]
    said = Variable("x", kind=kind, value_labels={unknown: "no"}, missing=UserMissing((unknown,)))
    told, again, read = lost(tmp_path, "sav", values, said)
    assert (told, again) == ([], values)
    assert read.value_labels == {unknown: "no"}
    assert read.missing.values == (unknown,)
    frame, _ = pyreadstat.read_sav(tmp_path / "t.sav")
    assert frame["x"].isna().tolist() == [True, False]
    told, _, read = lost(tmp_path, "dta", values, said)
    assert (read.value_labels == said.value_labels) == (kind is Kind.DATE)
    assert len(told) == (1 if kind is Kind.DATE else 2)


def test_a_range_of_missing_dates_is_noted(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [datetime.date(2018, 5, 6), datetime.date(2019, 5, 6)]})
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(frame, path, missing_ranges={"x": [{"lo": 1.0, "hi": 1e9}]})
    found = head(path)
    assert (found.variables[0].kind, bool(found.variables[0].missing)) == (Kind.DATE, False)
    assert any("Column `x`: the range of missing dates" in note for note in found.notes)


@pytest.mark.parametrize("form", WRITERS)
def test_milliseconds_come_back_until_the_last_one_of_the_year_9999(
    form: str, tmp_path: Path
) -> None:
    moments = ["9999-12-31 23:59:59.999", "9876-05-04 03:02:01.007", "1583-01-01 00:00:00.001"]
    rows = [["1", "", "", text, "23:59:59.999999", "", "1"] for text in moments]
    path = written(tmp_path, form, NAMES, rows, Codebook(VARIABLES))
    assert [row[3:5] for row in head(path).head] == [(text, "23:59:59.999999") for text in moments]
    assert head(path).variables[3].kind is Kind.DATETIME
    if form == "dta":
        frame = pd.read_stata(path, convert_dates=False)
        assert frame["at"].iloc[0] == 253_717_919_999_999
