"""Where to write a file: asked for in a chooser, and in a band before a file is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QToolButton, QWidget

from dpdesk.core.errors import DpdeskError
from dpdesk.core.messages import msg
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, icon, pixmap, set_look
from dpdesk.ui.widgets.focusing import announce
from dpdesk.ui.widgets.layouts import FlowBox, row
from dpdesk.ui.widgets.states import in_window
from dpdesk.ui.widgets.turning import BesideBox
from dpdesk.ui.words.spoken import said

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

    def clear(self) -> None:
        """Take the message away."""
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


REPLACE, OTHER = "place.replace", "place.other"


class FilePlace(QObject):
    """One place is asked for at a time.

    ``chosen(str, Path, bool)``: what the file is for, the file, and whether what lies there is to
    be replaced, which was then asked for in so many words.
    """

    chosen = Signal(str, object, bool)

    def __init__(self, asker: FileAsker, band: MessageBand, parent: QObject) -> None:
        super().__init__(parent)
        self._asker, self._band = asker, band
        self._question: tuple[str, str, str] = ("", "", "")
        self._ending = ""
        self._path: Path | None = None
        band.triggered.connect(self._on_answer)

    def ask(self, purpose: str, title: str, suggestion: str, filters: str) -> None:
        """Ask for a file; one without an ending gets that of the suggestion."""
        self._question = (title, suggestion, filters)
        self._purpose, self._ending = purpose, Path(suggestion).suffix
        self._ask()

    def _ask(self) -> None:
        self._path = None
        path = self._asker.new_file(*self._question)
        if path is None:
            return
        if not path.suffix:
            path = path.with_name(path.name + self._ending)
        if not path.is_file():
            self.chosen.emit(self._purpose, path, False)
            return
        self._path = path
        text = self.tr("{name} is there already, in {folder}: replace it?")
        self._band.show_message(
            "caution",
            text.format(name=path.name, folder=path.parent),
            (
                (OTHER, self.tr("Choose another name…")),
                (REPLACE, self.tr("Replace {name}").format(name=path.name)),
            ),
        )
        self._band.focus_answer()

    @Slot(str)
    def _on_answer(self, answer: str) -> None:
        path, self._path = self._path, None
        if path is None or answer not in (REPLACE, OTHER):
            return
        self._band.clear()
        if answer == REPLACE:
            self.chosen.emit(self._purpose, path, True)
        else:
            self._ask()
