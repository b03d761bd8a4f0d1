"""Where a reviewer decides: all points at the left, evidence and decision of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    QSize,
    Qt,
    QUrl,
    Signal,
    Slot,
)
from PySide6.QtGui import QDesktopServices, QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app.review.review_picture import FileLook
from dpdesk.app.review.values import Decision
from dpdesk.core.charts import Chart
from dpdesk.core.messages import listed
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.models import DataGrid, ListModel, TableModel
from dpdesk.ui.panels.review.deciding import Choice, Draft, Point, choice_words
from dpdesk.ui.panels.review.scrolling import Page, SideBySide, scrolled
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.choices import FoldingStrip
from dpdesk.ui.widgets.layouts import FlowBox, FrontStack
from dpdesk.ui.widgets.states import ElidedLabel, LonelyBrowser
from dpdesk.ui.words.numbers import columns_words, grouped, legible, rows_words
from dpdesk.ui.words.spoken import in_window, said, spoken

_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WrappedCells(QStyledItemDelegate):
    """Heights for cells whose lines wrap: the toolkit forgets the padding of the style sheet."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """The size at the width that is left for the text."""
        narrower = QStyleOptionViewItem(option)
        narrower.rect = narrower.rect.adjusted(SPACE.s, 0, -SPACE.s, 0)
        return super().sizeHint(narrower, index)


class PointGrid(DataGrid):
    """``letterTyped(str)`` with one of ``letters`` (capitals), ``commentAsked()`` by Enter."""

    letterTyped = Signal(str)
    commentAsked = Signal()
    least_ems = 30

    def __init__(self, theme: ThemeManager, name: str) -> None:
        super().__init__(theme, name)
        self.letters = ""
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.verticalHeader().hide()

    def selectAll(self) -> None:
        """Choose all points: there are few."""
        QAbstractItemView.selectAll(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters decide, Enter goes to the comment."""
        plain, letter = event.modifiers() in _PLAIN, event.text().upper()
        if plain and len(letter) == 1 and letter in self.letters:
            self.letterTyped.emit(letter)
        elif plain and event.key() in _ENTER:
            self.commentAsked.emit()
        else:
            super().keyPressEvent(event)


class _Comment(QPlainTextEdit):
    """``focusChanged()`` when someone begins to write, and leaves it."""

    focusChanged = Signal()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Someone begins."""
        super().focusInEvent(event)
        self.focusChanged.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Someone has gone elsewhere."""
        super().focusOutEvent(event)
        self.focusChanged.emit()


LEAST_LINES = (5, 6)
NARROW, QUESTION, PROGRESS = 50, 24, 45
"""Least widths in letters: of the two parts side by side, a question, progress by its buttons."""
SHARE, NAMED = 50, 3
COMMENT_LINES = 1, 3
"""Lines of a comment that is empty and not being written, and of others."""


