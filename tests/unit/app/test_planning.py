from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, prepare_rows
from dpdesk.app.prepared import PreparedRows
from dpdesk.core.errors import Cancelled, DpdeskError, InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from dpdesk.core.plan import Plan
from dpdesk.core.schema import Role
from dpdesk.io.store import DataStore

DATA = "name,age,sex,zip\nAda,34,f,1010\nBob,36,m,1020\nCy,,m,1010\n"
AGE = "34;30-39;*\n36;30-39;*\n"

Prepare = Callable[..., PreparedRows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(DATA)
    (tmp_path / "age.csv").write_text(AGE)
    return tmp_path


def plan(attributes: Mapping[str, object], **changes: object) -> Plan:
    plain: dict[str, object] = {
        "version": 1,
        "source": {"path": "people.csv"},
        "attributes": attributes,
        "protection": {"method": "plain", "k": 5},
    }
    return Plan.from_plain(plain | changes, "plan.toml")


def qi(hierarchy: object = None) -> dict[str, object]:
    given = {"role": "quasi-identifier"}
    return given if hierarchy is None else given | {"hierarchy": hierarchy}


def ready(
    context: AppContext,
    folder: Path,
    given: Plan,
    by_hand: Mapping[str, Hierarchy] | None = None,
    data: DataStore | None = None,
) -> PreparedRows:
    placed = PlacedPlan(given, folder, "plan.toml", by_hand or {})
    return prepare_rows(context, placed, CancelToken(), silent, data)


def test_every_column_gets_a_role_in_source_order(context: AppContext, folder: Path) -> None:
    with ready(context, folder, plan({"sex": qi(), "name": {"role": "identifier"}})) as run:
        assert list(run.given.roles.items()) == [
            ("name", Role.IDENTIFIER),
            ("age", Role.INSENSITIVE),
            ("sex", Role.QUASI_IDENTIFIER),
            ("zip", Role.INSENSITIVE),
        ]
        assert run.given.parameters == {"k": 5}
        assert run.given.source.rows == 3


def test_hierarchies_come_from_files_builders_and_a_default(
    context: AppContext, folder: Path
) -> None:
    given = plan({"age": qi("age.csv"), "zip": qi({"kind": "mask"}), "sex": qi()})
    events: list[Event] = []
    with prepare_rows(
        context, PlacedPlan(given, folder, "plan.toml"), CancelToken(), events.append
    ) as run:
        found = run.given.hierarchies
        assert list(found) == ["age", "sex", "zip"]
        assert found["age"].height == 2
        assert found["sex"].rows() == [["f", "*"], ["m", "*"]]
        assert found["zip"].height > 1
        assert any("`sex` has no hierarchy" in note for note in run.notes)
    codes = [event.code for event in events if isinstance(event, Note)]
    assert codes == ["hierarchy.default"]


def test_hierarchies_at_hand_replace_those_of_the_plan(context: AppContext, folder: Path) -> None:
    mine = Hierarchy.from_rows("age", [["34", "*"], ["36", "*"]])
    given = plan({"age": qi("not there.csv")})
    with ready(context, folder, given, {"age": mine}) as run:
        assert run.given.hierarchies["age"] is mine


def test_a_hierarchy_that_no_role_uses_is_noted_and_not_read(
    context: AppContext, folder: Path
) -> None:
    given = plan({"age": {"role": "insensitive", "hierarchy": "not there.csv"}})
    with ready(context, folder, given) as run:
        assert run.given.hierarchies == {}
        assert "not used" in run.notes[0]


def test_a_budget_that_nobody_spends_is_noted(context: AppContext, folder: Path) -> None:
    with ready(context, folder, plan({}, budget={"limit": 2})) as run:
        assert "[budget]" in run.notes[0]


@pytest.mark.parametrize(
    ("attributes", "protection", "code", "words"),
    [
        ({"agee": qi()}, {}, "plan.unknown-column", ["[attributes.agee]", "`age`", "people.csv"]),
        ({"qqqq": qi()}, {}, "plan.unknown-column", ["`name`, `age`, `sex`, `zip`"]),
        ({}, {"method": "plane"}, "plan.unknown-method", ["[protection]", "`plain`"]),
        ({}, {"method": "plain"}, "parameter.missing", ["`k`"]),
        ({}, {"method": "plain", "k": 1}, "parameter.invalid", ["`k` is 1", "2 or more"]),
        ({}, {"method": "plain", "k": 5, "kk": 1}, "plan.unknown-key", ["`kk`"]),
        ({"age": qi("gone.csv")}, {}, "hierarchy.unreadable", ["gone.csv"]),
        ({"age": qi({"kind": "intervals", "width": [5]})}, {}, "plan.unknown-key", ["`width`"]),
        ({"name": qi({"kind": "intervals"})}, {}, "hierarchy.value", ["Ada", "name"]),
        ({"sex": qi("age.csv")}, {}, "hierarchy.missing-leaf", ["`sex`", "age.csv", "`m`"]),
    ],
)
def test_a_wrong_plan_is_refused_naming_plan_and_place(
    context: AppContext,
    folder: Path,
    attributes: dict[str, object],
    protection: dict[str, object],
    code: str,
    words: list[str],
) -> None:
    given = plan(attributes, **({"protection": protection} if protection else {}))
    with pytest.raises(DpdeskError) as error:
        ready(context, folder, given)
    assert error.value.code == code
    assert [word for word in words if word not in error.value.line] == []
    if code != "hierarchy.unreadable":
        assert "plan.toml" in error.value.line


def test_a_missing_value_needs_no_leaf(context: AppContext, folder: Path) -> None:
    with ready(context, folder, plan({"age": qi("age.csv")})) as run:
        assert run.given.hierarchies["age"].leaves == ("34", "36")


def test_a_table_without_rows_is_refused(context: AppContext, folder: Path) -> None:
    (folder / "people.csv").write_text("age,sex\n")
    with pytest.raises(InputError, match=r"people\.csv.*no row"):
        ready(context, folder, plan({"age": qi()}))


def test_data_opened_for_a_plan_that_fails_are_closed(context: AppContext, folder: Path) -> None:
    with pytest.raises(InputError):
        ready(context, folder, plan({"agee": qi()}))
    assert [path for path in context.workspace.folder.iterdir() if path.is_dir()] == []


def test_data_at_hand_stay_open(context: AppContext, folder: Path) -> None:
    with ready(context, folder, plan({})) as first:
        ready(context, folder, plan({"sex": qi()}), data=first.data).close()
        assert first.data.rows == 3
        assert first.data.value_counts("sex", CancelToken())[0].value == "m"


def test_a_cancel_stops_the_preparation(context: AppContext, folder: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        prepare_rows(
            context, PlacedPlan(plan({"age": qi("age.csv")}), folder, "plan.toml"), token, silent
        )
