"""Parts that find their place when there is little room."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import MessageBand, StepHeader
from dpdesk.ui.widgets.layouts import PageStack
from dpdesk.ui.widgets.states import ElidedLabel
from dpdesk.ui.widgets.turning import BesideBox, SideArea, TurningSplitter
from tests.helpers.fits import misfits


class Block(QWidget):
    """A part of a known least size."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self.setMinimumSize(width, height)

    def sizeHint(self) -> QSize:
        return self.minimumSize()


def test_the_second_part_goes_below_where_both_do_not_fit(qtbot: QtBot) -> None:
    first, second = Block(200, 20), Block(100, 30)
    box = BesideBox(first, second)
    qtbot.addWidget(box)
    box.resize(400, 60)
    box.show()
    assert second.x() == 300
    assert box.heightForWidth(400) == 30
    box.resize(250, 60)
    assert second.y() > first.geometry().bottom()
    assert box.heightForWidth(250) >= 50
    assert box.minimumSizeHint().width() == 200


def test_the_second_part_alone_stands_at_the_right(qtbot: QtBot) -> None:
    first, second = Block(200, 20), Block(100, 30)
    box = BesideBox(first, second)
    qtbot.addWidget(box)
    first.hide()
    box.resize(400, 60)
    box.show()
    assert second.geometry().right() == 399


def test_the_answers_of_a_message_go_below_its_sentence(qtbot: QtBot, theme: ThemeManager) -> None:
    band = MessageBand(theme)
    qtbot.addWidget(band)
    band.show_message(
        "caution",
        "Opening it closes the current work.",
        (("a", "Save the plan first"), ("b", "Open without saving")),
    )
    for width in (900, 420, 320):
        band.setFixedWidth(width)
        band.setFixedHeight(band.layout().totalHeightForWidth(width))
        qtbot.waitUntil(lambda: misfits(band) == [])


def test_a_stack_asks_for_the_room_of_the_page_that_is_seen(qtbot: QtBot) -> None:
    small, large = Block(100, 50), Block(800, 600)
    stack = PageStack()
    qtbot.addWidget(stack)
    stack.addWidget(small)
    stack.addWidget(large)
    assert stack.minimumSizeHint() == QSize(100, 50)
    stack.setCurrentWidget(large)
    assert stack.minimumSizeHint() == QSize(800, 600)
    stack.removeWidget(large)
    assert stack.currentWidget() is small


def test_a_new_page_takes_the_focus_of_the_old_one(qtbot: QtBot) -> None:
    window, stack = QWidget(), PageStack()
    qtbot.addWidget(window)
    behind = QLineEdit()
    layout = QVBoxLayout(window)
    layout.addWidget(stack)
    layout.addWidget(behind)
    pages = (QWidget(), QWidget())
    lines = (QLineEdit(), QLineEdit())
    for page, line in zip(pages, lines, strict=True):
        QVBoxLayout(page).addWidget(line)
        stack.addWidget(page)
    window.show()
    window.activateWindow()
    lines[0].setFocus()
    qtbot.waitUntil(lines[0].hasFocus)
    stack.setCurrentIndex(1)
    assert lines[1].hasFocus()
    behind.setFocus()
    stack.setCurrentIndex(0)
    assert behind.hasFocus()


def test_parts_stand_one_above_the_other_where_they_do_not_fit_side_by_side(qtbot: QtBot) -> None:
    left, right = Block(300, 100), Block(200, 150)
    window = QWidget()
    qtbot.addWidget(window)
    parts = TurningSplitter("parts", (left, right), (1, 0))
    parts.setParent(window)
    told: list[bool] = []
    parts.turned.connect(told.append)
    parts.resize(700, 300)
    window.show()
    assert not parts.stacked
    parts.resize(420, 300)
    assert parts.stacked
    assert parts.minimumSizeHint().width() == 300
    assert parts.minimumSizeHint().height() >= 250
    parts.resize(700, 300)
    assert told == [True, False]
    assert right.width() == 200


class Worded(Block):
    """A block as wide as thirty letters of its text."""

    def sizeHint(self) -> QSize:
        return QSize(30 * self.fontMetrics().averageCharWidth(), 100)


def test_parts_get_other_widths_when_the_text_gets_another_size(qtbot: QtBot) -> None:
    left, right = Block(50, 100), Worded(50, 100)
    parts = TurningSplitter("parts", (left, right), (1, 0))
    qtbot.addWidget(parts)
    parts.resize(1400, 300)
    parts.show()
    assert right.width() == right.sizeHint().width()
    parts.setSizes([900, 500])
    moved = right.width()
    parts.hide()
    parts.show()
    assert right.width() == moved  # as the hand left it
    font = parts.font()
    font.setPointSizeF(2 * font.pointSizeF())
    parts.setFont(font)
    qtbot.waitUntil(lambda: right.width() == right.sizeHint().width())
    parts.hide()
    font.setPointSizeF(font.pointSizeF() / 2)
    parts.setFont(font)
    parts.show()
    assert right.width() == right.sizeHint().width()


def test_a_side_area_never_scrolls_sideways_and_stacked_not_at_all(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    side = SideArea(theme, "Side", "What is chosen")
    qtbot.addWidget(side)
    side.add(QLabel("incomprehensibilities " * 3))
    side.add(Block(900, 400))
    side.show()
    qtbot.waitUntil(lambda: side.minimumWidth() >= 900)
    side.set_stacked(True)
    side.resize(side.minimumWidth(), 100)
    qtbot.waitUntil(lambda: side.minimumHeight() >= 400)
    assert side.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_a_cut_label_tells_the_whole_text_before_it_is_painted(qtbot: QtBot) -> None:
    label = ElidedLabel("a rather long sentence about the chosen column")
    qtbot.addWidget(label)
    label.show()
    label.resize(60, 20)
    assert label.toolTip() == label.text()
    label.resize(900, 20)
    assert label.toolTip() == ""


def test_a_header_asks_for_an_explanation_and_names_it(qtbot: QtBot) -> None:
    header = StepHeader(2, "What is it?", "A line")
    qtbot.addWidget(header)
    header.add(QPushButton("Next"))
    with qtbot.waitSignal(header.explainAsked):
        header.help.click()
    assert header.help.accessibleName() == "Explain this step"
    for width in (700, 220):
        header.setFixedWidth(width)
        header.setFixedHeight(header.layout().totalHeightForWidth(width))
        header.show()
        qtbot.waitUntil(lambda: misfits(header) == [])
