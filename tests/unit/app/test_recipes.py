"""Recipes: what no longer fits another file is told, each with what to do; nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.app.context import AppContext
from dpdesk.app.examining import examine
from dpdesk.app.hierarchies import load
from dpdesk.app.opening import open_data, profile
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.recipes import FitItem, FitReport, Recipe, Weight, adopt, merged_source
from dpdesk.core.errors import Cancelled, DpdeskError, InputError, StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import Role
from dpdesk.io.planfile import read_plan
from dpdesk.project.history import History
from dpdesk.project.work import WorkState
from tests.helpers.searching import examples

TOWNS = ("Ashford", "Brook", "Cliffe", "Dene")
HEAD = ("id", "age", "town", "note")
PLAN = """\
version = 1
[source]
path = "old.csv"
{options}
[attributes]
id = {{ role = "identifier" }}
age = {{ role = "quasi-identifier", hierarchy = {{ kind = "intervals", widths = [10, 50] }} }}
town = {{ role = "quasi-identifier", hierarchy = "towns.csv" }}
[protection]
method = "k-anonymity"
k = {k}
max_suppression = 0.1
{more}
"""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def people(count: int = 200) -> list[list[str]]:
    return [
        [f"p{n}", str(20 + n % 40), TOWNS[n % 4], ("yes", "no", "maybe")[n % 3]]
        for n in range(count)
    ]


def write(
    path: Path, rows: Sequence[Sequence[str]], head: Sequence[str] = HEAD, mark: str = ","
) -> Path:
    path.write_text("".join(mark.join(row) + "\n" for row in (head, *rows)), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Last year's file, its hierarchy and its plan."""
    write(tmp_path / "old.csv", people())
    lines = [f"{town};{'west' if n < 2 else 'east'};*\n" for n, town in enumerate(TOWNS)]
    (tmp_path / "towns.csv").write_text("".join(lines), encoding="utf-8")
    plan(tmp_path)
    return tmp_path


def plan(folder: Path, k: int = 3, options: str = "", more: str = "") -> Path:
    text = PLAN.format(k=k, options=options, more=more)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def recipe(folder: Path) -> Recipe:
    path = folder / "plan.toml"
    return Recipe.of_plan(read_plan(path), folder, path.name)


def fit(context: AppContext, folder: Path, file: str = "new.csv", **given: object) -> FitReport:
    made = given.pop("recipe", None) or recipe(folder)
    assert isinstance(made, Recipe)
    spec = SourceSpec(file)
    return examine(context, made, spec, folder, CancelToken(), silent, **given)  # type: ignore[arg-type]


def only(report: FitReport, code: str) -> FitItem:
    found = [item for item in report.items if item.code == code]
    assert len(found) == 1, report.items
    return found[0]


def codes(report: FitReport) -> set[str]:
    return {item.code for item in report.items}


def test_a_file_of_the_same_kind_fits_and_tells_what_the_plan_gives(
    context: AppContext, folder: Path
) -> None:
    write(folder / "new.csv", people(400))
    report = fit(context, folder)
    assert report.fits
    assert report.items == ()
    assert report.trial is not None
    assert report.trial.result["rows_out"] == 400
    assert json.loads(json.dumps(report.as_json()))["fits"] is True


def test_values_without_a_leaf_are_named_with_their_rows(context: AppContext, folder: Path) -> None:
    rows = people()
    for n in range(7):
        rows[n][2] = "ashford "
    rows[9][2] = "Newtown"
    write(folder / "new.csv", rows)
    report = fit(context, folder)
    item = only(report, "hierarchy.missing-leaf")
    assert not report.fits
    assert report.trial is None
    assert item.rows == 8
    assert item.sentence == (
        "`town`: 2 values have no leaf in the hierarchy towns.csv: `ashford ` (7 rows) and "
        "`Newtown` (1 row); together 8 rows of 200."
    )
    assert item.advice == (
        "`ashford ` may be `Ashford`. Add the values to the hierarchy, or declare them as missing."
    )
    assert (item.column, item.instead) == ("town", "Ashford")
    assert [(each.value, each.rows) for each in item.values] == [("ashford ", 7), ("Newtown", 1)]


