"""The window that browses a released cube, by mouse and by keys, on the bundled sample's cube."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.demo import sample_folder
from dpdesk.app.running import run_plan
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.query import Grouping
from dpdesk.ui.browsing import BrowseWindow
from dpdesk.ui.browsing.side import COLUMNS, FILTERS, ROWS, UNUSED, mime_of
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.releases import run_code


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cube")
    with AppContext.open(folder / "home") as context, sample_folder() as sample:
        plan = sample / "plans" / "private-tables.toml"
        run_plan(context, plan, folder / "release", CancelToken(), silent)
    return folder / "release"


def _nothing() -> None:
    """Nothing is open in the main window."""


class Room:
    """The window, and somebody at it."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub = qtbot, hub
        self.asker = ScriptedAsker()
        self.window = BrowseWindow(context, hub, theme, self.asker, _nothing)
        self.side, self.page = self.window.side, self.window.page
        qtbot.addWidget(self.window)

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        def calm() -> bool:
            waiting = self.side.keep._patience.isActive()
            return condition() and not self.hub.busy and not waiting

        self.qtbot.waitUntil(calm)

    def open(self, folder: Path) -> None:
        self.window.open(folder)
        self.quiet(lambda: self.window.seen is not None or bool(self.window.band.text))

    def key(self, name: str, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
        """A key on the chip of a dimension."""
        self.qtbot.keyClick(self.side.chip(name), key, *modifiers)
        self.quiet()

    def drop(self, name: str, shelf: str) -> None:
        """What the mouse does at the end of a drag."""
        target = self.side.shelves[shelf]
        data, place = mime_of(name), QPoint(target.width() - 4, target.height() - 4)
        action, no = Qt.DropAction.MoveAction, Qt.KeyboardModifier.NoModifier
        left = Qt.MouseButton.LeftButton
        enter = QDragEnterEvent(place, action, data, left, no)
        QApplication.sendEvent(target, enter)
        assert enter.isAccepted()
        drop = QDropEvent(QPointF(place), action, data, left, no, QEvent.Type.Drop)
        QApplication.sendEvent(target, drop)
        self.quiet()

    def head(self) -> list[str]:
        model = self.page.model
        across = Qt.Orientation.Horizontal
        heads = [str(model.headerData(i, across)) for i in range(model.columnCount())]
        return [one.split(" \\ ")[0] for one in heads]

    def corner(self) -> str:
        return str(self.page.model.headerData(0, Qt.Orientation.Horizontal))

    def labels(self) -> list[str]:
        model = self.page.model
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())]

    def value(self, row: str, column: str) -> float:
        seen = self.window.seen
        assert seen is not None
        at = self.head().index(column) - self.page.model.sides
        return float(seen.pivot.values[self.labels().index(row), at])

    def button(self, name: str) -> QPushButton:
        (found,) = [
            one
            for one in self.window.findChildren(QPushButton)
            if one.accessibleName() == name and one.isVisible()
        ]
        return found


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(tmp_path / "home") as context:
        made = Room(qtbot, context, hub, theme)
        yield made
        made.quiet()


def test_each_dimension_of_the_columns_stands_in_the_line_of_its_labels(
    room: Room, cube: Path
) -> None:
    room.open(cube)
    room.key("age", Qt.Key.Key_C)
    assert room.corner().split("\n") == ["sex", "\\ age"]
    assert room.head()[1].split("\n") == ["female", "0-19"]


def test_a_cube_opens_with_values_errors_and_margins(room: Room, cube: Path) -> None:
    room.open(cube)
    assert room.head() == ["age", "female", "male", "ALL"]
    assert room.corner() == "age \\ sex"
    assert room.labels() == ["0-19", "20-39", "40-59", "60-79", "80+", "ALL"]
    with (cube / "public" / "cuboids" / "2-age-sex.csv").open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            assert room.value(line["age"], line["sex"]) == float(line["value"])
    text = room.page.model.index(0, 1).data()
    assert "\n± " in text
    assert (
        room.page.question.text() == "What is the count by age × sex, and how large are the errors?"
    )
    assert "No ± is above 30 % of its value." in room.page.answer.text()
    assert room.window.title.text() == "Health by age, sex and area"
    assert findings(room.window) == []


