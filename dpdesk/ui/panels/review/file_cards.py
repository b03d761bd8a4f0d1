"""The two parts of a release as lists of files: what leaves, and what stays."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from dpdesk.ui.panels.review.files import FileLine, FileLists, size_text
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import Badge, column, row
from dpdesk.ui.words.numbers import grouped


class FileCard(QFrame):
    """Files of one folder with size and purpose."""

    def __init__(self, head: str, badge: str, why: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._head = head
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        line = row()
        title = QLabel(head)
        title.setWordWrap(True)
        title.setMinimumWidth(1)
        set_look(title, "section")
        line.addWidget(title, 1)
        if badge:
            line.addWidget(Badge(badge, why))
        layout.addLayout(line)
        self._place = QWidget()
        self._grid = QGridLayout(self._place)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(SPACE.m)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        layout.addWidget(self._place)

    def show_files(self, files: Sequence[FileLine]) -> None:
        """Show these files."""
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for number, one in enumerate(files):
            name, size, text = QLabel(one.name), QLabel(size_text(one.size)), QLabel(one.sentence)
            set_look(name, "strong")
            set_look(text, "note")
            text.setWordWrap(True)
            text.setContentsMargins(0, 0, 0, SPACE.s)
            if one.size is not None:
                size.setToolTip(self.tr("{n} bytes").format(n=grouped(one.size)))
            self._grid.addWidget(name, 2 * number, 0)
            self._grid.addWidget(size, 2 * number, 1, Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(text, 2 * number + 1, 0, 1, 2)
        said = "; ".join(f"{one.name}, {size_text(one.size)}: {one.sentence}" for one in files)
        self.setAccessibleName(f"{self._head}: {said}")


class FileCards(QWidget):
    """Both parts, one below the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, gap=SPACE.m)
        self._public = FileCard(self.tr("public/ is what leaves"), "", "")
        self._internal = FileCard(
            self.tr("internal/ stays with you"),
            self.tr("CONFIDENTIAL"),
            self.tr("It tells facts about the raw data; never pass it on with the public part."),
        )
        self._absent = QLabel(
            self.tr("The internal part is not here: only the public part was opened.")
        )
        self._absent.setWordWrap(True)
        set_look(self._absent, "note")
        for widget in (self._public, self._internal, self._absent):
            layout.addWidget(widget)
        layout.addStretch(1)

    def show_lists(self, lists: FileLists) -> None:
        """Show the files of a release."""
        self._public.show_files(lists.public)
        self._internal.show_files(lists.internal or ())
        self._internal.setVisible(lists.internal is not None)
        self._absent.setVisible(lists.internal is None)
