"""The step Data, driven over real files: start, open, look, read in another way, go wrong."""

from __future__ import annotations

import csv
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton, QStyleOptionViewItem
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from dpdesk.core.plan import SourceSpec
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.panels.data.presenter import Page, Previewed
from dpdesk.ui.panels.data.reading import ReadingForm
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import bench_at

pytestmark = pytest.mark.plain

ROWS = 900


@pytest.fixture
def workbench(qtbot: QtBot, hub: JobHub, tmp_path: Path) -> Iterator[Workbench]:
    yield from bench_at(tmp_path / "home", hub, qtbot)


@pytest.fixture
def panel(qtbot: QtBot, workbench: Workbench, theme: ThemeManager) -> DataPanel:
    with theme.building():
        made = DataPanel(workbench, theme)
    qtbot.addWidget(made)
    made.resize(1040, 700)
    made.show()
    return made


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("id", "age", "job"))
        writer.writerows(
            (f"p{n}", 20 + n % 40 if n % 10 else "", ("cook", "judge", "?")[n % 3])
            for n in range(ROWS)
        )
    return path


def opened(qtbot: QtBot, workbench: Workbench, path: Path) -> None:
    """Open a file and wait until its columns have been described."""
    workbench.open_path(path)
    qtbot.waitUntil(lambda: workbench.profile is not None)
    qtbot.waitUntil(lambda: not workbench.hub.busy)


def failed(qtbot: QtBot, workbench: Workbench, path: Path) -> None:
    """Open a file that cannot be read and wait for what is said of it."""
    workbench.open_path(path)
    qtbot.waitUntil(lambda: workbench.open_problem is not None)
    qtbot.waitUntil(lambda: not workbench.hub.busy)


def previewed(qtbot: QtBot, panel: DataPanel) -> Previewed:
    """The preview of the reading form, when it has come."""
    qtbot.waitUntil(lambda: panel.reading.previewed is not None)
    found = panel.reading.previewed
    assert found is not None
    return found


# ---- start


def test_the_start_screen_says_how_to_begin_and_names_the_six_steps(panel: DataPanel) -> None:
    assert panel.page is Page.START
    names = [label.accessibleName() for label in panel.start.findChildren(type(panel.start.zone))]
    assert names == ["Drop a file here"]
    said = " ".join(
        child.accessibleName() for child in panel.start.findChildren(object) if child.isWidgetType()
    )
    for step in ("1 Data", "2 Attributes", "3 Hierarchies", "4 Protect", "5 Compare", "6 Review"):
        assert step in said
    assert panel.status().mark is Mark.OPEN


def test_the_two_buttons_of_the_start_screen_ask_for_a_file_and_for_the_sample(
    qtbot: QtBot, panel: DataPanel
) -> None:
    with qtbot.waitSignal(panel.openAsked):
        qtbot.mouseClick(panel.start.zone.open_button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(panel.sampleAsked):
        qtbot.keyClick(panel.start.zone.sample_button, Qt.Key.Key_Space)


def test_recent_files_are_offered_newest_first_and_open_again(
    qtbot: QtBot, panel: DataPanel
) -> None:
    panel.set_recent(("/a/new & old.csv", "/b/plan.toml"))
    buttons = panel.start.recent.findChildren(QPushButton)
    assert [button.toolTip() for button in buttons] == [
        "Open /a/new & old.csv",
        "Open /b/plan.toml",
    ]
    with qtbot.waitSignal(panel.openPathAsked) as asked:
        qtbot.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
    assert asked.args == ["/a/new & old.csv"]
    panel.set_recent(())
    assert panel.start.recent.isHidden()


def test_a_file_dropped_on_the_start_screen_is_asked_for(
    qtbot: QtBot, panel: DataPanel, people: Path
) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(people))])
    event = QDropEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(panel.openPathAsked) as asked:
        panel.start.zone.dropEvent(event)
    assert asked.args == [str(people)]


# ---- the loaded table


def test_an_opened_table_shows_raw_values_and_what_each_column_holds(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path
) -> None:
    opened(qtbot, workbench, people)
    assert panel.page is Page.TABLE
    model = panel.table.model
    qtbot.waitUntil(lambda: model.index(1, 2).data() == "judge")
    assert model.rowCount() == ROWS
    assert model.index(1, 0).data() == "p1"
    tip = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert tip == "age: integer · 10 % missing"
    assert panel.status().mark is Mark.DONE
    assert panel.status().note == "900 rows, 3 columns"


