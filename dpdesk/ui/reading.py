"""What windows that read a release share: title, band, a job with its Cancel, room to scroll."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from dpdesk.app.scripting import query_script
from dpdesk.core.query import Query
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobHub
from dpdesk.ui.jobs.hub import Work
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.words.numbers import short_name

_LONGEST_TITLE = 200


class ReadingWindow(QWidget):
    """A window beside the main one that opens one release at a time and asks it in the background.

    ``channels`` are those of the hub in which it asks: what nobody waits for any more is stopped
    when the window closes. ``room`` is its size at first, in widths of a letter and in lines.
    """

    channels: tuple[str, ...] = ()
    room = (150, 30)

    def __init__(
        self, hub: JobHub, theme: ThemeManager, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._hub = hub
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("{name} – DPDesk").format(name=name))
        self.setAccessibleName(name)
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setMinimumWidth(1)  # a name without a blank does not widen the window
        set_look(self.title, "headline")
        self.band, self.progress = MessageBand(theme), JobLine(hub)
        self._sought: QWidget | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._on_soon)

    def build_body(self) -> tuple[QVBoxLayout, QVBoxLayout]:
        """The layout of the window, and of the part of it that scrolls; the title stands there."""
        outer = column(self, margin=SPACE.l, gap=SPACE.s)
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        layout.addWidget(self.title)
        self._area = area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(body)
        outer.addWidget(area, 1)
        return outer, layout

    def bring_in_sight(self, part: QWidget) -> None:
        """Scroll to a part of the body, once it has its place."""
        self._sought = part
        self._soon.start()

    @Slot()
    def _on_soon(self) -> None:
        if self._sought is not None and self._sought.isVisible():
            self._area.ensureWidgetVisible(self._sought)
        self._sought = None

    def follow_theme(self, theme: ThemeManager) -> None:
        """Fit the window to the theme, now and later; call when it is built."""
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def present(self) -> None:
        """Show the window in front."""
        self.show()
        self.raise_()
        self.activateWindow()

    def name_it(self, name: str) -> None:
        """Show what is open, as the headline and in the title bar."""
        name = short_name(name, _LONGEST_TITLE)
        self.title.setText(name)
        self.setWindowTitle(self.tr("{name} – DPDesk").format(name=name))

    def read(
        self,
        channel: str,
        title: str,
        work: Work,
        done: Callable[[JobDone], object],
        failed: Callable[[JobFailed], object] | None = None,
        *,
        told: bool = True,
    ) -> None:
        """Do work of which only the newest of its channel counts; its progress stands here.

        Without ``failed`` a failure is told in the band; ``told`` False: without a progress line.
        """
        job = self._hub.latest(channel).query(
            title,
            work,
            done=done,
            failed=failed or self.tell_failure,
            cancelled=self._on_stopped,
            quiet=True,
        )
        if told:
            self.progress.follow(job, title)

    def copy_query(self, folders: Sequence[Path], query: Query) -> None:
        """Put a question on the clipboard as Python code."""
        QGuiApplication.clipboard().setText(query_script(folders, query))
        self.band.show_message("ok", self.tr("The Python code is on the clipboard."))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        for channel in self.channels:
            self._hub.latest(channel).cancel()
        super().closeEvent(event)

    def tell_failure(self, outcome: JobFailed) -> None:
        """Say in the band why something failed."""
        self.band.show_error(outcome)

    def _on_stopped(self, outcome: JobCancelled) -> None:
        if self.isVisible():
            self.band.show_message(
                "info", self.tr("It was stopped. Ask again, or open the release again.")
            )

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(40), theme.row * 14)
        screen = self.screen().availableSize()
        wide, high = theme.ems(self.room[0]), theme.row * self.room[1]
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))


def shown_name(title: str, folder: Path) -> str:
    """How a release is called: by its title, else by its folder."""
    return title or folder.name
