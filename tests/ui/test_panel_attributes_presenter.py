"""What the attributes panel decides and says, without widgets."""

from __future__ import annotations

import pytest

from dpdesk.app.types import (
    ColumnProfile,
    ColumnType,
    DataProfile,
    Role,
    ValueCount,
    WorkState,
)
from dpdesk.core.schema import RoleSuggestion
from dpdesk.ui.panels.attributes.presenter import (
    ROLES,
    Row,
    asked_k,
    caution,
    filtered,
    next_role,
    rows_of,
    status,
    suggestions,
    warning,
)
from dpdesk.ui.shell.navigation import Mark, PanelStatus


def column(
    name: str = "zip",
    kind: ColumnType = ColumnType.TEXT,
    unique: int = 0,
    role: Role = Role.INSENSITIVE,
    distinct: int = 20,
) -> ColumnProfile:
    top = (ValueCount("a", 4),)
    suggestion = RoleSuggestion(role, "a reason")
    return ColumnProfile(name, kind, 100, 0, distinct, unique, top, suggestion)


@pytest.mark.parametrize("role", [None, Role.INSENSITIVE])
def test_a_released_column_of_nearly_unique_values_is_warned_of(role: Role | None) -> None:
    assert warning(role, column(unique=90))
    assert not warning(role, column(unique=89))


@pytest.mark.parametrize("role", [None, Role.INSENSITIVE])
def test_a_released_column_whose_values_few_rows_share_is_warned_of(role: Role | None) -> None:
    assert warning(role, column(distinct=21))
    assert not warning(role, column(distinct=20))
    assert not warning(Role.QUASI_IDENTIFIER, column(distinct=21))


@pytest.mark.parametrize("role", [Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE])
def test_a_protected_column_of_unique_values_is_not(role: Role) -> None:
    assert not warning(role, column(unique=100))


def test_a_suspected_identifier_is_warned_of_only_when_it_was_made_insensitive() -> None:
    suspect = column(role=Role.IDENTIFIER)
    assert "identifier" in warning(Role.INSENSITIVE, suspect)
    assert not warning(None, suspect)


@pytest.mark.parametrize(
    ("kind", "doubtful"),
    [
        (ColumnType.INTEGER, False),
        (ColumnType.DECIMAL, False),
        (ColumnType.TEXT, True),
        (ColumnType.DATE, True),
    ],
)
def test_a_weight_must_be_a_number(kind: ColumnType, doubtful: bool) -> None:
    assert bool(warning(Role.WEIGHT, column(kind=kind))) is doubtful


def test_only_undecided_columns_take_their_suggestion() -> None:
    rows = [
        Row("a", None, column("a", role=Role.SENSITIVE)),
        Row("b", Role.INSENSITIVE, column("b", role=Role.IDENTIFIER)),
        Row("c", None, None),
    ]
    assert suggestions(rows) == {"a": Role.SENSITIVE}


def test_the_next_role_visits_every_role_once() -> None:
    row, seen = Row("a", None, column(role=Role.SENSITIVE)), []
    for _ in ROLES:
        row = Row("a", next_role(row), row.profile)
        seen.append(row.role)
    assert seen[0] is Role.SENSITIVE
    assert sorted(each.value for each in seen if each) == sorted(role.value for role in ROLES)


def test_the_filter_wants_every_word() -> None:
    rows = [
        Row("zip code", Role.QUASI_IDENTIFIER, column("zip code")),
        Row("zip of work", None, column("zip of work")),
    ]
    assert [row.name for row in filtered(rows, "ZIP quasi")] == ["zip code"]
    assert filtered(rows, "") == rows


def test_nothing_is_doubtful_as_long_as_nothing_was_decided() -> None:
    assert caution([Row("a", None, column(unique=100), "doubtful")], 0) == ""
    decided = [Row("a", Role.SENSITIVE, column())]
    assert "quasi-identifier" in caution(decided, 0)
    assert caution(decided, 0, needed=False) == ""
    assert status(decided, 0).note == "mark a quasi-identifier"
    assert status(decided, 0, needed=False) == PanelStatus(Mark.DONE, "")
    open_ = [*decided, Row("b", None, column())]
    assert status(open_, 0, needed=False) == PanelStatus(Mark.OPEN, "")
    assert status([Row("a", Role.QUASI_IDENTIFIER, column())], 1, needed=False).note == ""


def test_what_releases_no_rows_makes_no_column_doubtful() -> None:
    table = DataProfile("t", 100, (column("a", unique=100),), {})
    work = WorkState(roles={"a": Role.INSENSITIVE})
    (row,) = rows_of(("a",), table, work)
    assert "value of their own" in row.warning
    (row,) = rows_of(("a",), table, work, released=False)
    assert row.warning == ""


@pytest.mark.parametrize(
    ("given", "k"), [({}, 5), ({"k": 11}, 11), ({"k": 1}, 5), ({"k": True}, 5)]
)
def test_the_asked_group_size_is_the_works_or_a_usual_one(given: dict[str, object], k: int) -> None:
    assert asked_k(WorkState(parameters=given)) == k
