"""SPSS, Stata and SAS files that are written: read back by others and by us, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook, Kind, UserMissing, Variable
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.outcolumns import (
    SAS_WORDS,
    STATA_WORDS,
    Accepted,
    OutColumn,
    accepted_names,
    renamed,
)
from dpdesk.io.formats.spss.writer import write_sav
from dpdesk.io.published import PublishedCsv
from tests.helpers.searching import examples
from tests.helpers.stat_files import head
from tests.helpers.written import ABOUT, NAMES, VARIABLES, WRITERS, lost, written

ROWS = [
    ["1", "A", "2018-05-06", "2018-05-06 10:10:10", "10:10:10", "01", "0.1"],
    ["2", "Übersee", "1583-01-01", "1583-01-01 00:00:00", "00:00:00", "02", "-1e-07"],
    ["9", "?", "", "", "", "", "123456.789"],
    ["", "", "9999-12-31", "9999-12-31 23:59:59", "23:59:59", "x", ""],
]


@pytest.mark.parametrize("form", WRITERS)
def test_values_and_labels_come_back_as_they_were(form: str, tmp_path: Path) -> None:
    found = head(written(tmp_path, form, NAMES, ROWS, Codebook(VARIABLES)))
    assert [list(row) for row in found.head] == ROWS
    by_name = {variable.name.lower(): variable for variable in found.variables}
    assert by_name["sex"].label == "Sex of the person"
    kinds = [variable.kind.value for variable in found.variables]
    assert kinds == ["number", "text", "date", "datetime", "time", "text", "number"]
    if form != "xpt":
        assert by_name["sex"].value_labels == VARIABLES[0].value_labels
    if form == "sav":
        assert by_name["sex"].missing == VARIABLES[0].missing
        assert by_name["sex"].measure == "nominal"
        assert by_name["town"].value_labels == {"A": "Aach"}
        assert by_name["town"].missing.values == ("?",)
        assert by_name["born"].format == "EDATE10"


@pytest.mark.parametrize("form", WRITERS)
def test_dates_of_which_nothing_is_said_stay_dates(form: str, tmp_path: Path) -> None:
    names = ["born", "at", "time", "old", "mixed", "late"]
    rows = [
        ["2018-05-06", "2018-05-06 10:10:10", "10:10:10", "1500-01-01", "2018-05-06", "x"],
        ["", "1583-01-01 00:00:00", "", "1900-01-01", "2018-05-06 10:10:10", "2018-05-06"],
    ]
    found = head(written(tmp_path, form, names, rows))
    assert [list(row) for row in found.head] == rows
    kinds = [variable.kind.value for variable in found.variables]
    assert kinds == ["date", "datetime", "time", "text", "text", "text"]


def test_the_reference_readers_agree(tmp_path: Path) -> None:
    path = written(tmp_path, "dta", NAMES, ROWS, Codebook(VARIABLES))
    frame = pd.read_stata(path, convert_categoricals=False)
    assert frame["sex"].tolist()[:3] == [1, 2, 9]
    assert frame["town"].tolist() == ["A", "Übersee", "?", ""]
    assert str(frame["born"][0]) == "2018-05-06 00:00:00"
    with pd.io.stata.StataReader(path) as reader:
        assert reader.variable_labels()["sex"] == "Sex of the person"
        assert list(reader.value_labels().values()) == [{1: "male", 2: "weiblich ♀", 9: "refused"}]
    path = written(tmp_path, "sav", NAMES, ROWS, Codebook(VARIABLES))
    frame, meta = pyreadstat.read_sav(path)
    assert frame["sex"].isna().tolist() == [False, False, True, True]
    assert str(frame["at"][0]) == "2018-05-06 10:10:10"
    assert (meta.file_label, meta.number_rows) == ("Title", 4)
    frame, _ = pyreadstat.read_xport(written(tmp_path, "xpt", NAMES, ROWS, Codebook(VARIABLES)))
    assert frame.iloc[:, 6].tolist()[:3] == [0.1, -1e-07, 123456.789]


@pytest.mark.parametrize("form", ["dta", "xpt"])
def test_lettered_missing_values_come_back_with_their_letters(form: str, tmp_path: Path) -> None:
    rows = [["1", "0.5"], [".a", ".b"], ["", ".z"], ["3", "7"]]
    found = head(written(tmp_path, form, ["n", "x"], rows))
    assert [[text.lower() for text in row] for row in found.head] == rows
    labelled = Variable("n", kind=Kind.NUMBER, value_labels={".a": "refused", "1": "one"})
    found = head(written(tmp_path, "dta", ["n", "x"], rows, Codebook((labelled,))))
    assert found.variables[0].value_labels == {".a": "refused", "1": "one"}


def test_names_that_a_program_refuses_are_changed_and_kept_as_labels(tmp_path: Path) -> None:
    names = ["marital-status", "2nd", "marital status", "with"]
    assert accepted_names(names, 32) == ["marital_status", "v_2nd", "marital_status_2", "v_with"]
    assert accepted_names(["Verheiratet seit", "VERHEIRA"], 8, True) == ["Verhei_2", "VERHEIRA"]
    kept = ["Dauer_", "@x.1", "ότι", "v$"]
    assert accepted_names(kept, 64, first="@", other="#$.") == kept
    assert accepted_names(["_id", "a.", "€"], 32, first="_") == ["_id", "a", "v"]
    found = head(written(tmp_path, "sav", names, [["1", "2", "3", "4"]]))
    assert [variable.label for variable in found.variables] == names
    columns = [OutColumn(Variable(f"{number}"), Accepted()) for number in range(12)]
    told = renamed(columns, [f"v_{number}" for number in range(12)])
    assert told[0] == "The column `0` is called `v_0` in the file."
    assert told[8:] == [
        "4 more columns have another name in the file: `8` → `v_8`, `9` → `v_9`, `10` → `v_10` and "
        "`11` → `v_11`."
    ]
    columns = [OutColumn(Variable(f"{number}"), Accepted()) for number in range(300)]
    told = renamed(columns, [f"v_{number}" for number in range(300)])
    assert told[8].startswith("292 more columns have another name in the file, such as `8` → `v_8`")
    long = [OutColumn(Variable("n" * 65 + end), Accepted()) for end in "ab"]
    assert (
        renamed(long, ["n", "n_2"])[1] == f"The column `{'n' * 65}b` is called `n_2` in the file."
    )
    hidden = [OutColumn(Variable(name), Accepted()) for name in ("", "a\x1b\u202eb")]
    assert renamed(hidden, ["v", "a__b"]) == [
        "The column without a name is called `v` in the file.",
        "The column `a\\x1b\\u202eb` is called `a__b` in the file.",
    ]


def test_only_the_words_that_a_program_reserves_are_changed() -> None:
    names = ["int", "BYTE", "with", "_n", "str5", "_N_", "123"]
    assert accepted_names(names, 64, first="@", other="#$.") == [
        "int", "BYTE", "v_with", "v__n", "str5", "v__N_", "v_123"
    ]  # fmt: skip
    assert accepted_names(names, 32, first="_", reserved=STATA_WORDS) == [
        "v_int", "BYTE", "v_with", "v__n", "v_str5", "_N_", "v_123"
    ]  # fmt: skip
    assert accepted_names(names, 32, True, first="_", reserved=SAS_WORDS) == [
        "int", "BYTE", "with", "_n", "str5", "v__N_", "v_123"
    ]  # fmt: skip


def test_texts_too_long_for_a_format_are_refused(tmp_path: Path) -> None:
    for form, name in (("sav", "an SPSS file"), ("xpt", "a SAS transport file")):
        with pytest.raises(RefusedError, match=f"{name} holds at most 32,767"):
            written(tmp_path, form, ["t"], [["x" * 32_768]])


def test_texts_too_long_for_a_row_of_stata_are_held(tmp_path: Path) -> None:
    rows = [["é" * 40_000, "1", "a"], ["", "2", "b" * 2_046], ["short", "3", ""]]
    path = written(tmp_path, "dta", ["t", "n", "u"], rows)
    assert [list(row) for row in head(path).head] == rows
    frame = pd.read_stata(path)
    assert frame["t"].tolist() == [row[0] for row in rows]
    assert frame["u"].tolist() == [row[2] for row in rows]


NUMBER = Variable("x", kind=Kind.NUMBER)
AS_TEXTS = "The values of `x` are written as texts"


@pytest.mark.parametrize(
    ("form", "values", "kind"),
    [
        ("xpt", ["1e-80", "1"], Kind.NUMBER),
        ("xpt", ["1e+76", "1"], Kind.NUMBER),
        ("sav", [".a", "1"], Kind.NUMBER),
        ("dta", ["._", "1"], Kind.NUMBER),
        ("dta", [".a", ".A"], Kind.NUMBER),
        ("dta", [".é", "1"], Kind.NUMBER),
        ("xpt", [".é", "1"], Kind.NUMBER),
        ("dta", ["9007199254740993", "1"], Kind.NUMBER),
        ("dta", ["20180506", "2018-05-06"], Kind.DATE),
        ("sav", ["2018-05-06 10:10:10.123457", "2018-05-06 10:10:10"], Kind.DATETIME),
    ],
)
def test_values_that_a_format_lacks_stay_texts_and_are_told(
    form: str, values: list[str], kind: Kind, tmp_path: Path
) -> None:
    told, again, read = lost(tmp_path, form, values, Variable("x", kind=kind))
    assert again == values
    assert read.kind is Kind.TEXT
    assert any(text.startswith(AS_TEXTS) for text in told)


@pytest.mark.parametrize("form", ["dta", "xpt"])
def test_moments_to_the_microsecond_stay_moments_where_they_can(form: str, tmp_path: Path) -> None:
    values = ["2018-05-06 10:10:10.123457", "1583-01-01 00:00:00.5", "9999-12-31 23:59:59"]
    told, again, _ = lost(tmp_path, form, values[:1], Variable("x", kind=Kind.DATETIME))
    assert again == values[:1]
    assert not any(text.startswith(AS_TEXTS) for text in told)


def test_blank_rows_at_the_end_stay_rows(tmp_path: Path) -> None:
    rows = [["a", ""], ["", "b"], ["", ""], ["", ""]]
    found = head(written(tmp_path, "xpt", ["s", "t"], rows))
    assert [list(row) for row in found.head] == rows


def test_what_is_too_long_is_cut_and_told(tmp_path: Path) -> None:
    labels = {"1": "w" * 121, "2": "two"}
    said = Variable("x", "é" * 200, Kind.NUMBER, value_labels=labels)
    found = {form: lost(tmp_path, form, ["1", "2"], said) for form in WRITERS}
    assert found["sav"][0] == [
        "The variable labels of `x` are cut to 255 bytes, the most that an SPSS file holds.",
        "Value labels of `x` are cut to 120 bytes, the most that an SPSS file holds.",
    ]
    assert found["sav"][2].label == "é" * 127
    assert found["sav"][2].value_labels["1"] == "w" * 120
    assert found["dta"][0] == [
        "The variable labels of `x` are cut to 80 characters, the most that a Stata file holds."
    ]
    with pd.io.stata.StataReader(tmp_path / "t.dta") as reader:
        assert reader.variable_labels()["x"] == "é" * 80
    assert ("é" * 200).encode() in (tmp_path / "t.dta").read_bytes()  # its note
    assert found["xpt"][2].label == "é" * 128


def test_more_missing_values_and_labels_than_spss_holds_are_told(tmp_path: Path) -> None:
    said = Variable("x", kind=Kind.NUMBER, missing=UserMissing(("6", "7", "8", "9")))
    told, _, read = lost(tmp_path, "sav", ["1", "9"], said)
    assert read.missing.values == ("6", "7", "8")
    assert told == [
        "Some values of `x` that are declared missing stay ordinary values: an SPSS file holds "
        "at most 3 per column"
        ", or a range of numbers and one more, and no text of more than 8 bytes."
    ]
    said = Variable("x", kind=Kind.NUMBER, value_labels={"1": "one", "A": "stray"})
    told, _, read = lost(tmp_path, "sav", ["1", "9"], said)
    assert (read.value_labels, len(told)) == ({"1": "one"}, 1)
    told, _, read = lost(tmp_path, "dta", ["1", "9"], said)
    assert told[0].startswith(
        "Value labels of `x` are left out where they do not stand for a whole"
    )
    long = Variable("x", value_labels={"a longer code": "label"}, missing=UserMissing(("?",)))
    told, _, read = lost(tmp_path, "sav", ["a", "?"], long)
    assert (told, read.value_labels, read.missing.values) == ([], dict(long.value_labels), ("?",))


def test_a_cancel_ends_the_writing(tmp_path: Path) -> None:
    source, token = tmp_path / "t.csv", CancelToken()
    source.write_text("a\n1\n", encoding="utf-8")
    table = PublishedCsv(source, token)
    token.cancel()
    with pytest.raises(Cancelled):
        write_sav(table, NO_BOOK, tmp_path / "t.sav", ABOUT, token, lambda rows: None)


numbers = st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda x: x == 0 or 1e-70 < abs(x) < 1e70
)
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=700).map(
    lambda text: text.strip()
)


@pytest.mark.parametrize("form", WRITERS)
@settings(max_examples=examples(12), deadline=None)
@given(rows=st.lists(st.tuples(numbers.map(number_text), texts), min_size=1, max_size=6))
def test_any_numbers_and_texts_survive_every_format(
    form: str, rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any")
    table = [list(row) for row in rows]
    book = Codebook((Variable("x", kind=Kind.NUMBER), Variable("t", kind=Kind.TEXT)))
    found = head(written(folder, form, ["x", "t"], table, book))
    assert [list(row) for row in found.head] == table


@pytest.mark.parametrize(
    ("form", "greatest", "least"),
    [
        ("sav", "1.7976931348623153e+308", "-1.7976931348623153e+308"),
        ("dta", "8.988465674311579e+307", "-8.988465674311579e+307"),
    ],
)
def test_the_greatest_numbers_stay_numbers(
    form: str, greatest: str, least: str, tmp_path: Path
) -> None:
    found = head(written(tmp_path, form, ["x"], [[greatest], [least], ["8e+307"]]))
    assert found.variables[0].kind is Kind.NUMBER
    assert found.head == ((greatest,), (least,), ("8e+307",))
    beyond = "1.7976931348623157e+308" if form == "sav" else "8.98846567431158e+307"
    found = head(written(tmp_path, form, ["x"], [[beyond]]))
    assert (found.variables[0].kind, found.head) == (Kind.TEXT, ((beyond,),))
