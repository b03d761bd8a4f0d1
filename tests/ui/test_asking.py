"""The window that asks a release with drawn values, on a small clinic register."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.app.querying import open_release
from dpdesk.core.charts import BarChart
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.query import Chosen, Query
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.asking import AskWindow
from tests.helpers import clinic
from tests.helpers.a11y import findings
from tests.helpers.releases import run_code

TICKED, NOT = Qt.CheckState.Checked, Qt.CheckState.Unchecked


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    clinic.write_source(folder, 1202)
    plan = clinic.write_plan(folder, 'l = 3\nsensitive = ["job"]')
    with AppContext.open(folder / "home") as context:
        return clinic.release(plan, folder / "release", context).out


SHOWN = 0.501
"""How far a bar may be from the estimate: bars are rounded, here to wholes or one decimal.

Not by rounding both: a half, which draws may give, would fall to either side.
"""


class Room:
    """The window, and somebody at it; ``source`` is the data file that is open."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub, self.context = qtbot, hub, context
        self.source: Path | None = None
        self.window = AskWindow(context, hub, theme, lambda: self.source)
        self.side = self.window.side
        qtbot.addWidget(self.window)

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        def calm() -> bool:
            waiting = self.side.keep._patience.isActive()
            return condition() and not self.hub.busy and not waiting

        self.qtbot.waitUntil(calm)

    def open(self, folder: Path) -> None:
        self.window.open(folder)
        self.quiet(lambda: self.window.found is not None or bool(self.window.band.text))

    def choose(self, name: str) -> None:
        lines = self.side.columns.lines
        names = [lines.row(row)[0] for row in range(lines.rowCount())]
        self.side.columns.selectRow(names.index(name))
        self.quiet(lambda: self.side.keep.dimension == name)

    def tick(self, *names: str) -> None:
        self.qtbot.mouseClick(self.side.keep.none, Qt.MouseButton.LeftButton)
        for row in range(self.side.keep.list.count()):
            item = self.side.keep.list.item(row)
            item.setCheckState(TICKED if item.text() in names else NOT)
        self.quiet()

    def bars(self) -> dict[str, list[float]]:
        """The bars of the picture by their names."""
        chart = self.window.chart.chart
        assert isinstance(chart, BarChart)
        places = enumerate(chart.categories)
        return {name: [one.values[place] for one in chart.series] for place, name in places}


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(tmp_path / "home") as context:
        made = Room(qtbot, context, hub, theme)
        yield made
        made.quiet()


def test_ticked_values_are_estimated_as_on_the_command_line(room: Room, made: Path) -> None:
    room.open(made)
    room.choose("town")
    room.tick("town 1")
    token = CancelToken()
    release = open_release(room.context, made, token, silent)
    state = room.window.state
    assert state.query() == Query(state.query().by, (Chosen("town", ("town 1",)),))
    answer = release.ask(state.query(), token, silent)
    expected = {str(row.labels[0]): row.value or 0.0 for row in answer.rows}
    assert {name: values[0] for name, values in room.bars().items()} == pytest.approx(
        expected, abs=SHOWN
    )
    assert "drawn in hidden groups of 3" in room.window.assumption.text()
    assert findings(room.window) == []


def test_a_range_of_numbers_counts_what_is_inside(room: Room, made: Path) -> None:
    room.open(made)
    room.choose("age")
    room.side.by.setCurrentIndex(0)
    room.side.by.activated.emit(0)
    room.side.range.first.setText("40")
    room.side.range.first.editingFinished.emit()
    room.quiet()
    lines = (made / "public" / "microdata.csv").read_text(encoding="utf-8").splitlines()[1:]
    count = sum(int(line.split(",")[0]) >= 40 for line in lines)
    assert room.bars() == {"all": [float(count)]}
    assert "exactly" in (room.window.chart.chart or pytest.fail("no chart")).answer
    room.side.range.first.setText("forty")
    room.side.range.first.editingFinished.emit()
    assert "Enter a number" in room.side.range.problem.text()


def test_the_truth_is_off_until_its_holder_asks_and_is_never_saved(room: Room, made: Path) -> None:
    room.source = made.parent / clinic.SOURCE
    room.open(made)
    assert all(len(values) == 1 for values in room.bars().values())
    room.choose("town")
    room.tick("town 1")
    room.side.truth.click()
    room.quiet()
    true = Counter(row[4] for row in clinic.people(1202) if row[2] == "town 1")
    assert {name: values[1] for name, values in room.bars().items()} == {
        name: float(true[name]) for name in room.bars()
    }
    assert room.window.truth.text().startswith("⚠ Internal, confidential, from the source")
    assert not room.window.chart._export.isEnabled()
    room.side.truth.click()
    room.quiet()
    assert all(len(values) == 1 for values in room.bars().values())
    assert room.window.chart._export.isEnabled()


def test_without_the_source_or_the_internal_part_there_is_no_truth(
    room: Room, made: Path, tmp_path: Path
) -> None:
    room.open(made)
    assert not room.side.truth.isEnabled()
    room.source = made.parent / clinic.SOURCE
    shutil.copytree(made / "public", tmp_path / "public")
    room.open(tmp_path / "public")
    assert not room.side.truth.isEnabled()


def test_another_file_than_the_source_is_refused(room: Room, made: Path, tmp_path: Path) -> None:
    room.source = clinic.write_source(tmp_path, 900)
    room.open(made)
    room.side.truth.click()
    room.quiet()
    assert "is not the file that this release was made from" in room.window.band.text


def test_the_paper_s_estimate_says_that_it_is_for_comparison_only(room: Room, made: Path) -> None:
    room.open(made)
    place = room.side.estimator.findData("paper")
    room.side.estimator.setCurrentIndex(place)
    room.side.estimator.activated.emit(place)
    room.quiet()
    assert "comparison only" in room.side.estimator.currentText()
    assert "for comparison only" in room.window.assumption.text()
    assert "gives no error" in (room.window.chart.chart or pytest.fail("no chart")).answer


def test_a_question_is_copied_as_python_that_gives_its_answer(room: Room, made: Path) -> None:
    room.open(made)
    room.choose("town")
    room.tick("town 1")
    room.qtbot.mouseClick(room.window.python, Qt.MouseButton.LeftButton)
    assert room.window.band.text == "The Python code is on the clipboard."
    answer = run_code(QGuiApplication.clipboard().text())["answer"]
    by = room.window.state.by
    found = dict(zip(answer[by], answer["value"], strict=True))
    assert {name: values[0] for name, values in room.bars().items()} == pytest.approx(
        found, abs=SHOWN
    )


def test_values_that_stand_apart_are_asked_in_the_same_window(room: Room, tmp_path: Path) -> None:
    clinic.write_source(tmp_path)
    plan = clinic.write_plan(tmp_path, 'l = 3\nsensitive = "illness"', method="anatomy")
    made = clinic.release(plan, tmp_path / "release", room.context).out
    room.open(made)
    room.choose("town")
    room.tick("town 1")
    release = open_release(room.context, made, CancelToken(), silent)
    query = room.window.state.query()
    assert [each.column for each in query.by] == ["illness"]
    answer = release.ask(query, CancelToken(), silent)
    assert [values[0] for values in room.bars().values()] == pytest.approx(
        [row.value or 0.0 for row in answer.rows], abs=SHOWN
    )
    assert "equally likely for every row" in room.window.assumption.text()
    room.choose("illness")
    room.tick("gout")
    assert room.window.state.query().where == (
        Chosen("town", ("town 1",)),
        Chosen("illness", ("gout",)),
    )
    assert findings(room.window) == []
