"""What one click does to a recipe, so that it fits another file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.describing import fit_file
from dpdesk.app.examining import examine
from dpdesk.app.opening import open_data
from dpdesk.app.recipes import FitReport, Recipe, adopt
from dpdesk.app.types import Fix, FixKind, fixed, fixes_of
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import voice_of
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import Role
from dpdesk.io.planfile import read_plan
from dpdesk.project.history import History

PLAN = """\
version = 1
[source]
path = "old.csv"
[attributes]
town = { role = "quasi-identifier", hierarchy = "towns.csv" }
pay = { role = "sensitive" }
[protection]
method = "k-anonymity"
k = 2
"""
ROWS = [("Ashford", "low"), ("Ashford", "high"), ("Brook", "low"), ("Brook", "high")] * 5


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    with AppContext.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def write(path: Path, head: str, rows: Sequence[Sequence[str]]) -> Path:
    path.write_text("".join(f"{line}\n" for line in (head, *(",".join(r) for r in rows))), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN, "utf-8")
    (tmp_path / "towns.csv").write_text("Ashford;*\nBrook;*\n", "utf-8")
    write(tmp_path / "old.csv", "town,pay", ROWS)
    return tmp_path


def recipe(folder: Path) -> Recipe:
    return Recipe.of_plan(read_plan(folder / "plan.toml"), folder, "plan.toml")


def held(context: AppContext, made: Recipe, folder: Path, name: str = "new.csv") -> FitReport:
    return examine(context, made, SourceSpec(str(folder / name)), folder, CancelToken(), silent)


def codes(report: FitReport) -> list[str]:
    return [item.code for item in report.items]


def test_a_renamed_column_takes_role_and_hierarchy_along(context: AppContext, folder: Path) -> None:
    write(folder / "new.csv", "Town name,pay_2026", ROWS)
    report = held(context, recipe(folder), folder)
    assert report.renames == {"town": "Town name", "pay": "pay_2026"}
    fixes = [fixes_of(item)[0] for item in report.items if item.code == "column.missing"]
    made = fixed(recipe(folder), fixes)
    again = held(context, made, folder)
    assert again.items == ()
    assert again.trial is not None
    history = History(recipe(folder).work, "Open plan.toml")
    before = history.state
    columns = [column.name for column in again.profile.columns]
    history.do(adopt(made, again.source, again.base, columns))
    assert history.state.role("Town name") is Role.QUASI_IDENTIFIER
    assert history.path()[-1].label == "Apply the plan to new.csv"
    history.undo()
    assert history.state == before


def test_two_lost_columns_are_never_suspected_to_be_the_same_one(
    context: AppContext, folder: Path
) -> None:
    text = PLAN.replace("pay", "town2")
    (folder / "plan.toml").write_text(text, "utf-8")
    write(folder / "old.csv", "town,town2", ROWS)
    write(folder / "new.csv", "town3", [row[:1] for row in ROWS])
    suspects = list(held(context, recipe(folder), folder).renames.values())
    assert suspects == ["town3"]


def test_a_lost_column_is_taken_out(context: AppContext, folder: Path) -> None:
    write(folder / "new.csv", "town", [row[:1] for row in ROWS])
    (item,) = held(context, recipe(folder), folder).items
    assert fixes_of(item) == (Fix(FixKind.TAKE_OUT, "pay"),)
    assert held(context, fixed(recipe(folder), fixes_of(item)), folder).items == ()


@pytest.mark.parametrize("role", ["identifier", "insensitive", "sensitive"])
def test_a_new_column_is_decided_upon(context: AppContext, folder: Path, role: str) -> None:
    rows = [(*row, f"p{number:04d}") for number, row in enumerate(ROWS)]
    write(folder / "new.csv", "town,pay,code", rows)
    (item,) = [one for one in held(context, recipe(folder), folder).items if one.column == "code"]
    assert item.code == "column.new"
    fix = next(one for one in fixes_of(item) if one.value == role)
    report = held(context, fixed(recipe(folder), [fix]), folder)
    assert "column.new" not in codes(report)
    columns = [column.name for column in report.profile.columns]
    work = adopt(fixed(recipe(folder), [fix]), report.source, folder, columns).state
    assert work.role("code") is Role(role)


def test_a_code_for_missing_values_is_declared(context: AppContext, folder: Path) -> None:
    write(folder / "new.csv", "town,pay", [*ROWS, ("NA", "low"), ("NA", "high")])
    report = held(context, recipe(folder), folder)
    item = next(one for one in report.items if one.code == "missing.candidate")
    (fix,) = fixes_of(item)
    assert (fix.kind, fix.value) == (FixKind.MISSING, "NA")
    again = held(context, fixed(recipe(folder), [fix]), folder)
    assert codes(again) == []
    assert again.source.missing == ("", "NA")


def test_the_command_line_says_the_same_as_the_window_of_types_and_missing_values(
    context: AppContext, folder: Path
) -> None:
    write(folder / "old.csv", "town,pay", [(town, str(n)) for n, (town, _) in enumerate(ROWS)])
    write(
        folder / "new.csv", "town,pay", [(t, p if n % 2 else "") for n, (t, p) in enumerate(ROWS)]
    )
    path, token = folder / "plan.toml", CancelToken()
    found = fit_file(context, path, folder / "new.csv", token, silent)
    assert {"column.type", "missing.share"} <= set(codes(found))
    (folder / "old.csv").unlink()
    alone = fit_file(context, path, folder / "new.csv", token, silent)
    assert not {"column.type", "missing.share"} & set(codes(alone))


def test_a_column_of_two_words_is_found_by_its_values_and_any_new_one_is_offered(
    context: AppContext, folder: Path
) -> None:
    rows = [(pay, town, str(n)) for n, (town, pay) in enumerate(ROWS)]
    write(folder / "new.csv", "pay,place,extra", rows)
    report = held(context, recipe(folder), folder)
    assert report.renames == {"town": "place"}
    item = next(one for one in report.items if one.code == "column.missing")
    offered = [(fix.kind, fix.value) for fix in fixes_of(item, report.items)]
    assert offered == [
        (FixKind.RENAME, "place"),
        (FixKind.RENAME, "extra"),
        (FixKind.TAKE_OUT, ""),
    ]


def test_levels_that_are_not_those_of_the_file_before_are_told_and_can_be_kept(
    context: AppContext, folder: Path
) -> None:
    work = recipe(folder).work
    (folder / "towns.csv").write_text("Ashford;Kent;*\nBrook;Kent;*\nCray;Essex;*\n", "utf-8")
    new = [("Ashford", "low"), ("Ashford", "high"), ("Brook", "low"), ("Cray", "low")] * 1
    write(folder / "new.csv", "town,pay", [*new, ("Cray", "high")])
    data = open_data(context, SourceSpec("old.csv"), folder, CancelToken(), silent)
    try:
        made = recipe(folder)

        def told(asked: Recipe) -> FitReport:
            source = SourceSpec(str(folder / "new.csv"))
            return examine(
                context, asked, source, folder, CancelToken(), silent, before=(work, data)
            )

        (broken,) = (one for one in told(made).items if one.code == "series.levels")
        assert broken.sentence.startswith("A break in the series")
        assert "`town`: level 1, 0 before" in broken.sentence
        assert "`town`: Stufe 1, vorher 0" in (voice_of("de").known(broken.sentence) or "")
        (keep,) = fixes_of(broken)
        kept = told(fixed(made, [keep]))
        assert not [one for one in kept.items if one.code == "series.levels"]
        assert kept.trial is None  # the file does not reach the protection with them
        assert any("by hand" in one.sentence for one in kept.items)
    finally:
        data.close()


def test_the_likeliest_column_is_offered_first_and_values_of_another_type_are_named(
    context: AppContext, folder: Path
) -> None:
    write(folder / "old.csv", "town,pay,age", [(*row, "30") for row in ROWS])
    rows = [(*row, "x", "n/a" if n == 3 else "41") for n, row in enumerate(ROWS)]
    write(folder / "new.csv", "town,extra,paid,age", [(a, c, b, d) for a, b, c, d in rows])
    profile = open_data(context, SourceSpec("old.csv"), folder, CancelToken(), silent)
    try:
        made = Recipe.of_work(
            recipe(folder).work, profile.profile(CancelToken(), silent), "plan.toml"
        )
    finally:
        profile.close()
    found = held(context, made, folder)
    (gone,) = (one for one in found.items if one.code == "column.missing")
    assert fixes_of(gone, found.items)[0] == Fix(FixKind.RENAME, "pay", "paid")
    (other,) = (one for one in found.items if one.code == "column.type")
    assert other.sentence == "`age` holds text now, whole numbers before; now for example `n/a`."
    assert other.rows == 1
