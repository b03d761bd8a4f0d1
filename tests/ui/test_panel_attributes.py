"""The step Attributes, driven by mouse and keys over a real file: roles, warnings, risk."""

from __future__ import annotations

import csv
import gc
import weakref
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from dpdesk.app.pseudonyms import make_key
from dpdesk.app.types import Role, SetParameters, SetPseudonym, SetRoles
from dpdesk.core.jobs import silent
from dpdesk.core.pseudonyms import PseudonymSpec
from dpdesk.core.source_spec import Coarsened
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.attributes import AttributesPanel
from dpdesk.ui.panels.attributes.presenter import note
from dpdesk.ui.panels.attributes.view import NAME, NOTE, ROLE, PseudonymCard
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import bench_at

ROWS = 200
COLUMNS = ("person_id", "age", "sex", "income", "w")


@pytest.fixture
def workbench(qtbot: QtBot, hub: JobHub, tmp_path: Path) -> Iterator[Workbench]:
    """People of whom one shares age and sex with nobody, all others with many."""
    rows = [(n, 30 + n % 4, "fm"[n % 2], 1_000 + n % 50, 1.5) for n in range(ROWS - 1)]
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows, (ROWS, 99, "f", 1_000, 1.5)])
    yield from bench_at(tmp_path / "home", hub, qtbot)


@pytest.fixture
def panel(qtbot: QtBot, workbench: Workbench, theme: ThemeManager) -> AttributesPanel:
    with theme.building():
        made = AttributesPanel(workbench, theme)
    qtbot.addWidget(made)
    made.resize(1040, 700)
    made.show()
    return made


@pytest.fixture
def loaded(
    qtbot: QtBot, workbench: Workbench, panel: AttributesPanel, tmp_path: Path
) -> AttributesPanel:
    workbench.open_path(tmp_path / "people.csv")
    qtbot.waitUntil(lambda: workbench.profile is not None)
    return panel


def choose(panel: AttributesPanel, *names: str) -> None:
    """Choose rows as clicks with Ctrl would."""
    model, chosen = panel.model, panel.grid.selectionModel()
    rows = [row.name for row in model.rows]
    chosen.clearSelection()
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for name in names:
        chosen.select(model.index(rows.index(name), NAME), flags)


def risk_answer(qtbot: QtBot, panel: AttributesPanel) -> str:
    """What the picture says when it has been counted."""
    qtbot.waitUntil(
        lambda: (
            panel.risk.chart.chart is not None
            and not panel._workbench.hub.latest("attributes.risk").busy
        )
    )
    chart = panel.risk.chart.chart
    assert chart is not None
    return chart.answer


def test_without_data_the_panel_leads_to_the_step_data(
    qtbot: QtBot, panel: AttributesPanel
) -> None:
    assert panel.status().mark is Mark.OPEN
    with qtbot.waitSignal(panel.wantsPanel) as asked:
        panel.empty.triggered.emit("data")
    assert asked.args == ["data"]


def test_suggestions_do_nothing_until_they_are_confirmed(
    workbench: Workbench, loaded: AttributesPanel
) -> None:
    assert [row.role for row in loaded.rows] == [None] * len(COLUMNS)
    assert loaded.model.index(1, ROLE).data() == "quasi-identifier"
    spoken = loaded.model.index(1, ROLE).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Role: suggested quasi-identifier, not confirmed. Probably quasi-")
    assert dict(workbench.work.roles) == {}
    assert loaded.risk.chart.chart is None
    assert not loaded.next_button.isEnabled()


