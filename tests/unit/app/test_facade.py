from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app import exploring, hierarchies, opening, projects
from dpdesk.app.context import AppContext
from dpdesk.app.describing import inspect_source, inspected_source, profile_as_json
from dpdesk.app.types import (
    History,
    Opened,
    SetHierarchy,
    SetMethod,
    SetParameters,
    SetRoles,
    WorkState,
)
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile
from dpdesk.core.schema import ColumnType, Role
from dpdesk.io.store import DataStore

TOKEN = CancelToken()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["name,age,sex"] + [f"person {n},{20 + n},{'fm'[n % 2]}" for n in range(12)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.fixture
def work(folder: Path) -> WorkState:
    opened = opening.open_path(folder / "people.csv")
    assert opened.kind is Opened.DATA
    assert opened.work is not None
    return SetMethod("plain", {"k": 3}).apply(opened.work)


@pytest.fixture
def data(context: AppContext, work: WorkState) -> Iterator[DataStore]:
    store = opening.open_work(context, work, TOKEN, silent)
    yield store
    store.close()


def test_a_plan_is_told_from_data_and_from_a_release(
    context: AppContext, folder: Path, work: WorkState
) -> None:
    projects.save_work(work, folder / "plan.toml", context.workspace)
    found = opening.open_path(folder / "plan.toml")
    assert found.kind is Opened.PLAN
    assert found.work is not None
    assert found.work.to_plan() == work.to_plan()
    (folder / "release" / "public").mkdir(parents=True)
    (folder / "release" / "public" / "manifest.json").write_text("{}")
    assert opening.open_path(folder / "release").kind is Opened.RELEASE
    assert opening.open_path(folder / "release" / "public").kind is Opened.RELEASE


def test_what_cannot_be_opened_is_named(folder: Path) -> None:
    with pytest.raises(StorageError, match=r"gone\.csv"):
        opening.open_path(folder / "gone.csv")
    with pytest.raises(StorageError, match="no release"):
        opening.open_path(folder)


def test_the_head_is_shown_before_loading(work: WorkState) -> None:
    assert work.source is not None
    seen = opening.preview(work.source, work.base)
    assert seen.columns == ("name", "age", "sex")
    assert seen.rows[0] == ("person 0", "20", "f")


def test_a_profile_has_the_same_numbers_as_json(context: AppContext, folder: Path) -> None:
    source = inspected_source(folder / "people.csv", None, None)
    profile = inspect_source(context, source, TOKEN, silent)
    plain = profile_as_json(profile)
    assert plain["rows"] == 12
    columns = plain["columns"]
    assert isinstance(columns, list)
    assert [(column["name"], column["distinct"]) for column in columns] == [
        ("name", 12),
        ("age", 12),
        ("sex", 2),
    ]


def test_live_parameters_are_read_as_plans_read_them(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    explored = exploring.explore(context, data, work, TOKEN, silent)
    assert explored.view({"k": 4}).sentence == "k = 4 of 12"
    assert explored.pick(7) == {"k": 7}
    with pytest.raises(InputError, match=r"The plan, \[protection\]: `k` is 1"):
        explored.view({"k": 1})


def test_an_exploration_stands_until_more_than_parameters_change(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    explored = exploring.explore(context, data, work, TOKEN, silent)
    assert explored.stands_for(SetParameters({"k": 9}).apply(work))
    assert not explored.stands_for(SetRoles({"sex": Role.QUASI_IDENTIFIER}).apply(work))


def test_a_candidate_keeps_the_work_it_was_made_of(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    made = exploring.make_candidate(context, data, work, TOKEN, silent, "mild")
    assert made.work == work
    assert made.name == "mild"
    assert made.result == {"rows_out": 12}


def test_hand_made_hierarchies_are_used_without_a_file(
    context: AppContext, data: DataStore, work: WorkState
) -> None:
    sex = Hierarchy.from_rows("sex", [["f", "*"], ["m", "*"]])
    edited = SetHierarchy("sex", sex).apply(SetRoles({"sex": Role.QUASI_IDENTIFIER}).apply(work))
    with exploring.ready(context, data, edited, TOKEN, silent) as run:
        assert run.given.hierarchies["sex"] is sex


def test_saved_work_is_a_plan_with_its_hierarchies_beside_it(
    context: AppContext, data: DataStore, work: WorkState, tmp_path: Path
) -> None:
    sex = Hierarchy.from_rows("sex", [["f", "all", "*"], ["m", "all", "*"]])
    history = History(work)
    history.do(SetRoles({"sex": Role.QUASI_IDENTIFIER}))
    history.do(SetHierarchy("sex", sex))
    plan = tmp_path / "elsewhere" / "plan.toml"
    plan.parent.mkdir()
    projects.save_history(history, plan, context.workspace)
    assert not history.changed
    found = opening.open_path(plan).work
    assert found is not None
    assert found.hierarchies["sex"] == HierarchyFile("plan-hierarchies/sex.csv")
    with exploring.ready(context, data, found, TOKEN, silent) as run:
        assert run.given.hierarchies["sex"].rows() == sex.rows()
    moved = tmp_path / "moved"
    shutil.move(plan.parent, moved)
    assert opening.open_path(moved / "plan.toml").kind is Opened.PLAN


def test_a_place_that_cannot_be_written_is_named(
    context: AppContext, work: WorkState, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StorageError):
        projects.save_work(work, blocked / "plan.toml", context.workspace)


def test_a_suggested_hierarchy_builds_and_is_previewed(data: DataStore, folder: Path) -> None:
    builder = hierarchies.suggest(data, "age", ColumnType.INTEGER, TOKEN).builder
    assert builder.kind == "intervals"
    built = hierarchies.build(data, "age", builder, TOKEN)
    assert hierarchies.resolve(data, "age", builder, folder, TOKEN).rows() == built.rows()
    seen = hierarchies.preview(data, built, TOKEN)
    assert seen.levels[0].values == 12
    effect = hierarchies.level_effect(seen, built.height, ["20"])
    assert effect.distinct_after == 1
    assert effect.smallest_after == 12


def test_every_choice_of_the_work_stands_for_a_hierarchy(
    context: AppContext, data: DataStore, folder: Path
) -> None:
    default = hierarchies.resolve(data, "sex", None, folder, TOKEN)
    assert default.rows() == [["f", "*"], ["m", "*"]]
    hierarchies.save(default, folder / "sex.csv", context.workspace)
    read = hierarchies.resolve(data, "sex", HierarchyFile("sex.csv"), folder, TOKEN)
    assert read.rows() == default.rows()
    assert hierarchies.resolve(data, "sex", read, folder, TOKEN) is read
    assert set(hierarchies.forms()) >= {"intervals", "mask", "order", "dates", "tree"}


def test_a_builder_that_fails_names_the_data(data: DataStore) -> None:
    with pytest.raises(InputError, match=r"people\.csv"):
        hierarchies.build(data, "name", HierarchyBuilder("intervals"), TOKEN)
