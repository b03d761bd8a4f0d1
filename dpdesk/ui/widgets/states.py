"""Parts that most windows are made of: headers, notes, buttons, lists of lines, empty places."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QImage, QKeyEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.charts import Figure
from dpdesk.core.errors import DpdeskError
from dpdesk.core.messages import msg
from dpdesk.core.release import Guarantee
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.models import DataGrid, ListModel
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, icon, pixmap, set_look
from dpdesk.ui.widgets.layouts import ASIDE, FlowBox, announce, column, row
from dpdesk.ui.widgets.turning import BesideBox, BesideLayout
from dpdesk.ui.words.numbers import figure_words, shortened
from dpdesk.ui.words.spoken import in_window, said, spoken_guarantee


class Lines(DataGrid):
    """A table of which one whole line is chosen."""

    def __init__(self, theme: ThemeManager, name: str, tip: str) -> None:
        super().__init__(theme, name)
        self.lines = ListModel(parent=self)
        self.setToolTip(tip)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setModel(self.lines)
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setStretchLastSection(True)

    @property
    def chosen(self) -> int:
        """The chosen line; -1 when there is none."""
        rows = self.selectionModel().selectedRows()
        return rows[0].row() if rows else -1


def labelled(layout: QVBoxLayout, words: str, field: QWidget, tip: str) -> QWidget:
    """Put a field below its label; both have the same name."""
    label = QLabel(words)
    label.setWordWrap(True)
    label.setBuddy(field)
    field.setAccessibleName(words.replace("&", ""))
    field.setToolTip(tip)
    layout.addWidget(label)
    layout.addWidget(field)
    return field


class RoomyLine(QLineEdit):
    """A field that is wide enough for what it asks for while it is empty."""

    def sizeHint(self) -> QSize:
        """See QWidget; room for the cross that clears it, too."""
        hint = super().sizeHint()
        words = self.fontMetrics().horizontalAdvance(self.placeholderText())
        return QSize(max(hint.width(), words + 2 * hint.height()), hint.height())


def secret_field() -> QLineEdit:
    """A field that shows dots."""
    field = QLineEdit()
    field.setEchoMode(QLineEdit.EchoMode.Password)
    return field


def note(text: str = "", look: str = "note") -> QLabel:
    """A wrapped line of text."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    set_look(label, look)
    return label


def button(text: str, tip: str, look: str = "") -> QPushButton:
    """A button with a name and a tip."""
    made = QPushButton(text)
    made.setAccessibleName(text.replace("&", ""))
    made.setToolTip(tip)
    set_look(made, look)
    return made


class Problem(QLabel):
    """One sentence about what is wrong, with shape and colour; hidden when nothing is."""

    def __init__(self) -> None:
        super().__init__()
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self, "fail")
        self.hide()

    def say(self, sentence: str) -> None:
        """Show a sentence; empty: nothing."""
        self.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self.setAccessibleName(sentence)
        self.setVisible(bool(sentence))


class LonelyBrowser(QTextBrowser):
    """A page: it shows what stands in it, loads nothing and leads nowhere."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Nothing from outside the page: one clear dot for a picture.

        Without an answer Qt would look for a file of that name by itself.
        """
        nothing = QImage(1, 1, QImage.Format.Format_ARGB32)
        nothing.fill(Qt.GlobalColor.transparent)
        return nothing


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
        left = QWidget()
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
        self._right = FlowBox()
        self._right.add(self._build_help())
        outer.addWidget(left)
        outer.addWidget(self._right)

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
        self._right.add(widget)
        self._right.add_last(self.help)
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
        layout.addWidget(self._build_actions(actions))
        layout.addStretch(2)
        self.setAccessibleName(title)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _build_actions(self, actions: tuple[tuple[str, str], ...]) -> FlowBox:
        buttons = FlowBox(centred=True)
        for number, (identifier, words) in enumerate(actions):
            button = QPushButton(words)
            button.setProperty("action-id", identifier)
            button.setAccessibleName(words.replace("&", ""))
            button.setToolTip(words.replace("&", ""))
            set_look(button, "primary" if number == 0 else "")
            button.clicked.connect(self._on_clicked)
            buttons.add(button)
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


KINDS = ("info", "ok", "caution", "fail")
_LINE_LETTERS = 40
_ICONS = {"info": "info", "ok": "check", "caution": "caution", "fail": "fail"}