def test_a_missing_value_is_named_and_looks_unlike_a_blank_one(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path
) -> None:
    opened(qtbot, workbench, people)
    model, grid = panel.table.model, panel.table.grid
    qtbot.waitUntil(lambda: model.index(0, 1).data() == "")
    spoken = model.index(0, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "age:  (missing)"
    style = QStyleOptionViewItem()
    grid.delegate.initStyleOption(style, model.index(0, 1))
    assert style.text == "missing"
    assert style.font.italic()
    grid.delegate.initStyleOption(style, model.index(1, 1))
    assert style.text == "21"


def test_the_chosen_column_is_described_with_its_distribution(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path
) -> None:
    opened(qtbot, workbench, people)
    panel.table.grid.setCurrentIndex(panel.table.model.index(4, 2))
    chart = panel.table.inspector.chart.chart
    assert chart is not None
    assert chart.categories == ("?", "cook", "judge")
    assert [row[1] for row in chart.table.rows] == [300, 300, 300]
    qtbot.keyClick(panel.table.grid, Qt.Key.Key_Left)
    chart = panel.table.inspector.chart.chart
    assert chart is not None
    assert chart.question == "How are the values of age distributed?"
    *numbers, missing = [row[1] for row in chart.table.rows]
    assert (sum(one for one in numbers if isinstance(one, int)), missing) == (810, 90)


def test_going_on_leads_to_the_attributes(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path
) -> None:
    assert not panel.can_run()
    opened(qtbot, workbench, people)
    assert panel.can_run()
    with qtbot.waitSignal(panel.wantsPanel) as asked:
        panel.run()
    assert asked.args == ["attributes"]


# ---- how it is read


def test_the_form_shows_what_was_detected_and_reads_again_as_asked(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path
) -> None:
    opened(qtbot, workbench, people)
    qtbot.mouseClick(panel.table.reading_button, Qt.MouseButton.LeftButton)
    assert panel.page is Page.READING
    previewed(qtbot, panel)
    assert panel.reading.form.delimiter.currentText() == "comma, detected"
    assert panel.reading.form.header.currentText() == "in the first line, detected"
    form = panel.reading.form
    form.codes.setText("")
    qtbot.keyClicks(form.codes, "?")
    qtbot.waitUntil(
        lambda: (found := panel.reading.previewed) is not None and "?" in found.source.missing
    )
    before = workbench.data
    qtbot.mouseClick(panel.reading.apply_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workbench.data not in (None, before))
    qtbot.waitUntil(lambda: workbench.profile is not None)
    assert workbench.work.source is not None
    assert workbench.work.source.missing == ("", "?")
    profile = workbench.profile
    assert profile is not None
    assert profile.column("job").missing == 300
    assert panel.page is Page.TABLE
    workbench.undo()
    qtbot.waitUntil(lambda: workbench.profile is not None)
    again = workbench.profile
    assert again is not None
    assert again.column("job").missing == 0


def test_a_wrong_delimiter_shows_in_the_preview_and_can_be_left_again(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path
) -> None:
    opened(qtbot, workbench, people)
    qtbot.mouseClick(panel.table.reading_button, Qt.MouseButton.LeftButton)
    previewed(qtbot, panel)
    box = panel.reading.form.delimiter
    box.setCurrentIndex(box.findText("semicolon"))
    box.activated.emit(box.currentIndex())
    found = previewed(qtbot, panel)
    assert found.source.delimiter == ";"
    assert found.preview.columns == ("id,age,job",)
    qtbot.mouseClick(panel.reading.back_button, Qt.MouseButton.LeftButton)
    assert panel.page is Page.TABLE
    assert workbench.history.undo_label is None


SHOWN = {
    "people.csv": {"delimiter", "encoding", "decimal", "quote", "header"},
    "people.dat": {"delimiter", "encoding", "decimal", "quote", "header"},
    "people.parquet": set(),
    "people.xlsx": {"header", "tables"},
    "people.sav": {"encoding"},
    "people.xpt": {"encoding", "tables"},
    "people.asc": {"encoding"},
    "people.sqlite": {"tables"},
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_form_shows_the_options_that_apply_and_no_others(qtbot: QtBot, name: str) -> None:
    form = ReadingForm()
    qtbot.addWidget(form)
    form.show()
    form.set_source(SourceSpec(name, encoding="cp1252", table="people"))
    fields = ("delimiter", "encoding", "decimal", "quote", "header", "tables")
    assert {field for field in fields if getattr(form, field).isVisible()} == SHOWN[name]
    assert form.empty_missing.isVisible()
    said = form.source()
    assert said.encoding == ("cp1252" if "encoding" in SHOWN[name] else None)
    assert said.table == ("people" if "tables" in SHOWN[name] else None)


# ---- files that cannot be read


def test_a_ragged_line_is_shown_among_its_neighbours_and_a_repaired_file_is_read(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    lines = [f"{n},{n % 7}" for n in range(40)]
    broken = [*lines[:20], "20", *lines[21:]]
    path = tmp_path / "ragged.csv"
    path.write_text("\n".join(["id,age", *broken]) + "\n")
    failed(qtbot, workbench, path)
    assert panel.page is Page.READING
    assert panel.status().mark is Mark.ATTENTION
    assert "line 22" in panel.reading.band.text
    previewed(qtbot, panel)
    model = panel.reading.lines.model()
    qtbot.waitUntil(lambda: model.rowCount() == 7)
    assert model.index(3, 0).data() == "→ 22"
    assert model.index(3, 1).data() == "20"
    assert not panel.reading.apply_button.isEnabled()
    path.write_text("\n".join(["id,age", *lines]) + "\n")
    qtbot.mouseClick(panel.reading.again_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(panel.reading.apply_button.isEnabled)
    qtbot.mouseClick(panel.reading.apply_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workbench.data is not None)
    assert panel.page is Page.TABLE
    assert workbench.open_problem is None


def test_a_fault_far_down_the_file_is_reached_though_the_first_rows_look_well(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    lines = [f"{n},{'x' * 40}" for n in range(60_000)]
    lines[55_000] = "55000"
    path = tmp_path / "long.csv"
    path.write_text("\n".join(["id,text", *lines]) + "\n")
    failed(qtbot, workbench, path)
    previewed(qtbot, panel)
    assert "line 55002" in panel.reading.band.text
    assert panel.reading.band.kind == "fail"
    model = panel.reading.lines.model()
    qtbot.waitUntil(lambda: model.rowCount() == 7)
    assert model.index(3, 1).data() == "55000"


def test_of_many_notes_the_first_are_shown_and_all_on_demand(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    path = tmp_path / "many.sav"
    frame = pd.DataFrame({f"v{n}": [1.0, 2.0, 3.0] * 4 for n in range(9)})
    labels = {name: {1.0: "one", 2.0: "two"} for name in frame}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels)
    opened(qtbot, workbench, path)
    assert workbench.data is not None
    count = len(workbench.data.reading.notes)
    assert count >= 9
    band = panel.table.notes
    panel.resize(1040, 500)
    qtbot.waitUntil(lambda: len(band.text.splitlines()) == 2)
    panel.resize(1040, 1000)
    qtbot.waitUntil(lambda: len(band.text.splitlines()) == 4)
    for words, lines in ((f"Show all {count} notes", count), ("Show only the first notes", 4)):
        button = next(b for b in band.findChildren(QPushButton) if b.text() == words)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        assert len(band.text.splitlines()) == lines


def test_codes_that_may_be_missing_are_counted_so_by_one_click_and_one_undo(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    rows = [f"{n},{'N' if n % 3 == 0 else n * 10},{-8 if n % 4 == 0 else n}" for n in range(60)]
    path = tmp_path / "codes.csv"
    path.write_text("\n".join(["id,income,months", *rows]) + "\n")
    opened(qtbot, workbench, path)
    band = panel.table.notes
    words = "Count as missing: “-8” and “N”"
    button = next(b for b in band.findChildren(QPushButton) if b.text() == words)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workbench.data is not None and workbench.profile is not None)
    assert workbench.profile is not None
    kinds = {one.name: (one.type.value, one.missing) for one in workbench.profile.columns}
    assert kinds["income"] == ("integer", 20)
    assert kinds["months"] == ("integer", 15)
    assert workbench.work.source is not None
    assert workbench.work.source.missing == ("", "-8", "N")
    workbench.undo()
    assert workbench.work.source.missing == ("",)
    qtbot.waitUntil(lambda: workbench.data is not None and workbench.profile is not None)


def test_a_file_that_fails_leaves_the_open_table_open(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, people: Path, tmp_path: Path
) -> None:
    opened(qtbot, workbench, people)
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3\n")
    failed(qtbot, workbench, bad)
    assert panel.page is Page.TABLE
    assert workbench.data is not None
    assert "bad.csv, line 3" in panel.band.text
    button = next(b for b in panel.band.findChildren(QPushButton) if "Show line 3" in b.text())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert panel.page is Page.READING
    previewed(qtbot, panel)
    qtbot.mouseClick(panel.reading.back_button, Qt.MouseButton.LeftButton)
    assert panel.page is Page.TABLE
    assert workbench.open_problem is None


def test_a_reading_that_fails_is_no_longer_taken_for_the_data(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    lines = [f"{n};{n % 7};a,b" for n in range(200_000)]
    lines[199_000] = "199000;1;a"
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(["id;n;x,y", *lines]) + "\n")
    opened(qtbot, workbench, path)
    qtbot.mouseClick(panel.table.reading_button, Qt.MouseButton.LeftButton)
    previewed(qtbot, panel)
    box = panel.reading.form.delimiter
    box.setCurrentIndex(box.findText("comma"))
    box.activated.emit(box.currentIndex())
    previewed(qtbot, panel)
    qtbot.mouseClick(panel.reading.apply_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workbench.open_problem is not None)
    assert workbench.data is None
    assert workbench.profile is None
    assert panel.page is Page.READING
    qtbot.mouseClick(panel.reading.back_button, Qt.MouseButton.LeftButton)
    assert workbench.data is not None
    assert panel.page is Page.TABLE


def test_a_missing_file_leads_back_to_choosing_one(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    with qtbot.waitSignal(workbench.failed):
        workbench.open_path(tmp_path / "none.csv")
    assert panel.page is Page.START


def test_reading_a_large_file_shows_progress_and_can_be_stopped(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, tmp_path: Path
) -> None:
    path = tmp_path / "large.csv"
    line = ",".join(f"value {n}" for n in range(12)) + "\n"
    with path.open("w") as file:
        file.write(",".join(f"c{n}" for n in range(12)) + "\n")
        for _ in range(60):
            file.write(line * 20_000)
    workbench.open_path(path)
    qtbot.waitUntil(lambda: panel.page is Page.LOADING)
    qtbot.mouseClick(panel.loading.cancel_button, Qt.MouseButton.LeftButton)
    assert not panel.loading.cancel_button.isEnabled()
    qtbot.waitUntil(lambda: not workbench.loading)
    assert panel.page is Page.START
    assert workbench.data is None


# ---- for everybody


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.styled
def test_every_control_has_a_name_a_tooltip_and_a_place_in_the_tab_order(
    qtbot: QtBot,
    workbench: Workbench,
    panel: DataPanel,
    theme: ThemeManager,
    people: Path,
    mode: str,
) -> None:
    theme.set_mode(mode)
    panel.set_recent(("/a/b.csv",))
    assert findings(panel) == []
    opened(qtbot, workbench, people)
    assert findings(panel) == []
    panel.table.reading_button.click()
    previewed(qtbot, panel)
    assert findings(panel) == []


@pytest.mark.styled
def test_the_smallest_window_at_twice_the_text_size_clips_no_button(
    qtbot: QtBot, workbench: Workbench, panel: DataPanel, theme: ThemeManager, people: Path
) -> None:
    theme.set_text_size(200)
    opened(qtbot, workbench, people)
    panel.resize(1000, 700)
    for button in (panel.table.next_button, panel.table.reading_button):
        assert button.width() >= button.sizeHint().width()
        assert button.mapTo(panel, button.rect().bottomRight()).x() <= panel.width()


def test_a_panel_that_is_gone_is_held_by_nothing(
    qtbot: QtBot, workbench: Workbench, theme: ThemeManager, people: Path
) -> None:
    with theme.building():
        made = DataPanel(workbench, theme)
    made.set_recent(("/a/b.csv",))
    opened(qtbot, workbench, people)
    made.table.reading_button.click()
    previewed(qtbot, made)
    gone = weakref.ref(made)
    delete(made)
    del made
    gc.collect()
    assert gone() is None


def cells(panel: DataPanel, qtbot: QtBot, column: int, count: int = 5) -> list[str]:
    """The first texts of a column, when they have come."""
    model = panel.table.grid.model()
    shown = [model.index(row, column) for row in range(min(count, model.rowCount()))]
    qtbot.waitUntil(lambda: all(one.data() not in (None, "…") for one in shown))
    return [str(one.data()) for one in shown]


def told(panel: DataPanel) -> str:
    """What the page says in its labels."""
    return "\n".join(one.text() for one in panel.findChildren(QLabel) if one.isVisible())


@pytest.mark.styled
def test_rows_are_sorted_by_a_heading_as_numbers_and_come_back(
    qtbot: QtBot, panel: DataPanel, workbench: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "weights.csv"
    weights = ["10.5", "9.25", "", "100", "-3"]
    path.write_text("id,weight\n" + "".join(f"p{n},{one}\n" for n, one in enumerate(weights)))
    opened(qtbot, workbench, path)
    head = panel.table.grid.horizontalHeader()
    place = QPoint(head.sectionViewportPosition(1) + 20, 10)

    def click() -> None:
        qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.waitUntil(lambda: not workbench.hub.busy)

    click()
    assert cells(panel, qtbot, 1) == weights
    click()
    qtbot.waitUntil(lambda: "ascending" in told(panel))
    assert cells(panel, qtbot, 1) == ["-3", "9.25", "10.5", "100", ""]
    numbers = panel.table.grid.model()
    assert numbers.headerData(0, Qt.Orientation.Vertical) == "5"
    click()
    qtbot.waitUntil(lambda: "descending" in told(panel))
    assert cells(panel, qtbot, 1) == ["100", "10.5", "9.25", "-3", ""]
    click()
    qtbot.waitUntil(lambda: "Sorted" not in told(panel))
    assert cells(panel, qtbot, 1) == weights


@pytest.mark.styled
def test_the_menu_of_a_cell_keeps_rows_like_it_and_a_button_brings_all_back(
    qtbot: QtBot, panel: DataPanel, workbench: Workbench, people: Path
) -> None:
    opened(qtbot, workbench, people)
    cells(panel, qtbot, 2)
    grid = panel.table.grid
    index = grid.model().index(1, 2)
    grid.customContextMenuRequested.emit(grid.visualRect(index).center())
    (menu,) = (one for one in panel.findChildren(QMenu) if one.isVisible())
    (only,) = (one for one in menu.actions() if one.text() == "Only rows where job is “judge”")
    only.trigger()
    menu.close()
    qtbot.waitUntil(lambda: f"300 of {ROWS} rows: job is “judge”" in told(panel))
    assert set(cells(panel, qtbot, 2)) == {"judge"}
    assert grid.model().headerData(1, Qt.Orientation.Vertical) == "5"
    assert workbench.work.roles == {}
    (back,) = (one for one in panel.findChildren(QPushButton) if one.text().startswith("All rows"))
    back.click()
    assert grid.model().rowCount() == ROWS
    assert findings(panel) == []


@pytest.mark.styled
def test_a_text_is_found_by_keys_and_its_rows_alone_can_be_seen(
    qtbot: QtBot, panel: DataPanel, workbench: Workbench, people: Path
) -> None:
    opened(qtbot, workbench, people)
    qtbot.waitUntil(panel.isActiveWindow)
    grid = panel.table.grid
    grid.setFocus()
    qtbot.keyClick(grid, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    (field,) = (
        one
        for one in panel.findChildren(QLineEdit)
        if one.accessibleName() == "Text to find in the rows"
    )
    assert field.isVisible()
    qtbot.keyClicks(field, "P77")
    rows = []
    for _ in range(3):
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: grid.currentIndex().row() not in (0, *rows))
        rows.append(grid.currentIndex().row())
    assert rows == [77, 770, 771]
    assert "3 of 11 rows" in told(panel)
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: grid.currentIndex().row() == 770)
    (only,) = (one for one in panel.findChildren(QPushButton) if one.text() == "Matching rows only")
    only.click()
    qtbot.waitUntil(lambda: grid.model().rowCount() == 11)
    assert cells(panel, qtbot, 0, 2) == ["p77", "p770"]
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not field.isVisible()
    field.setText("nowhere")
    assert findings(panel) == []