def test_a_declared_missing_code_needs_no_leaf(context: AppContext, folder: Path) -> None:
    plan(folder, options='missing = ["", "-"]')
    rows = people()
    rows[3][2] = "-"
    write(folder / "new.csv", rows)
    assert fit(context, folder).fits


def test_leaves_that_nobody_has_are_worth_a_note(context: AppContext, folder: Path) -> None:
    write(folder / "new.csv", [row for row in people() if row[2] != "Dene"])
    item = only(fit(context, folder), "hierarchy.idle")
    assert item.weight is Weight.NOTE
    assert item.sentence == "1 of the 4 values in the hierarchy of `town` occur in no row."


@pytest.mark.parametrize(("name", "suspect"), [("Town", "Town"), ("place", "place")])
def test_a_renamed_column_is_suspected_by_its_name_or_its_values(
    context: AppContext, folder: Path, name: str, suspect: str
) -> None:
    write(folder / "new.csv", people(), head=("id", "age", name, "note"))
    report = fit(context, folder)
    item = only(report, "column.missing")
    assert item.weight is Weight.BLOCKS
    assert item.instead == suspect
    assert item.sentence == (
        "The file has no column `town`, which is a quasi-identifier in the plan; is it called "
        f"`{suspect}` now?"
    )
    assert report.renames == {"town": suspect}
    assert "column.new" not in codes(report)


def test_a_lost_column_without_a_suspect_is_taken_out(context: AppContext, folder: Path) -> None:
    rows = [[row[0], row[1], row[3]] for row in people()]
    write(folder / "new.csv", rows, head=("id", "age", "note"))
    item = only(fit(context, folder), "column.missing")
    assert (item.instead, item.advice) == ("", "Remove it from the plan.")


def test_a_column_that_the_plan_never_named_may_go(context: AppContext, folder: Path) -> None:
    rows = [row[:3] for row in people()]
    write(folder / "new.csv", rows, head=HEAD[:3])
    report = fit(context, folder)
    assert report.fits
    assert only(report, "column.missing").weight is Weight.LOOK


def test_a_new_column_would_be_published_and_an_identifier_blocks(
    context: AppContext, folder: Path
) -> None:
    rows = [[*row, str(n % 3), f"mail{n}@example.org"] for n, row in enumerate(people())]
    write(folder / "new.csv", rows, head=(*HEAD, "shoe", "email"))
    report = fit(context, folder)
    found = {item.column: item for item in report.items if item.code == "column.new"}
    assert found["shoe"].weight is Weight.LOOK
    assert "would be released unchanged" in found["shoe"].sentence
    assert found["email"].weight is Weight.BLOCKS
    assert "looks like an identifier" in found["email"].sentence
    assert [item.column for item in report.of(Weight.BLOCKS)] == ["email"]


def test_a_delimiter_that_the_plan_names_wrongly_is_told_and_the_rest_is_still_checked(
    context: AppContext, folder: Path
) -> None:
    plan(folder, options='delimiter = ","')
    rows = people()
    rows[0][2] = "Newtown"
    rows[1][3] = "a,b"
    write(folder / "new.csv", rows, mark=";")
    report = fit(context, folder)
    item = only(report, "reading.other")
    assert item.weight is Weight.BLOCKS
    assert "(`delimiter`)" in item.sentence
    assert only(report, "hierarchy.missing-leaf").rows == 1
    assert report.source.delimiter is None


def test_another_delimiter_that_is_detected_is_only_worth_a_note(
    context: AppContext, folder: Path
) -> None:
    write(folder / "new.csv", people(), mark=";")
    report = fit(context, folder)
    assert report.fits
    assert only(report, "reading.delimiter").sentence == "Delimiter: `;` now, `,` before."


