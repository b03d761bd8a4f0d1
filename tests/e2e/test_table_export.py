"""Protected tables in other formats: printed sheets, observations, and internal files."""

from __future__ import annotations

import csv
import re
import stat
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import openpyxl
import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.running import run_plan
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Note, silent
from dpdesk.core.language import voice_of
from dpdesk.core.source_spec import SourceSpec
from dpdesk.core.tabulation import cell_words
from dpdesk.io.formats.argus import read_metadata
from dpdesk.io.hierarchyfile import read_argus
from dpdesk.io.store import DataStore
from tests.helpers.refused_places import refuse_place

REGIONS = "n1,North,*\nn2,North,*\ns1,South,*\ns2,South,*\n"
RULE = 'rule = [{ rule = "threshold", n = 3 }]\n'
ONE = 'rows = ["region"]\ncolumns = ["size"]\nmeasure = { sum = "turnover" }\n' + RULE
LINKED = """measure = { sum = "turnover" }
rule = [{ rule = "threshold", n = 3 }]
[[protection.tables]]
name = "by region"
rows = ["region"]
[[protection.tables]]
name = "by size"
rows = ["size"]
columns = ["region"]
"""


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Firms of four regions and two sizes, two of them alone in their cell."""
    made = tmp_path_factory.mktemp("firms")
    counts = {"n1": (5, 4), "n2": (4, 1), "s1": (6, 3), "s2": (3, 2)}
    lines = ["region,size,turnover"]
    for region, (small, large) in counts.items():
        lines += [f"{region},small,{10 + n}.5" for n in range(small)]
        lines += [f"{region},large,{100 * (n + 1)}" for n in range(large)]
    (made / "firms.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (made / "regions.csv").write_text(REGIONS, "utf-8")
    return made


def release(context: AppContext, folder: Path, name: str, protection: str) -> Path:
    path = folder / f"{name}.toml"
    head = 'version = 1\ntitle = "Firms"\n[source]\npath = "firms.csv"\n'
    head += '[attributes.region]\nhierarchy = "regions.csv"\n[protection]\nmethod = "table"\n'
    path.write_text(head + protection, "utf-8")
    return run_plan(context, path, folder / name, CancelToken(), silent).out


@pytest.fixture(scope="module")
def plain(context: AppContext, folder: Path) -> Path:
    return release(context, folder, "plain", ONE)


@pytest.fixture(scope="module")
def apart(context: AppContext, folder: Path) -> Path:
    return release(context, folder, "apart", f"tell_apart = true\n{ONE}")


@pytest.fixture(scope="module")
def linked(context: AppContext, folder: Path) -> Path:
    return release(context, folder, "linked", LINKED)


def export(context: AppContext, made: Path, form: str, out: Path) -> list[object]:
    told: list[object] = []
    export_release(made, form, out, context.workspace, CancelToken(), told.append)
    return told


def cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_sheet_is_laid_out_as_people_print_it(
    context: AppContext, apart: Path, tmp_path: Path
) -> None:
    export(context, apart, "xlsx", tmp_path / "out.xlsx")
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    assert book.sheetnames == ["Table", "About"]
    sheet = book["Table"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[0][0] == "Firms"
    assert rows[1][0] == "Sum of turnover"
    head = next(n for n, row in enumerate(rows) if row[0] == "region")
    assert rows[head] == ["region", "Total", "large", "small"]
    assert rows[head - 1][1] == "size"
    body = rows[head + 1 : head + 8]
    assert [row[0] for row in body] == ["Total", "North", "n1", "n2", "South", "s1", "s2"]
    indents = [sheet.cell(head + 2 + n, 1).alignment.indent for n in range(7)]
    assert indents == [0, 1, 2, 2, 1, 2, 2]
    released = {(c["region"], c["size"]): c for c in cells(apart / "public/table.csv")}
    marks = {"C": "c1", "D": "c2"}
    for row in body:
        for size, shown in zip(rows[head][1:], row[1:], strict=True):
            cell = released[str(row[0]), str(size)]
            if cell["value"]:
                assert isinstance(shown, int | float)
                assert Fraction(repr(shown)) == Fraction(cell["value"])
            else:
                assert shown == marks[cell["status"]]
    notes = [str(row[0]) for row in rows[head + 8 :] if row[0]]
    assert [note.split("  ")[0] for note in notes] == ["c1", "c2"]
    assert (sheet.print_title_rows, sheet.print_title_cols) == (f"$1:${head + 1}", "$A:$A")
    assert (sheet.page_setup.orientation, sheet.page_setup.fitToHeight) == ("landscape", 0)
    about = dict(book["About"].iter_rows(values_only=True))
    assert about["Setting measure"] == '{ sum = "turnover" }'
    assert about["Setting rows"] == '["region"]'
    assert about["Setting protect"] == "suppress"
    assert about["Setting singletons"] == "true"


def test_a_missing_value_has_a_label_in_a_sheet_and_in_sentences(
    context: AppContext, folder: Path, tmp_path: Path
) -> None:
    lines = (folder / "firms.csv").read_text("utf-8").splitlines()
    lines += [f"n1,,{number}" for number in (4, 5, 6)] + ["s1,,7"]
    (tmp_path / "firms.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "regions.csv").write_text(REGIONS, "utf-8")
    made = release(context, tmp_path, "empty", ONE)
    export(context, made, "xlsx", tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Table"]
    head = next(row for row in sheet.iter_rows(values_only=True) if row[0] == "region")
    assert set(head) == {"region", "Total", "large", "small", "(empty)"}
    words = cell_words(("s1", ""))
    assert words == "s1 × (empty)"
    assert voice_of("de").say(words) == "s1 × (leer)"


def test_marks_are_merged_unless_the_plan_tells_them_apart(
    context: AppContext, plain: Path, linked: Path, tmp_path: Path
) -> None:
    export(context, plain, "xlsx", tmp_path / "plain.xlsx")
    book = openpyxl.load_workbook(tmp_path / "plain.xlsx")
    shown = {str(cell.value) for row in book["Table"].iter_rows() for cell in row}
    assert "c" in shown
    assert not {"c1", "c2"} & shown
    export(context, linked, "xlsx", tmp_path / "linked.xlsx")
    names = openpyxl.load_workbook(tmp_path / "linked.xlsx").sheetnames
    assert names == ["by region", "by size", "About"]


def test_rounded_sheets_say_so(context: AppContext, folder: Path, tmp_path: Path) -> None:
    made = release(
        context, folder, "rounded", 'rows = ["region"]\nprotect = "random-round"\nbase = 5\n'
    )
    export(context, made, "xlsx", tmp_path / "out.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx")["Table"]
    texts = [str(row[0].value) for row in sheet.iter_rows()]
    assert "Every value is rounded to a multiple of 5." in texts
    assert "Totals may differ from the sums of their parts." in texts
    export(context, made, "sdmx-csv", tmp_path / "out.csv")
    assert {row["OBS_STATUS"] for row in cells(tmp_path / "out.csv")} == {"E"}


@pytest.mark.parametrize(("name", "codes"), [("plain", {"F", "N"}), ("apart", {"F", "C", "D"})])
def test_observations_have_the_status_that_was_published(
    context: AppContext,
    name: str,
    codes: set[str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    made = request.getfixturevalue(name)
    export(context, made, "sdmx-csv", tmp_path / "out.csv")
    export(context, made, "sdmx-structure", tmp_path / "out.xml")
    found = {(row["region"], row["size"]): row for row in cells(tmp_path / "out.csv")}
    released = cells(made / "public/table.csv")
    assert len(found) == len(released)
    for cell in released:
        key = tuple("_T" if cell[n] == "Total" else cell[n] for n in ("region", "size"))
        row = found[key]
        assert (row["OBS_VALUE"], row["CONF_STATUS"]) == (cell["value"], cell["status"])
        assert row["OBS_STATUS"] == ("A" if cell["value"] else "Q")
    assert {row["CONF_STATUS"] for row in found.values()} == codes
    text = (tmp_path / "out.xml").read_text("utf-8")
    assert re.search(r'Code id="n1">.*?Parent>North<', text, re.S)
    flow = cells(tmp_path / "out.csv")[0]["STRUCTURE_ID"]
    assert flow.split(":")[1].split("(")[0] in text
    for row in found.values():
        for column in ("region", "size", "OBS_STATUS", "CONF_STATUS"):
            assert f'Code id="{row[column]}"' in text


def test_linked_tables_are_told_apart_in_observations(
    context: AppContext, linked: Path, tmp_path: Path
) -> None:
    export(context, linked, "sdmx-csv", tmp_path / "out.csv")
    rows = cells(tmp_path / "out.csv")
    keys = [(row["TABLE"], row["region"], row["size"]) for row in rows]
    assert len(set(keys)) == len(keys)
    own = [row for row in rows if row["TABLE"] == "by_x0020_region"]
    assert {row["size"] for row in own} == {"_T"}
    assert len(own) == 7


def test_files_for_argus_are_read_back_as_ready_cells(
    context: AppContext, plain: Path, folder: Path, tmp_path: Path
) -> None:
    told = export(context, plain, "argus", tmp_path / "out.tab")
    names = {"out.tab", "out.rda", "out.hst", "out-region.hrc"}
    assert {path.name for path in tmp_path.iterdir()} == names
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert next(event.code for event in told if isinstance(event, Note)) == "export.internal"
    tree = read_argus(tmp_path / "out-region.hrc").rows
    assert [row[0] for row in tree] == ["n1", "n2", "s1", "s2"]
    meta = read_metadata(tmp_path / "out.rda")
    columns = [column.variable.name for column in meta.columns]
    assert columns == ["region", "size", "value", "frequency", "status", "lower", "upper"]
    store = DataStore.open(
        SourceSpec(path="out.rda"), tmp_path, context.workspace, CancelToken(), silent
    )
    assert store.rows == len(cells(plain / "internal/table.csv"))
    store.close()
    inside = cells(plain / "internal/table.csv")
    lines = (tmp_path / "out.tab").read_text("utf-8").splitlines()
    for line, cell in zip(lines, inside, strict=True):
        status = "U" if cell["status"] == "C" else "S"
        expected = [cell["region"], cell["size"], cell["value"], cell["frequency"], status]
        assert line.split(";")[:5] == expected
    marked = (tmp_path / "out.hst").read_text("utf-8").splitlines()
    assert len(marked) == 2 * sum(cell["status"] == "C" for cell in inside)


def read_jj(path: Path) -> tuple[list[list[str]], list[dict[int, int]]]:
    lines = path.read_text("ascii").splitlines()
    count = int(lines[1])
    listed = [line.split() for line in lines[2 : 2 + count]]
    assert int(lines[2 + count]) == len(lines) - 3 - count
    sums = []
    for line in lines[3 + count :]:
        head, _, parts = line.partition(" : ")
        pairs = re.findall(r"(\d+) \((-?\d+)\)", parts)
        assert head.split() == ["0", str(len(pairs))]
        sums.append({int(cell): int(sign) for cell, sign in pairs})
    return listed, sums


@pytest.mark.parametrize("name", ["plain", "linked"])
def test_a_jj_file_holds_additive_cells_once(
    context: AppContext, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = request.getfixturevalue(name)
    export(context, made, "jj", tmp_path / "out.jj")
    listed, sums = read_jj(tmp_path / "out.jj")
    assert [int(cell[0]) for cell in listed] == list(range(len(listed)))
    assert len(listed) == 21  # 7 regions x 3 sizes; "by region" holds cells of the other table
    values = [Fraction(cell[1]) for cell in listed]
    assert sums
    for parts in sums:
        assert sum(values[cell] * sign for cell, sign in parts.items()) == 0
        assert sorted(parts.values())[:2] == [-1, 1]
    unsafe = [cell for cell in listed if cell[3] == "u"]
    assert len(unsafe) == 2
    for cell in unsafe:
        low, high, down, up = map(Fraction, cell[4:8])
        value = Fraction(cell[1])
        assert low <= value - down < value < value + up <= high


def test_no_true_value_is_left_where_one_file_for_argus_cannot_take_its_place(
    context: AppContext, plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("out.tab", "out.rda", "out-region.hrc"):
        with monkeypatch.context() as patch:
            refuse_place(patch, tmp_path / name)
            with pytest.raises(StorageError):
                export(context, plain, "argus", tmp_path / "out.tab")
        assert list(tmp_path.iterdir()) == []


def test_files_with_true_values_stay_in_the_agency(
    context: AppContext, plain: Path, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as refused:
        export(context, plain / "public", "jj", tmp_path / "out.jj")
    assert refused.value.code == "export.internal"
    (tmp_path / "public").mkdir()
    with pytest.raises(InputError) as refused:
        export(context, plain, "argus", tmp_path / "public/out.tab")
    assert refused.value.code == "export.public"
    assert not list(tmp_path.rglob("out*"))
    means = release(
        context, folder, "means", 'rows = ["region"]\nmeasure = { mean = "turnover" }\n' + RULE
    )
    with pytest.raises(InputError) as refused:
        export(context, means, "jj", tmp_path / "out.jj")
    assert refused.value.code == "export.argus"


def test_a_text_of_argus_with_its_hierarchy_becomes_a_table_and_goes_back(
    context: AppContext, real_data: Path, tmp_path: Path
) -> None:
    argus = real_data / "tauargus"
    (tmp_path / "plan.toml").write_text(
        f"""version = 1
