"""Starting the window's process: display, fonts, theme, crash path, collection, warm-up.

Use (in the composition that knows the panels)::

    require_display()                                    # before any QApplication is made
    application = Application.start(home, settings)      # QApplication and its services
    window = MainWindow(application.hub, application.theme, settings, entries)
    exit_code = application.run(window)

``Application`` holds the one job hub, the theme and the crash reporter.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Slot
from PySide6.QtWidgets import QApplication

from dpdesk.app.warming import load_libraries, warm_up
from dpdesk.ui.charts import ChartView, plot_pieces
from dpdesk.ui.crash import CrashReporter
from dpdesk.ui.display import require_display
from dpdesk.ui.jobs import GcKeeper, JobHub, JobOutcome, JobState, SpareTime
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.settings import SettingsStore, install_language
from dpdesk.ui.theme import ThemeManager

# Python code on a background thread lets the window have a turn after this long. Each call into the
# toolkit has to wait for a turn, and building a panel makes hundreds of them.
SWITCH_SECONDS = 0.0002


class Application(QObject):
    """The services of one process: ``qt``, ``hub``, ``theme``, ``crash``."""

    def __init__(self, qt: QApplication, home: Path, settings: SettingsStore) -> None:
        super().__init__(qt)
        self.qt = qt
        self.crash = CrashReporter(home, self)
        self.theme = ThemeManager(qt, settings.current.theme, settings.current.text_size)
        self.theme.apply()
        self.hub = JobHub(self)
        self._keeper, self._spare_time = GcKeeper(self), SpareTime(self)
        self._window: MainWindow | None = None
        self._loading, self._warming = 0, 0
        self._ready = self._works = False
        self._begin: Callable[[], object] | None = None
        self.hub.started.connect(self._on_started)
        self.hub.finished.connect(self._on_finished)

    @classmethod
    def start(cls, home: Path, settings: SettingsStore) -> Application:
        """Make the QApplication and its services; StorageError without a display."""
        require_display()
        # Spin boxes write numbers as the rest of the program does, whatever the system's language.
        QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
        existing = QApplication.instance()
        qt = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
        sys.setswitchinterval(SWITCH_SECONDS)
        install_language(qt, settings.current.language)
        qt.setApplicationName("DPDesk")
        qt.setDesktopFileName("dpdesk")
        return cls(qt, home, settings)

    def run(self, window: MainWindow, begin: Callable[[], object] | None = None) -> int:
        """Show the window and run the event loop until it has closed; returns the exit code.

        ``begin`` is called when the window can be seen and is ready to work.
        """
        self.crash.install()
        self.show(window, begin)
        try:
            return int(self.qt.exec())
        finally:
            self.crash.uninstall()

    def show(self, window: MainWindow, begin: Callable[[], object] | None = None) -> None:
        """Show the window, and get ready what it will need as soon as it can be seen."""
        self._window, self._begin = window, begin
        self._keeper.start()
        self.crash.reported.connect(window.show_fault)
        window.shown.connect(self._on_shown)
        window.openAsked.connect(self._get_ready_to_work)
        window.show()

    def is_ready(self) -> bool:
        """Whether all that :meth:`show` gets ready is there."""
        return self._ready and not self._spare_time.busy

    def stop(self) -> None:
        """Give back what :meth:`show` has taken over from Python, and collect what is left.

        Call it when the window has been taken apart and nobody holds its parts any more: whatever
        waits for the end of the interpreter goes in any order, widgets after the toolkit itself,
        which crashes now and then.
        """
        self._window = self._begin = None
        self._spare_time.stop()
        self._keeper.stop()
        gc.collect()

    @Slot(object)
    def _on_started(self, state: JobState) -> None:
        if not state.quiet:
            self._get_ready_to_work()

    @Slot()
    def _get_ready_to_work(self) -> None:
        """Load what work needs and an idle window does not; once, when the first work begins."""
        if not self._works and self._window is not None:
            self._works = True
            self._keeper.start()
            self._warming = self.hub.query(self.tr("Getting ready"), warm_up, quiet=True)

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if outcome.job == self._loading and self._window is not None:
            self._ready = True
            views = self._window.findChildren(ChartView)
            self._spare_time.add_steps(plot_pieces())
            self._spare_time.add([self._window.prepare, *(view.prepare for view in views)])
            self._spare_time.add([self._settle])
        elif outcome.job == self._warming and outcome.job:
            self._settle()

    @Slot()
    def _settle(self) -> None:
        """Collect again; but what another job is still loading is worth waiting for."""
        live = {state.job for state in self.hub.states}
        if self._ready and not self._spare_time.busy and self._warming not in live:
            self._keeper.settle()

    @Slot()
    def _on_shown(self) -> None:
        self._loading = self.hub.query(self.tr("Getting ready"), load_libraries, quiet=True)
        begin, self._begin = self._begin, None
        if begin is not None:
            begin()
        if self._window is not None and self.crash.last_crash:
            self._window.show_message(
                "caution",
                self.tr("DPDesk ended unexpectedly last time. Plans and projects are whole."),
            )
