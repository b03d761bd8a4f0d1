"""Which rows are kept: conditions in the reading form, and the query that they write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from dpdesk.core.plan import SourceSpec
from dpdesk.core.row_conditions import Comparison, Condition, query_of
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.panels.data.presenter import Page
from dpdesk.ui.panels.data.rows_card import (
    RowsCard,
    condition_of,
    conditions_sentence,
    parse_values,
    query_sentence,
    value_text,
    values_text,
)
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import bench_at

TEXT = "id;age;job\n1;30,5;cook\n2;18;judge\n3;17;cook\n4;;cook\n5;old;cook\n6;60;cook, chief\n"
COOKS = Condition("job", Comparison.IS, ("cook", "cook, chief"))
ADULTS = Condition("age", Comparison.LEAST, ("18.5",))
OTHER = "SELECT * FROM data WHERE job = 'cook' OR id = '2'"


# ---- what people type and read


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=4), unique=True))
def test_values_are_read_back_from_the_line_that_shows_them(values: list[str]) -> None:
    assert parse_values(values_text(values)) == tuple(values)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", ()),
        (" , ", ()),
        ("a, b,a", ("a", "b")),
        ('"a, b" ,c', ("a, b", "c")),
        ('""', ("",)),
        ('" a "', (" a ",)),
        ('5" pipe', ('5" pipe',)),
        ('"open', ('"open',)),
    ],
)
def test_values_stand_between_commas(text: str, values: tuple[str, ...]) -> None:
    assert parse_values(text) == values


@pytest.mark.parametrize(
    ("comparison", "text", "condition", "fault"),
    [
        (Comparison.IS, "a, b", Condition("c", Comparison.IS, ("a", "b")), ""),
        (Comparison.CONTAINS, "a, b", Condition("c", Comparison.CONTAINS, ("a, b",)), ""),
        (Comparison.MISSING, "left over", Condition("c", Comparison.MISSING), ""),
        (Comparison.MOST, "7,5", Condition("c", Comparison.MOST, ("7.5",)), ""),
        (Comparison.MOST, "7.5", None, "“,” before decimals"),
        (Comparison.IS, " ", None, "Write what c is compared with."),
        (Comparison.BEGINS, "", None, "Write what c is compared with."),
    ],
)
def test_a_line_says_a_condition_or_what_it_needs(
    comparison: Comparison, text: str, condition: Condition | None, fault: str
) -> None:
    found, said = condition_of("c", comparison, text, ",")
    assert found == condition
    assert fault in said
    assert bool(said) is (condition is None)
    if condition is not None:
        again = value_text(condition, ",")
        assert condition_of("c", comparison, again, ",")[0] == condition


def test_conditions_are_one_sentence() -> None:
    said = conditions_sentence((COOKS, ADULTS, Condition("id", Comparison.PRESENT)), ",")
    assert said == (
        "Only rows where job is “cook” or “cook, chief” and age is at least 18,5 "
        "and id is not missing."
    )
    assert conditions_sentence((), ".") == "All rows."
    assert query_sentence(None, ".") == ""
    assert query_sentence(OTHER, ".") == "Only the rows of a query in SQL."


# ---- the card alone


@pytest.fixture
def card(qtbot: QtBot) -> RowsCard:
    made = RowsCard()
    qtbot.addWidget(made)
    made.show()
    made.set_query(None, by_database=False)
    made.set_read(("id", "age", "job"), ",")
    return made


@pytest.mark.parametrize(
    "query",
    [
        OTHER,
        "SELECT count(*) AS n FROM data;\r\n-- all\r\n",
        query_of((Condition("job", Comparison.IS, ("a\nb", "\t")),), "."),
        query_of((COOKS, Condition("gone", Comparison.MISSING), ADULTS), "."),
        query_of((COOKS, ADULTS), ","),
        query_of((Condition("job", Comparison.IS, ("a", "a")),), ","),
    ],
)
@pytest.mark.parametrize("decimal", [".", ","])
def test_a_query_of_a_plan_stays_untouched_until_it_is_edited(
    qtbot: QtBot, card: RowsCard, query: str, decimal: str
) -> None:
    with qtbot.assertNotEmitted(card.edited):
        card.set_query(query, by_database=False)
        assert card.query() == query
        card.set_read(("id", "age", "job"), decimal)
        card.set_read(("x",), decimal)
    assert card.query() == query
    assert card.fault() == ""
    assert card.fold.isChecked()


def test_a_query_that_conditions_cannot_express_is_shown_as_sql(card: RowsCard) -> None:
    card.set_query(OTHER, by_database=False)
    assert card.as_sql.isChecked()
    assert card.sql.toPlainText() == OTHER
    assert not card.sql.isReadOnly()
    assert not card.add_button.isVisible()
    card.all_button.click()
    assert card.query() is None
    assert card.sentence.text() == "All rows."
    assert card.add_button.isVisible()


def test_conditions_go_on_as_sql_and_come_back(card: RowsCard) -> None:
    query = query_of((COOKS,), ",")
    card.set_query(query, by_database=False)
    assert len(card.lines) == 1
    card.as_sql.click()
    assert card.query() == query
    card.sql.setPlainText(f'{query} AND data."age" IS NOT NULL')
    card.as_sql.click()
    assert [line.comparison.currentText() for line in card.lines] == ["is", "is not missing"]
    assert card.query() == query_of((COOKS, Condition("age", Comparison.PRESENT)), ",")


def test_conditions_are_written_for_the_decimal_mark_of_the_source(card: RowsCard) -> None:
    card.set_query(None, by_database=False)
    card.add_button.click()
    card.lines[0].fill(ADULTS, ",")
    assert card.query() == query_of((ADULTS,), ",")
    card.set_read(None, ".")
    assert card.query() == query_of((ADULTS,), ".")
    assert card.lines[0].value.text() == "18.5"


def test_a_database_without_a_table_runs_its_query_itself(card: RowsCard) -> None:
    card.set_query("SELECT 1 AS n", by_database=True)
    assert card.as_sql.isChecked()
    assert not card.as_sql.isEnabled()
    assert "name its table" in card.as_sql.toolTip()
    card.set_by_database(False)
    assert card.as_sql.isEnabled()
    assert card.query() == "SELECT 1 AS n"


# ---- in the panel


@pytest.fixture
def workbench(qtbot: QtBot, hub: JobHub, tmp_path: Path) -> Iterator[Workbench]:
    yield from bench_at(tmp_path / "home", hub, qtbot)


@pytest.fixture
def panel(qtbot: QtBot, workbench: Workbench, theme: ThemeManager, tmp_path: Path) -> DataPanel:
    with theme.building():
        made = DataPanel(workbench, theme)
    qtbot.addWidget(made)
    made.resize(1040, 700)
    made.show()
    (tmp_path / "people.csv").write_text(TEXT)
    workbench.open_path(tmp_path / "people.csv")
    settled(qtbot, workbench)
    made.table.rows_button.click()
    qtbot.waitUntil(lambda: made.reading.previewed is not None)
    return made


def test_choosing_rows_goes_to_the_conditions(qtbot: QtBot, panel: DataPanel) -> None:
    area = QScrollArea()
    qtbot.addWidget(area)
    area.setWidget(panel)
    panel.resize(1040, 1200)
    area.resize(1100, 400)
    area.show()
    panel.reading.back_button.click()
    panel.table.rows_button.click()
    rows = panel.reading.form.rows

    def in_sight() -> None:
        assert rows.add_button.hasFocus()
        assert not rows.add_button.visibleRegion().isEmpty()

    qtbot.waitUntil(in_sight)
    area.takeWidget()  # it belongs to its fixture


def settled(qtbot: QtBot, workbench: Workbench) -> None:
    qtbot.waitUntil(lambda: workbench.profile is not None and not workbench.hub.busy)


def add(qtbot: QtBot, panel: DataPanel, column: str, comparison: str, value: str) -> None:
    """Choose and type a condition, as a person does with the keyboard."""
    card = panel.reading.form.rows
    qtbot.keyClick(card.add_button, Qt.Key.Key_Space)
    line = card.lines[-1]
    for box, words in ((line.column, column), (line.comparison, comparison)):
        box.setCurrentIndex(box.findText(words))
        box.activated.emit(box.currentIndex())
    qtbot.keyClicks(line.value, value)


def apply(qtbot: QtBot, panel: DataPanel) -> None:
    qtbot.waitUntil(panel.reading.apply_button.isEnabled)
    qtbot.mouseClick(panel.reading.apply_button, Qt.MouseButton.LeftButton)


def test_conditions_choose_the_rows_in_one_step_that_can_be_undone(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel
) -> None:
    assert panel.page is Page.READING
    assert panel.reading.form.rows.add_button.isVisible()
    add(qtbot, panel, "job", "is", 'cook, "cook, chief"')
    add(qtbot, panel, "age", "is at least", "18,5")
    apply(qtbot, panel)
    settled(qtbot, workbench)
    assert workbench.data is not None
    assert workbench.data.page(0, 9) == (("1", "30,5", "cook"), ("6", "60", "cook, chief"))
    assert workbench.work.source == SourceSpec("people.csv", query=query_of((COOKS, ADULTS), ","))
    assert "The query kept 2 of 6 rows." in workbench.data.reading.notes
    shown = panel.table._reading.text()
    assert "Only rows where job is “cook” or “cook, chief” and age is at least 18,5." in shown
    workbench.undo()
    settled(qtbot, workbench)
    assert workbench.data.rows == 6
    assert workbench.work.source == SourceSpec("people.csv")
    assert "Only rows" not in panel.table._reading.text()


def test_nothing_is_read_by_a_condition_that_lacks_its_value(
    qtbot: QtBot, panel: DataPanel
) -> None:
    add(qtbot, panel, "age", "is at least", "18.5")
    qtbot.waitUntil(lambda: panel.reading.previewed is not None)
    card, button = panel.reading.form.rows, panel.reading.apply_button
    assert not button.isEnabled()
    assert button.toolTip() == card.sentence.text()
    assert card.sentence.text().startswith("age is compared with a number: write digits")
    card.lines[0].remove.click()
    qtbot.waitUntil(button.isEnabled)
    assert panel.reading.form.source().query is None


def test_conditions_that_no_row_meets_say_so_and_stay_to_be_changed(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel
) -> None:
    add(qtbot, panel, "job", "is", "king")
    apply(qtbot, panel)
    qtbot.waitUntil(lambda: workbench.open_problem is not None and not workbench.hub.busy)
    assert panel.page is Page.READING
    assert "keeps none of 6 rows" in panel.reading.band.text
    assert panel.reading.form.rows.lines[0].value.text() == "king"
    qtbot.mouseClick(panel.reading.back_button, Qt.MouseButton.LeftButton)
    settled(qtbot, workbench)
    assert workbench.work.source == SourceSpec("people.csv")


def test_a_wrong_query_is_told_in_one_sentence_before_it_is_read(
    qtbot: QtBot, panel: DataPanel
) -> None:
    card = panel.reading.form.rows
    card.as_sql.click()
    card.sql.setPlainText("SELECT * FROM data WHERE town = 'x'")
    qtbot.waitUntil(lambda: panel.reading.previewed is not None)
    assert "the query names the column “town”, which does not exist" in panel.reading.band.text
    assert not panel.reading.apply_button.isEnabled()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_control_of_the_conditions_has_a_name_and_a_tooltip(
    qtbot: QtBot, panel: DataPanel, theme: ThemeManager, mode: str
) -> None:
    theme.set_mode(mode)
    add(qtbot, panel, "job", "is", "cook")
    add(qtbot, panel, "age", "is missing", "")
    assert findings(panel) == []
    panel.reading.form.rows.as_sql.click()
    assert findings(panel) == []
