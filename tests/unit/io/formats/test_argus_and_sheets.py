"""Texts that ARGUS describes, its hierarchies, fixed widths of a plan, and Excel workbooks."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest

from dpdesk.app import hierarchies
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import HierarchyFile, SourceSpec, Why
from dpdesk.core.schema import ColumnType
from dpdesk.core.source_spec import FixedColumn
from dpdesk.io.formats.argus import read_code_list, read_metadata
from dpdesk.io.hierarchyfile import open_hierarchy
from dpdesk.io.store import DataStore
from dpdesk.io.workspace import Workspace
from tests.helpers.stat_files import head, opened, real


@pytest.fixture
def workspace(private_home: Path) -> Iterator[Workspace]:
    opened = Workspace.open(private_home)
    yield opened
    opened.close()


@pytest.mark.data
@pytest.mark.parametrize(
    ("parts", "rows", "columns"),
    [
        (("muargus", "Demodata.asc"), 4_000, 33),
        (("muargus", "Demofree.rda"), 4_000, 34),
        (("muargus", "Samhh.asc"), 1_000, 10),
        (("tauargus", "tau_testW.asc"), 42_723, 14),
    ],
)
def test_files_of_argus_open_as_they_stand(
    parts: tuple[str, str], rows: int, columns: int, workspace: Workspace
) -> None:
    path = real(*parts)
    store = DataStore.open(SourceSpec(path.name), path.parent, workspace, CancelToken(), silent)
    assert (store.rows, len(store.columns)) == (rows, columns)
    assert store.path.suffix == ".asc"
    store.close()


@pytest.mark.data
def test_argus_metadata_give_labels_and_missing_codes() -> None:
    found = head(real("muargus", "Demodata.asc"), limit=1)
    region, sex, age = found.variables[:3]
    assert found.head[0][:4] == ("36", "1", "43", "4")
    assert (sex.value_labels, sex.missing.values) == ({"1": "male", "2": "female"}, ("9",))
    assert region.value_labels["36"] == "Asten"
    assert region.missing.values == ("9999", "9998")
    assert (age.measure, found.variables[-1].measure) == ("nominal", "scale")


@pytest.mark.data
def test_what_metadata_say_of_the_use_of_columns_is_told() -> None:
    told = head(real("tauargus", "tau_testW.asc")).notes
    for column, said in (
        ("Region", "has the hierarchy region2.hrc"),
        ("IndustryCode", "are hierarchical by their digits (3 1 1 0 0)"),
        ("Wgt", "is the sampling weight"),
        ("Request", "says who asked for protection"),
    ):
        assert [note for note in told if f"`{column}`" in note and said in note], column
    assert "`hhnum` names the household" in head(real("muargus", "Samhh.asc")).notes[0]


META = """Region 1 2 99
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "tree.hrc"
Industry 3 5 99999
  <RECODEABLE>
  <HIERLEVELS> 3 1 1 0 0
Weight 8 1
  <NUMERIC>
  <WEIGHT>
House 9 1
  <RECODEABLE>
  <HOUSE_ID>
Turnover 10 2
  <NUMERIC>
Asked 12 1
  <REQUEST> "1"
