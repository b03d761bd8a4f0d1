"""Cells set by hand in files of statuses for τ-ARGUS, from the file to the verified release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exploring import explore
from dpdesk.core.errors import DpdeskError, InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.canonical import read_canonical
from dpdesk.io.formats.argus import read_marks
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from dpdesk.project.work import WorkState
from tests.e2e.test_table_export import export
from tests.e2e.test_table_release import forge, plan, read, release, verified

HEAD = '[source]\npath = "people.csv"\n'
TWO = 'rows = ["town"]\ncolumns = ["sex"]\n'
COUNTS = {
    ("n", "f"): 30,
    ("n", "m"): 20,
    ("s", "f"): 11,
    ("s", "m"): 40,
    ("w", "f"): 6,
    ("w", "m"): 9,
}


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{town},{sex}" for (town, sex), n in COUNTS.items() for _ in range(n)]
    (tmp_path / "people.csv").write_text("\n".join(["town,sex", *rows, ""]), "utf-8")
    return tmp_path


def gone(made: Path) -> set[tuple[str, ...]]:
    return {place for place, row in read(made / "public/table.csv").items() if not row["value"]}


def test_statuses_costs_and_levels_of_a_file_decide(context: AppContext, folder: Path) -> None:
    prior = 'n;"m";U\r\nn;m;PL;3;12\r\n\r\nw;f;P\r\ns;m;c;0.5\r\n'
    (folder / "prior.hst").write_text(prior, "utf-8")
    made = release(context, folder, "marked", TWO + 'marks = "prior.hst"\n', head=HEAD)
    inside = read(made / "internal/table.csv")
    unsafe = {place for place, row in inside.items() if row["status"] == "C"}
    assert unsafe == {("n", "m")}
    row = inside[("n", "m")]
    assert (row["lower_required"], row["upper_required"]) == ("3", "12")
    assert float(row["lower"]) <= 17
    assert float(row["upper"]) >= 32
    # Cheapest with s,m at half a unit; w,f must be published, so w is out.
    assert gone(made) == {("n", "m"), ("n", "f"), ("s", "m"), ("s", "f")}
    evidence = read_canonical(made / "internal/evidence.json")
    assert evidence["plan"]["protection"]["marks"][0] == ["n", "m", "U"]  # type: ignore[index]
    assert evidence["result"]["cost"] == 30 + 11 + 0.5  # type: ignore[index]
    assert "marks" not in (made / "public/manifest.json").read_text("utf-8")
    (folder / "prior.hst").unlink()
    assert verified(context, made, folder / "people.csv").failures == ()
    text = (made / "internal/table.csv").read_text("utf-8")
    other = text.replace(",3,12,", ",1,12,")
    assert other != text
    forged = forge(made, folder / "forged", {"internal/table.csv": other}, {})
    assert verified(context, forged, folder / "people.csv").failures


def test_what_is_exported_for_argus_is_read_again(context: AppContext, folder: Path) -> None:
    keys = TWO + 'rule = [{ rule = "threshold", n = 10 }]\n'
    first = release(context, folder, "first", keys, head=HEAD)
    unsafe = [p for p, row in read(first / "internal/table.csv").items() if row["status"] == "C"]
    export(context, first, "argus", folder / "out.tab")
    marks = read_marks(folder / "out.hst")
    assert [tuple(line[:2]) for line in marks if line[2] == "U"] == unsafe
    again = release(context, folder, "again", TWO + 'marks = "out.hst"\n', head=HEAD)
    assert read(again / "internal/table.csv") == read(first / "internal/table.csv")


def test_the_window_tries_them_by_the_name_of_the_file(context: AppContext, folder: Path) -> None:
    (folder / "prior.hst").write_text("n,m,U\n", "utf-8")
    path = plan(folder, "window", TWO + 'marks = "prior.hst"\n', head=HEAD)
    work = WorkState.from_plan(read_plan(path), folder)
    assert work.source is not None
    token = CancelToken()
    data = DataStore.open(work.source, folder, context.workspace, token, silent)
    with closing(data):
        made = explore(context, data, work, token, silent)
        shown = made.view(work.parameters)
        figures = {figure.key: figure.value for figure in shown.figures}
        assert figures["unsafe_cells"] == 1
        without = made.view({key: v for key, v in work.parameters.items() if key != "marks"})
        assert {f.key: f.value for f in without.figures}["unsafe_cells"] == 0
        other = WorkState.from_plan(read_plan(path), folder)
        assert made.stands_for(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b;U\n", [["a", "b", "U"]]),
        ("a, b ,s\n,b,P\n", [["a", "b", "s"], ["", "b", "P"]]),
        ('"a;"|b|PL|1|2.5\n', [["a;", "b", "PL", "1", "2.5"]]),
        ("a\tC\t3\n\n", [["a", "C", "3"]]),
        ("\na;U\n\n\nb;U\n \n", [[], ["a", "U"], [], [], ["b", "U"]]),
    ],
)
def test_lines_with_every_separator(tmp_path: Path, text: str, expected: list[list[str]]) -> None:
    path = tmp_path / "prior.hst"
    path.write_text(text, "utf-8")
    assert read_marks(path) == expected


@pytest.mark.parametrize(
    "text", ["a;b\n", "U\n", "a;U\na,U\n", "a;C;x\n", "a;PL;1\n", "a;C;-1\n", "a;U;3\n"]
)
def test_other_lines_are_refused_with_their_number(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prior.hst"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=f"line {len(text.splitlines())}") as caught:
        read_marks(path)
    assert caught.value.code == "marks.line"


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        (TWO + 'marks = "absent.hst"\n', "marks.unreadable"),
        (TWO + 'marks = [["n", "U"]]\n', "table.marks"),
        (TWO + 'marks = [["n", "x", "U"]]\n', "table.marks"),
        (TWO + 'marks = [["n", "m", "PL", "1", "2"]]\n', "table.marks"),
        (TWO + 'marks = [["n", "m", "X"]]\n', "parameter.invalid"),
        (
            'marks = [["n", "m", "U"]]\n[[protection.tables]]\nname = "a"\nrows = ["town"]\n',
            "table.marks",
        ),
        (TWO + 'marks = { town = [["n", "m", "U"]] }\n', "table.marks"),
        (
            'marks = { b = [["n", "U"]] }\n[[protection.tables]]\nname = "a"\nrows = ["town"]\n',
            "table.marks",
        ),
        (
            'marks = { a = "no.hst" }\n[[protection.tables]]\nname = "a"\nrows = ["town"]\n',
            "marks.unreadable",
        ),
        (TWO + 'marks = [["n", "m", "SPL", "9"]]\n', "table.marks"),
    ],
)
def test_marks_that_fit_no_cell_are_refused(
    context: AppContext, folder: Path, keys: str, code: str
) -> None:
    with pytest.raises(DpdeskError) as caught:
        release(context, folder, "refused", keys, head=HEAD)
    assert caught.value.code == code
    assert not (folder / "refused").exists()


@pytest.mark.parametrize("place", ["w", "west"])
def test_what_is_set_of_the_only_part_of_a_group_is_set_of_the_group(
    context: AppContext, folder: Path, place: str
) -> None:
    (folder / "towns.csv").write_text("n,east,*\ns,east,*\nw,west,*\n", "utf-8")
    head = f'{HEAD}[attributes.town]\nhierarchy = "towns.csv"\n'
    lines = f'["{place}", "f", "U"], ["{place}", "f", "PL", "2", "7"], ["{place}", "m", "C", "0.5"]'
    made = release(context, folder, "part", f"{TWO}marks = [{lines}]\n", head=head)
    inside = read(made / "internal/table.csv")
    both = [inside[(where, "f")] for where in ("w", "west")]
    assert [row["status"] for row in both] == ["C", "C"]
    assert {(row["lower_required"], row["upper_required"]) for row in both} == {("2", "7")}
    assert verified(context, made, folder / "people.csv").ok


def test_cells_that_are_one_cannot_be_set_to_be_unsafe_and_safe(
    context: AppContext, folder: Path
) -> None:
    (folder / "towns.csv").write_text("n,east,*\ns,east,*\nw,west,*\n", "utf-8")
    head = f'{HEAD}[attributes.town]\nhierarchy = "towns.csv"\n'
    lines = '["west", "f", "P"], ["w", "f", "U"]'
    with pytest.raises(InputError, match="w × f and west × f hold the same contributors"):
        release(context, folder, "both", f"{TWO}marks = [{lines}]\n", head=head)


LINKED = (
    '[[protection.tables]]\nname = "both"\nrows = ["town"]\ncolumns = ["sex"]\n'
    '[[protection.tables]]\nname = "by town"\nrows = ["town"]\n'
    '[[protection.tables]]\nname = "by sex"\nrows = ["sex"]\n'
)


def test_several_tables_have_files_of_their_own(context: AppContext, folder: Path) -> None:
    (folder / "both.hst").write_text("n,m,U\nn,m,PL,3,4\nw,f,P\ns,m,C,0.5\n", "utf-8")
    marks = 'marks = { both = "both.hst", "by sex" = [["f", "U"], ["f", "SPL", "9"]] }\n'
    made = release(context, folder, "linked", marks + LINKED, head=HEAD)
    inside = read(made / "internal/tables/both.csv")
    assert {p for p, row in inside.items() if row["status"] == "C"} == {("n", "m"), ("Total", "f")}
    row = inside[("Total", "f")]
    assert (row["width_required"], row["upper_required"]) == ("9", "4.7")
    assert float(row["upper"] or "inf") - float(row["lower"]) >= 9
    sexes = read(made / "internal/tables/by%20sex.csv")
    assert sexes[("f",)]["width_required"] == "9"  # one cell with that of the other table
    assert inside[("w", "f")]["status"] == "F"
    for name in ("both.hst",):
        (folder / name).unlink()
    assert verified(context, made, folder / "people.csv").failures == ()
    file = "internal/tables/both.csv"
    text = (made / file).read_text("utf-8")
    other = text.replace(",3,4,", ",1,4,")
    assert other != text
    forged = forge(made, folder / "forged", {file: other}, {})
    assert verified(context, forged, folder / "people.csv").failures


def test_the_window_types_files_of_several_tables(context: AppContext, folder: Path) -> None:
    (folder / "prior.hst").write_text("n,m,U\n", "utf-8")
    path = plan(folder, "window", "marks = { both = 'prior.hst' }\n" + LINKED, head=HEAD)
    work = WorkState.from_plan(read_plan(path), folder)
    assert work.source is not None
    token = CancelToken()
    with closing(DataStore.open(work.source, folder, context.workspace, token, silent)) as data:
        shown = explore(context, data, work, token, silent).view(work.parameters)
        assert {figure.key: figure.value for figure in shown.figures}["unsafe_cells"] == 1


@pytest.mark.parametrize(
    ("lines", "first", "second", "one", "other"),
    [
        ("n;m;U\n\nn;m;S\n", 1, 3, "U", "S"),
        ("n;;U\nw;f;U\nn;Total;p\n", 1, 3, "U", "p"),
        ("n;m;C;2\nn;m;C;3\n", 1, 2, "C 2", "C 3"),
        ("n;m;U\nn;m;PL;1;2\nn;m;PL;1;3\n", 2, 3, "PL 1 2", "PL 1 3"),
        ("n;m;U\nn;m;SPL;4\nn;m;SPL;5\n", 2, 3, "SPL 4", "SPL 5"),
    ],
)
def test_two_lines_that_disagree_on_a_cell_are_refused_with_both(
    context: AppContext, folder: Path, lines: str, first: int, second: int, one: str, other: str
) -> None:
    (folder / "prior.hst").write_text(lines, "utf-8")
    with pytest.raises(InputError) as caught:
        release(context, folder, "twice", TWO + 'marks = "prior.hst"\n', head=HEAD)
    said = str(caught.value)
    assert caught.value.code == "table.marks"
    assert f"lines {first} and {second} of `marks`" in said
    assert one in said
    assert other in said


def test_lines_are_counted_as_in_the_file(context: AppContext, folder: Path) -> None:
    (folder / "prior.hst").write_text("\r\nn;m;U\r\n\r\nn;q;U\r\n", "utf-8")
    with pytest.raises(InputError, match="line 4 of `marks`"):
        release(context, folder, "counted", TWO + 'marks = "prior.hst"\n', head=HEAD)


def test_a_line_may_stand_twice_if_it_says_the_same(context: AppContext, folder: Path) -> None:
    (folder / "prior.hst").write_text("n;m;U\nn;m;u\nn;m;C;2\nn;m;C;2.0\n", "utf-8")
    made = release(context, folder, "same", TWO + 'marks = "prior.hst"\n', head=HEAD)
    assert ("n", "m") in gone(made)


def test_a_line_that_is_none_is_told_what_can_stand_there(tmp_path: Path) -> None:
    (tmp_path / "prior.hst").write_text("a;U\na;SPL\n", "utf-8")
    with pytest.raises(InputError, match="or SPL with a width"):
        read_marks(tmp_path / "prior.hst")