class MessageBand(QFrame):
    """One message at a time; hidden when there is none.

    ``triggered(str)`` carries the id of an action button, ``dismissed()`` the closing cross.
    """

    triggered = Signal(str)
    dismissed = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kind = "info"
        self._buttons: list[QPushButton] = []
        layout = row(self, gap=SPACE.m)
        layout.setContentsMargins(SPACE.m, SPACE.s, SPACE.s, SPACE.s)
        self._icon = QLabel()
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._close = QToolButton()
        self._close.setAccessibleName(self.tr("Dismiss this message"))
        self._close.setToolTip(self.tr("Dismiss this message"))
        self._close.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self._close, "quiet")
        self._close.clicked.connect(self._on_close)
        self._answers = FlowBox(gap=SPACE.s)
        self._answers.hide()
        layout.addWidget(self._icon)
        layout.addWidget(BesideBox(self._text, self._answers, wants=self._wanted_width), 1)
        layout.addWidget(self._close)
        theme.changed.connect(self._on_theme)
        self.hide()

    @property
    def kind(self) -> str:
        """``"info"``, ``"ok"``, ``"caution"`` or ``"fail"``."""
        return self._kind

    @property
    def text(self) -> str:
        """The sentence on show, empty when none."""
        return self._text.text() if not self.isHidden() else ""

    def show_message(
        self,
        kind: str,
        text: str,
        actions: Sequence[tuple[str, str]] = (),
        *,
        dismissible: bool = True,
    ) -> None:
        """Show a sentence with action buttons (id, label); replaces the one before."""
        if kind not in KINDS:
            raise ValueError(kind)
        self._kind = kind
        words = {
            "info": self.tr("Note"),
            "ok": self.tr("Done"),
            "caution": self.tr("Caution"),
            "fail": self.tr("Problem"),
        }
        text = in_window(text)
        self._text.setText(text)
        self.setAccessibleName(msg("{file}: {note}", file=words[kind], note=text))
        self._icon.setToolTip(words[kind])
        self._icon.setAccessibleName(words[kind])
        self._replace_buttons(actions)
        self._close.setVisible(dismissible)
        set_look(self, f"band-{kind}")
        self._on_theme(self._theme.theme)
        self.show()
        announce(self, self.accessibleName(), urgent=kind == "fail" or bool(actions))

    def show_error(
        self, error: JobFailed | DpdeskError, actions: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Show an error's own sentence and hint."""
        text = f"{said(error.sentence)} {said(error.hint)}".strip()
        self.show_message("fail", text, actions)

    def focus_answer(self, place: int = 0) -> None:
        """Move the focus to an action button, for a question that was just asked."""
        if self._buttons:
            self._buttons[place].setFocus(Qt.FocusReason.OtherFocusReason)

    def clear(self, kind: str = "") -> None:
        """Take the message away, or only one of a kind."""
        if kind and kind != self._kind:
            return
        self.hide()
        self._text.clear()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape dismisses while the focus is inside."""
        if event.key() == Qt.Key.Key_Escape and self._close.isVisible():
            self._on_close()
            return
        super().keyPressEvent(event)

    def _replace_buttons(self, actions: Sequence[tuple[str, str]]) -> None:
        for old in self._buttons:
            self._answers.remove(old)
            old.hide()
            old.deleteLater()
        self._buttons = []
        self._answers.setVisible(bool(actions))
        for identifier, label in actions:
            button = QPushButton(label)
            button.setProperty("action-id", identifier)
            button.setAccessibleName(label.replace("&", ""))
            button.setToolTip(label.replace("&", ""))
            button.clicked.connect(self._on_action)
            self._answers.add(button)
            self._buttons.append(button)
        self._answers.updateGeometry()

    def _wanted_width(self) -> int:
        """A whole line of the sentence, or as much of one as is read at ease."""
        metrics = self._text.fontMetrics()
        easy = metrics.averageCharWidth() * _LINE_LETTERS
        return min(metrics.horizontalAdvance(self._text.text()), easy)

    @Slot()
    def _on_action(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.triggered.emit(str(sender.property("action-id")))

    @Slot()
    def _on_close(self) -> None:
        self.clear()
        self.dismissed.emit()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        tokens = theme.tokens
        colours = {
            "info": tokens.muted,
            "ok": tokens.accent,
            "caution": tokens.caution,
            "fail": tokens.fail,
        }
        self._icon.setPixmap(pixmap(_ICONS[self._kind], colours[self._kind], theme.icon))
        self._close.setIcon(icon("cancel", tokens, size=theme.icon))
        self._close.setIconSize(QSize(theme.icon * 3 // 4, theme.icon * 3 // 4))
