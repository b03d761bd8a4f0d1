"""The windows that stand beside the main one; each is made when it is first wanted."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app.asking import reads_rows
from dpdesk.app.ledgers import ledger_path, open_ledger
from dpdesk.app.shops import AtHand
from dpdesk.core.capabilities import Use
from dpdesk.ui.asking import AskWindow
from dpdesk.ui.audit import AuditWindow
from dpdesk.ui.browsing import BrowseWindow
from dpdesk.ui.database import DatabaseWindow
from dpdesk.ui.files import FileAsker
from dpdesk.ui.fitting import FitWindow
from dpdesk.ui.history_window import HistoryWindow
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.ledger import RESTORED, LedgerWindow
from dpdesk.ui.ledger.window import LookAtLedger
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.people import PeopleWindow
from dpdesk.ui.shell import ActionSpec
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.ways import WaysWindow
from dpdesk.ui.workbench import Workbench

_START = "ledger.start"


class SideWindows(QObject):
    """People and keys, the audit log, the budget ledger, all states of the work, the plan and
    another file, the tables of a released cube, questions to released rows, ways to release
    compared, databases.

    ``keysChanged()`` when keys or trusted keys are others than before; ``jumpAsked(str, str)``
    names a step of the main window and a column to look at there; ``sourceAsked(SourceSpec)`` a
    table of a database server that is to be opened.
    """

    keysChanged = Signal()
    jumpAsked = Signal(str, str)
    sourceAsked = Signal(object)

    def __init__(
        self, bench: Workbench, window: MainWindow, theme: ThemeManager, asker: FileAsker
    ) -> None:
        super().__init__(window)
        self._bench, self._window, self._theme, self._asker = bench, window, theme, asker
        self.people: PeopleWindow | None = None
        self.audit: AuditWindow | None = None
        self.ledger: LedgerWindow | None = None
        self.fit: FitWindow | None = None
        self.history: HistoryWindow | None = None
        self.browser: BrowseWindow | None = None
        self.asker: AskWindow | None = None
        self.ways: WaysWindow | None = None
        self.database: DatabaseWindow | None = None
        self._add_actions()
        self._look_for_lost()

    def _add_actions(self) -> None:
        add = self._window.actions_.add
        text = self.tr("Open a data&base…")
        tip = self.tr("Open a table, a view or a query of a PostgreSQL server")
        spec = ActionSpec("file.database", text, "file", "Ctrl+Shift+D", tip, "open")
        add(spec, self.show_database)
        text, tip = self.tr("People and &keys…"), self.tr("Your keys, and whose signatures count")
        add(
            ActionSpec("edit.people", text, "edit", "Ctrl+Shift+K", tip, "people"),
            self.show_people,
        )
        text = self.tr("Audit &log…")
        tip = self.tr("What was done on this computer, and whether the log of it is intact")
        add(ActionSpec("view.audit", text, "view", "Ctrl+Shift+L", tip, "records"), self.show_audit)
        text = self.tr("Budget led&ger…")
        tip = self.tr("What was spent on whom, what is left, and the limits")
        spec = ActionSpec("view.ledger", text, "view", "Ctrl+Shift+E", tip, "records")
        add(spec, self.show_ledger)
        text = self.tr("&Browse or ask a release…")
        tip = self.tr("Look through the tables of a cube, or ask released rows for counts")
        spec = ActionSpec("view.browse", text, "view", "Ctrl+Shift+B", tip, "go")
        add(spec, self.ask_browser)
        text = self.tr("Buy tables one by &one…")
        tip = self.tr(
            "For a planned cube of many dimensions: see what each table costs, and buy it"
        )
        spec = ActionSpec("run.buy", text, "run", "Ctrl+Shift+G", tip)
        add(spec, self.show_shop, self.plans_cube)
        text, tip = self.tr("All &states…"), self.tr("All states that the work has had, with times")
        spec = ActionSpec("edit.states", text, "edit", "Ctrl+Shift+H", tip)
        add(spec, self.show_history, self._window.has_history)
        self._window.statesAsked.connect(self.show_history)
        self._window.project_actions.applyAsked.connect(self.show_fit)

    @Slot()
    def show_people(self) -> None:
        """Show the window about people and keys."""
        if self.people is None:
            bench = self._bench
            self.people = PeopleWindow(
                bench.context, bench.hub, self._theme, self._asker, self._window
            )
            self.people.changed.connect(self.keysChanged)
        self.people.present()

    @Slot()
    def show_audit(self) -> None:
        """Show the window of the audit log."""
        if self.audit is None:
            bench = self._bench
            self.audit = AuditWindow(
                bench.context, bench.hub, self._theme, self._asker, self._window
            )
        self.audit.present()

    @Slot()
    def show_ledger(self) -> None:
        """Show the ledger that the work names, or that of the home folder."""
        bench = self._bench
        if self.ledger is None:
            self.ledger = LedgerWindow(bench.context, bench.hub, self._theme, self._window)
            self.ledger.entered.connect(bench.budget.look)
        self.ledger.present(open_ledger(bench.context, bench.work.base, bench.work.budget).path)

    def _look_for_lost(self) -> None:
        """At the start: where the ledger of the home folder was put back, show it."""
        bench = self._bench
        path = ledger_path(bench.context, bench.context.home)
        if path.exists():
            bench.hub.latest(_START).query(
                self.tr("Reading the ledger"),
                LookAtLedger(bench.context, path),
                failed=self._on_lost,
                quiet=True,
            )

    def _on_lost(self, outcome: JobFailed) -> None:
        if outcome.code == RESTORED:
            self.show_ledger()

    @Slot()
    def show_history(self) -> None:
        """Show the window of all states of the work."""
        if self.history is None:
            self.history = HistoryWindow(self._bench, self._theme, self._window)
        self.history.present()

    @Slot(object)
    def show_browser(self, folder: object) -> None:
        """Show the released cube in a folder, or ask the rows that were released there."""
        if not isinstance(folder, Path):
            return
        if reads_rows(folder):
            self.show_asker(folder)
            return
        self._browser().open(folder)

    @Slot()
    def show_shop(self) -> None:
        """Show the cube of the plan that is open, to buy its tables one by one."""
        self._browser().open_plan()

    def _browser(self) -> BrowseWindow:
        if self.browser is None:
            bench = self._bench
            self.browser = BrowseWindow(
                bench.context, bench.hub, self._theme, self._asker, self._at_hand, self._window
            )
            self.browser.spent.connect(bench.budget.look)
        return self.browser

    def _at_hand(self) -> AtHand | None:
        """The work that is open, with its data."""
        data = self._bench.data
        return None if data is None else AtHand(self._bench.work, data)

    def plans_cube(self) -> bool:
        """Whether the data of a planned cube are open."""
        bench = self._bench
        bought = bench.context.registry.about(bench.work.method).allows(Use.BOUGHT)
        return bench.data is not None and bought

    def show_asker(self, folder: Path) -> None:
        """Ask a release of rows for counts."""
        if self.asker is None:
            bench = self._bench
            self.asker = AskWindow(
                bench.context, bench.hub, self._theme, self._data_path, self._window
            )
        self.asker.open(folder)

    def _data_path(self) -> Path | None:
        """The data file that is open."""
        return None if self._bench.data is None else self._bench.data.path

    @Slot()
    def ask_browser(self) -> None:
        """Ask for the folder of a released cube, and show it."""
        folder = "" if self._bench.release_path is None else str(self._bench.release_path)
        self.show_browser(self._asker.open_folder(self.tr("Browse or ask a release"), folder))

    @Slot()
    def show_ways(self) -> None:
        """Show the window that compares ways to release sensitive columns."""
        if self.ways is None:
            self.ways = WaysWindow(self._bench, self._theme, self._window)
        self.ways.present()

    @Slot()
    def show_database(self) -> None:
        """Show the window in which a table of a server is chosen."""
        if self.database is None:
            self.database = DatabaseWindow(
                self._bench.context, self._bench.hub, self._theme, self._window
            )
            self.database.chosen.connect(self.sourceAsked)
        problem = self._bench.open_problem
        work = self._bench.work if problem is None else problem.work
        self.database.present(work.source)

    @Slot()
    def show_fit(self) -> None:
        """Ask for another file, and show how the plan fits it."""
        if self.fit is None:
            self.fit = FitWindow(self._bench, self._theme, self._asker, self._window)
            self.fit.jumpAsked.connect(self.jumpAsked)
        self.fit.ask()