def test_a_decimal_comma_where_there_were_points_is_to_be_looked_at(
    context: AppContext, folder: Path
) -> None:
    head = (*HEAD, "pay")
    write(folder / "old.csv", [[*row, f"{n}.5"] for n, row in enumerate(people())], head, ";")
    write(folder / "new.csv", [[*row, f"{n},5"] for n, row in enumerate(people())], head, ";")
    report = fit(context, folder)
    assert only(report, "reading.decimal").weight is Weight.LOOK
    assert report.fits


def test_a_file_that_nobody_can_read_is_an_error(context: AppContext, folder: Path) -> None:
    (folder / "new.csv").write_bytes(b"a,b\n1,2\n3\n\0\n")
    with pytest.raises(InputError):
        fit(context, folder)
    with pytest.raises(StorageError):
        fit(context, folder, "none.csv")


def test_a_text_that_looks_like_a_missing_code_is_told(context: AppContext, folder: Path) -> None:
    rows = people()
    for n in range(0, 200, 4):
        rows[n][1] = "NA"
    write(folder / "new.csv", rows)
    item = only(fit(context, folder), "missing.candidate")
    assert item.sentence.startswith("`NA` looks like a code for missing values")
    assert 'write `missing = ["", "NA"]` under [source]' in item.advice


def test_types_and_shares_of_missing_values_are_held_against_the_last_file(
    context: AppContext, folder: Path
) -> None:
    token = CancelToken()
    with_data = open_data(context, SourceSpec("old.csv"), folder, token, silent)
    known = profile(with_data, token, silent)
    with_data.close()
    work = WorkState.from_plan(read_plan(folder / "plan.toml"), folder)
    made = Recipe.of_work(work, known, "the work")
    rows = people()
    for n, row in enumerate(rows):
        row[3] = str(n % 3) if n > 100 else ""
    write(folder / "new.csv", rows)
    report = fit(context, folder, recipe=made)
    assert only(report, "column.type").sentence == (
        "`note` holds whole numbers now, text before; now for example `0`, `1`, `2`."
    )
    share = only(report, "missing.share")
    assert share.sentence == "In `note` 50.50 % of the rows are missing, 0 % before."
    assert share.rows == 101


def test_a_hierarchy_that_cannot_be_read_blocks(context: AppContext, folder: Path) -> None:
    write(folder / "new.csv", people())
    (folder / "towns.csv").write_text("a;*\na;*\n", encoding="utf-8")
    item = only(fit(context, folder), "hierarchy.unusable")
    assert "already given in row 1" in item.sentence
    (folder / "towns.csv").unlink()
    assert only(fit(context, folder), "hierarchy.unusable").weight is Weight.BLOCKS


def test_a_builder_that_cannot_take_the_new_values_blocks(
    context: AppContext, folder: Path
) -> None:
    rows = people()
    rows[0][1] = "old"
    write(folder / "new.csv", rows)
    item = only(fit(context, folder), "hierarchy.unusable")
    assert item.column == "age"
    assert "`old`" in item.sentence


@pytest.mark.parametrize(
    ("k", "more"), [(500, ""), (3, "levels = { age = 0, town = 0 }"), (3, "levels = { age = 9 }")]
)
def test_settings_that_the_file_cannot_meet_block(
    context: AppContext, folder: Path, k: int, more: str
) -> None:
    plan(folder, k=k, more=more)
    write(folder / "new.csv", people(80))
    report = fit(context, folder)
    assert not report.fits
    assert [item.code.partition(".")[0] for item in report.of(Weight.BLOCKS)] == ["trial"]
    assert report.of(Weight.BLOCKS)[0].advice
    assert fit(context, folder, trial=False).fits


def test_a_file_that_is_open_already_stays_open(context: AppContext, folder: Path) -> None:
    write(folder / "new.csv", people())
    data = open_data(context, SourceSpec("new.csv"), folder, CancelToken(), silent)
    assert fit(context, folder, data=data).fits
    assert data.frequency_table(["age"], CancelToken()).rows == 200
    data.close()


