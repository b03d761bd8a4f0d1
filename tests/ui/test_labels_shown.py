"""Labels of a statistical file, as the steps Data and Attributes show them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from dpdesk.core.schema import Role
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.attributes.presenter import Row, filtered
from dpdesk.ui.panels.attributes.view import AttributesModel
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.panels.data.presenter import facts, header_note
from dpdesk.ui.panels.data.reading import ReadingForm
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import bench_at
from tests.helpers.stat_files import write_people

TIP, SPOKEN = Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole


@pytest.fixture
def workbench(qtbot: QtBot, hub: JobHub, tmp_path: Path) -> Iterator[Workbench]:
    yield from bench_at(tmp_path / "home", hub, qtbot)


def test_an_spss_file_shows_its_labels_codes_and_missing_values(
    qtbot: QtBot, workbench: Workbench, theme: ThemeManager, tmp_path: Path
) -> None:
    with theme.building():
        panel = DataPanel(workbench, theme)
    qtbot.addWidget(panel)
    panel.resize(1040, 700)
    panel.show()
    workbench.open_path(write_people(tmp_path / "people.sav"))
    qtbot.waitUntil(lambda: workbench.profile is not None)
    assert workbench.profile is not None
    profile = workbench.profile.column("sex")
    assert header_note(profile).startswith("Sex of the person · ")
    said = dict(facts(profile))
    assert said["Codes"] == "1 = male; 2 = female; 9 = refused"
    assert (said["Label"], said["Declared missing"]) == ("Sex of the person", "9")
    assert dict(facts(workbench.profile.column("age")))["Declared missing"] == "98 – 99"
    model = panel.table.grid.model()
    qtbot.waitUntil(lambda: model.data(model.index(3, 0)) == "9")
    assert model.data(model.index(0, 0), TIP) == "1 · male"
    assert model.data(model.index(3, 0), SPOKEN) == "sex: 9 · refused (missing)"
    assert model.data(model.index(3, 1), SPOKEN) == "age: 99 (missing)"
    assert findings(panel) == []

    rows = [Row(column.name, Role.INSENSITIVE, column) for column in workbench.profile.columns]
    attributes = AttributesModel()
    attributes.set_rows(rows)
    assert "Codes: 1 = male; 2 = female" in attributes.data(attributes.index(0, 0), TIP)
    assert "Sex of the person" in attributes.data(attributes.index(0, 0), SPOKEN)
    assert [row.name for row in filtered(rows, "person")] == ["sex"]


def test_a_table_among_several_is_named_in_the_form(qtbot: QtBot, tmp_path: Path) -> None:
    from dpdesk.app.opening import preview
    from dpdesk.core.plan import SourceSpec

    con = sqlite3.connect(tmp_path / "a.sqlite")
    con.executescript("CREATE TABLE a (x); CREATE TABLE b (y); INSERT INTO b VALUES (1);")
    con.close()
    form = ReadingForm()
    qtbot.addWidget(form)
    form.set_source(SourceSpec("a.sqlite"))
    form.show()
    assert form.table.isVisibleTo(form)
    problem = preview(form.source(), tmp_path).problem
    assert problem is not None
    assert "`a`, `b`" in problem.hint
    form.table.setText("b")
    found = preview(form.source(), tmp_path)
    assert (found.problem, found.columns, found.rows) == (None, ("y",), (("1",),))
    form.show_detected(found.reading)
    assert not form.delimiter.isVisibleTo(form)
    form.set_source(SourceSpec("a.csv"))
    assert not form.table.isVisibleTo(form)


def test_a_database_of_several_tables_asks_which_one(
    qtbot: QtBot, workbench: Workbench, theme: ThemeManager, tmp_path: Path
) -> None:
    con = sqlite3.connect(tmp_path / "a.sqlite")
    con.executescript("CREATE TABLE a (x); CREATE TABLE b (y); INSERT INTO b VALUES (1), (2);")
    con.close()
    with theme.building():
        panel = DataPanel(workbench, theme)
    qtbot.addWidget(panel)
    panel.resize(1040, 700)
    panel.show()
    workbench.open_path(tmp_path / "a.sqlite")
    form = panel.reading.form
    qtbot.waitUntil(form.table.isVisible)
    assert findings(panel) == []
    qtbot.waitUntil(lambda: form.tables.count() == 2)
    form.tables.setCurrentIndex(form.tables.findText("b"))
    form.tables.activated.emit(form.tables.currentIndex())
    qtbot.waitUntil(panel.reading.apply_button.isEnabled)
    panel.reading.apply_button.click()
    qtbot.waitUntil(lambda: workbench.profile is not None)
    assert workbench.profile is not None
    assert [column.name for column in workbench.profile.columns] == ["y"]
    assert workbench.work.source is not None
    assert workbench.work.source.table == "b"