Free 13 1
"""


def test_roles_and_hierarchies_that_metadata_state_are_suggested(
    tmp_path: Path, workspace: Workspace
) -> None:
    """They are no guess from names and values; what cannot be built is guessed as ever."""
    (tmp_path / "firms.rda").write_text(META, "utf-8")
    (tmp_path / "tree.hrc").write_text("N\n@11\n@12\nS\n@21\n", "utf-8")
    rows = ["11123451110a", "12123461120b", "21129002130a", "11134002141b"]
    lines = [f"{row[:7]}{row[7:9]}{row[9:11]}{row[11]}x" for row in rows]
    (tmp_path / "firms.asc").write_text("\n".join(lines) + "\n", "utf-8")
    spec = SourceSpec("firms.asc", metadata="firms.rda")
    store = DataStore.open(spec, tmp_path, workspace, CancelToken(), silent)
    profile = store.profile(CancelToken(), silent)
    roles = {one.name: one.suggestion.role.value for one in profile.columns}
    assert roles | {"Free": ""} == {
        "Region": "quasi-identifier",
        "Industry": "quasi-identifier",
        "Weight": "weight",
        "House": "cluster",
        "Turnover": "sensitive",
        "Asked": "insensitive",
        "Free": "",
    }
    stated = {one.name for one in profile.columns if "metadata" in one.suggestion.reason}
    assert stated == set(roles) - {"Free"}
    region = hierarchies.suggest(store, "Region", ColumnType.INTEGER, CancelToken())
    assert (region.why, region.builder) == (Why.STATED, HierarchyFile(str(tmp_path / "tree.hrc")))
    industry = hierarchies.suggest(store, "Industry", ColumnType.INTEGER, CancelToken())
    assert industry.why is Why.STATED
    made = hierarchies.resolve(store, "Industry", industry.builder, tmp_path, CancelToken())
    assert ["12345", "1234*", "123**", "*"] in [list(row) for row in made.rows()]
    (tmp_path / "tree.hrc").unlink()
    assert hierarchies.suggest(store, "Region", ColumnType.INTEGER, CancelToken()).why is not (
        Why.STATED
    )
    store.close()


@pytest.mark.parametrize(
    ("option", "hierarchy"),
    [
        ("<HIERLEVELS> 3 1 1", "3 1 1"),
        ("<HIERLEVELS> ../../3", ""),
        ("<HIERLEVELS> \u00b2", ""),
        (f"<HIERLEVELS> {'9' * 5_000}", ""),
        ('<HIERCODELIST> "C:\\lists\\TREE.HRC"', "tree.hrc"),
        ('<HIERCODELIST> "gone.hrc"', ""),
        ('<HIERCODELIST> ""', ""),
        ('<HIERCODELIST> ".."', ""),
        ('<CODELIST> ""', ""),
    ],
)
def test_a_hierarchy_is_a_file_next_to_the_metadata_or_digits(
    tmp_path: Path, option: str, hierarchy: str
) -> None:
    (tmp_path / "tree.hrc").write_text("a\n", "utf-8")
    (tmp_path / "a.rda").write_text(f"Region 1 2 99\n{option}\n", "utf-8")
    (column,) = read_metadata(tmp_path / "a.rda").columns
    assert column.variable.hierarchy == hierarchy


@pytest.mark.data
def test_every_recoding_and_code_tree_of_argus_is_a_hierarchy() -> None:
    sizes = {
        path.name: [len(level) for level in open_hierarchy(path, "x").hierarchy.labels]
        for folder in ("muargus", "tauargus")
        for path in real(folder).iterdir()
        if path.suffix in (".grc", ".hrc")
    }
    assert len(sizes) == 11
    assert (sizes["Regiol.grc"], sizes["region2.hrc"]) == ([182, 4, 1], [12, 4, 1])
    assert (sizes["Etnigr2.grc"], sizes["Marstat.grc"]) == ([9, 5, 1], [4, 2, 1])


def test_a_recoding_uses_labels_of_its_code_list_and_open_ranges(tmp_path: Path) -> None:
    (tmp_path / "AGE.CDL").write_text("1,young\n2,old\n", encoding="utf-8")
    path = tmp_path / "age.grc"
    path.write_text("1: -4\n2: 5-\n<MISSING> 8 9\n<CODELIST> age.cdl\n", encoding="utf-8")
    rows = open_hierarchy(path, "age").hierarchy.rows()
    assert [tuple(row) for row in rows][3:6] == [
        ("3", "young", "*"), ("4", "young", "*"), ("5", "old", "*"),
    ]  # fmt: skip
    assert len(rows) == 10
    path.write_text("1: 1-5\n2: 5-9\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: the code `5` is recoded twice"):
        open_hierarchy(path, "age")


def test_what_a_recoding_loses_of_its_labels_is_told(tmp_path: Path) -> None:
    path, codes = tmp_path / "age.grc", tmp_path / "age.cdl"
    path.write_text("1: -4\n2: 5-, -\n<MISSING> 8 9\n<CODELIST> age.cdl\n", encoding="utf-8")
    missing = "age.grc declares codes of its groups missing (8 9); this is not taken over."
    reading = open_hierarchy(path, "age")
    assert reading.notes == (
        missing,
        (
            "age.grc: the code list age.cdl is not next to it, so its groups are named by "
            "their codes"
            "."
        ),
    )
    assert reading.hierarchy.rows()[-1] == ["-", "2", "*"]
    assert reading.hierarchy.ranged == frozenset("0123456789")
    codes.write_text("1,young\n", encoding="utf-8")
    assert open_hierarchy(path, "age").notes == (
        missing, "age.grc: the code list has no label for `2`.",
    )  # fmt: skip
    codes.write_text("1,same\n2,same\n", encoding="utf-8")
    assert open_hierarchy(path, "age").notes == (
        missing,
        "age.grc: two of its groups have the same label, so all of them are named by their codes.",
    )


def test_leaves_of_a_tree_may_lie_at_different_depths(tmp_path: Path) -> None:
    path = tmp_path / "x.hrc"
    path.write_text("A\n@A1\n@@A11\n@A2\nB\n", encoding="utf-8")
    rows = [tuple(row) for row in open_hierarchy(path, "x").hierarchy.rows()]
    assert rows == [
        ("A11", "A1", "A", "*"), ("A2", "A2", "A", "*"), ("B", "B", "B", "*"),
    ]  # fmt: skip
    path.write_text("A\n@@A1\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: found a jump to depth 2"):
        open_hierarchy(path, "x")


def test_fixed_columns_of_a_plan_are_cut_and_pointed(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "a.dat").write_bytes("ä 12 0150\nBc 3-0007\nD\n".encode())
    columns = (FixedColumn("t", 1, 2), FixedColumn("n", 3, 2), FixedColumn("x", 5, 5, 2))
    store = opened(tmp_path / "a.dat", workspace, columns=columns)
    assert store.page(0, 9) == (("ä", "12", "1.5"), ("Bc", "3", "-0.07"), ("D", "", ""))
    assert any("Line 3 ends after 1 characters" in note for note in store.reading.notes)
    store.close()
    (tmp_path / "a.dat").write_bytes(b"ab1220x50\n")
    with pytest.raises(InputError, match="line 1: column `x`: found `20x50`"):
        opened(tmp_path / "a.dat", workspace, columns=columns)


def test_metadata_and_code_lists_that_are_broken_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.asc").write_bytes(b"12\n")
    with pytest.raises(InputError, match="it is not stated where its columns are"):
        head(tmp_path / "a.asc")
    (tmp_path / "A.rda").write_bytes(b"SEX one 1\n")
    with pytest.raises(InputError, match=r"A\.rda, line 1: found `SEX one 1`"):
        head(tmp_path / "a.asc")
    (tmp_path / "A.rda").write_bytes(b"SEX 1 1\n<CODELIST> sex.cdl\n")
    assert "code list sex.cdl is not next to" in head(tmp_path / "a.asc").notes[0]
    (tmp_path / "Sex.cdl").write_bytes(b"1,male\nfemale\n")
    with pytest.raises(InputError, match=r"Sex\.cdl, line 2: found `female`"):
        head(tmp_path / "a.asc")
    (tmp_path / "A.rda").write_bytes(b'<SEPARATOR> ","\nA 1\nB 1\n')
    with pytest.raises(InputError, match="line 1: found 1 fields, expected 2"):
        head(tmp_path / "a.asc")


@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_is_no_part_of_the_first_value(
    tmp_path: Path, encoding: str | None
) -> None:
    path, columns = tmp_path / "a.asc", (FixedColumn("x", 1, 2), FixedColumn("y", 3, 2))
    for codec in [encoding] if encoding else ["utf-8", "utf-16-le", "utf-16-be"]:
        written = "utf-16-le" if codec == "utf-16" else codec
        path.write_bytes("\ufeffabc \nöfg \n".encode(written))
        found = head(path, encoding=encoding, columns=columns)
        assert (found.head, found.notes) == ((("ab", "c"), ("öf", "g")), ())
    with pytest.raises(InputError, match=r"mark of UTF-.*, but the encoding cp1252 was named"):
        head(path, encoding="cp1252", columns=columns)


def test_quotes_of_a_text_with_separators_stand_around_whole_values(tmp_path: Path) -> None:
    (tmp_path / "a.rda").write_text('<SEPARATOR> ","\nA 3\nB 9\n', encoding="utf-8")
    path, long = tmp_path / "a.asc", "x" * 200_000
    path.write_text(f'1,"a,b"\n3,a"b"c\n4,"say ""so"""\n5,{long}\n', encoding="utf-8")
    rows = (("1", "a,b"), ("3", 'a"b"c'), ("4", 'say "so"'), ("5", long))
    assert head(path, metadata=str(tmp_path / "a.rda")).head == rows
    for line in ('6,"', '4,"abc"def', '1,"foo\nbar",2'):
        path.write_text(f"1,2\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"a\.asc, line 2: found a quote that opens or ends"):
            head(path, metadata=str(tmp_path / "a.rda"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("00150", "1.5"), ("-0150", "-1.5"), (" 1.50", "1.50"), ("  -00", "0"), (" +015", "0.15"),
        ("--005", None), ("1.5.2", None), ("  x.y", None), ("  .  ", None), ("1.5e3", None),
        ("\u0663\u0664   ", None),
    ],
)  # fmt: skip
def test_what_is_no_number_in_a_column_with_decimals_is_refused(
    tmp_path: Path, text: str, value: str | None
) -> None:
    path, columns = tmp_path / "a.asc", (FixedColumn("x", 1, 5, 2),)
    path.write_text(text + "\n", encoding="utf-8")
    if value is not None:
        assert head(path, columns=columns).head == ((value,),)
        return
    with pytest.raises(InputError, match=r"a\.asc, line 1: column `x`: found") as caught:
        head(path, columns=columns)
    assert caught.value.code == "fixed.number"


def test_quotes_of_code_lists_are_taken_off_around_the_whole_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.cdl"
    lines = (
        '1,The so-called "others"', '"2,5",a, b', '3,"a, b"', "4, one\x85two ", '5,""',
        '6,"a" or "b"', '"7" , x',
    )  # fmt: skip
    path.write_bytes("\r\n".join(lines).encode())
    assert read_code_list(path) == {
        "1": 'The so-called "others"', "2,5": "a, b", "3": "a, b", "4": "one\x85two", "5": "",
        "6": '"a" or "b"', "7": "x",
    }  # fmt: skip


def workbook(path: Path, rows: list[list[object]], *more: str) -> Path:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.title = "People"
    for row in rows:
        book.active.append(row)
    for name in more:
        book.create_sheet(name).append(["other"])
    book.save(path)
    return path


def test_a_sheet_gives_values_not_their_looks(tmp_path: Path, workspace: Workspace) -> None:
    day, moment = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5)
    rows: list[list[object]] = [
        [None], ["id", "x", "day", "at", "yes"], [1, 0.1, day, moment, True], [],
        ["01", 2.0, None, "#N/A", False],
    ]  # fmt: skip
    store = opened(workbook(tmp_path / "a.xlsx", rows, "Second"), workspace)
    assert store.columns == ("id", "x", "day", "at", "yes")
    assert store.page(0, 9) == (
        ("1", "0.1", "2020-01-02", "2020-01-02 03:04:05", "true"), ("01", "2", "", "#N/A", "false"),
    )  # fmt: skip
    assert "first of 2 sheets was read, `People`" in store.reading.notes[0]
    store.close()