class DecidePage(QWidget):
    """``decided(choices by key)`` after each decision and each change of a comment.

    ``shown(str)`` names the file that is to be decided now (empty: a question), so that it can be
    shown next to the decision (:attr:`file`). A decision is about all chosen lines.
    """

    decided = Signal(object)
    shown = Signal(str)

    def __init__(self, theme: ThemeManager, hub: JobHub) -> None:
        super().__init__()
        self._theme, self._hub = theme, hub
        self._draft: Draft | None = None
        layout = column(self, gap=SPACE.s)
        self.void, self.unkept = QLabel(), QLabel()
        for label, look in ((self.void, "caution"), (self.unkept, "fail")):
            label.setWordWrap(True)
            set_look(label, look)
            label.hide()
            layout.addWidget(label)
        parts = (self._build_list(theme), self._build_right())
        self._sides = SideBySide(theme, "review-decide", parts, LEAST_LINES, NARROW, SHARE)
        self._sides.splitterMoved.connect(self._fit)
        layout.addWidget(self._sides, 1)
        layout.addLayout(self._build_foot())
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def take_button(self, button: QWidget) -> None:
        """Give a place at the foot, apart from the decisions, to the button that signs."""
        self._foot.add(button)

    def show_reason(self, reason: str) -> None:
        """Why the vote cannot be signed yet; empty when it can, or when something is undecided."""
        kept = self.tr("Kept only on this computer until you sign.")
        self.note.setText(f"{in_window(reason)} {kept}".strip())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room the list leaves out what stands beside it anyway."""
        super().resizeEvent(event)
        self._fit()

    def _build_list(self, theme: ThemeManager) -> DataGrid:
        self.lines = ListModel(parent=self)
        self.grid = PointGrid(theme, self.tr("What is to be decided"))
        self.grid.letterTyped.connect(self._on_letter)
        self.grid.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # paths differ at their ends
        self.grid.setWordWrap(True)  # questions are read to their end
        self.grid.setItemDelegate(WrappedCells(self.grid))
        self.grid.setModel(self.lines)
        self.grid.horizontalHeader().sectionResized.connect(self.grid.resizeRowsToContents)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        return self.grid

    def _build_foot(self) -> QHBoxLayout:
        self._foot = FlowBox(gap=SPACE.s)
        self.others = QPushButton()
        self.others.setToolTip(self.tr("Files on which you decided differently keep your decision"))
        self.others.clicked.connect(self._on_others)
        self._foot.add(self.others)
        words = column(gap=0)
        self.progress, self.note = QLabel(), QLabel()
        set_look(self.progress, "strong")
        set_look(self.note, "note")
        for label in (self.progress, self.note):
            label.setWordWrap(True)
            words.addWidget(label)
        self._foot_line = row(gap=SPACE.m)
        self._foot_line.addLayout(words, 1)
        self._foot_line.addWidget(self._foot)
        return self._foot_line

    def show_draft(self, draft: Draft, unkept: str = "") -> None:
        """What is decided so far; the chosen line stays.

        ``unkept`` says why it could not be kept on this computer.
        """
        fresh = self._draft is None or _about(self._draft) != _about(draft)
        self._draft = draft
        heads = (self.tr("Decision"), self.tr("Status"), self.tr("What"))
        rows = [
            (choice_words(draft.choices[one.key]), one.mark, one.question) for one in draft.points
        ]
        self.lines.set_table(heads, rows)
        self._fit()
        wait = self.tr("{n}; you can sign when all are")
        words = draft.progress_words()
        told = words if draft.complete else wait.format(n=words)
        self.progress.setText(". ".join(filter(None, (told, draft.exceptions()))))
        count = len(draft.open_files)
        self.others.setText(self.tr("Accept all {n} open &files").format(n=count))
        self.others.setAccessibleName(self.others.text().replace("&", ""))
        self.others.setVisible(count > 1)
        self._say(self.void, f"△ {draft.void_words()}" if draft.void_words() else "")
        lost = self.tr("✕ {reason} What you decide is lost when the window closes.")
        self._say(self.unkept, lost.format(reason=unkept) if unkept else "")
        if fresh and draft.points:
            self.grid.selectRow(draft.first_open)
            self._on_chosen()
        self._show_problem()

    @staticmethod
    def _say(label: QLabel, text: str) -> None:
        label.setText(in_window(text))
        label.setAccessibleName(text)
        label.setVisible(bool(text))

    def choose(self, key: str) -> None:
        """Choose the point with this key."""
        if self._draft is not None:
            keys = [one.key for one in self._draft.points]
            self.grid.selectRow(keys.index(key))

    def _build_right(self) -> QFrame:
        frame, page = QFrame(), Page()
        set_look(frame, "card")
        whole = column(frame, margin=SPACE.m, gap=SPACE.xs)
        whole.addWidget(scrolled(page, self.tr("Evidence and decision"), whole=True), 1)
        layout = column(page, gap=SPACE.xs)
        layout.setContentsMargins(0, 0, SPACE.s, 0)
        self.question, self.mark, self.evidence = QLabel(), QLabel(), QLabel()
        self.bytes = ElidedLabel()
        set_look(self.question, "strong")
        set_look(self.mark, "note")
        set_look(self.bytes, "note")
        for label in (self.question, self.mark, self.evidence):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)
        layout.addWidget(self.bytes)
        self.file = FileView(self._theme, self._hub)
        layout.addWidget(self.file, 1)
        layout.addStretch(0)
        whole.addWidget(self._build_decisions())
        self._add_comment(whole)
        return frame

    def _build_decisions(self) -> FlowBox:
        self._group = QButtonGroup(self)
        line = FlowBox(gap=SPACE.l)
        texts = {
            Decision.ACCEPT: self.tr("&Accept"),
            Decision.CHANGE: self.tr("Request chan&ge"),
            Decision.REJECT: self.tr("Re&ject"),
        }
        self.buttons: dict[Decision, QRadioButton] = {}
        for decision, text in texts.items():
            button = QRadioButton(text)
            button.setAccessibleName(text.replace("&", ""))
            button.setToolTip(text.replace("&", ""))
            self._group.addButton(button)
            self.buttons[decision] = button
            line.add(button)
        self._group.buttonClicked.connect(self._tell)
        self._letters = {text[text.index("&") + 1].upper(): one for one, text in texts.items()}
        self.grid.letters = "".join(self._letters)
        tip = self.tr(
            "Arrow keys choose, with Shift or Ctrl several; {letters} decide, as with Alt; "
            "Enter goes to the comment"
        )
        self.grid.setToolTip(tip.format(letters=", ".join(self._letters)))
        return line

    def _add_comment(self, layout: QVBoxLayout) -> None:
        label = QLabel(self.tr("Co&mment"))
        self.comment = _Comment()
        self.comment.setAccessibleName(self.tr("Comment"))
        self.comment.setToolTip(self.tr("Needed where the decision goes against the check"))
        self.comment.setTabChangesFocus(True)
        label.setBuddy(self.comment)
        self.grid.commentAsked.connect(self.comment.setFocus)
        self.comment.textChanged.connect(self._tell)
        self.comment.textChanged.connect(self._fit_comment)
        self.comment.focusChanged.connect(self._fit_comment)
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        set_look(self.problem, "fail")
        line = row(gap=SPACE.s)
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.comment, 1)
        layout.addLayout(line)
        layout.addWidget(self.problem)

    @Slot()
    def _fit(self) -> None:
        header = self.grid.horizontalHeader()
        if self.lines.columnCount():
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
            others = max(header.sectionSizeHint(0), self.grid.sizeHintForColumn(0))
            others += self.grid.sizeHintForColumn(1)
            left = self.grid.viewport().width() - others
            self.grid.setColumnHidden(1, left < self._theme.theme.ems(QUESTION))
        needed = self._foot.sizeHint().width() + self._theme.theme.ems(PROGRESS)
        ways = QHBoxLayout.Direction.TopToBottom, QHBoxLayout.Direction.LeftToRight
        self._foot_line.setDirection(ways[int(needed <= self.width())])

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        lines = self.grid.verticalHeader()
        lines.setMinimumSectionSize(theme.row)
        lines.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self._fit_comment()
        self._fit()

    @Slot()
    def _fit_comment(self) -> None:
        """A comment takes room from the evidence once someone writes one."""
        written = self.comment.hasFocus() or not self.comment.document().isEmpty()
        lines, theme = COMMENT_LINES[int(written)], self._theme.theme
        self.comment.setFixedHeight(theme.ems(1) + lines * theme.row)

    def _point(self) -> Point | None:
        points = self._points()
        return points[0] if points else None

    def _points(self) -> list[Point]:
        """The chosen points, the one with the cursor first."""
        draft, chosen = self._draft, self.grid.selectionModel()
        places = {one.row() for one in chosen.selectedRows()} if draft is not None else set()
        here = chosen.currentIndex().row()
        order = sorted(places, key=lambda place: (place != here, place))
        return [draft.points[place] for place in order] if draft is not None else []

    def _show_problem(self) -> None:
        point = self._point()
        text = "" if point is None or self._draft is None else self._draft.problem(point.key)
        self.problem.setText(f"✕ {text}" if text else "")
        self.problem.setAccessibleName(text)
        self.problem.setVisible(bool(text))

    @Slot()
    def _on_chosen(self) -> None:
        point, draft, points = self._point(), self._draft, self._points()
        if point is None or draft is None:
            return
        self.question.setText(point.question)
        self.mark.setText("" if point.sha256 else point.mark)
        if len(points) > 1:
            names = said(listed([one.question for one in points], NAMED))
            text = self.tr("Your decision applies to {n} points: {names}")
            self.mark.setText(text.format(n=len(points), names=names))
        self.mark.setVisible(bool(self.mark.text()))
        for label, file in ((self.evidence, False), (self.bytes, True)):
            label.setText(in_window(point.evidence) if file == bool(point.sha256) else "")
            label.setVisible(file == bool(point.sha256))
        self.shown.emit(point.key if point.sha256 else "")
        taken = {draft.choices[one.key] for one in points}
        choice = taken.pop() if len(taken) == 1 else Choice()
        self._group.setExclusive(False)
        for decision, button in self.buttons.items():
            button.setChecked(decision is choice.decision)
        self._group.setExclusive(True)
        with QSignalBlocker(self.comment):
            self.comment.setPlainText(choice.comment)
        self._show_problem()

    @Slot(str)
    def _on_letter(self, letter: str) -> None:
        if self._point() is not None:
            self.buttons[self._letters[letter]].click()

    def _tell(self) -> None:
        taken = next((one for one, b in self.buttons.items() if b.isChecked()), None)
        comment, points = self.comment.toPlainText().strip(), self._points()
        made = {}
        for point in points:  # of several, what differs and is not said now stays as it was
            before = self._draft.choices[point.key] if self._draft else Choice()
            words = comment or (before.comment if len(points) > 1 else "")
            made[point.key] = Choice(taken or before.decision, words)
        self.decided.emit(made)

    @Slot()
    def _on_others(self) -> None:
        if self._draft is not None:
            self.decided.emit({key: Choice(Decision.ACCEPT) for key in self._draft.open_files})
            self._on_chosen()


def _about(draft: Draft) -> tuple[str, str, tuple[Point, ...]]:
    """What a draft is about, whatever is decided in it."""
    return draft.submission, draft.reviewer, draft.points


# What is to be decided, next to the decision: the file itself, and pictures of the differences.


FILE = "file"


class FileView(QWidget):
    """A file and pictures of a release, one at a time."""

    def __init__(self, theme: ThemeManager, hub: JobHub) -> None:
        super().__init__()
        layout = column(self, gap=SPACE.xs)
        self.strip = FoldingStrip(self.tr("The file, or pictures of the differences"))
        self.strip.chosen.connect(self._show)
        self.note = QLabel()
        self.note.setWordWrap(True)
        set_look(self.note, "note")
        self._look: FileLook | None = None
        self._charts: dict[str, Chart] = {}
        self._model = TableModel(hub, self)
        self.grid = DataGrid(theme, self.tr("Rows of the file"))
        self.grid.setModel(self._model)
        self.page, self.text = LonelyBrowser(), QPlainTextEdit()
        self.page.setOpenLinks(False)
        self.page.setAccessibleName(self.tr("Page of the release"))
        self.page.setToolTip(self.tr("What is on the page that is to be decided"))
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.page.setTabChangesFocus(True)
        self.text.setAccessibleName(self.tr("Text of the file"))
        self.text.setToolTip(self.tr("What is in the file that is to be decided"))
        self.chart = ChartView(theme)
        self.open = QPushButton(self.tr("Open with another program…"))
        self.open.setToolTip(self.tr("Open the file with the default program for its type"))
        self.open.clicked.connect(self._on_open)
        self._stack = FrontStack()
        for widget in (self.grid, self.page, self.text, self.chart):
            self._stack.addWidget(widget)
        layout.addWidget(self.strip)
        layout.addWidget(self.note)
        layout.addWidget(self.open, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._stack, 1)
        layout.addStretch(0)
        self._show()

    def show_file(self, look: FileLook | None) -> None:
        """Show a file; None: there is none to decide on."""
        self._look = look
        self._model.set_source(None if look is None else look.rows)
        self.page.setHtml("" if look is None else look.page)
        self.text.setPlainText(
            "" if look is None else "\n".join(map(legible, look.text.splitlines()))
        )
        self._offer()
        if look is not None:
            self.strip.choose(FILE)
        self._show()

    def show_pictures(self, charts: Sequence[Chart]) -> None:
        """Offer these pictures."""
        if list(charts) != list(self._charts.values()):
            self._charts = {chart.id: chart for chart in charts}
            self._offer()
            self._show()

    def _offer(self) -> None:
        file = [(FILE, self.tr("The file"))] if self._look is not None else []
        shown = [(key, spoken(one)) for key, one in self._charts.items()]
        pictures = [(key, one.short or one.question) for key, one in shown]
        self.strip.set_choices([*file, *pictures], {key: one.question for key, one in shown})
        self.strip.setVisible(bool(file or pictures))

    @Slot()
    def _show(self) -> None:
        key, look = self.strip.current, self._look
        self.note.setText("")
        if key in self._charts:
            self.chart.set_chart(self._charts[key])
            self._stack.setCurrentWidget(self.chart)
        elif look is not None:
            self._stack.setCurrentWidget(
                self.grid if look.rows is not None else self.page if look.page else self.text
            )
            self.note.setText(self._words(look))
        self._stack.setVisible(key in self._charts or (look is not None and look.shown))
        self.note.setVisible(bool(self.note.text()))
        another = look is not None and look.path is not None and key not in self._charts
        self.open.setVisible(another)
        self.setVisible(look is not None or bool(self._charts))

    @Slot()
    def _on_open(self) -> None:
        path = None if self._look is None else self._look.path
        if path is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            text = self.tr("No program was found that opens {path}.")
            self.note.setText(text.format(path=path))

    def _words(self, look: FileLook) -> str:
        rows = look.rows
        if look.absent:
            return self.tr("✕ This file is not in the folder of the release.")
        if look.foreign:
            return self.tr("This file cannot be shown here: open it with the program for its type.")
        if look.printed:
            return self.tr(
                "This is the page that the PDF prints. The check makes both again and compares "
                "them byte for byte."
            )
        if look.fault:
            return f"✕ {said(look.fault)}"
        if rows is None:
            return ""
        text = f"{rows_words(rows.total)}, {columns_words(len(rows.columns))}"
        if rows.count < rows.total:
            text = self.tr("{size}; the first {n} are shown").format(
                size=text, n=grouped(rows.count)
            )
        return text
