"""A line of buttons of which exactly one is down, and a field that finds lines of long lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QRadioButton,
    QToolButton,
    QWidget,
)

from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.words.numbers import grouped, legible, verbatim

_NOTHING: Mapping[str, str] = {}


class ChoiceStrip(FlowBox):
    """Choices with an id and words each; they break into lines where there is little room.

    ``chosen(str)`` is emitted when the user takes another one, never by :meth:`choose`.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None, lines: int = 0) -> None:
        super().__init__(parent, gap=SPACE.xs, lines=lines)
        self.setAccessibleName(name)
        self._buttons: dict[str, QRadioButton] = {}
        self._offered: list[tuple[str, str, str]] = []
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)

    @property
    def keys(self) -> tuple[str, ...]:
        """Ids of all choices, in order."""
        return tuple(self._buttons)

    @property
    def current(self) -> str:
        """Id of the choice that is down; empty when there is none."""
        return next((key for key, one in self._buttons.items() if one.isChecked()), "")

    def set_choices(
        self, choices: Sequence[tuple[str, str]], full: Mapping[str, str] = _NOTHING
    ) -> None:
        """Offer these (id, words), in order; the present choice stays when it is among them.

        ``full`` has the whole words of choices whose words on the buttons are short.
        """
        present = self.current
        offered = [(key, words, full.get(key, words)) for key, words in choices]
        if offered == self._offered:
            return
        self._offered = offered
        for key in [key for key in self._buttons if key not in dict(choices)]:
            self._drop(key)
        for key, words, whole in offered:
            self._put(key, words, whole)
        self._buttons = {key: self._buttons[key] for key, _ in choices}
        for button in self._buttons.values():
            self.add(button)
        self.choose(present)
        self.updateGeometry()

    def choose(self, identifier: str) -> None:
        """Put a choice down, silently; the first one when there is none of this id."""
        button = self._buttons.get(identifier) or next(iter(self._buttons.values()), None)
        if button is not None:
            button.setChecked(True)

    def button(self, identifier: str) -> QRadioButton:
        """The button of a choice; KeyError when there is none."""
        return self._buttons[identifier]

    def _put(self, key: str, words: str, whole: str) -> None:
        button = self._buttons.get(key)
        if button is None:
            button = QRadioButton()
            set_look(button, "choice")
            button.setProperty("choice", key)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self._group.addButton(button)
            self._buttons[key] = button
        whole = legible(whole)
        words = legible(words)
        button.setText(verbatim(words))
        button.setAccessibleName(whole if whole.startswith(words) else f"{words}: {whole}")
        button.setToolTip(self.tr("Show: {what}").format(what=whole))

    def _drop(self, key: str) -> None:
        button = self._buttons.pop(key)
        self._group.removeButton(button)
        self.remove(button)
        button.hide()
        button.deleteLater()

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        self.chosen.emit(str(button.property("choice")))


