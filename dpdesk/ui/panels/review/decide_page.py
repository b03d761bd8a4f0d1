"""Where a reviewer decides: all points at the left, evidence and decision of the chosen one."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFrame,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from dpdesk.app.review.values import Decision
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.panels.review.deciding import Choice, Draft, Point, choice_words
from dpdesk.ui.panels.review.scrolling import SideBySide, scrolled
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wording import in_window

LEAST_LINES = (8, 10)


class DecidePage(QWidget):
    """``decided(key, Choice)`` after each decision and each change of a comment."""

    decided = Signal(str, object)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._draft: Draft | None = None
        layout = column(self, gap=SPACE.s)
        self.progress = QLabel()
        set_look(self.progress, "strong")
        layout.addWidget(self.progress)
        self.void, self.unkept = QLabel(), QLabel()
        for label, look in ((self.void, "caution"), (self.unkept, "fail")):
            label.setWordWrap(True)
            set_look(label, look)
            label.hide()
            layout.addWidget(label)
        self.lines = ListModel(parent=self)
        self.grid = DataGrid(theme, self.tr("What is to be decided"))
        self.grid.setToolTip(self.tr("Arrow keys choose; evidence and decision stand beside it"))
        self.grid.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.grid.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.grid.setModel(self.lines)
        self.grid.verticalHeader().hide()
        header = self.grid.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        right = scrolled(self._build_right(), self.tr("Evidence and decision"))
        parts = (self.grid, right)
        layout.addWidget(SideBySide(theme, "review-decide", parts, LEAST_LINES), 1)

    def show_draft(self, draft: Draft, unkept: str = "") -> None:
        """What is decided so far; the chosen line stays.

        ``unkept`` says why it could not be kept on this computer.
        """
        fresh = self._draft is None or _about(self._draft) != _about(draft)
        self._draft = draft
        heads = (self.tr("Decision"), self.tr("Stands"), self.tr("What"))
        rows = [
            (choice_words(draft.choices[one.key]), one.mark, one.question) for one in draft.points
        ]
        self.lines.set_table(heads, rows)
        kept = self.tr("what you decide is kept on this computer alone until you sign")
        self.progress.setText(draft.words() if unkept else f"{draft.words()} · {kept}")
        self._say(self.void, f"△ {draft.void_words()}" if draft.void_words() else "")
        lost = self.tr("✕ {reason} What you decide is lost when the window closes.")
        self._say(self.unkept, lost.format(reason=unkept) if unkept else "")
        if fresh and draft.points:
            self.grid.selectRow(0)
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
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.s)
        self.question, self.mark, self.evidence = QLabel(), QLabel(), QLabel()
        set_look(self.question, "strong")
        set_look(self.mark, "note")
        for label in (self.question, self.mark, self.evidence):
            label.setWordWrap(True)
            layout.addWidget(label)
        self._group = QButtonGroup(frame)
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
        line.add(self.buttons[Decision.ACCEPT])
        line.add(self.buttons[Decision.CHANGE])
        layout.addWidget(line)
        layout.addSpacing(SPACE.m)
        layout.addWidget(self.buttons[Decision.REJECT])
        self._group.buttonClicked.connect(self._on_decision)
        self._add_comment(frame)
        return frame

    def _add_comment(self, frame: QFrame) -> None:
        layout = frame.layout()
        label = QLabel(self.tr("Co&mment"))
        self.comment = QPlainTextEdit()
        self.comment.setAccessibleName(self.tr("Comment"))
        self.comment.setToolTip(self.tr("Needed where the decision goes against the check"))
        self.comment.setTabChangesFocus(True)
        self.comment.setMinimumHeight(3 * self.comment.fontMetrics().lineSpacing())
        label.setBuddy(self.comment)
        self.comment.textChanged.connect(self._on_comment)
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        set_look(self.problem, "fail")
        if layout is not None:
            for widget in (label, self.comment, self.problem):
                layout.addWidget(widget)

    def _point(self) -> Point | None:
        rows = self.grid.selectionModel().selectedRows()
        return self._draft.points[rows[0].row()] if rows and self._draft is not None else None

    def _show_problem(self) -> None:
        point = self._point()
        text = "" if point is None or self._draft is None else self._draft.problem(point.key)
        self.problem.setText(f"✕ {text}" if text else "")
        self.problem.setAccessibleName(text)
        self.problem.setVisible(bool(text))

    @Slot()
    def _on_chosen(self) -> None:
        point = self._point()
        if point is None or self._draft is None:
            return
        self.question.setText(point.question)
        self.mark.setText(point.mark)
        self.evidence.setText(in_window(point.evidence))
        choice = self._draft.choices[point.key]
        self._group.setExclusive(False)
        for decision, button in self.buttons.items():
            button.setChecked(decision is choice.decision)
        self._group.setExclusive(True)
        with QSignalBlocker(self.comment):
            self.comment.setPlainText(choice.comment)
        self._show_problem()

    @Slot()
    def _on_decision(self) -> None:
        self._tell()

    @Slot()
    def _on_comment(self) -> None:
        self._tell()

    def _tell(self) -> None:
        point = self._point()
        if point is not None:
            taken = next((one for one, b in self.buttons.items() if b.isChecked()), None)
            self.decided.emit(point.key, Choice(taken, self.comment.toPlainText().strip()))


def _about(draft: Draft) -> tuple[str, str, tuple[Point, ...]]:
    """What a draft is about, whatever is decided in it."""
    return draft.submission, draft.reviewer, draft.points
