"""Parts of the pages of a review: areas that scroll, cards of lines, a field for a path."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QWidget,
)

from dpdesk.core.home import expanded, is_address
from dpdesk.core.messages import msg
from dpdesk.ui.files import FileAsker
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import PageStack, SteadyArea, least_height
from dpdesk.ui.words.spoken import in_window

NARROW_EMS = 92


class _WideArea(SteadyArea):
    """An area that is never narrower than what it holds, since it does not scroll sideways."""

    def minimumSizeHint(self) -> QSize:
        """As wide as what it holds at least, with the bar next to it."""
        least, held = super().minimumSizeHint(), self.widget()
        if held is None:
            return least
        bar = self.verticalScrollBar().sizeHint().width() + 2 * self.frameWidth()
        return QSize(max(least.width(), held.minimumSizeHint().width() + bar), least.height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What it holds may need another width now."""
        if event.type() is QEvent.Type.LayoutRequest and watched is self.widget():
            self.updateGeometry()
        return super().eventFilter(watched, event)


def scrolled(widget: QWidget, name: str = "", *, whole: bool = False) -> QScrollArea:
    """``widget``, never squeezed: what is too high scrolls.

    With a ``name`` the area itself takes the focus, so that keys can scroll text. ``whole``: it is
    never too wide either, and takes the width from what lies beside it.
    """
    area = _WideArea() if whole else SteadyArea()
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    if name:
        area.setAccessibleName(name)
        area.setToolTip(name)
    else:
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(widget)
    return area


class Page(QWidget):
    """What lies in a scrolling area: it takes the room there is, and scrolls only below its least.

    Left alone, an area gives a page with wrapped text the height it likes best, and what matters
    most, the buttons at its end, would lie below the edge.
    """

    def heightForWidth(self, width: int) -> int:
        """The least height at this width."""
        layout = self.layout()
        return -1 if layout is None else layout.minimumHeightForWidth(width)


_HEIGHT_CHANGES = (QEvent.Type.Resize, QEvent.Type.LayoutRequest)