def test_sheets_that_are_no_table_are_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", [["a", "b"], [1, 2, 3]])
    with pytest.raises(InputError, match="row 2, column C: found a value"):
        head(path)
    with pytest.raises(InputError, match="both named `a`"):
        head(workbook(path, [["a", "a"], [1, 2]]))
    with pytest.raises(InputError, match="row 3, column B: found a formula"):
        head(workbook(path, [["a", "b"], [1, 2], [1, "=1+1"]]))
    workbook(path, [["a", "b"], [1, 2]])
    with pytest.raises(InputError, match="no sheet `Peple`"):
        head(path, table="Peple")
    assert head(workbook(path, [[1, 2]]), header=False).head == (("1", "2"),)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InputError, match="not an Excel workbook"):
        head(path)


def test_codes_and_words_that_the_metadata_of_argus_do_not_foresee_are_noted(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "a.cdl").write_bytes(b"12,twelve\n")
    (tmp_path / "a.rda").write_bytes(b"A 1 2 99\n<CODELIST> a.cdl\nB 3 3 -9\n<NUMERIC>\n")
    (tmp_path / "a.asc").write_bytes(b"12 1.\n14abc\n99 -9\n12+1e\n15 -2\n")
    store = opened(tmp_path / "a.asc", workspace)
    assert [note for note in store.reading.notes if note.startswith("Row")] == [
        "Row 2, column `A`: found a value without a label, where others of the column have one; "
        "it is kept as it is. There are 2 such values.",
        "Row 2, column `B`: found a text that is not a number, where the metadata say "
        "`<NUMERIC>`; it is kept as it is. There are 2 such values.",
    ]
    store.close()


def test_characters_beside_the_columns_of_a_text_are_noted(
    tmp_path: Path, workspace: Workspace
) -> None:
    columns = (FixedColumn("A", 2, 1), FixedColumn("B", 4, 3), FixedColumn("C", 5, 1))
    (tmp_path / "a.dat").write_bytes(b" 1 345\n\n 12345\n      \n81 345\n\x1a")
    store = opened(tmp_path / "a.dat", workspace, columns=columns)
    assert store.page(0, 9) == (("1", "345", "4"),) * 3
    assert store.reading.notes == (
        ("The columns `B` and `C` overlap from position 5 on; what is there is read into both."),
        "Line 3 has a character at position 3, where no column is described; what is there is "
        "not read. There are 2 such values.",
        "2 rows hold no value and were left out, since they are not persons, the first is row 2; "
        'write `empty_rows = "keep"` under [source] to keep them.',
    )
    store.close()


def test_columns_of_a_text_that_follow_each_other_are_not_noted(
    tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "a.dat").write_bytes(b"1345\n")
    columns = (FixedColumn("B", 2, 3), FixedColumn("A", 1, 1))
    store = opened(tmp_path / "a.dat", workspace, columns=columns)
    assert store.reading.notes == ()
    store.close()
