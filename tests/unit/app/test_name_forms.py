"""One name or value in two Unicode forms, NFC and NFD: plan, hierarchy and source meet."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import parquet

from dpdesk.app import opening
from dpdesk.app.context import AppContext
from dpdesk.app.examining import examine
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.app.recipes import Recipe, adopt
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.query import Match, read_query
from dpdesk.core.schema import Role
from dpdesk.io.planfile import read_plan
from dpdesk.io.store import DataStore
from dpdesk.project.work import WorkState

pytestmark = pytest.mark.cheap_prints

REGION, AGE = "région", "Größe"
STOP = CancelToken()


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def as_form(text: str, form: str) -> str:
    return unicodedata.normalize(form, text)  # type: ignore[arg-type]


def write(folder: Path, form: str, ending: str, rows: list[tuple[str, ...]]) -> str:
    names = [as_form(REGION, form), as_form(AGE, form), "x"]
    path = folder / f"people{ending}"
    if ending == ".csv":
        lines = "".join(",".join(row) + "\n" for row in [tuple(names), *rows])
        path.write_text(lines, "utf-8")
    elif ending == ".parquet":
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        parquet.write_table(pa.table(columns, names=names), path)
    else:
        book = openpyxl.Workbook()
        for row in [tuple(names), *rows]:
            book.active.append(row)
        book.save(path)
    return path.name


ROWS = [("Zürich", "1", "a"), ("Zürich", "1", "b"), ("Genève", "2", "c"), ("Genève", "2", "d")]


@pytest.mark.parametrize(
    ("theirs", "mine", "ending"),
    [("NFC", "NFD", ".csv"), ("NFD", "NFC", ".parquet"), ("NFD", "NFC", ".xlsx")],
)
def test_a_plan_meets_the_columns_of_every_format_and_its_release_verifies(
    context: AppContext, tmp_path: Path, theirs: str, mine: str, ending: str
) -> None:
    source = write(tmp_path, theirs, ending, ROWS)
    region, age = as_form(REGION, mine), as_form(AGE, mine)
    hierarchy = tmp_path / as_form("Größen.csv", theirs)
    hierarchy.write_text("1;*\n2;*\n", "utf-8")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""version = 1
[source]
path = "{source}"
[attributes]
"{region}" = {{ role = "quasi-identifier" }}
"{age}" = {{ role = "quasi-identifier", hierarchy = "{as_form("Größen.csv", mine)}" }}
x = {{ role = "identifier" }}
[protection]
method = "k-anonymity"
k = 2
levels = {{ "{region}" = 0, "{age}" = 1 }}
""",
        "utf-8",
    )
    with prepare_rows(
        context, PlacedPlan(read_plan(plan), tmp_path, plan.name), STOP, silent
    ) as ready:
        names = ready.data.columns
        assert names[:2] == (as_form(REGION, theirs), as_form(AGE, theirs))
        assert ready.given.roles[names[0]] is Role.QUASI_IDENTIFIER
        assert list(ready.plan.attributes)[:2] == list(names[:2])
    run_plan(context, plan, tmp_path / "out", STOP, silent)
    found = verify_release(
        *(tmp_path / "out", context.registry, STOP, silent, tmp_path / source, context.workspace)
    )
    assert found.ok, found
    header = (tmp_path / "out" / "public" / "microdata.csv").read_text("utf-8").splitlines()[0]
    assert header == f"{names[0]},{names[1]}"


