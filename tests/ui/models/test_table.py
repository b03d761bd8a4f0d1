"""Long tables: pages come from jobs, few are held, the window never waits for rows."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from dpdesk.core.errors import StorageError
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.models import PLACEHOLDER, DataGrid, ListModel, TableModel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.words.settings import with_label
from tests.helpers.waiting import PATIENCE_SECONDS


class Numbers:
    """Rows of their own number and its double, counting the pages asked for."""

    def __init__(self, count: int, *, held: bool = False, broken: bool = False) -> None:
        self.columns: Sequence[str] = ("number", "text")
        self.count = count
        self.asked: list[tuple[int, int]] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.broken = broken
        if not held:
            self.gate.set()

    def page(self, start: int, count: int) -> Sequence[Sequence[int | str]]:
        self.asked.append((start, count))
        self.threads.add(threading.get_ident())
        assert self.gate.wait(PATIENCE_SECONDS)
        if self.broken:
            raise StorageError("data.gone", "people.csv is gone.")
        return [(number, f"r{number}") for number in range(start, min(start + count, self.count))]


class Changes(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[int, int]] = []

    def note(self, first: object, last: object) -> None:
        self.blocks.append((first.row(), last.row()))  # type: ignore[attr-defined]


def text(model: TableModel, row: int, column: int = 0) -> object:
    return model.index(row, column).data()


def test_a_cell_shows_a_placeholder_until_its_page_arrives(hub: JobHub, qtbot: QtBot) -> None:
    model, source, changes = TableModel(hub, page_rows=10), Numbers(95, held=True), Changes()
    model.dataChanged.connect(changes.note)
    model.set_source(source)
    assert text(model, 42) == PLACEHOLDER
    with qtbot.waitSignal(model.dataChanged):
        source.gate.set()
    assert text(model, 42) == "42"
    assert text(model, 49, 1) == "r49"
    assert changes.blocks == [(40, 49)]
    assert threading.get_ident() not in source.threads


def test_scrolling_past_places_does_not_fetch_them_all(hub: JobHub, qtbot: QtBot) -> None:
    model, source = TableModel(hub, page_rows=10), Numbers(10_000, held=True)
    model.set_source(source)
    for row in range(0, 10_000, 10):
        text(model, row)
    source.gate.set()
    qtbot.waitUntil(lambda: text(model, 9_990) == "9,990" and not hub.busy)
    assert len(source.asked) <= 6


def test_at_most_the_given_number_of_pages_is_held(hub: JobHub, qtbot: QtBot) -> None:
    model, source = TableModel(hub, page_rows=10, max_pages=3), Numbers(1_000)
    model.set_source(source)
    for row in range(0, 200, 10):
        qtbot.waitUntil(lambda row=row: text(model, row) != PLACEHOLDER)
    assert model.pages_held == 3


def test_answers_for_an_old_source_are_dropped(hub: JobHub, qtbot: QtBot) -> None:
    model, old = TableModel(hub, page_rows=10), Numbers(30, held=True)
    model.set_source(old)
    text(model, 0)
    qtbot.waitUntil(lambda: bool(old.asked))
    model.set_source(Numbers(5))
    old.gate.set()
    qtbot.waitUntil(lambda: text(model, 4) == "4" and not hub.busy)
    assert model.rowCount() == 5
    assert model.pages_held == 1


def test_a_page_that_cannot_be_read_says_so_once(hub: JobHub, qtbot: QtBot) -> None:
    model, source = TableModel(hub, page_rows=10), Numbers(30, broken=True)
    model.set_source(source)
    with qtbot.waitSignal(model.failed) as caught:
        text(model, 0)
    (outcome,) = caught.args
    assert isinstance(outcome, JobFailed)
    assert outcome.code == "data.gone"
    assert text(model, 0) == "–"
    assert len(source.asked) == 1


def test_the_model_keeps_qt_s_contract(
    hub: JobHub, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    model = TableModel(hub, page_rows=10)
    model.set_source(Numbers(25))
    qtmodeltester.check(model)
    qtbot.waitUntil(lambda: not hub.busy)


def test_a_grid_of_ten_million_rows_asks_for_what_it_shows(
    hub: JobHub, qtbot: QtBot, theme: ThemeManager
) -> None:
    source, model = Numbers(10_000_000), TableModel(hub)
    grid = DataGrid(theme, "Rows")
    qtbot.addWidget(grid)
    grid.setModel(model)
    model.set_source(source)
    grid.resize(600, 400)
    with qtbot.waitExposed(grid):
        grid.show()
    grid.selectAll()
    grid.scrollToBottom()
    qtbot.waitUntil(lambda: text(model, 999_999) == "999,999")
    qtbot.waitUntil(lambda: not hub.busy)
    assert len(source.asked) < 10


def test_more_rows_than_qt_can_lay_out_are_shown_in_parts(
    hub: JobHub, qtbot: QtBot, theme: ThemeManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 million rows of 28 pixels are more than 2^31 pixels: every heading was painted."""
    painted: set[int] = set()
    said = TableModel.row_number

    def number(self: TableModel, row: int) -> int | None:
        painted.add(row)
        return said(self, row)

    monkeypatch.setattr(TableModel, "row_number", number)
    source, model = Numbers(100_000_000), TableModel(hub)
    grid = DataGrid(theme, "Rows")
    qtbot.addWidget(grid)
    grid.setModel(model)
    model.set_source(source)
    grid.resize(600, 400)
    with qtbot.waitExposed(grid):
        grid.show()
    assert (model.rowCount(), model.count, model.first) == (1_000_000, 100_000_000, 0)
    index = model.place(87_654_321, 0)
    assert (model.first, index.row()) == (87_000_000, 654_321)
    grid.setCurrentIndex(index)
    qtbot.waitUntil(lambda: text(model, 654_321) == "87,654,321")
    assert model.headerData(654_321, Qt.Orientation.Vertical) == "87,654,322"
    assert model.place(99_999_999, 0).row() == model.rowCount() - 1
    qtbot.waitUntil(lambda: text(model, 999_999) == "99,999,999")
    assert not model.place(100_000_000, 0).isValid()
    qtbot.waitUntil(lambda: not hub.busy)
    assert (len(source.asked) < 12, len(painted) < 200) == (True, True)