def test_examining_stops_when_cancelled_and_leaves_nothing(
    context: AppContext, folder: Path
) -> None:
    write(folder / "new.csv", people())
    steps: list[object] = []
    examine(context, recipe(folder), SourceSpec("new.csv"), folder, CancelToken(), steps.append)
    before = {path for path in context.workspace.folder.rglob("*") if path.is_file()}
    for stop in range(1, len(steps)):
        token, seen = CancelToken(), []

        def listen(event: object, token: CancelToken = token, seen: list[object] = seen,
                   stop: int = stop) -> None:  # fmt: skip
            seen.append(event)
            if len(seen) == stop:
                token.cancel()

        with pytest.raises(Cancelled):
            examine(context, recipe(folder), SourceSpec("new.csv"), folder, token, listen)
    assert {path for path in context.workspace.folder.rglob("*") if path.is_file()} == before


# ---- taking over ---------------------------------------------------------------------------------


def test_the_work_moves_to_the_file_only_when_asked_and_can_be_undone(
    context: AppContext, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("next")
    write(elsewhere / "new.csv", people(), head=("id", "years", "Town", "note"))
    plan(folder, more="levels = { age = 1, town = 1 }")
    made = recipe(folder)
    history = History(made.work)
    report = examine(context, made, SourceSpec("new.csv"), elsewhere, CancelToken(), silent)
    assert history.state is made.work
    renames = {**report.renames, "age": "years"}
    columns = [column.name for column in report.profile.columns]
    history.do(adopt(made, report.source, elsewhere, columns, renames))
    work = history.state
    assert work.source == report.source
    assert work.base == elsewhere
    assert work.with_role(Role.QUASI_IDENTIFIER) == ("years", "Town")
    assert work.parameters["levels"] == {"years": 1, "Town": 1}
    again = examine(context, Recipe("again", work), report.source, elsewhere, CancelToken(), silent)
    assert again.fits
    history.undo()
    assert history.state is made.work


def test_hierarchies_by_value_take_the_new_name_along(folder: Path) -> None:
    made = recipe(folder)
    towns = load(folder / "towns.csv", "town").hierarchy
    work = replace(made.work, hierarchies={**made.work.hierarchies, "town": towns})
    moved = adopt(
        replace(made, work=work), SourceSpec("new.csv"), folder, ("id", "age", "place"),
        {"town": "place"},
    ).state  # fmt: skip
    choice = moved.hierarchies["place"]
    assert isinstance(choice, Hierarchy)
    assert choice.attribute == "place"
    assert choice.rows() == towns.rows()


def test_what_is_said_of_lost_columns_is_forgotten_and_names_never_clash(folder: Path) -> None:
    made = recipe(folder)
    source = SourceSpec("new.csv")
    moved = adopt(made, source, folder, ("id", "age")).state
    assert set(moved.roles) == {"id", "age"}
    with pytest.raises(ValueError, match="one name"):
        adopt(made, source, folder, ("id", "age"), {"town": "age"})


# ---- what holds for every file -------------------------------------------------------------------


def runs(context: AppContext, made: Recipe, report: FitReport) -> bool:
    """Whether the plan really runs on the file."""
    work = replace(made.work.based_on(report.base), source=report.source)
    token = CancelToken()
    try:
        plan, at_hand = work.to_plan(), work.hand_made()
        with prepare_rows(
            context, PlacedPlan(plan, report.base, "plan", at_hand), token, silent
        ) as ready:
            ready.decide(token, silent)
    except DpdeskError:
        return False
    return True


ages = st.sampled_from(["20", "21", "35", "", "x"])
towns = st.sampled_from([*TOWNS, "ashford", "Newtown", ""])
heads = st.sampled_from([HEAD, ("id", "age", "place", "note"), ("id", "Age", "town", "note"),
                         ("age", "town", "note", "id")])  # fmt: skip


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(st.tuples(ages, towns), min_size=1, max_size=12), heads, st.integers(2, 6))
def test_a_recipe_fits_exactly_the_files_on_which_it_runs(
    context: AppContext,
    tmp_path_factory: pytest.TempPathFactory,
    values: list[tuple[str, str]],
    head: tuple[str, ...],
    k: int,
) -> None:
    folder = tmp_path_factory.mktemp("fit")
    write(folder / "old.csv", people())
    lines = [f"{town};*\n" for town in TOWNS]
    (folder / "towns.csv").write_text("".join(lines), encoding="utf-8")
    plan(folder, k=k)
    rows = [[f"p{n}", age, town, "yes"] for n, (age, town) in enumerate(values)]
    if head[0] == "age":
        rows = [[*row[1:], row[0]] for row in rows]
    write(folder / "new.csv", rows, head=head)
    made = recipe(folder)
    report = fit(context, folder, recipe=made)
    blocking = [item for item in report.items if item.weight is Weight.BLOCKS]
    only_new = bool(blocking) and all(item.code == "column.new" for item in blocking)
    assert report.fits == (runs(context, made, report) and not only_new)
    for item in report.items:
        assert item.sentence.endswith((".", "?"))
        assert item.weight is Weight.NOTE or item.advice