def test_two_columns_of_one_name_are_refused_in_every_format(
    context: AppContext, tmp_path: Path
) -> None:
    nfc, nfd = as_form(REGION, "NFC"), as_form(REGION, "NFD")
    (tmp_path / "a.csv").write_text(f"{nfc},{nfd}\n1,2\n", "utf-8")
    parquet.write_table(pa.table({nfc: ["1"], nfd: ["2"]}), tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(InputError) as caught:
            DataStore.open(SourceSpec(name), tmp_path, context.workspace, STOP, silent)
        assert caught.value.code == "source.name-forms"


def test_a_work_in_the_window_names_columns_as_its_data_do(
    context: AppContext, tmp_path: Path
) -> None:
    source = write(tmp_path, "NFD", ".csv", ROWS)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""version = 1
[source]
path = "{source}"
[attributes]
"{as_form(REGION, "NFC")}" = {{ role = "sensitive" }}
[protection]
method = "l-diverted"
sensitive = ["{as_form(REGION, "NFC")}"]
""",
        "utf-8",
    )
    work = opening.open_path(plan).work
    assert work is not None
    with closing(opening.open_work(context, work, STOP, silent)) as data:
        named = opening.spelled(work, data)
        assert named.role(data.columns[0]) is Role.SENSITIVE
        assert named.parameters["sensitive"] == (data.columns[0],)


CUBE = """version = 1
[source]
path = "{source}"
encoding = "utf-8"
delimiter = ","
decimal = "."
quote = '"'
header = true
missing = [""]
types = {{ "{region}" = "text", "{age}" = "number", x = "number" }}
[attributes]
"{age}" = {{ hierarchy = {{ kind = "intervals", cuts = [[2]] }} }}
[protection]
method = "dp-cube"
dimensions = ["{region}", "{age}"]
domains = {{ "{region}" = ["{town}", "other"] }}
levels = {{ "{age}" = 1 }}
measure = {{ sum = "x", lower = 0, upper = 2 }}
publish = [["{region}"]]
epsilon = 1
[budget]
population = "people"
"""


@pytest.mark.parametrize(
    ("theirs", "mine", "ending"), [("NFC", "NFD", ".parquet"), ("NFD", "NFC", ".csv")]
)
def test_columns_and_categories_of_a_private_method_meet(
    context: AppContext, tmp_path: Path, theirs: str, mine: str, ending: str
) -> None:
    rows = [(as_form("Zürich", theirs), "1", str(n)) for n in range(40)]
    source = write(tmp_path, theirs, ending, rows)
    plan = tmp_path / "plan.toml"
    text = CUBE.format(
        source=source,
        region=as_form(REGION, mine),
        age=as_form(AGE, mine),
        town=as_form("Zürich", mine),
    )
    if ending != ".csv":
        told = ("encoding", "delimiter", "decimal", "quote", "header")
        text = "\n".join(line for line in text.splitlines() if not line.startswith(told))
    plan.write_text(text, "utf-8")
    with prepare_tables(
        context, PlacedPlan(read_plan(plan), tmp_path, plan.name), STOP, silent
    ) as ready:
        assert ready.data.columns[0] == as_form(REGION, theirs)
    run_plan(context, plan, tmp_path / "out", STOP, silent)
    facts = json.loads((tmp_path / "out" / "internal" / "evidence.json").read_text("utf-8"))
    assert '"rows_with_values_outside_the_domain": {}' in json.dumps(facts)
    found = verify_release(
        *(tmp_path / "out", context.registry, STOP, silent, tmp_path / source, context.workspace)
    )
    assert found.ok, found


def test_a_leaf_in_another_form_is_named_and_values_in_two_forms_are_noted(
    context: AppContext, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(f"town,x\n{as_form('Zürich', 'NFD')},1\nBern,2\n", "utf-8")
    (tmp_path / "town.csv").write_text("Zürich;*\nBern;*\n", "utf-8")
    plan = tmp_path / "plan.toml"
    text = """version = 1
[source]
path = "a.csv"
[attributes]
town = { role = "quasi-identifier", hierarchy = "town.csv" }
[protection]
method = "k-anonymity"
k = 2
"""
    plan.write_text(text, "utf-8")
    with pytest.raises(InputError, match="leaf") as caught:
        prepare_rows(context, PlacedPlan(read_plan(plan), tmp_path, plan.name), STOP, silent)
    assert "another Unicode form" in caught.value.hint
    (tmp_path / "a.csv").write_text(f"town,x\n{as_form('Zürich', 'NFD')},1\nZürich,2\n", "utf-8")
    plan.write_text(text.replace(', hierarchy = "town.csv"', ""), "utf-8")
    with prepare_rows(
        context, PlacedPlan(read_plan(plan), tmp_path, plan.name), STOP, silent
    ) as ready:
        assert any("two Unicode forms" in note for note in ready.notes)


@pytest.mark.parametrize(("theirs", "mine"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_question_meets_columns_and_categories_in_another_form(theirs: str, mine: str) -> None:
    column, value = as_form(REGION, theirs), as_form("Zürich", theirs)
    asked = read_query([as_form(REGION, mine)], [as_form(f"{REGION}=Zürich", mine)])
    found = asked.spelled_as([column, "x"])
    assert [each.column for each in found.by] == [column]
    (condition,) = found.where
    assert condition.column == column
    labels = (as_form("Genève", theirs), value)
    assert [condition.match(label, labels) for label in labels] == [Match.NO, Match.YES]


def test_a_recipe_fits_a_file_that_writes_names_in_another_form(
    context: AppContext, tmp_path: Path
) -> None:
    source = write(tmp_path, "NFD", ".csv", ROWS)
    work = WorkState(roles={as_form(REGION, "NFC"): Role.QUASI_IDENTIFIER})
    recipe = Recipe("plan", work, columns={as_form(AGE, "NFC"): None})
    spec = SourceSpec(source)
    report = examine(context, recipe, spec, tmp_path, STOP, silent, trial=False)
    assert not [item for item in report.items if item.code == "column.missing"]
    names = [as_form(REGION, "NFD"), as_form(AGE, "NFD"), "x"]
    adopted = adopt(recipe, spec, tmp_path, names).state
    assert names[0] in adopted.roles