def test_the_last_part_is_as_long_as_it_is(
    hub: JobHub, qtbot: QtBot, qtmodeltester: ModelTester
) -> None:
    model = TableModel(hub, page_rows=10, part_rows=25)
    model.set_source(Numbers(60))
    model.place(55, 0)
    qtmodeltester.check(model)
    with qtbot.waitSignal(model.dataChanged) as changed:
        text(model, 9)
    first, last, *_ = changed.args or ()
    assert (model.rowCount(), first.row(), last.row()) == (10, 0, 9)
    qtbot.waitUntil(lambda: not hub.busy)


def test_the_chosen_block_is_copied_as_text(hub: JobHub, qtbot: QtBot, theme: ThemeManager) -> None:
    grid = DataGrid(theme, "Rows")
    qtbot.addWidget(grid)
    model = ListModel(("a", "b"), ((1_000, "x"), (None, "y")))
    grid.setModel(model)
    grid.setCurrentIndex(model.index(0, 0))
    selection = grid.selectionModel()
    selection.select(model.index(1, 1), selection.SelectionFlag.Select)
    selection.select(model.index(0, 0), selection.SelectionFlag.ClearAndSelect)
    grid.copy_selection()
    assert QGuiApplication.clipboard().text() == "1,000"


def test_small_tables_group_digits_and_align_numbers_right(qtmodeltester: ModelTester) -> None:
    model = ListModel(("size", "rows"), (("1", 45_222), ("2", 0.12345), ("3", None)))
    qtmodeltester.check(model)
    assert [model.index(row, 1).data() for row in range(3)] == ["45,222", "0.1235", "–"]
    right = model.index(0, 1).data(Qt.ItemDataRole.TextAlignmentRole)
    assert right & Qt.AlignmentFlag.AlignRight
    left = model.index(0, 0).data(Qt.ItemDataRole.TextAlignmentRole)
    assert left & Qt.AlignmentFlag.AlignLeft


def test_a_table_of_the_same_shape_changes_without_reset(qtbot: QtBot) -> None:
    model = ListModel(("size", "rows"), (("1", 10),))
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.set_table(("size", "rows"), (("1", 11),))
    with qtbot.waitSignal(model.modelReset):
        model.set_table(("size", "rows"), (("1", 11), ("2", 4)))


def test_a_faulty_cell_is_reported_once_and_shows_nothing(qtbot: QtBot) -> None:
    class Faulty:
        columns = ("a",)
        count = 3

        def page(self, start: int, count: int) -> Sequence[Sequence[int]]:
            return [(), (), ()]

    hub = JobHub()
    model = TableModel(hub)
    model.set_source(Faulty())
    text(model, 0)
    qtbot.waitUntil(lambda: not hub.busy)
    with qtbot.captureExceptions() as caught:
        assert text(model, 0) is None
        assert text(model, 1) is None
    assert len(caught) == 1
    with qtbot.waitSignal(hub.idle):
        hub.close()


def test_an_endless_text_is_shown_cut_with_its_length_and_copied_whole(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    endless = "é" * 1_000_000
    model = ListModel()
    model.set_table(("a", "b"), ((endless, "short"),))
    shown = model.index(0, 0).data()
    assert len(shown) < 2_000
    assert shown.startswith("ééé")
    assert shown.endswith("… (1,000,000 characters)")
    assert len(str(model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole))) < 2_000
    assert with_label(None, endless) == shown
    assert with_label(None, "short") == "short"
    grid = DataGrid(theme, "Rows")
    qtbot.addWidget(grid)
    grid.setModel(model)
    selection = grid.selectionModel()
    selection.select(model.index(0, 0), selection.SelectionFlag.ClearAndSelect)
    grid.copy_selection()
    copied = QGuiApplication.clipboard().text()
    assert (len(copied), copied == endless) == (1_000_000, True)


def test_an_endless_text_of_a_page_is_shown_cut_too(hub: JobHub, qtbot: QtBot) -> None:
    class Endless(Numbers):
        def page(self, start: int, count: int) -> Sequence[Sequence[int | str]]:
            return [(1, "x" * 5_000)]

    model = TableModel(hub, page_rows=10)
    model.set_source(Endless(1))
    with qtbot.waitSignal(model.dataChanged):
        text(model, 0)
    assert str(text(model, 0, 1)).endswith("… (5,000 characters)")
    assert model.index(0, 1).data(Qt.ItemDataRole.EditRole) == "x" * 5_000
    assert model.index(0, 0).data(Qt.ItemDataRole.EditRole) is None


def test_a_list_says_which_rows_changed_and_no_others(qtbot: QtBot) -> None:
    rows = [(str(number), number) for number in range(9)]
    model = ListModel(("size", "rows"), rows)
    said: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: said.append((first.row(), last.row())))
    model.set_table(("size", "rows"), rows)
    assert said == []
    rows[3], rows[5] = ("3", 30), ("5", 50)
    model.set_table(("size", "rows"), rows)
    assert said == [(3, 5)]
    assert [model.row(number)[1] for number in (3, 4, 5)] == [30, 4, 50]
