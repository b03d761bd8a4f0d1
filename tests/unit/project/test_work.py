from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, Plan, SourceSpec
from dpdesk.core.schema import Role
from dpdesk.project.file.sources import files_of
from dpdesk.project.work import (
    OpenWork,
    SetHierarchy,
    SetMethod,
    SetParameters,
    SetRoles,
    SetSource,
    SetTitle,
    WorkState,
)

PLAN = {
    "version": 1,
    "title": "Census",
    "source": {"path": "data/people.csv", "delimiter": ";", "missing": ["", "?"]},
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": "age.csv"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"kind": "mask", "from": "right"}},
        "name": {"role": "identifier"},
    },
    "protection": {"method": "k-anonymity", "k": 5, "max_suppression": 0.02},
}
AGE = Hierarchy.from_rows("age", [["1", "*"], ["2", "*"]])


def state(base: Path = Path("/plans")) -> WorkState:
    return WorkState.from_plan(Plan.from_plain(PLAN, "plan.toml"), base)


def test_a_plan_survives_the_way_through_the_work_unchanged() -> None:
    plan = Plan.from_plain(PLAN, "plan.toml")
    assert WorkState.from_plan(plan, Path("/plans")).to_plan() == plan


def test_a_plan_for_another_folder_has_its_paths_rewritten() -> None:
    plan = state().to_plan(Path("/plans/sub"))
    assert plan.source.path == "../data/people.csv"
    assert plan.attributes["age"].hierarchy == HierarchyFile("../age.csv")
    assert plan.attributes["zip"].hierarchy == HierarchyBuilder("mask", {"from": "right"})


def test_an_absolute_path_stays_as_it_is() -> None:
    moved = SetSource(SourceSpec("/data/people.csv")).apply(state())
    assert moved.to_plan(Path("/elsewhere")).source.path == "/data/people.csv"


def test_a_hand_made_hierarchy_becomes_a_file_of_the_plan() -> None:
    edited = SetHierarchy("age", AGE).apply(state())
    assert edited.hand_made() == {"age": AGE}
    plan = edited.to_plan(files={"age": "h/age.csv"})
    assert plan.attributes["age"].hierarchy == HierarchyFile("h/age.csv")


def test_a_work_without_data_has_no_plan() -> None:
    with pytest.raises(ValueError, match="source"):
        WorkState().to_plan()


def test_roles_change_for_many_columns_at_once() -> None:
    command = SetRoles({"age": Role.SENSITIVE, "job": Role.SENSITIVE})
    after = command.apply(state())
    assert after.with_role(Role.SENSITIVE) == ("age", "job")
    assert after.role("unheard of") is Role.INSENSITIVE
    assert command.label == "2 columns: sensitive"
    assert SetRoles({"age": Role.WEIGHT}).label == "age: weight"


def test_commands_leave_the_state_before_them_alone() -> None:
    before = state()
    copy = state()
    for command in (
        SetRoles({"age": Role.WEIGHT}),
        SetHierarchy("age", None),
        SetMethod("other"),
        SetParameters({"k": 7}),
        SetTitle("New"),
        SetSource(SourceSpec("x.csv")),
        OpenWork(WorkState(), "x.csv"),
    ):
        assert command.apply(before) != copy
        assert before == copy


def test_parameters_are_merged_and_none_takes_a_key_away() -> None:
    after = SetParameters({"k": 7, "max_suppression": None}).apply(state())
    assert dict(after.parameters) == {"k": 7}
    assert SetParameters({"k": 7, "max_suppression": None}).label == (
        "k = 7, max_suppression by default"
    )


def test_a_hierarchy_is_taken_away() -> None:
    assert "age" not in SetHierarchy("age", None).apply(state()).hierarchies
    assert SetHierarchy("age", None).label == "Hierarchy of age: none"


def test_other_data_elsewhere_keep_the_hierarchy_files() -> None:
    after = SetSource(SourceSpec("new.csv"), base=Path("/plans/other")).apply(state())
    assert after.source == SourceSpec("new.csv")
    assert after.hierarchies["age"] == HierarchyFile("../age.csv")


def test_columns_that_the_new_data_lack_are_forgotten() -> None:
    after = SetSource(SourceSpec("new.csv"), columns=("zip", "x")).apply(state())
    assert list(after.roles) == ["zip"]
    assert list(after.hierarchies) == ["zip"]


def test_an_address_stays_and_files_beside_the_source_move_with_it() -> None:
    fixed = SourceSpec("data/a.asc", metadata="data/a.rda", catalog="/else/c.sas7bcat")
    moved = WorkState(source=fixed, base=Path("/plans")).based_on(Path("/plans/deep")).source
    assert moved is not None
    assert (moved.path, moved.metadata) == ("../data/a.asc", "../data/a.rda")
    assert moved.catalog == "/else/c.sas7bcat"
    server = SourceSpec("postgresql://db.example.org/register", table="people")
    state = WorkState(source=server, base=Path("/plans"))
    assert state.based_on(Path("/other")).source == server
    assert files_of(state) == {}
    assert set(files_of(WorkState(source=fixed, base=Path("/plans")))) == {
        Path("/plans/data/a.asc"), Path("/plans/data/a.rda"), Path("/else/c.sas7bcat"),
    }  # fmt: skip