def test_chips_are_dragged_onto_shelves(room: Room, cube: Path) -> None:
    room.open(cube / "public")
    room.drop("district", COLUMNS)
    assert room.head()[1].startswith("female\n")
    room.drop("sex", UNUSED)
    assert room.head()[:3] == ["age", "Capital Area", "North Coast"]
    room.drop("sex", ROWS)
    assert room.head()[:2] == ["age", "sex"]
    assert [each.facts.column for each in room.side.shelves[ROWS].chips] == ["age", "sex"]
    room.drop("health", FILTERS)
    assert room.side.keep.dimension == "health"


def test_the_keyboard_moves_dimensions_and_rolls_them_up(room: Room, cube: Path) -> None:
    room.open(cube)
    room.key("district", Qt.Key.Key_R)
    assert room.head()[:2] == ["age", "district"]
    room.key("district", Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert room.head()[:2] == ["district", "age"]
    room.key("district", Qt.Key.Key_Delete)
    room.key("age", Qt.Key.Key_Minus)
    assert room.labels() == ["0-39", "40-79", "80+", "ALL"]
    rolled = room.value("0-39", "ALL")
    room.key("age", Qt.Key.Key_Plus)
    assert room.value("0-19", "ALL") + room.value("20-39", "ALL") == pytest.approx(rolled)
    room.qtbot.keyClick(room.window, Qt.Key.Key_X)
    room.quiet()
    assert room.head()[0] == "sex"
    assert room.side.chip("age").shelf == COLUMNS


def test_undo_and_the_trail_lose_no_step(room: Room, cube: Path) -> None:
    room.open(cube)
    room.key("sex", Qt.Key.Key_Delete)
    room.key("health", Qt.Key.Key_C)
    assert [each.text() for each in room.window.trail_line.buttons] == [
        "load",
        "› sex summed up",
        "› health on columns",
    ]
    control = Qt.KeyboardModifier.ControlModifier
    room.qtbot.keyClick(room.window, Qt.Key.Key_Z, control)
    room.qtbot.keyClick(room.window, Qt.Key.Key_Z, control)
    room.quiet()
    assert room.head() == ["age", "female", "male", "ALL"]
    assert not room.window.undo.isEnabled()
    shift = Qt.KeyboardModifier.ShiftModifier
    room.qtbot.keyClick(room.window, Qt.Key.Key_Z, control | shift)
    room.quiet()
    assert room.head() == ["age", "count"]
    room.window.trail_line.buttons[2].click()
    room.quiet()
    assert "very good" in room.head()


def test_categories_are_ticked_and_cells_are_sliced(room: Room, cube: Path) -> None:
    room.open(cube)
    whole = room.value("20-39", "male")
    room.key("health", Qt.Key.Key_F)
    items = room.side.keep.list
    room.side.keep.none.click()
    assert not room.side.keep._empty.isHidden()
    for row in (0, 1):
        items.setCurrentRow(row)
        room.qtbot.keyClick(items, Qt.Key.Key_Space)
    room.quiet(lambda: room.window.state is not None and bool(room.window.state.kept))
    assert room.value("20-39", "male") < whole
    assert room.side.shelves[FILTERS].chips[0].text().startswith("health ▽ 2 of 6")
    state = room.window.state
    assert state is not None
    kept = state.kept[0].categories
    filters = f" Only health = {kept[0]}, {kept[1]}."
    assert room.page.question.text().endswith(f"how large are the errors?{filters}")
    room.page.toggle()
    assert room.page.chart.chart is not None
    assert room.page.chart.chart.question == room.page.question.text()
    room.page.toggle()
    at = room.page.model.index(room.labels().index("20-39"), room.head().index("male"))
    room.page.grid.setCurrentIndex(at)
    assert room.page.cell.text().startswith("age 20-39 · sex male: ")
    room.qtbot.keyClick(room.page.grid, Qt.Key.Key_Return)
    room.quiet()
    assert room.labels() == ["20-39", "ALL"]
    assert room.head() == ["age", "male", "ALL"]
    room.side.shelves[FILTERS].chips[0].wish("all", "", 0)
    room.quiet()
    assert room.value("20-39", "male") == pytest.approx(whole)


def test_totals_are_left_out_and_come_back(room: Room, cube: Path) -> None:
    room.open(cube)
    grid, last = room.page.grid, room.page.model.rowCount() - 1
    room.page.totals.click()
    assert grid.isRowHidden(last)
    assert grid.isColumnHidden(room.page.model.columnCount() - 1)
    assert not grid.isRowHidden(0)
    room.page.totals.click()
    assert not grid.isRowHidden(last)


def test_counts_are_shown_in_percent_and_rows_sorted_in_table_picture_and_files(
    room: Room, cube: Path, tmp_path: Path
) -> None:
    room.open(cube)
    counts = {name: room.value(name, "female") for name in room.labels()}
    of_row = 100 * room.value("80+", "female") / room.value("80+", "ALL")
    box = room.side.percent
    box.setFocus()
    room.qtbot.keyClick(box, Qt.Key.Key_Down)
    room.quiet()
    assert box.currentText() == "% of the row"
    assert room.value("80+", "female") == pytest.approx(of_row)
    assert room.page.question.text().startswith("What is the count in % of the row by age × sex")
    assert "in 90 of 100 cases" in room.page.assumption.text()
    assert " %\n± " in room.page.model.index(0, 1).data()
    room.qtbot.keyClick(box, Qt.Key.Key_Home)
    room.quiet()
    room.page.grid.setCurrentIndex(room.page.model.index(0, 1))
    room.button("Sort by this column").click()
    room.quiet()
    falling = sorted((name for name in counts if name != "ALL"), key=lambda name: -counts[name])
    assert room.labels() == [*falling, "ALL"]
    assert room.head()[1] == "female ↓"
    room.page.toggle()
    assert room.page.chart.chart is not None
    assert room.page.chart.chart.categories == tuple(falling)
    room.page.toggle()
    room.key("sex", Qt.Key.Key_F)
    room.side.keep.list.item(1).setCheckState(Qt.CheckState.Unchecked)
    room.quiet(lambda: room.window.state is not None and bool(room.window.state.kept))
    room.asker.answer = tmp_path / "view.csv"
    room.button("Export the view…").click()
    room.quiet()
    with (tmp_path / "view.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["age"] for row in rows if row["sex"] == "female"] == [*falling, "ALL"]
    assert {row["only"] for row in rows} == {"sex=female"}
    assert float(rows[0]["standard_error"]) > 0
    room.page.grid.horizontalHeader().sectionClicked.emit(0)
    room.quiet()
    assert room.labels() == list(counts)


def test_cells_near_zero_are_marked_where_their_error_says_more(room: Room, cube: Path) -> None:
    room.open(cube)
    for name in ("district", "health"):
        room.key(name, Qt.Key.Key_R)
    model = room.page.model
    pivot = model.pivot
    assert pivot is not None
    near = 0
    for row in range(model.rowCount()):
        for column in range(model.sides, model.columnCount()):
            index = model.index(row, column)
            value = abs(pivot.values[row, column - model.sides])
            half = pivot.half_widths[row, column - model.sides]
            assert model.near_zero(index) == (value < 1 and half > 0)
            near += model.near_zero(index)
    assert near > 0


def test_large_errors_are_marked_and_the_share_is_a_choice(room: Room, cube: Path) -> None:
    room.open(cube)
    for name in ("district", "health"):
        room.key(name, Qt.Key.Key_R)
    assert room.page.answer.text().count("△") == 1
    model, marked = room.page.model, 0
    for row in range(model.rowCount()):
        for column in range(model.sides, model.columnCount()):
            index = model.index(row, column)
            assert ("△" in index.data()) is model.doubtful(index)
            marked += model.doubtful(index)
    assert f"In {marked:,} of {model.rowCount() * 3:,} cells" in room.page.answer.text()
    room.side.share.setValue(1000)
    assert "△" not in model.index(0, model.sides).data()


def test_bars_carry_the_same_numbers_with_their_errors(room: Room, cube: Path) -> None:
    room.open(cube)
    room.qtbot.keyClick(room.window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    chart = room.page.chart.chart
    assert chart is not None
    assert room.page.shows_bars
    assert chart.categories == ("0-19", "20-39", "40-59", "60-79", "80+")
    female, male = chart.series
    assert female.values[0] == round(room.value("0-19", "female"))
    assert min(male.errors) > 0
    assert len(chart.table.rows) == 10
    room.qtbot.keyClick(room.window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert not room.page.shows_bars


def test_the_view_is_exported_as_csv_and_as_excel(room: Room, cube: Path, tmp_path: Path) -> None:
    room.open(cube)
    room.asker.answer = tmp_path / "view.csv"
    room.button("Export the view…").click()
    room.quiet()
    with (tmp_path / "view.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 * 3
    assert float(rows[0]["count"]) == room.value("0-19", "female")
    assert float(rows[0]["low"]) < float(rows[0]["count"]) < float(rows[0]["high"])
    assert rows[-1]["age"] == rows[-1]["sex"] == "ALL"
    room.asker.answer = tmp_path / "view.xlsx"
    room.qtbot.keyClick(room.window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    room.quiet()
    book = openpyxl.load_workbook(tmp_path / "view.xlsx")
    assert book.sheetnames == ["Values", "Plus-minus 95 %", "About"]
    assert book["Values"].cell(2, 2).value == pytest.approx(room.value("0-19", "female"))
    assert "Written: " in room.window.band.text


def test_an_export_into_the_release_is_refused(room: Room, cube: Path) -> None:
    room.open(cube)
    room.asker.answer = cube / "public" / "view.csv"
    room.button("Export the view…").click()
    room.quiet()
    assert "is inside the release" in room.window.band.text
    assert not (cube / "public" / "view.csv").exists()


def test_a_changed_release_and_one_of_rows_are_not_shown(
    room: Room, cube: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(cube, tmp_path / "copy"))
    with (copy / "public" / "cuboids" / "1-sex.csv").open("a", encoding="utf-8") as file:
        file.write("x,1\n")
    room.open(copy)
    assert "1-sex.csv: was changed" in room.window.band.text
    assert room.window.seen is None
    assert not room.page.isEnabled()


def test_a_table_that_is_changed_while_the_release_is_open_is_not_shown(
    room: Room, cube: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(cube, tmp_path / "copy"))
    room.open(copy)
    with (copy / "public" / "cuboids" / "1-age.csv").open("a", encoding="utf-8") as file:
        file.write("x,1\n")
    room.key("sex", Qt.Key.Key_Delete)
    assert "was changed while the release was open" in room.window.band.text
    assert room.window.seen is None


def test_what_no_table_has_together_offers_the_way_back(
    qtbot: QtBot, tmp_path: Path, room: Room
) -> None:
    plan = write_plan(write_register(tmp_path / "data", people(50)), publish={"max_dimensions": 2})
    with AppContext.open(tmp_path / "second") as context:
        folder = release(context, plan, tmp_path / "pairs").out
    room.open(folder / "public")
    before = room.window.state
    free = next(name for name in ("sex", "region", "age") if room.side.chip(name).shelf == UNUSED)
    room.key(free, Qt.Key.Key_R)
    assert "No published table has sex × region × age together" in room.window.band.text
    room.button("Undo this step").click()
    room.quiet()
    assert room.window.state == before
    assert room.window.seen is not None
    assert before is not None
    assert Grouping(free) not in before.rows


@pytest.mark.parametrize("size", [100, 200])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_everything_has_a_name_and_room_in_every_look(
    room: Room, cube: Path, theme: ThemeManager, mode: str, size: int
) -> None:
    theme.set_mode(mode)
    theme.set_text_size(size)
    room.open(cube)
    room.key("health", Qt.Key.Key_F)
    assert findings(room.window) == []
    assert room.page.grid.columnWidth(1) >= room.page.grid.fontMetrics().horizontalAdvance("2,836")


def test_a_view_is_copied_as_python_that_gives_its_numbers(room: Room, cube: Path) -> None:
    room.open(cube)
    room.qtbot.mouseClick(room.window.python, Qt.MouseButton.LeftButton)
    assert room.window.band.text == "The Python code is on the clipboard."
    answer = run_code(QGuiApplication.clipboard().text())["answer"]
    seen = room.window.seen
    assert seen is not None
    shown = [value for row in seen.pivot.values.tolist() for value in row]
    assert len(answer) > 1
    assert set(answer["value"]) <= set(shown)
