"""Names in files of SPSS, Stata and SAS stay with their columns."""

from __future__ import annotations

import struct
from pathlib import Path

import pyreadstat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, Variable
from dpdesk.io.formats.outcolumns import STATA_WORDS, accepted_names
from dpdesk.io.formats.sas import transport_writer as xptwriter
from dpdesk.io.published import PublishedCsv
from tests.helpers.stat_files import head
from tests.helpers.written import ABOUT, WRITERS, written

_LONG = "x" * 600


def renamed_one_by_one(path: Path) -> list[str]:
    """The names as PSPP makes them: short ones, each changed when its long name is free."""
    data, place, names = path.read_bytes(), 176, []
    while (kind := struct.unpack_from("<i", data, place)[0]) == 2:
        width, label, missing = struct.unpack_from("<iii", data, place + 4)
        short = data[place + 24 : place + 32].decode("ascii").rstrip()
        place += 32
        if label:
            place += 4 + -(-struct.unpack_from("<i", data, place)[0] // 4) * 4
        place += 8 * abs(missing)
        if width >= 0:
            names.append(short)
    assert kind != 2
    assert len(set(names)) == len(names)
    start = data.index(struct.pack("<iii", 7, 13, 1))
    size = struct.unpack_from("<i", data, start + 12)[0]
    pairs = data[start + 16 : start + 16 + size].decode("utf-8").split("\t")
    for short, long in (pair.split("=") for pair in pairs):
        others = {name.upper() for name in names if name != short}
        assert long.upper() not in others, (short, long)
        names[names.index(short)] = long
    return names


@pytest.mark.parametrize(
    "names",
    [
        ["V2", "V3", "V4", "V1", "income"],
        ["v2", "größe", "V1", "V3_1", "a_long_name_of_v"],
        ["ä", "v1", "V2", "ö"],
        ["12", "v_12", "V_12_2", "@x"],
    ],
)
def test_every_name_is_free_when_its_column_takes_it(names: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, "sav", names, [[str(j) for j in range(len(names))]])
    shown = renamed_one_by_one(path)
    assert [name for name in shown if name in names] == [n for n in names if n in shown]
    frame, _ = pyreadstat.read_sav(path)
    assert list(frame.columns) == shown
    assert [int(value) for value in frame.iloc[0]] == list(range(len(names)))


NAMES = st.one_of(
    st.integers(1, 12).map(lambda n: f"V{n}"),
    st.integers(1, 12).map(lambda n: f"v{n}_{n}"),
    st.sampled_from(["größe", "a name that is long", "identifier", "VERYLONG1", "verylong"]),
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(names=st.lists(NAMES, min_size=1, max_size=9, unique_by=str.upper), data=st.data())
def test_columns_of_long_texts_keep_their_names_among_others(
    names: list[str], data: st.DataObject, tmp_path: Path
) -> None:
    row = [data.draw(st.sampled_from(["7", f"{_LONG}{j}"])) for j in range(len(names))]
    path = written(tmp_path, "sav", names, [row, ["1"] * len(names)])
    shown = renamed_one_by_one(path)
    kept = [name for name in names if name.isidentifier()]
    assert [name for name in shown if name in kept] == kept
    assert list(head(path).head[0]) == row


def test_a_name_that_is_accepted_as_it_is_stays_whatever_stands_before_it(tmp_path: Path) -> None:
    names = ["inc.net", "a b", "inc_net", "A_B", "inc net", "", "", "v", "v_2"]
    found = accepted_names(names, 32)
    assert found == ["inc_net_2", "a_b_2", "inc_net", "A_B", "inc_net_3", "v_3", "v_4", "v", "v_2"]
    many = ["c 1"] * 3_000 + ["c_7"]
    assert accepted_names(many, 8)[-1] == "c_7"
    assert len({name.upper() for name in accepted_names(many, 8)}) == len(many)
    for form in ("sav", "dta", "xpt"):
        plain = ["inc.net" if form != "sav" else "inc net", "inc_net", "x"]
        read = head(written(tmp_path, form, plain, [["100", "999", "1"]]))
        names = [variable.name for variable in read.variables]
        assert dict(zip(names, read.head[0], strict=True))["inc_net"] == "999"


def test_numerals_that_are_no_digits_are_no_letters_in_stata() -> None:
    names = ["m²", "größe٣", "a½b", "हिन्दी"]
    assert accepted_names(names, 32, first="_", reserved=STATA_WORDS) == [
        "m", "größe٣", "a_b", "ह_न_द",
    ]  # fmt: skip
    assert accepted_names(names[:1], 64, first="@", other="#$.") == ["m²"]


def test_more_columns_than_a_sas_transport_file_has_room_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert xptwriter._NEW_COLUMNS == 32_767  # a number of two bytes in the file
    monkeypatch.setattr(xptwriter, "_NEW_COLUMNS", 3)
    with pytest.raises(RefusedError, match="4 columns, but a SAS transport file holds at most 3"):
        written(tmp_path, "xpt", ["a", "b", "c", "d"], [["1"] * 4])


def test_letters_beyond_ascii_in_sas_transport_files_are_told(tmp_path: Path) -> None:
    book = Codebook((Variable("c", "Größe", Kind.NUMBER), Variable("d", "size", Kind.NUMBER)))
    table = tmp_path / "t.csv"
    table.write_text("a,b,c,d\nMüller,x,1,2\nMeier,y,2,3\n", encoding="utf-8")
    told = {
        form: write(
            PublishedCsv(table, CancelToken()), book, tmp_path / form, ABOUT, CancelToken(),
            lambda rows: None,
        )
        for form, write in WRITERS.items()
    }  # fmt: skip
    found = {form: [one for one in said if "UTF-8" in one] for form, said in told.items()}
    assert found == {
        "sav": [],
        "dta": [],
        "xpt": [
            "Letters beyond ASCII in `a` and `c` are in UTF-8, which a SAS transport file "
            "cannot declare: read it in a SAS session with UTF-8."
        ],
    }


@pytest.mark.parametrize("form", ["dta", "xpt"])
def test_texts_that_look_like_letters_of_missing_values_alone_stay_texts(
    form: str, tmp_path: Path
) -> None:
    rows = [[".c", ".c", ".c"], [".h", "1", ".h"]]
    book = Codebook((Variable("z", kind=Kind.NUMBER),))
    found = head(written(tmp_path, form, ["x", "y", "z"], rows, book))
    assert [variable.kind for variable in found.variables] == [Kind.TEXT, Kind.NUMBER, Kind.NUMBER]
    assert [[text.lower() for text in row] for row in found.head] == rows