class FoldingStrip(ChoiceStrip):
    """As :class:`ChoiceStrip`, in one line. The present choice is always among the buttons.

    The menu opens with Space or a click and is walked through with the arrow keys.
    """

    chosen = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent, lines=1)
        self._folding = False
        self._folded: tuple[str, ...] = ()
        self.more = QToolButton(self)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setToolTip(self.tr("More views that do not fit here"))
        self.more.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self.more, "choice")
        self._menu = QMenu(self.more)
        self._menu.triggered.connect(self._on_action)
        self.more.setMenu(self._menu)
        self.more.hide()

    @property
    def folded(self) -> tuple[str, ...]:
        """Ids of the choices that are in the menu."""
        return self._folded

    def choose(self, identifier: str) -> None:
        """See :meth:`ChoiceStrip.choose`; a choice of the menu becomes a button."""
        super().choose(identifier)
        self._fold()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width has room for others."""
        super().resizeEvent(event)
        self._fold()

    def event(self, event: QEvent) -> bool:
        """Text of another size needs other room."""
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.StyleChange):
            self._fold()
        return done

    def _fold(self) -> None:
        if self._folding or not self.keys:
            return
        self._folding = True
        try:
            self._show(self._fitting())
        finally:
            self._folding = False

    def _fitting(self) -> Sequence[str]:
        """Ids of the choices that have room as buttons, in their order."""
        wide = {key: self.button(key).sizeHint().width() + SPACE.xs for key in self.keys}
        room = self.width() + SPACE.xs
        if sum(wide.values()) <= room or self.width() <= 1:
            return self.keys
        room -= self._menu_width() + SPACE.xs
        kept = [self.current] if self.current else []
        room -= sum(wide[key] for key in kept)
        for key in self.keys:
            if key in kept:
                continue
            room -= wide[key]
            if room < 0:
                break
            kept.append(key)
        return [key for key in self.keys if key in kept]

    def _menu_width(self) -> int:
        """Width of the menu's button with all choices in it, reckoned from the words it has now.

        To write the words on it would ask for another layout, which asks here again, for ever.
        """
        has, widest = self.more.text(), self._words(len(self.keys))
        advance = self.more.fontMetrics().horizontalAdvance
        return self.more.sizeHint().width() + advance(widest) - advance(has)

    def _words(self, count: int) -> str:
        return self.tr("{n} more  ▾").format(n=grouped(count))

    def _show(self, kept: Sequence[str]) -> None:
        folded = tuple(key for key in self.keys if key not in kept)
        for key in self.keys:
            self.button(key).setVisible(key not in folded)
        self.more.setText(self._words(len(folded)))
        self.more.setVisible(bool(folded))
        self.add_last(self.more)
        listed = tuple((key, self.button(key).text()) for key in folded)
        if listed == tuple((action.data(), action.text()) for action in self._menu.actions()):
            return
        self._folded = folded
        self._menu.clear()
        for key, text in listed:
            action = QAction(text, self._menu)
            action.setData(key)
            action.setToolTip(self.button(key).toolTip())
            self._menu.addAction(action)
        names = ", ".join(text.replace("&&", "&") for _, text in listed)
        words = self.more.text().strip(" ▾")
        self.more.setAccessibleName(f"{words}: {names}")

    @Slot(QAction)
    def _on_action(self, action: QAction) -> None:
        key = str(action.data())
        self.choose(key)
        self.button(key).setFocus(Qt.FocusReason.OtherFocusReason)
        self.chosen.emit(key)


MANY_LINES = 12


class ListFinder(QLineEdit):
    """Above a long list: only lines that hold what is typed are in sight. Short lists have none."""

    def __init__(self, lines: QListWidget, name: str) -> None:
        super().__init__()
        self._lines, self._searched = lines, False
        self.setAccessibleName(name)
        self.setToolTip(self.tr("Only lines that contain this text stay visible"))
        self.setPlaceholderText(self.tr("find"))
        self.setClearButtonEnabled(True)
        self.textChanged.connect(self._on_lines)
        for signal in (lines.model().rowsInserted, lines.model().rowsRemoved):
            signal.connect(self._on_lines)
        lines.model().modelReset.connect(self._on_lines)
        lines.itemChanged.connect(self._on_lines)
        self._on_lines()

    @property
    def found(self) -> list[QListWidgetItem]:
        """The lines in sight."""
        items = (self._lines.item(place) for place in range(self._lines.count()))
        return [item for item in items if not item.isHidden()]

    @Slot()
    def _on_lines(self) -> None:
        count, words = self._lines.count(), self.text().casefold().split()
        if count <= MANY_LINES and words:
            self.clear()
            return
        self.setVisible(count > MANY_LINES)
        searched, self._searched = self._searched, bool(words)
        for place in range(count if words or searched else 0):
            item = self._lines.item(place)
            text = item.text().casefold()
            heading = item.flags() == Qt.ItemFlag.NoItemFlags
            item.setHidden(bool(words) and (heading or not all(one in text for one in words)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes to the first line in sight, Escape brings all back."""
        if event.key() == Qt.Key.Key_Down and self.found:
            chosen = self._lines.currentItem()
            if chosen is None or chosen.isHidden():
                self._lines.setCurrentItem(self.found[0])
            self._lines.setFocus(Qt.FocusReason.OtherFocusReason)
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)