def test_a_caution_pushes_no_role_button_away_under_the_mouse(
    qtbot: QtBot, loaded: AttributesPanel
) -> None:
    parts = [*loaded.buttons.buttons.values(), loaded.grid, loaded.filter]
    loaded.grab()
    before = [part.mapTo(loaded, QPoint()) for part in parts]
    choose(loaded, "person_id")
    qtbot.mouseClick(loaded.buttons.buttons[Role.INSENSITIVE], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(loaded.band.isVisible)
    loaded.grab()
    assert [part.mapTo(loaded, QPoint()) for part in parts] == before


def test_all_suggestions_are_accepted_in_one_undoable_step(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    qtbot.mouseClick(loaded.accept_button, Qt.MouseButton.LeftButton)
    assert workbench.work.role("person_id") is Role.IDENTIFIER
    assert workbench.work.role("age") is Role.QUASI_IDENTIFIER
    assert workbench.work.role("w") in (Role.WEIGHT, Role.INSENSITIVE)
    assert not loaded.accept_button.isEnabled()
    assert loaded.next_button.isEnabled()
    workbench.undo()
    assert dict(workbench.work.roles) == {}
    assert loaded.accept_button.isEnabled()


@pytest.mark.parametrize(
    ("key", "role"),
    [
        (Qt.Key.Key_I, Role.IDENTIFIER),
        (Qt.Key.Key_Q, Role.QUASI_IDENTIFIER),
        (Qt.Key.Key_S, Role.SENSITIVE),
        (Qt.Key.Key_N, Role.INSENSITIVE),
        (Qt.Key.Key_W, Role.WEIGHT),
        (Qt.Key.Key_C, Role.CLUSTER),
        (Qt.Key.Key_1, Role.IDENTIFIER),
        (Qt.Key.Key_6, Role.CLUSTER),
    ],
)
def test_a_key_sets_the_role_of_all_chosen_columns(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel, key: Qt.Key, role: Role
) -> None:
    choose(loaded, "age", "income")
    qtbot.keyClick(loaded.grid, key)
    assert dict(workbench.work.roles) == {"age": role, "income": role}
    workbench.undo()
    assert dict(workbench.work.roles) == {}


def test_space_confirms_the_suggestion_and_then_goes_round(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    choose(loaded, "age")
    seen = []
    for _ in range(7):
        qtbot.keyClick(loaded.grid, Qt.Key.Key_Space)
        seen.append(workbench.work.role("age"))
    assert seen == [
        Role.QUASI_IDENTIFIER,
        Role.SENSITIVE,
        Role.INSENSITIVE,
        Role.WEIGHT,
        Role.CLUSTER,
        Role.IDENTIFIER,
        Role.QUASI_IDENTIFIER,
    ]


def test_buttons_and_the_context_menu_set_roles_too(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    choose(loaded, "sex")
    qtbot.mouseClick(loaded.buttons.buttons[Role.SENSITIVE], Qt.MouseButton.LeftButton)
    assert workbench.work.role("sex") is Role.SENSITIVE
    choose(loaded, "sex", "age")
    loaded.grid.role_menu().actions()[1].trigger()
    assert workbench.work.with_role(Role.QUASI_IDENTIFIER) == ("sex", "age")


def test_the_picture_counts_rows_alike_on_the_tagged_columns(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    choose(loaded, "age", "sex")
    qtbot.keyClick(loaded.grid, Qt.Key.Key_Q)
    answer = risk_answer(qtbot, loaded)
    assert answer == (
        "With these 2 quasi-identifiers, 0.50 % of the rows (1 of 200) are unique; 1 are in "
        "groups of fewer than 5 rows."
    )
    choose(loaded, "age")
    qtbot.keyClick(loaded.grid, Qt.Key.Key_N)
    qtbot.waitUntil(
        lambda: (chart := loaded.risk.chart.chart) is not None and "this quasi" in chart.answer
    )
    assert "0 % of the rows (0 of 200) are unique" in risk_answer(qtbot, loaded)
    workbench.undo()
    workbench.undo()
    assert loaded.risk.chart.chart is None


def test_the_picture_follows_the_k_that_the_work_asks_for(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    choose(loaded, "age")
    qtbot.keyClick(loaded.grid, Qt.Key.Key_Q)
    risk_answer(qtbot, loaded)
    workbench.apply(SetParameters({"k": 60}))
    qtbot.waitUntil(
        lambda: (chart := loaded.risk.chart.chart) is not None and "than 60" in chart.answer
    )
    assert "200 are in groups of fewer than 60 rows" in risk_answer(qtbot, loaded)


def test_the_picture_asks_for_a_quasi_identifier_only_where_the_protection_needs_one(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    chart = loaded.risk.chart
    assert chart.accessibleName() == "Mark a quasi-identifier to see the risk"
    cube = next(method for method in workbench.methods if method.id == "dp-cube")
    workbench.choose_method(cube)
    qtbot.waitUntil(lambda: "needs no quasi-identifier" in chart.accessibleName())
    workbench.undo()
    qtbot.waitUntil(lambda: chart.accessibleName() == "Mark a quasi-identifier to see the risk")


def test_a_released_identifier_and_a_weight_of_words_are_warned_of(
    qtbot: QtBot, loaded: AttributesPanel
) -> None:
    choose(loaded, "person_id")
    qtbot.keyClick(loaded.grid, Qt.Key.Key_N)
    choose(loaded, "sex")
    qtbot.keyClick(loaded.grid, Qt.Key.Key_W)
    assert loaded.model.index(0, NAME).data() == "△ person_id"
    assert "released as it is" in loaded.model.index(0, NOTE).data()
    assert (
        loaded.model.index(2, NOTE).data()
        == "△ A weight must be a number, but the column contains text."
    )
    assert loaded.band.kind == "caution"
    assert "2 columns need a second look: person_id, sex." in loaded.band.text
    assert "No column is a quasi-identifier" in loaded.band.text


def test_the_filter_narrows_the_list_and_keeps_what_was_decided(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    qtbot.keyClicks(loaded.filter, "quasi")
    assert {row.name for row in loaded.model.rows} == {"age", "sex"}
    qtbot.keyClick(loaded.grid, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(loaded.grid, Qt.Key.Key_Q)
    loaded.filter.clear()
    assert len(loaded.model.rows) == len(COLUMNS)
    assert workbench.work.with_role(Role.QUASI_IDENTIFIER) == ("age", "sex")
    assert loaded.status().note == "2 quasi-identifiers"
    assert loaded.status().mark is Mark.DONE


def test_a_hidden_panel_counts_nothing_and_catches_up_when_it_is_shown(
    qtbot: QtBot, workbench: Workbench, loaded: AttributesPanel
) -> None:
    loaded.hide()
    workbench.apply(SetRoles({"sex": Role.QUASI_IDENTIFIER}))
    assert loaded.risk.asked is None
    assert loaded.status().note == "1 quasi-identifier"
    loaded.show()
    assert "0 % of the rows (0 of 200) are unique" in risk_answer(qtbot, loaded)


def test_going_on_leads_to_the_hierarchies(qtbot: QtBot, loaded: AttributesPanel) -> None:
    assert not loaded.can_run()
    qtbot.mouseClick(loaded.accept_button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(loaded.wantsPanel) as asked:
        qtbot.mouseClick(loaded.next_button, Qt.MouseButton.LeftButton)
    assert asked.args == ["hierarchies"]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_control_has_a_name_a_tooltip_and_a_place_in_the_tab_order(
    qtbot: QtBot, panel: AttributesPanel, loaded: AttributesPanel, theme: ThemeManager, mode: str
) -> None:
    theme.set_mode(mode)
    assert findings(loaded) == []
    loaded.accept_button.click()
    risk_answer(qtbot, loaded)
    assert findings(loaded) == []


def test_the_smallest_window_at_twice_the_text_size_clips_no_button(
    loaded: AttributesPanel, theme: ThemeManager
) -> None:
    theme.set_text_size(200)
    loaded.resize(1000, 700)
    for button in (loaded.next_button, loaded.accept_button, *loaded.buttons.buttons.values()):
        assert button.width() >= button.minimumSizeHint().width()
        assert button.mapTo(loaded, button.rect().bottomRight()).x() <= loaded.width()


def test_a_panel_that_is_gone_is_held_by_nothing(
    qtbot: QtBot, workbench: Workbench, theme: ThemeManager, tmp_path: Path
) -> None:
    with theme.building():
        made = AttributesPanel(workbench, theme)
    made.show()
    workbench.open_path(tmp_path / "people.csv")
    qtbot.waitUntil(lambda: workbench.profile is not None)
    made.accept_button.click()
    risk_answer(qtbot, made)
    made.grid.role_menu()
    gone = weakref.ref(made)
    delete(made)
    del made
    gc.collect()
    assert gone() is None


def card_of(qtbot: QtBot, panel: AttributesPanel) -> PseudonymCard:
    """The card beside the identifier."""
    panel._workbench.apply(SetRoles({"person_id": Role.IDENTIFIER}))
    choose(panel, "person_id")
    card = panel.pseudonym
    qtbot.waitUntil(lambda: not panel._workbench.hub.busy)
    assert card.isVisible()
    return card


def test_an_identifier_is_kept_as_a_pseudonym_with_a_key_made_on_the_spot(
    qtbot: QtBot, loaded: AttributesPanel
) -> None:
    card, bench = card_of(qtbot, loaded), loaded._workbench
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    assert "no key on this computer yet" in card.problem
    assert bench.work.pseudonym("person_id") is None
    card.name.setText("panel 2026")
    qtbot.mouseClick(card.make, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bench.work.pseudonym("person_id") is not None)
    assert bench.work.pseudonym("person_id") == PseudonymSpec("panel 2026")
    assert not card.problem
    assert "other releases have other pseudonyms" in card.allows
    row = next(row for row in loaded.model.rows if row.name == "person_id")
    assert note(row) == "kept as a pseudonym, for linkage"
    assert not card.name.isVisible()
    card.key.setCurrentIndex(card.key.count() - 1)
    assert bench.work.pseudonym("person_id") == PseudonymSpec("panel 2026")
    card.name.setText("Panel 2026")
    qtbot.keyClick(card.name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "already" in card.problem)


def test_a_linkage_domain_must_have_a_name_and_says_what_it_allows(
    qtbot: QtBot, loaded: AttributesPanel
) -> None:
    bench = loaded._workbench
    make_key(bench.context, "panel 2026", silent)
    card = card_of(qtbot, loaded)
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    card.scope.setCurrentIndex(card.scope.findData("domain"))
    assert "Name the linkage domain" in card.problem
    assert "join them row by row" in card.allows
    assert bench.work.pseudonym("person_id") == PseudonymSpec("panel 2026")
    card.domain.setText("persons")
    qtbot.keyClick(card.domain, Qt.Key.Key_Return)
    card.of.setCurrentIndex(card.of.findData("group"))
    card.values.setCurrentIndex(card.values.findData("number"))
    wanted = PseudonymSpec("panel 2026", "domain", "persons", of="group", values="number")
    assert bench.work.pseudonym("person_id") == wanted
    assert bench.work.to_plan().pseudonyms == {"person_id": wanted}
    bench.undo()
    assert card.values.currentData() == "text"
    choose(loaded, "age")
    assert not card.isVisible()
    choose(loaded, "person_id")
    assert card.scope.currentData() == "domain"
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    assert bench.work.pseudonym("person_id") is None


def test_a_key_that_is_not_here_is_named_as_such(qtbot: QtBot, loaded: AttributesPanel) -> None:
    loaded._workbench.apply(SetPseudonym("person_id", PseudonymSpec("elsewhere")))
    card = card_of(qtbot, loaded)
    assert card.key.currentText() == "elsewhere (not on this computer)"
    assert loaded._workbench.work.pseudonym("person_id") == PseudonymSpec("elsewhere")


def test_the_card_of_pseudonyms_is_named_and_reached_by_keys(
    qtbot: QtBot, loaded: AttributesPanel
) -> None:
    card = card_of(qtbot, loaded)
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    assert findings(loaded) == []


def test_numbers_are_cut_and_rounded_where_the_column_is_chosen_and_undone_by_one_step(
    qtbot: QtBot, loaded: AttributesPanel
) -> None:
    bench, card = loaded._workbench, loaded.coarsening
    choose(loaded, "sex")
    assert not card.isVisible()
    choose(loaded, "age", "w")
    assert not card.isVisible()
    choose(loaded, "age")
    assert card.isVisible()
    assert not card.button.isEnabled()
    qtbot.keyClicks(card.top, "32")
    qtbot.keyClicks(card.bottom, "40")
    assert card.problem == "The lower end must be below the upper end."
    assert not card.button.isEnabled()
    card.bottom.clear()
    qtbot.keyClicks(card.step, "x")
    assert "contains no number" in card.problem
    card.step.clear()
    qtbot.keyClicks(card.step, "0")
    assert "above 0" in card.problem
    card.step.clear()
    qtbot.keyClicks(card.step, "4")

    def largest() -> str | None:
        known = {} if bench.profile is None else {each.name: each for each in bench.profile.columns}
        return known["age"].maximum if "age" in known else None

    with qtbot.waitSignal(card.changed):
        card.button.click()
    qtbot.waitUntil(lambda: largest() == "32")
    numbers = Coarsened(top=Fraction(32), step=Fraction(4))
    assert bench.work.to_plan().source.coarsen == (("age", numbers),)
    assert not card.button.isEnabled()
    choose(loaded, "income")
    assert card.top.text() == ""
    choose(loaded, "age")
    assert (card.top.text(), card.step.text()) == ("32", "4")
    bench.undo()
    qtbot.waitUntil(lambda: largest() == "99")
    assert bench.work.to_plan().source.coarsen == ()
    assert card.top.text() == ""
    assert findings(card) == []
