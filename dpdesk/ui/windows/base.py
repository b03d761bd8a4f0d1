"""One base for the windows beside the main one: look, size, band, Escape, jobs that end with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLabel, QWidget

from dpdesk.app.scripting import query_script
from dpdesk.core.query import Query
from dpdesk.ui.jobs import JobCancelled, JobFailed, JobHub
from dpdesk.ui.jobs.hub import T, Work
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.widgets.layouts import SteadyArea, tab_as_laid_out
from dpdesk.ui.words.numbers import short_name

_LONGEST_TITLE = 200


class SideWindow(QWidget):
    """A window beside the main one; it blocks nothing, and Escape closes it.

    A subclass gives itself a title and an accessible name, builds its parts in :meth:`frame`, and
    calls :meth:`follow_theme` when they are there. It asks the hub with :meth:`read`, in
    ``channels``: what is under way there is stopped when the window closes. ``room`` is its size at
    first and ``least`` the smallest, in widths of a letter and in lines. ``shortcuts`` names
    a method for each key of its own (names, since a bound method would keep the window alive).
    """

    channels: tuple[str, ...] = ()
    room = (84, 26)
    least = (30, 12)
    shortcuts: Mapping[str, str] = MappingProxyType({})

    def __init__(self, hub: JobHub, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._hub = hub
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._area = SteadyArea()
        self._sought: QWidget | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._on_soon)

    @cached_property
    def band(self) -> MessageBand:
        """Where the window says what happened; a window that wants it puts it in its place."""
        return MessageBand(self._theme)

    @cached_property
    def progress(self) -> JobLine:
        """What is under way, with its Cancel; a window that wants it puts it in its place."""
        return JobLine(self._hub)

    def frame(
        self,
        body: QWidget,
        above: Sequence[QWidget] = (),
        below: Sequence[QWidget] = (),
        gap: int = SPACE.m,
    ) -> None:
        """Put a body that scrolls into the window, between parts that stay."""
        outer = column(self, margin=SPACE.l, gap=gap)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for one in above:
            outer.addWidget(one)
        outer.addWidget(self._area, 1)
        self._area.setWidget(body)  # in its place already, so that the body moves once
        for one in below:
            outer.addWidget(one)

    def follow_theme(self, theme: ThemeManager) -> None:
        """Fit the window to the theme, now and later; call when it is built."""
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def fit(self, theme: Theme) -> None:
        """Fit what the window holds to a theme; for subclasses."""

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab follows the eye, whatever has come up since."""
        tab_as_laid_out(self)
        return super().focusNextPrevChild(next)

    def bring_in_front(self) -> None:
        """Show the window in front of the others."""
        self.show()
        self.raise_()
        self.activateWindow()

    def bring_in_sight(self, part: QWidget) -> None:
        """Scroll to a part of the body, once it has its place."""
        self._sought = part
        self._soon.start()

    @Slot()
    def _on_soon(self) -> None:
        if self._sought is not None and self._sought.isVisible():
            self._area.ensureWidgetVisible(self._sought)
        self._sought = None

    def read(
        self,
        channel: str,
        title: str,
        work: Work[T],
        then: Callable[[T], object],
        failed: Callable[[JobFailed], object] | None = None,
        cancelled: Callable[[JobCancelled], object] | None = None,
        *,
        told: bool = True,
        quiet: bool = True,
    ) -> None:
        """Do work of which only the newest of its channel counts; its progress stands here.

        Without ``failed`` a failure is told in the band; ``told`` False: without a progress line;
        ``quiet`` False: in the main window's list of activities, too.
        """
        job = self._hub.latest(channel).query(
            title,
            work,
            then=then,
            failed=failed or self.tell_failure,
            cancelled=cancelled or self.tell_stop,
            quiet=quiet,
        )
        if told:
            self.progress.follow(job, title)

    def change(
        self,
        title: str,
        work: Work[T],
        then: Callable[[T], object],
        failed: Callable[[JobFailed], object] | None = None,
    ) -> None:
        """Do work that changes something; it is not stopped when the window closes."""
        self._hub.mutate(title, work, then=then, failed=failed or self.tell_failure)

    def tell_failure(self, outcome: JobFailed) -> None:
        """Say in the band why something failed."""
        self.band.show_error(outcome)

    def tell_stop(self, outcome: JobCancelled) -> None:
        """Say that something was stopped; for subclasses that have words for it."""

    def tell_written(self, path: object) -> None:
        """Say in the band where a file was written."""
        self.band.show_message("ok", self.tr("Written: {path}").format(path=path))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes; ``shortcuts`` holds what else there is."""
        own = self.shortcuts.get(QKeySequence(event.keyCombination()).toString())
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif own is not None:
            attrgetter(own)(self)()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        for channel in self.channels:
            self._hub.latest(channel).cancel()
        super().closeEvent(event)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(self.least[0]), theme.row * self.least[1])
        self.fit(theme)
        screen = self.screen().availableSize()
        wide, high = theme.ems(self.room[0]), theme.row * self.room[1]
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))


class ReadingWindow(SideWindow):
    """A side window that opens one release at a time and asks it in the background."""

    room = (150, 30)
    least = (40, 14)

    def __init__(
        self, hub: JobHub, theme: ThemeManager, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(hub, theme, parent)
        self.setWindowTitle(self.tr("{name} – DPDesk").format(name=name))
        self.setAccessibleName(name)
        self.title = QLabel()
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setMinimumWidth(1)  # a name without a blank does not widen the window
        set_look(self.title, "headline")

    def name_it(self, name: str) -> None:
        """Show what is open, as the headline and in the title bar."""
        name = short_name(name, _LONGEST_TITLE)
        self.title.setText(name)
        self.setWindowTitle(self.tr("{name} – DPDesk").format(name=name))

    def tell_stop(self, outcome: JobCancelled) -> None:
        """Say that reading was stopped, to anyone who still looks."""
        if self.isVisible():
            self.band.show_message(
                "info", self.tr("It was stopped. Ask again, or open the release again.")
            )

    def copy_query(self, folders: Sequence[Path], query: Query) -> None:
        """Put a question on the clipboard as Python code."""
        QGuiApplication.clipboard().setText(query_script(folders, query))
        self.band.show_message("ok", self.tr("The Python code is on the clipboard."))