@pytest.mark.data
def test_a_state_s_hierarchies_lack_what_pandas_finds_in_the_whole_country(
    context: AppContext, real_data: Path, tmp_path: Path
) -> None:
    import pandas as pd

    frames = {
        name: pd.read_csv(real_data / "nist" / f"{name}.csv", dtype=str, keep_default_na=False)
        for name in ("ma2019", "national2019")
    }
    keys = ("PUMA", "INDP", "EDU", "SEX")
    text = ["version = 1", "[source]", f'path = "{real_data / "nist" / "ma2019.csv"}"']
    for key in keys:
        leaves = sorted(frames["ma2019"][key].unique())
        (tmp_path / f"{key}.csv").write_text("".join(f"{leaf};*\n" for leaf in leaves), "utf-8")
        text.append(f'[attributes.{key}]\nrole = "quasi-identifier"\nhierarchy = "{key}.csv"')
    text += ["[protection]", 'method = "k-anonymity"', "k = 2"]
    (tmp_path / "plan.toml").write_text("\n".join(text), encoding="utf-8")
    source = str(real_data / "nist" / "national2019.csv")
    report = fit(context, tmp_path, source)
    for key in keys:
        known, now = set(frames["ma2019"][key]), frames["national2019"][key]
        lacking = now[~now.isin(known)]
        found = [
            item
            for item in report.items
            if (item.code, item.column) == ("hierarchy.missing-leaf", key)
        ]
        if lacking.empty:
            assert found == []
            continue
        assert found[0].rows == len(lacking)
        assert f"{lacking.nunique():,} value" in found[0].sentence
        top = lacking.value_counts()
        assert found[0].values[0].rows == top.iloc[0]
    assert not report.fits
    assert "column.missing" not in codes(report)


def test_options_that_do_not_apply_to_the_other_file_are_left_out(tmp_path: Path) -> None:
    source = SourceSpec("old.csv", delimiter=";", encoding="cp1252", header=True, missing=("?",))
    recipe = Recipe("old", WorkState(source=source, base=tmp_path))
    expected = {
        "new.csv": source,
        "new.xlsx": SourceSpec("", header=True, missing=("?",)),
        "new.sav": SourceSpec("", encoding="cp1252", missing=("?",)),
        "new.parquet": SourceSpec("", missing=("?",)),
    }
    for name, wanted in expected.items():
        assert merged_source(recipe, SourceSpec(name)) == replace(wanted, path=name)


def test_a_catalogue_is_found_from_the_folder_of_the_plan(tmp_path: Path) -> None:
    source = SourceSpec("old.sas7bdat", catalog="formats.sas7bcat")
    recipe = Recipe("old", WorkState(source=source, base=tmp_path))
    found = merged_source(recipe, SourceSpec("/elsewhere/new.sas7bdat"))
    assert found.catalog == str(tmp_path / "formats.sas7bcat")
