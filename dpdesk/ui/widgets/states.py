"""Headers, empty places, badges, numbers, guarantees, and lines that give way."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.charts import Figure
from dpdesk.core.guarantee import Guarantee
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, pixmap, set_look
from dpdesk.ui.widgets.focusing import ASIDE
from dpdesk.ui.widgets.layouts import column, row
from dpdesk.ui.widgets.turning import BesideLayout
from dpdesk.ui.words.numbers import figure_words, quoted, shortened
from dpdesk.ui.words.spoken import said, spoken_guarantee


class StepHeader(QWidget):
    """Number and title of a step, one line below, and room for widgets at the right.

    ``explainAsked()`` comes from the question mark, which every step has.
    """

    explainAsked = Signal()

    def __init__(self, number: int, title: str, line: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        outer = BesideLayout(self, gap=SPACE.xl, wants=self._title_width)
        left, right = QWidget(), QWidget()
        texts = column(left, gap=SPACE.xs)
        self._number = number
        self._title = QLabel(f"{number}  {title}")
        self._title.setWordWrap(True)
        set_look(self._title, "headline")
        self._line = QLabel(line)
        self._line.setWordWrap(True)
        set_look(self._line, "note")
        self._line.setVisible(bool(line))
        texts.addWidget(self._title)
        texts.addWidget(self._line)
        self._right = row(right, gap=SPACE.s)
        self._right.addWidget(self._build_help())
        outer.addWidget(left)
        outer.addWidget(right)

    def _build_help(self) -> QToolButton:
        self.help = QToolButton()
        self.help.setText("?")
        say_expanded(self.help, expanded=False)
        self.help.setToolTip(self.tr("What is this step for? (F1)"))
        self.help.setAccessibleName(self.tr("Explain this step"))
        self.help.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.help.setProperty(ASIDE, True)
        self.help.clicked.connect(self.explainAsked)
        return self.help

    @Slot(bool)
    def show_explained(self, explained: bool) -> None:
        """Whether the step is being explained beside it."""
        say_expanded(self.help, explained)

    def set_title(self, title: str) -> None:
        """Ask another question."""
        self._title.setText(f"{self._number}  {title}")
        self.updateGeometry()

    def set_line(self, text: str) -> None:
        """Change the line below the title: what is missing, or what comes next."""
        self._line.setText(text)
        self._line.setVisible(bool(text))

    def add(self, widget: QWidget) -> None:
        """Put a widget at the right end, or below the title where there is little room."""
        place = self._right.count() - 1
        self._right.insertWidget(place, widget, 0, Qt.AlignmentFlag.AlignVCenter)
        QWidget.setTabOrder(widget, self.help)

    def _title_width(self) -> int:
        """The title stays in one line as long as possible."""
        return self._title.fontMetrics().horizontalAdvance(self._title.text())


class Badge(QLabel):
    """A word in a frame."""

    def __init__(self, text: str, explanation: str) -> None:
        super().__init__(text)
        set_look(self, "badge")
        self.setToolTip(explanation)
        self.setAccessibleName(text)
        self.setAccessibleDescription(explanation)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)


class EmptyState(QFrame):
    """What to do when there is nothing here yet.

    ``triggered(str)`` carries the id of a button; the first action is the primary one.
    """

    triggered = Signal(str)

    def __init__(
        self,
        theme: ThemeManager,
        icon_name: str,
        title: str,
        text: str,
        actions: tuple[tuple[str, str], ...] = (),
        parent: QWidget | None = None,
        *,
        drop: bool = False,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon_name = icon_name
        if drop:
            set_look(self, "drop")
        layout: QVBoxLayout = column(self, margin=SPACE.xl, gap=SPACE.m)
        self._icon, self._title, self._text = QLabel(), QLabel(title), QLabel(text)
        set_look(self._title, "section")
        set_look(self._text, "note")
        layout.addStretch(1)
        for label in (self._icon, self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(label is not self._icon)
            layout.addWidget(label)
        layout.addLayout(self._build_actions(actions))
        layout.addStretch(2)
        self.setAccessibleName(title)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _build_actions(self, actions: tuple[tuple[str, str], ...]) -> QHBoxLayout:
        buttons = row(gap=SPACE.s)
        buttons.addStretch(1)
        for number, (identifier, words) in enumerate(actions):
            button = QPushButton(words)
            button.setProperty("action-id", identifier)
            button.setAccessibleName(words.replace("&", ""))
            button.setToolTip(words.replace("&", ""))
            set_look(button, "primary" if number == 0 else "")
            button.clicked.connect(self._on_clicked)
            buttons.addWidget(button)
        buttons.addStretch(1)
        return buttons

    def set_texts(self, title: str, text: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleName(title)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.triggered.emit(str(sender.property("action-id")))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._icon.setPixmap(pixmap(self._icon_name, theme.tokens.muted, theme.icon * 2))


class FigureTile(QFrame):
    """A headline number: value large, what it is above, comparison below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        self._label, self._value, self._note = QLabel(), QLabel(), QLabel()
        set_look(self._label, "note")
        set_look(self._value, "figure")
        set_look(self._note, "note")
        for label in (self._label, self._value, self._note):
            layout.addWidget(label)
        self._label.setWordWrap(True)
        self._note.setWordWrap(True)
        self._note.hide()

    def set_figure(self, figure: Figure, before: float | None = None) -> None:
        """Show a figure, and (when given) the same number before."""
        value = figure_words(figure.value, figure.kind)
        unit = f" {figure.unit}" if figure.unit and figure.kind != "share" else ""
        self._label.setText(figure.label)
        self._value.setText(f"{value}{unit}")
        note = ""
        if before is not None:
            note = self.tr("before: {value}").format(value=figure_words(before, figure.kind))
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self.setToolTip(figure.help or figure.label)
        self.setAccessibleName(f"{figure.label}: {value}{unit}. {note}".strip())
        self.setAccessibleDescription(figure.help)

    def sizeHint(self) -> QSize:
        """Wide enough for a grouped number."""
        hint = super().sizeHint()
        return QSize(max(hint.width(), 140), hint.height())


