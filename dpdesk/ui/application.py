"""Starting the window's process: display, fonts, theme, crash path, collection, warm-up.

Use (in the composition that knows the panels)::

    require_display()                                    # before any QApplication is made
    application = Application.start(home, settings)      # QApplication and its services
    window = MainWindow(application.hub, application.theme, settings, entries)
    exit_code = application.run(window)

``Application`` holds the one job hub, the theme and the crash reporter.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Slot
from PySide6.QtWidgets import QApplication

from dpdesk.ui.crash import CrashReporter
from dpdesk.ui.display import require_display
from dpdesk.ui.jobs import GcKeeper, JobDone, JobHub, warm_up
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.settings import SettingsStore
from dpdesk.ui.theme import ThemeManager


class Application(QObject):
    """The services of one process: ``qt``, ``hub``, ``theme``, ``crash``."""

    def __init__(self, qt: QApplication, home: Path, settings: SettingsStore) -> None:
        super().__init__(qt)
        self.qt = qt
        self.crash = CrashReporter(home, self)
        self.theme = ThemeManager(qt, settings.current.theme, settings.current.text_size)
        self.theme.apply()
        self.hub = JobHub(self)
        self._keeper = GcKeeper(self)
        self._window: MainWindow | None = None

    @classmethod
    def start(cls, home: Path, settings: SettingsStore) -> Application:
        """Make the QApplication and its services; StorageError without a display."""
        require_display()
        # Spin boxes write numbers as the rest of the program does, whatever the system's language.
        QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.Country.UnitedStates))
        existing = QApplication.instance()
        qt = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
        qt.setApplicationName("DPDesk")
        qt.setDesktopFileName("dpdesk")
        return cls(qt, home, settings)

    def run(self, window: MainWindow) -> int:
        """Show the window and run the event loop until it has closed; returns the exit code."""
        self._window = window
        self.crash.install()
        self._keeper.start()
        self.crash.reported.connect(window.show_fault)
        window.shown.connect(self._on_shown)
        window.show()
        try:
            return int(self.qt.exec())
        finally:
            self._keeper.stop()
            self.crash.uninstall()

    def _on_ready(self, outcome: JobDone) -> None:
        self._keeper.settle()

    @Slot()
    def _on_shown(self) -> None:
        self.hub.query(self.tr("Getting ready"), warm_up, done=self._on_ready, quiet=True)
        if self._window is not None and self.crash.last_crash:
            self._window.show_message(
                "caution",
                self.tr("DPDesk ended unexpectedly last time. Saved plans are whole."),
            )