[source]
path = "{(argus / "Tau_TestW.rda").as_posix()}"
[attributes.Region]
hierarchy = "{(argus / "region2.hrc").as_posix()}"
[protection]
method = "table"
rows = ["Region"]
measure = {{ sum = "Var2" }}
rule = [{{ rule = "p-percent", p = 10 }}]
""",
        "utf-8",
    )
    made = run_plan(context, tmp_path / "plan.toml", tmp_path / "made", CancelToken(), silent).out
    shown = {cell["Region"]: cell["value"] for cell in cells(made / "internal/table.csv")}
    sums: dict[str, Fraction] = {}
    for line in (argus / "tau_testW.asc").read_text("ascii").splitlines():
        region, value = line[11:13].strip(), line[27:37].strip()
        sums[region] = sums.get(region, Fraction(0)) + Fraction(value or "0")
    north = sum((sums[code] for code in "123"), Fraction(0))
    assert {code: Fraction(shown[code]) for code in sums} == sums
    assert Fraction(shown["Nr"]) == north
    export(context, made, "argus", tmp_path / "back.tab")
    assert len(read_argus(tmp_path / "back-Region.hrc").rows) == len(sums)
    assert (tmp_path / "back-Region.hrc").read_text("utf-8").startswith("Nr\n@1\n@2\n@3\n")
