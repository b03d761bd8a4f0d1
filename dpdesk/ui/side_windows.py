"""The windows that stand beside the main one; each is made when it is first wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from dpdesk.app.budgets import look_at_ledger
from dpdesk.app.ledgers import ledger_path, open_ledger
from dpdesk.app.querying import reads_rows
from dpdesk.app.shops import AtHand
from dpdesk.core.capabilities import Use
from dpdesk.ui.browsing import BrowseWindow
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.main_window import MainWindow
from dpdesk.ui.shell import ActionSpec
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.asking import AskWindow
from dpdesk.ui.windows.audit import AuditWindow
from dpdesk.ui.windows.database import DatabaseWindow
from dpdesk.ui.windows.fitting import FitWindow
from dpdesk.ui.windows.guide import GuideWindow
from dpdesk.ui.windows.history import HistoryWindow
from dpdesk.ui.windows.ledger import DELTA, RESTORED, LedgerWindow
from dpdesk.ui.windows.people import PeopleWindow
from dpdesk.ui.windows.ways import WaysWindow
from dpdesk.ui.workbench import Workbench

_START = "ledger.start"
_Entry = tuple[ActionSpec, Callable[[], object], Callable[[], bool] | None]


class SideWindows(QObject):
    """People and keys, the audit log, the budget ledger, all states of the work, the plan and
    another file, the tables of a released cube, questions to released rows, ways to release
    compared, databases, the guide. A new one is an entry in :meth:`_entries` and the property that
    makes it.

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
        self._bench, self._window, self._theme, self._files = bench, window, theme, asker
        for spec, show, possible in self._entries():
            window.actions_.add(spec, show, possible)
        window.statesAsked.connect(self.show_history)
        window.guideAsked.connect(self.show_guide_page)
        window.project_actions.applyAsked.connect(self.show_fit)
        self._look_for_lost()

    def _entries(self) -> tuple[_Entry, ...]:
        """The action of each window, what shows it, and when that is possible (None: always)."""
        spec = ActionSpec
        tip = self.tr("Open a table, a view or a query of PostgreSQL, or a table of Spark")
        data = spec(
            "file.database", self.tr("Open a data&base…"), "file", "Ctrl+Shift+D", tip, "open"
        )
        tip = self.tr("Your keys, and whose signatures count")
        people = spec(
            "edit.people", self.tr("People and &keys…"), "edit", "Ctrl+Shift+K", tip, "people"
        )
        tip = self.tr("What was done on this computer, and whether the log of it is intact")
        audit = spec("view.audit", self.tr("Audit &log…"), "view", "Ctrl+Shift+L", tip, "records")
        tip = self.tr("What was spent on whom, what is left, and the limits")
        ledger = spec(
            "view.ledger", self.tr("Budget led&ger…"), "view", "Ctrl+Shift+E", tip, "records"
        )
        tip = self.tr("Look through the tables of a cube, or ask released rows for counts")
        text = self.tr("&Browse or ask a release…")
        browse = spec("view.browse", text, "view", "Ctrl+Shift+B", tip, "go")
        tip = self.tr(
            "For a planned cube of many dimensions: see what each table costs, and buy it"
        )
        buy = spec("run.buy", self.tr("Buy tables one by &one…"), "run", "Ctrl+Shift+G", tip)
        tip = self.tr("All states of the work, with times")
        states = spec("edit.states", self.tr("All &states…"), "edit", "Ctrl+Shift+H", tip)
        tip = self.tr("Tasks step by step, what each method protects against, terms, a search")
        guide = spec("help.guide", self.tr("&Guide…"), "help", "Ctrl+F1", tip)
        return (
            (data, self.show_database, None),
            (people, self.show_people, None),
            (audit, self.show_audit, None),
            (ledger, self.show_ledger, None),
            (browse, self.ask_browser, None),
            (buy, self.show_shop, self.plans_cube),
            (states, self.show_history, self._window.has_history),
            (guide, self.show_guide, None),
        )

    # -- the windows, each made when it is first wanted

    @cached_property
    def people(self) -> PeopleWindow:
        """People and keys."""
        bench = self._bench
        made = PeopleWindow(bench.context, bench.hub, self._theme, self._files, self._window)
        made.changed.connect(self.keysChanged)
        return made

    @cached_property
    def audit(self) -> AuditWindow:
        """The audit log."""
        bench = self._bench
        return AuditWindow(bench.context, bench.hub, self._theme, self._files, self._window)

    @cached_property
    def ledger(self) -> LedgerWindow:
        """The budget ledger."""
        made = LedgerWindow(self._bench.context, self._bench.hub, self._theme, self._window)
        made.entered.connect(self._bench.budget.look)
        return made

    @cached_property
    def fit(self) -> FitWindow:
        """The plan and another file."""
        made = FitWindow(self._bench, self._theme, self._files, self._window)
        made.jumpAsked.connect(self.jumpAsked)
        return made

    @cached_property
    def history(self) -> HistoryWindow:
        """All states of the work."""
        return HistoryWindow(self._bench, self._theme, self._window)

    @cached_property
    def browser(self) -> BrowseWindow:
        """The tables of a cube."""
        bench, files = self._bench, self._files
        made = BrowseWindow(
            bench.context, bench.hub, self._theme, files, self._at_hand, self._window
        )
        made.spent.connect(bench.budget.look)
        return made

    @cached_property
    def asker(self) -> AskWindow:
        """Questions to released rows."""
        bench = self._bench
        return AskWindow(bench.context, bench.hub, self._theme, self._data_path, self._window)

    @cached_property
    def ways(self) -> WaysWindow:
        """Ways to release sensitive columns, compared."""
        return WaysWindow(self._bench, self._theme, self._window)

    @cached_property
    def database(self) -> DatabaseWindow:
        """A table of a server is chosen here."""
        made = DatabaseWindow(self._bench.context, self._bench.hub, self._theme, self._window)
        made.chosen.connect(self.sourceAsked)
        return made

    @cached_property
    def guide(self) -> GuideWindow:
        """Pages on tasks and methods."""
        made = GuideWindow(self._bench, self._theme, self._window)
        made.methodAsked.connect(self._on_method_asked)
        return made

    # -- showing them

    @Slot()
    def show_guide(self) -> None:
        """Show the guide."""
        self.guide.present()

    @Slot(str)
    def show_guide_page(self, page: str) -> None:
        """Show a page of the guide; empty: where it was left."""
        self.guide.present(page)

    @Slot(str)
    def _on_method_asked(self, identifier: str) -> None:
        found = next((one for one in self._bench.methods if one.id == identifier), None)
        if found is not None:
            self._bench.choose_method(found)
            self.jumpAsked.emit("protect", "")

    @Slot()
    def show_people(self) -> None:
        """Show the window about people and keys."""
        self.people.present()

    @Slot()
    def show_audit(self) -> None:
        """Show the window of the audit log."""
        self.audit.present()

    @Slot()
    def show_ledger(self) -> None:
        """Show the ledger that the work names, or that of the home folder."""
        bench = self._bench
        self.ledger.present(open_ledger(bench.context, bench.work.base, bench.work.budget).path)

    def _look_for_lost(self) -> None:
        """At the start: where the ledger of the home folder was put back, show it."""
        bench = self._bench
        path = ledger_path(bench.context, bench.context.home)
        if path.exists():
            bench.hub.latest(_START).query(
                self.tr("Reading the ledger"),
                partial(look_at_ledger, bench.context, path, DELTA),
                failed=self._on_lost,
                quiet=True,
            )

    def _on_lost(self, outcome: JobFailed) -> None:
        if outcome.code == RESTORED:
            self.show_ledger()

    @Slot()
    def show_history(self) -> None:
        """Show the window of all states of the work."""
        self.history.present()

    @Slot(object)
    def show_browser(self, folder: object) -> None:
        """Show the released cube in a folder, or ask the rows that were released there."""
        if not isinstance(folder, Path):
            return
        if reads_rows(folder):
            self.show_asker(folder)
            return
        self.browser.open(folder)

    @Slot()
    def show_shop(self) -> None:
        """Show the cube of the plan that is open, to buy its tables one by one."""
        self.browser.open_plan()

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
        self.asker.open(folder)

    def _data_path(self) -> Path | None:
        """The data file that is open."""
        return None if self._bench.data is None else self._bench.data.path

    @Slot()
    def ask_browser(self) -> None:
        """Ask for the folder of a released cube, and show it."""
        folder = "" if self._bench.release_path is None else str(self._bench.release_path)
        self.show_browser(self._files.open_folder(self.tr("Browse or ask a release"), folder))

    @Slot()
    def show_ways(self) -> None:
        """Show the window that compares ways to release sensitive columns."""
        self.ways.present()

    @Slot()
    def show_database(self) -> None:
        """Show the window in which a table of a server is chosen."""
        problem = self._bench.open_problem
        work = self._bench.work if problem is None else problem.work
        self.database.present(work.source)

    @Slot()
    def show_fit(self) -> None:
        """Ask for another file, and show how the plan fits it."""
        self.fit.ask()