class GuaranteeCard(QFrame):
    """Claim, assumptions, limits, in that order and always all three."""

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        self._parts: dict[str, QLabel] = {}
        heads = {
            "claim": self.tr("What is guaranteed"),
            "assumes": self.tr("This assumes"),
            "limits": self.tr("It does not cover"),
        }
        for key, words in heads.items():
            head, text = QLabel(words), QLabel()
            set_look(head, "note")
            set_look(text, "strong" if key == "claim" else "answer")
            text.setWordWrap(True)
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(head)
            layout.addWidget(text)
            self._parts[key] = text
        layout.addStretch(1)

    def set_guarantee(self, guarantee: Guarantee) -> None:
        """Show a guarantee."""
        guarantee = spoken_guarantee(guarantee)
        texts = {
            "claim": guarantee.claim,
            "assumes": _lines(guarantee.assumes),
            "limits": _lines(guarantee.does_not_cover),
        }
        for key, text in texts.items():
            self._parts[key].setText(text)
        self.setAccessibleName(guarantee.claim)
        self.setAccessibleDescription(f"{texts['assumes']} {texts['limits']}")


def _lines(sentences: tuple[str, ...]) -> str:
    return "\n".join(f"•  {sentence}" for sentence in sentences)


class ElidedLabel(QLabel):
    """``text()`` stays whole, for tooltips and screen readers; only the painting is cut.

    A plain label demands the width of its text, so that a long one would widen the window.
    """

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._cut = ""
        super().setText(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 4, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        """Say something else."""
        super().setText(text)
        self._tell()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of the text fits."""
        super().resizeEvent(event)
        self._tell()

    def changeEvent(self, event: QEvent) -> None:
        """Another font, another width."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._tell()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as much of the text as fits."""
        place, shown = self.contentsRect(), self._shown()
        painter = QPainter(self)
        self.style().drawItemText(
            painter,
            place,
            int((self.alignment() | Qt.AlignmentFlag.AlignVCenter).value),
            self.palette(),
            self.isEnabled(),
            shown,
            QPalette.ColorRole.WindowText,
        )
        painter.end()

    def _shown(self) -> str:
        width = self.contentsRect().width()
        return self.fontMetrics().elidedText(shortened(self.text()), self._mode, width)

    def _tell(self) -> None:
        """The text as tooltip while it is cut, unless the label has one of its own."""
        if self.toolTip() in ("", self._cut):
            self._cut = shortened(self.text()) if self._shown() != self.text() else ""
            self.setToolTip(self._cut)


_MARKED = re.compile(r"`([^`]*)`")


def in_window(sentence: str) -> str:
    """The sentence with controls instead of keys of a plan, and without the marks of a terminal.

    Names and values stand in quotation marks.
    """
    return _MARKED.sub(lambda found: quoted(found[1]), said(sentence))