class SideBySide(QSplitter):
    """Two parts beside each other; where that would be too narrow, one below the other.

    ``lines`` are the least heights of the two parts in lines of text, ``narrow`` the least width
    (in letters) at which they are side by side; ``share`` is the first one's part of it (percent).
    """

    def __init__(
        self,
        theme: ThemeManager,
        name: str,
        parts: tuple[QWidget, QWidget],
        lines: tuple[int, int],
        narrow: int = NARROW_EMS,
        share: int = 60,
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._lines, self._ems, self._share = theme, lines, narrow, share
        self._least = [0, 0]
        self.setObjectName(name)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(7)
        for number, part in enumerate(parts):
            self.addWidget(part)
            self.setStretchFactor(number, 3 - number)
            part.installEventFilter(self)
        self.setSizes(
            [share, 100 - share]
        )  # in proportion, whatever the parts would take by themselves
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """At another width, or with other contents, lines that wrap may need another height."""
        if event.type() in _HEIGHT_CHANGES and isinstance(watched, QWidget):
            place = self.indexOf(watched)
            if place >= 0:
                self._hold(place)
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn when the width asks for it."""
        super().resizeEvent(event)
        self._turn()

    def set_least(self, place: int, height: int) -> None:
        """Never make a part lower than this either, whatever its lines."""
        if self._least[place] != height:
            self._least[place] = height
            self._hold(place)

    def _hold(self, place: int) -> None:
        part = self.widget(place)
        if part is not None:
            lines = self._lines[place] * self._theme.theme.target
            height = max(lines, self._least[place], least_height(part, part.width()))
            if height != part.minimumHeight():
                part.setMinimumHeight(height)

    def minimumSizeHint(self) -> QSize:
        """As wide as the wider part: where both do not fit side by side, they turn."""
        widths = self._widths()
        return QSize(max(widths, default=0), super().minimumSizeHint().height())

    def _widths(self) -> list[int]:
        parts = (self.widget(place) for place in range(self.count()))
        return [
            max(part.minimumWidth(), part.minimumSizeHint().width())
            for part in parts
            if part is not None
        ]

    def _turn(self) -> None:
        both = sum(self._widths()) + self.handleWidth()
        narrow = self.width() < max(both, self._theme.theme.ems(self._ems))
        wanted = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if self.orientation() != wanted:
            self.setOrientation(wanted)
            if not narrow:
                first = self.width() * self._share // 100
                self.setSizes([first, self.width() - first])

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for place in range(len(self._lines)):
            self._hold(place)
        if self.isVisible():  # else it turns when it gets its size
            self._turn()


class Turning(QWidget):
    """Pages, of which one is seen, and the choices above them: (id, words, page)."""

    def __init__(
        self,
        name: str,
        pages: Sequence[tuple[str, str, QWidget]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.s)
        self.strip, self._stack = ChoiceStrip(name), PageStack()
        self._by_name = {key: page for key, _, page in pages}
        for page in self._by_name.values():
            self._stack.addWidget(page)
        self.strip.set_choices([(key, words) for key, words, _ in pages])
        self.strip.chosen.connect(self.turn_to)
        layout.addWidget(self.strip)
        layout.addWidget(self._stack, 1)

    @Slot(str)
    def turn_to(self, key: str) -> None:
        """Show one of the pages; KeyError when there is none."""
        self.strip.choose(key)
        self._stack.setCurrentWidget(self._by_name[key])


class LinesCard(QFrame):
    """A heading and lines that wrap and can be selected; ``mark`` stands before each."""

    def __init__(self, head: str, mark: str = "") -> None:
        super().__init__()
        set_look(self, "card")
        self._head, self._mark = head, mark
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        title = QLabel(head)
        title.setWordWrap(True)
        set_look(title, "section")
        layout.addWidget(title)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self._text)

    @property
    def text(self) -> str:
        """All lines."""
        return self._text.text()

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show these lines."""
        mark = f"{self._mark} " if self._mark else ""
        self._text.setText("\n".join(f"{mark}{in_window(line)}" for line in lines))
        self.setAccessibleName(msg("{file}: {note}", file=self._head, note=" ".join(lines)))
        self.setVisible(bool(lines))


class Kind(Enum):
    """What a field is for."""

    FILE = auto()
    FOLDER = auto()
    EITHER = auto()
    NEW_FILE = auto()


class PathField(QWidget):
    """A field with its label and buttons that ask for a file, or a folder.

    ``changed()`` after each change; ``start`` is where the chooser begins when nothing is written.
    """

    changed = Signal()

    def __init__(
        self, words: str, tip: str, asker: FileAsker, kind: Kind, start: Path | None = None
    ) -> None:
        super().__init__()
        self._words, self._asker, self._kind = words, asker, kind
        self._start = "" if start is None else str(start)
        layout = column(self, gap=SPACE.xs)
        self.label = QLabel(words)
        self.label.setWordWrap(True)
        self.line = QLineEdit()
        self.line.setAccessibleName(words)
        self.line.setToolTip(tip)
        self.line.textChanged.connect(self.changed)
        self.label.setBuddy(self.line)
        layout.addWidget(self.label)
        line = row(gap=SPACE.s)
        line.addWidget(self.line, 1)
        self._add_buttons(line, tip)
        layout.addLayout(line)

    @property
    def path(self) -> Path | None:
        """What is written; None when nothing is, or an address."""
        text = self.line.text().strip()
        return expanded(text) if text and not is_address(text) else None

    def _add_buttons(self, line: QHBoxLayout, tip: str) -> None:
        texts = {
            Kind.FILE: ((Kind.FILE, self.tr("Choose…"), self.tr("Choose: {what}")),),
            Kind.FOLDER: ((Kind.FOLDER, self.tr("Choose…"), self.tr("Choose: {what}")),),
            Kind.NEW_FILE: ((Kind.NEW_FILE, self.tr("Choose…"), self.tr("Choose: {what}")),),
            Kind.EITHER: (
                (Kind.FOLDER, self.tr("Folder…"), self.tr("Folder: {what}")),
                (Kind.FILE, self.tr("File…"), self.tr("File: {what}")),
            ),
        }
        for kind, text, name in texts[self._kind]:
            browse = QPushButton(text)
            browse.setProperty("asks", kind.name)
            browse.setAccessibleName(name.format(what=self._words))
            browse.setToolTip(tip)
            browse.setAutoDefault(False)
            browse.clicked.connect(self._on_browse)
            line.addWidget(browse)

    @Slot()
    def _on_browse(self) -> None:
        sender = self.sender()
        kind = Kind[str(sender.property("asks"))] if sender is not None else self._kind
        start, all_files = self.line.text() or self._start, self.tr("All files (*)")
        if kind is Kind.FOLDER:
            path = self._asker.open_folder(self._words, start)
        elif kind is Kind.NEW_FILE:
            path = self._asker.save_file(self._words, start, all_files)
        else:
            path = self._asker.open_file(self._words, start, all_files)
        if path is not None:
            self.line.setText(str(path))
