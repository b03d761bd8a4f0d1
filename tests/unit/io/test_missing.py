"""What a source declares missing is found alike value by value, in a column, and in a database."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.labels import UserMissing
from dpdesk.core.plan import SourceSpec
from dpdesk.io import coding
from dpdesk.io.missing import condition, user_missing_flags
from dpdesk.io.preview import preview_source
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.stat_files import opened

_TEXTS = st.one_of(
    st.sampled_from(["", "9", "-1", "1e3", ".a", ".Z", "._", "x", "-0.5", "99.0", "1.", "+3", "."]),
    st.integers(-20, 120).map(str),
    st.floats(-50, 120).map(repr),
)
_USER = st.builds(
    lambda values, ends, letters: (
        UserMissing(tuple(values), *sorted(ends), letters)
        if ends
        else UserMissing(tuple(values), letters=letters)
    ),
    st.lists(_TEXTS, max_size=3),
    st.one_of(st.none(), st.tuples(st.floats(-50, 120), st.floats(-50, 120))),
    st.booleans(),
)


@given(st.lists(_TEXTS, max_size=20), _USER)
def test_a_column_of_texts_is_judged_as_its_values_are(texts: list[str], user: UserMissing) -> None:
    written = [text for text in texts if text != "+3"]  # no shortest form has a plus
    found = user_missing_flags(pa.array(written, pa.string()), user).to_pylist()
    assert found == [user.holds(text) for text in written]


@pytest.mark.parametrize(
    "user",
    [UserMissing(("9", "it's")), UserMissing((), -9.0, -1.0, True), UserMissing(("x",), 5.0, 9.0)],
)
def test_the_database_judges_as_the_values_are(user: UserMissing) -> None:
    texts = ["9", "it's", "-3.5", ".b", "x", "", "5", "7e0", "10"]
    with duckdb.connect() as con:
        listed = con.execute(
            f"SELECT {condition(user, (), 't')} FROM (SELECT unnest(?) AS t)", [texts]
        ).fetchall()
    assert [bool(row[0]) for row in listed] == [user.holds(text) for text in texts]


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    found = Workspace.open(private_home)
    yield found
    found.close()


@pytest.mark.parametrize("more", [0, 60])
def test_a_profile_counts_what_the_file_declares_missing(
    tmp_path: Path, workspace: Workspace, more: int
) -> None:
    people = pd.DataFrame({"sex": [1.0, 2.0, 9.0, 9.0, None], "pay": [10.0, -3.0, 5.0, 1.0, 2.0]})
    people = people.assign(**{f"x{number}": 1.0 for number in range(more)})
    ranges = {"sex": [9.0], "pay": [{"lo": -9.0, "hi": -1.0}]}
    pyreadstat.write_sav(people, tmp_path / "a.sav", missing_ranges=ranges)
    with closing(opened(tmp_path / "a.sav", workspace)) as store:
        profile = store.profile(CancelToken(), silent).columns
    sex, pay = profile[:2]
    assert (sex.missing, sex.user_missing, sex.distinct) == (3, 2, 2)
    assert (pay.missing, pay.user_missing) == (1, 1)
    assert all(column.user_missing == 0 for column in profile[2:])


def _notes(path: Path, missing: tuple[str, ...], workspace: Workspace) -> list[str]:
    """What the program says of empty fields when the plan lists these missing texts."""
    spec = SourceSpec(path.name, missing=missing, header=True if path.suffix == ".csv" else None)
    with closing(DataStore.open(spec, path.parent, workspace, CancelToken(), silent)) as store:
        return [note for note in store.reading.notes if "mpty" in note]


def test_a_list_without_the_empty_text_is_told_to_make_empty_fields_values(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = pd.DataFrame({"id": [1.0, None, None], "inc": [5.0, 98.0, None], "full": [1.0] * 3})
    pyreadstat.write_sav(people, tmp_path / "a.sav")
    people.to_parquet(tmp_path / "a.parquet", index=False)
    people.astype("Int64").to_csv(tmp_path / "a.csv", index=False)
    for most in (coding.MOST_CODED_COLUMNS, 0):
        monkeypatch.setattr(coding, "MOST_CODED_COLUMNS", most)
        for name in ("a.sav", "a.parquet", "a.csv"):
            (note,) = _notes(tmp_path / name, ("98",), workspace)
            assert "(3 in 2 columns, most in `id`: 2) count as values here" in note
            assert 'write `missing = ["", "98"]` under [source].' in note
            for quiet in ((), ("",), ("", "98")):
                assert _notes(tmp_path / name, quiet, workspace) == []
    people[["id", "full"]].to_parquet(tmp_path / "c.parquet", index=False)
    (note,) = _notes(tmp_path / "c.parquet", ("\u202e\t", 'x"\\'), workspace)
    assert "(2 in column `id`)" in note
    written = note.partition("write `")[2].partition("` under")[0]
    assert written.isprintable()
    assert tomllib.loads(written) == {"missing": ["", "\u202e\t", 'x"\\']}
    (tmp_path / "full.csv").write_text("a,b\n1,3\n2,98\n")
    assert _notes(tmp_path / "full.csv", ("98",), workspace) == []


def test_what_is_proposed_for_missing_keeps_the_empty_text(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,#N/A\n,2\n")
    for known, wanted in ((("",), ["", "#N/A"]), (("", "98"), ["", "98", "#N/A"])):
        preview = preview_source(SourceSpec("a.csv", missing=known), tmp_path)
        (note,) = [note for note in preview.reading.notes if "may stand for missing" in note]
        line = note.partition("if so, write `")[2].partition("` under [source]")[0]
        assert tomllib.loads(line) == {"missing": wanted}


def _noted(folder: Path, text: str, **options: object) -> tuple[str, ...]:
    (folder / "t.csv").write_text(text)
    with (
        closing(Workspace.open(folder / "home")) as workspace,
        closing(opened(folder / "t.csv", workspace, **options)) as store,
    ):
        return store.reading.notes


@pytest.mark.parametrize(
    ("values", "decimal", "many", "example"),
    [
        (["1,105.6", "23", "2,000"], ".", "2 numbers", "1,105.6"),
        (["7", "-1,234,567", "0.5", ""], ".", "1 number", "-1,234,567"),
        (["1.105,6", "23,5", "2.000"], ",", "2 numbers", "1.105,6"),
        (["1'105.60", "1 105", "1\u00a0105.5", "1\u202f105"], ".", "4 numbers", "1'105.60"),
    ],
)
@pytest.mark.parametrize("times", [1, 700])
def test_numbers_with_marks_of_thousands_are_told_with_their_column(
    tmp_path: Path, values: list[str], decimal: str, many: str, example: str, times: int
) -> None:
    rows = [f"{i};{value};{i}a" for i, value in enumerate(values * times)]
    notes = _noted(tmp_path, "\n".join(["id;pay;code", *rows]), decimal=decimal)
    count = int(many.split()[0]) * times
    held = f"it holds {count:,} number{'s' * (count > 1)} with thousands separators"
    sentence = f"Column `pay` is read as text: {held}, such as `{example}`"
    assert [note for note in notes if note.startswith(sentence)]
    assert not any("`code`" in note for note in notes)


@pytest.mark.parametrize("value", ["1,10", "12,34.5", "0,1234", "1,105 km", "1234,567", "1,2345"])
def test_texts_that_are_no_numbers_with_marks_of_thousands_are_not_told(
    tmp_path: Path, value: str
) -> None:
    notes = _noted(tmp_path, f"id;pay\n1;{value}\n2;5\n", decimal=".")
    assert not any("thousands" in note for note in notes)
    notes = _noted(tmp_path, "id;town\n1;1,105.6\n2;Aach\n3;Ulm\n", decimal=".")
    assert not any("thousands" in note for note in notes)


def test_texts_that_may_be_missing_are_told_with_columns_and_rows(tmp_path: Path) -> None:
    rows = [f"{i},{'n/a' if i % 3 else i},{'NA' if i == 7 else 'x'},{i}" for i in range(30)]
    text = "\n".join(["id,pay,town,n", *rows])
    notes = _noted(tmp_path, text)
    assert "Columns with `NA`, `n/a`: `pay` (20 rows) and `town` (1 row)." in notes
    notes = _noted(tmp_path, text, missing=("", "n/a", "NA"))
    assert not any("may stand for missing" in note or "NA" in note for note in notes)


def test_usual_negative_numbers_among_others_of_0_or_more_may_be_missing(tmp_path: Path) -> None:
    rows = [
        f"{-8 if i % 4 == 0 else i},{-8.5 if i % 4 == 0 else i},{-8 if i % 2 else 3},"
        f"{'-97.0' if i % 9 == 0 else f'{i}.0'},{i - 20},{'-7' if i == 5 else i}"
        for i in range(60)
    ]
    names = "months,odd,few,income,change,once"
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]))
    preview = preview_source(SourceSpec("t.csv"), tmp_path)
    assert preview.reading.missing_candidates == ("-8", "-97.0")
    notes = _noted(tmp_path, "\n".join([names, *rows]))
    assert any("Columns with `-8`, `-97.0`: `few`" in note for note in notes)


def test_words_among_many_numbers_may_be_missing(tmp_path: Path) -> None:
    rows = [
        f"{'N' if i % 4 == 0 else i},{'N' if i % 4 == 0 else i % 3},{i}{'a' if i % 5 == 0 else ''},"
        f"{'none of us' if i % 9 == 0 else i / 2},{'once' if i == 7 else i},{'NA' if i % 2 else i}"
        for i in range(60)
    ]
    names = "income,few,room,share,note,known"
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]))
    preview = preview_source(SourceSpec("t.csv"), tmp_path)
    assert preview.reading.missing_candidates == ("N", "NA", "none of us")
