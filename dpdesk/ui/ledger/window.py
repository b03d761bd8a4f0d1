"""The budget ledger in a window beside the main one; it blocks nothing."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QScrollArea, QWidget

from dpdesk.app.budgets import AccountPicture, LedgerPicture
from dpdesk.app.types import AppContext
from dpdesk.app.witnessing import RestoredLedger
from dpdesk.core.budget import PureEpsilon, ZeroConcentrated
from dpdesk.core.charts import ScatterChart
from dpdesk.ui.charts import ChartView
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.ledger import tasks, words
from dpdesk.ui.ledger.limit_form import LimitForm
from dpdesk.ui.ledger.people_form import PeopleForm
from dpdesk.ui.people.parts import Lines, button, labelled, note
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wording import in_window

LOOK, DRAW = "ledger.look", "ledger.draw"
RESTORED, LOST = "ledger.restored", "ledger.lost"


class LedgerWindow(QWidget):
    """Accounts with what is spent and left, their debits, limits and curves.

    ``entered()`` when something was entered: a limit, who people are, lost entries.
    """

    entered = Signal()

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._context, self._hub, self._path = context, hub, context.home
        self._picture: LedgerPicture | None = None
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("Budget ledger – DPDesk"))
        self.setAccessibleName(self.tr("Budget ledger"))
        outer = column(self, margin=SPACE.l, gap=SPACE.m)
        self.band = MessageBand(theme)
        outer.addWidget(self.band)
        inner = QWidget()
        self._build(inner, theme)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        outer.addWidget(area, 1)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def _build(self, inner: QWidget, theme: ThemeManager) -> None:
        layout = column(inner, gap=SPACE.m)
        layout.addWidget(note(self.tr("What was spent on whom, and what is left?"), "headline"))
        self.answer, self.where, self.warning = note("", "answer"), note(), note("", "caution")
        for one in (self.answer, self.where, self.warning):
            layout.addWidget(one)
        self._restoring = self._build_restoring()
        layout.addWidget(self._restoring)
        tip = self.tr("Arrow keys choose people; their debits and limits stand below")
        self.accounts = Lines(theme, self.tr("People, spending and limits"), tip)
        self.accounts.selectionModel().selectionChanged.connect(self._on_chosen)
        layout.addWidget(self.accounts)
        self.chart = ChartView(theme)
        layout.addWidget(self.chart)
        tip = self.tr("Every debit of the chosen people; all of them stay spent")
        self.debits = Lines(theme, self.tr("Debits, the newest first"), tip)
        tip = self.tr("Who set which limit, when and why")
        self.limits = Lines(theme, self.tr("Limits, the newest first"), tip)
        for head, lines in (
            (self.tr("Debits"), self.debits),
            (self.tr("Limits until now"), self.limits),
        ):
            layout.addWidget(note(head, "section"))
            layout.addWidget(lines)
        self.form = LimitForm()
        self.form.wanted.connect(self._on_limit)
        layout.addWidget(self.form)
        self.people = PeopleForm()
        self.people.wanted.connect(self._on_people)
        layout.addWidget(self.people)
        layout.addStretch(1)

    def _build_restoring(self) -> QWidget:
        box = QWidget()
        layout = column(box, gap=SPACE.s)
        self.reason = QLineEdit()
        tip = self.tr("For instance which backup was put back; kept in the audit log")
        labelled(layout, self.tr("What happened?"), self.reason, tip)
        tip = self.tr("From the witness and the audit log; then the budget can be spent again")
        self.restore = button(self.tr("Enter the missing entries again"), tip, "primary")
        self.restore.clicked.connect(self._on_restore)
        tip = self.tr("Only where it cannot be put back: debits that are missing stay uncounted")
        self.accept = button(self.tr("Go on without what is missing"), tip)
        self.accept.clicked.connect(self._on_accept)
        bar = FlowBox(gap=SPACE.s)
        bar.add(self.restore)
        bar.add(self.accept)
        layout.addWidget(bar)
        box.hide()
        return box

    def present(self, path: Path) -> None:
        """Show the window in front, with what is true now of the ledger at ``path``."""
        self._path = path
        self.show()
        self.raise_()
        self.activateWindow()
        self.refresh()
        self.accounts.setFocus()

    @property
    def picture(self) -> LedgerPicture | None:
        """What is shown; None while nothing could be read."""
        return self._picture

    @Slot()
    def refresh(self) -> None:
        """Read the ledger again."""
        self._hub.latest(LOOK).query(
            self.tr("Reading the ledger"),
            tasks.LookAtLedger(self._context, self._path),
            done=self._on_read,
            failed=self._on_unread,
            quiet=True,
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window, F5 reads the ledger again."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() == Qt.Key.Key_F5:
            self.refresh()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop what nobody waits for any more."""
        for channel in (LOOK, DRAW):
            self._hub.latest(channel).cancel()
        super().closeEvent(event)

    # -- what comes back

    def _on_read(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, LedgerPicture):
            self.band.clear()
            self._show(outcome.value)

    def _on_unread(self, outcome: JobFailed) -> None:
        self._show(None)
        self._offer(outcome.code in (RESTORED, LOST), accept=False)
        self.band.show_error(outcome)

    def _show(self, picture: LedgerPicture | None) -> None:
        before = self._account()
        self._picture = picture
        doubts = () if picture is None else picture.doubts
        self._offer(bool(doubts), accept=bool(doubts))
        accounts = () if picture is None else picture.accounts
        self.answer.setText("" if picture is None else words.answer_words(picture))
        self.where.setText("" if picture is None else str(picture.path))
        notes = doubts if picture is None else (*doubts, *picture.notes)
        self.warning.setText("\n".join(f"△ {in_window(one)}" for one in notes))
        self.warning.setVisible(bool(notes))
        rows = [words.account_row(one) for one in accounts]
        self.accounts.lines.set_table(words.account_headings(), rows)
        keys = [one.key.folded for one in accounts]
        if keys:
            place = keys.index(before.key.folded) if before and before.key.folded in keys else 0
            self.accounts.selectRow(place)
        self._on_chosen()

    def _offer(self, needed: bool, accept: bool) -> None:
        """Show what can be done about entries that are missing, or may be."""
        self._restoring.setVisible(needed)
        self.restore.setVisible(not accept)
        self.accept.setVisible(accept)

    def _account(self) -> AccountPicture | None:
        chosen = self.accounts.chosen
        known = () if self._picture is None else self._picture.accounts
        return known[chosen] if 0 <= chosen < len(known) else None

    @Slot()
    def _on_chosen(self) -> None:
        account = self._account()
        self.debits.lines.set_table(
            words.debit_headings(), [] if account is None else words.debit_rows(account)
        )
        self.limits.lines.set_table(
            words.limit_headings(), [] if account is None else words.limit_rows(account)
        )
        if account is None or not account.debits:
            self._hub.latest(DRAW).cancel()
            self.chart.set_chart(None)
            self.chart.set_placeholder(self.tr("Nothing has been spent yet."))
        else:
            self._hub.latest(DRAW).query(
                self.tr("Composing"), tasks.DrawCurves(account), done=self._on_drawn, quiet=True
            )
        if account is not None:
            key = account.key
            self.form.people.setText(key.population or key.source[:12])
            self.people.show_known(key.population, words.people_lines(account))

    def _on_drawn(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, ScatterChart):
            self.chart.set_chart(outcome.value)

    # -- wishes

    @Slot(str, object, str)
    def _on_limit(self, people: str, limit: object, reason: str) -> None:
        if not isinstance(limit, PureEpsilon | ZeroConcentrated):
            return
        account = self._account()
        source = ""
        if account is not None and people == account.key.source[:12]:
            people, source = "", account.key.source
        self._hub.mutate(
            self.tr("Setting a limit"),
            tasks.SetLimit(self._context, self._path, people, source, limit, reason),
            done=self._on_set,
            failed=self._on_failed,
        )

    @Slot(str, str, bool, str)
    def _on_people(self, one: str, other: str, same: bool, reason: str) -> None:
        self._hub.mutate(
            self.tr("Declaring who people are"),
            tasks.DeclarePeople(self._context, self._path, one, other, same, reason),
            done=self._on_declared,
            failed=self._on_failed,
        )

    def _on_declared(self, _outcome: JobDone) -> None:
        self.people.clear_typed()
        self.refresh()
        self.entered.emit()

    def _on_set(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, LedgerPicture):
            self.form.clear_typed()
            self.refresh()
            self.entered.emit()

    @Slot()
    def _on_restore(self) -> None:
        self._hub.mutate(
            self.tr("Entering missing entries again"),
            tasks.RestoreLedger(self._context, self._path, self.reason.text().strip()),
            done=self._on_restored,
            failed=self._on_failed,
        )

    @Slot()
    def _on_accept(self) -> None:
        self._hub.mutate(
            self.tr("Going on without the witness"),
            tasks.AcceptWitness(self._context, self._path, self.reason.text().strip()),
            done=self._on_accepted,
            failed=self._on_failed,
        )

    def _on_accepted(self, _outcome: JobDone) -> None:
        self.reason.clear()
        self.refresh()
        self.entered.emit()

    def _on_restored(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, RestoredLedger):
            self.reason.clear()
            self.refresh()
            self.entered.emit()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(30), theme.row * 12)
        for lines, rows in ((self.accounts, 5), (self.debits, 6), (self.limits, 4)):
            lines.setMinimumHeight(theme.row * rows)
        self.chart.setMinimumHeight(theme.row * 10)
        screen = self.screen().availableSize()
        wide, high = theme.ems(80), theme.row * 30
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
