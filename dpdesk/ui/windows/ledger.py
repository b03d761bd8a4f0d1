"""The budget ledger in a window beside the main one; it blocks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from dpdesk.app import budgets, witnessing
from dpdesk.app.budgets import AccountPicture, LedgerPicture, account_curves
from dpdesk.app.types import AppContext
from dpdesk.core.budget import Budget, PureEpsilon, ZeroConcentrated
from dpdesk.core.charts import Cell
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.charts import ChartView
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.jobs.hub import token_only
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox, leave_wheel
from dpdesk.ui.widgets.states import Lines, button, labelled, note
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.numbers import grouped, typed_exact
from dpdesk.ui.words.spoken import in_window, moment_words, said

DELTA = Fraction(1, 1_000_000)


def declare_people(
    context: AppContext,
    path: Path,
    one: str,
    other: str,
    same: bool,
    reason: str,
    token: CancelToken,
    report: Report,
) -> bool:
    """Declare whether two names mean the same people."""
    budgets.declare_people(context, path, one, other, same, reason, token)
    return same


EPSILON, RHO = "epsilon", "rho"


class LimitForm(QFrame):
    """``wanted(str, object, str)``: population, limit and reason."""

    wanted = Signal(str, object, str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        layout.addWidget(note(self.tr("How much may be spent on these people?"), "section"))
        self.people, self.amount, self.reason = QLineEdit(), QLineEdit(), QLineEdit()
        self.kind = NarrowCombo(6)
        self.kind.addItem("ε", EPSILON)
        self.kind.addItem("ρ", RHO)
        leave_wheel(self.kind)
        tip = self.tr("The population as plans name it; of a file without one, leave it as it is")
        labelled(layout, self.tr("People"), self.people, tip)
        labelled(
            layout,
            self.tr("Kind of limit"),
            self.kind,
            self.tr("ε, or ρ of zero-concentrated noise"),
        )
        tip = self.tr("A number such as 2.0; it binds every plan, window and command")
        labelled(layout, self.tr("Limit"), self.amount, tip)
        tip = self.tr("Kept in the ledger and in the audit log; needed to raise a limit")
        labelled(layout, self.tr("Reason"), self.reason, tip)
        self._error = note("", "fail")
        self._error.hide()
        layout.addWidget(self._error)
        bar = FlowBox(gap=SPACE.s)
        self.set = button(self.tr("Set the limit"), self.tr("Enter this limit in the ledger"))
        self.set.clicked.connect(self._on_set)
        bar.add(self.set)
        layout.addWidget(bar)

    def clear_typed(self) -> None:
        """Forget amount and reason: they were entered."""
        self.amount.clear()
        self.reason.clear()

    @Slot()
    def _on_set(self) -> None:
        number = typed_exact(self.amount.text())
        people = self.people.text().strip()
        problem = ""
        if not people:
            problem = self.tr("✕ Name the people, or choose them in the list.")
        elif number is None or number < 0:
            words = self.tr("✕ The limit is “{text}”, expected a number such as 2.0.")
            problem = words.format(text=self.amount.text().strip())
        self._error.setText(problem)
        self._error.setVisible(bool(problem))
        if number is not None and not problem:
            limit: Budget = PureEpsilon(number)
            if self.kind.currentData() == RHO:
                limit = ZeroConcentrated(number)
            self.wanted.emit(people, limit, self.reason.text().strip())


class PeopleForm(QFrame):
    """``wanted(str, str, bool, str)``: two names, whether they are the same people, the reason."""

    wanted = Signal(str, str, bool, str)

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.s)
        layout.addWidget(note(self.tr("Do two names mean the same people?"), "section"))
        self._known = note()
        self._known.hide()
        layout.addWidget(self._known)
        self.one, self.other, self.reason = QLineEdit(), QLineEdit(), QLineEdit()
        self.how = NarrowCombo(20)
        self.how.addItem(self.tr("the same people: their debits count together"), True)
        self.how.addItem(self.tr("different people: each has a budget of its own"), False)
        leave_wheel(self.how)
        tip = self.tr("A population as plans name it")
        labelled(layout, self.tr("One name"), self.one, tip)
        labelled(layout, self.tr("The other name"), self.other, tip)
        tip = self.tr(
            "Until this is declared, both names together must not exceed either of their limits"
        )
        labelled(layout, self.tr("They are"), self.how, tip)
        tip = self.tr("How this is known; kept in the ledger and in the audit log")
        labelled(layout, self.tr("Reason"), self.reason, tip)
        bar = FlowBox(gap=SPACE.s)
        self.declare = button(self.tr("Declare it"), self.tr("Enter this in the ledger"))
        self.declare.clicked.connect(self._on_declare)
        bar.add(self.declare)
        layout.addWidget(bar)

    def show_known(self, one: str, lines: Sequence[str]) -> None:
        """Offer a name, and tell what was declared about it."""
        self.one.setText(one)
        self._known.setText("\n".join(lines))
        self._known.setVisible(bool(lines))

    def clear_typed(self) -> None:
        """Forget the other name and the reason: they were entered."""
        self.other.clear()
        self.reason.clear()

    @Slot()
    def _on_declare(self) -> None:
        one, other, reason = (line.text().strip() for line in (self.one, self.other, self.reason))
        self.wanted.emit(one, other, bool(self.how.currentData()), reason)


translate = QCoreApplication.translate


def account_headings() -> tuple[str, ...]:
    """Headings of the accounts."""
    return (
        translate("Ledger", "People"),
        translate("Ledger", "Spent"),
        translate("Ledger", "Limit"),
        translate("Ledger", "Left"),
        translate("Ledger", "Debits"),
        translate("Ledger", "In other ledgers"),
    )


def account_row(account: AccountPicture) -> tuple[Cell, ...]:
    """Who, how much, how much may be, how much is left, how often."""
    limit, left = account.limit, account.left
    none = translate("Ledger", "none")
    return (
        said(str(account.key)),
        str(account.spending),
        none if limit is None else str(limit),
        "–" if left is None else str(left),
        account.spending.count,
        len(account.elsewhere),
    )


def debit_headings() -> tuple[str, ...]:
    """Headings of the debits."""
    return (
        translate("Ledger", "Entry"),
        translate("Ledger", "Time (UTC)"),
        translate("Ledger", "Who"),
        translate("Ledger", "Cost"),
        translate("Ledger", "What for"),
        translate("Ledger", "Outcome"),
    )


def debit_rows(account: AccountPicture) -> list[tuple[Cell, ...]]:
    """The debits, newest first."""
    return [
        (
            record.n,
            moment_words(record.time),
            record.who,
            str(record.request.cost),
            record.request.title or record.request.purpose,
            outcome_word(record.outcome.value),
        )
        for record in reversed(account.debits)
    ]


def limit_headings() -> tuple[str, ...]:
    """Headings of the limits."""
    return (
        translate("Ledger", "Entry"),
        translate("Ledger", "Time (UTC)"),
        translate("Ledger", "Who"),
        translate("Ledger", "Limit"),
        translate("Ledger", "Set by"),
        translate("Ledger", "Reason"),
    )


def limit_rows(account: AccountPicture) -> list[tuple[Cell, ...]]:
    """All limits of an account, newest first."""
    none = translate("Ledger", "none")
    plan, owner = translate("Ledger", "a plan"), translate("Ledger", "the owner")
    return [
        (
            record.n,
            moment_words(record.time),
            record.who,
            none if record.content.limit is None else str(record.content.limit),
            plan if record.content.by_plan else owner,
            record.content.reason,
        )
        for record in reversed(account.history)
    ]


def people_lines(account: AccountPicture) -> list[str]:
    """What was declared about the names of these people, a line each."""
    same = translate("Ledger", "“{one}” and “{other}” are the same people: {reason}")
    apart = translate("Ledger", "“{one}” and “{other}” are different people: {reason}")
    return [
        (same if found.same else apart).format(
            one=found.one, other=found.other, reason=found.reason
        )
        for found in (record.content for record in account.people)
    ]


def outcome_word(outcome: str) -> str:
    """What became of a debit, which is spent in every case."""
    return {
        "unknown": translate("Ledger", "spent, outcome unknown"),
        "released": translate("Ledger", "released"),
        "failed": translate("Ledger", "failed, spent"),
        "cancelled": translate("Ledger", "cancelled, spent"),
    }.get(outcome, outcome)


def answer_words(picture: LedgerPicture) -> str:
    """One sentence about the whole ledger."""
    if not picture.id:
        return translate("Ledger", "Nothing has been spent: there is no ledger yet.")
    if picture.doubts:
        words = translate("Ledger", "△ {n} entries; whether debits are missing is not known.")
        return words.format(n=grouped(picture.entries))
    words = translate("Ledger", "✓ Intact: {n} entries; none that is known elsewhere is missing.")
    return words.format(n=grouped(picture.entries))


LOOK, DRAW = "ledger.look", "ledger.draw"
RESTORED, LOST = "ledger.restored", "ledger.lost"


class LedgerWindow(SideWindow):
    """Accounts with what is spent and left, their debits, limits and curves.

    ``entered()`` when something was entered: a limit, who people are, lost entries.
    """

    channels = (LOOK, DRAW)
    shortcuts = MappingProxyType({"F5": "refresh"})
    room = (80, 30)

    entered = Signal()

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(hub, theme, parent)
        self._context, self._path = context, context.home
        self._picture: LedgerPicture | None = None
        self.setWindowTitle(self.tr("Budget ledger – DPDesk"))
        self.setAccessibleName(self.tr("Budget ledger"))
        inner = QWidget()
        self._build(inner, theme)
        self.frame(inner, (self.band,))
        self.follow_theme(theme)

    def _build(self, inner: QWidget, theme: ThemeManager) -> None:
        layout = column(inner, gap=SPACE.m)
        layout.addWidget(note(self.tr("What was spent on whom, and what is left?"), "headline"))
        self.answer, self.where, self.warning = note("", "answer"), note(), note("", "caution")
        for one in (self.answer, self.where, self.warning):
            layout.addWidget(one)
        self._restoring = self._build_restoring()
        layout.addWidget(self._restoring)
        tip = self.tr("Arrow keys choose people; their debits and limits are shown below")
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
            (self.tr("Limits so far"), self.limits),
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
        tip = self.tr("For instance, which backup was restored; kept in the audit log")
        labelled(layout, self.tr("What happened?"), self.reason, tip)
        tip = self.tr("From the witness and the audit log; then the budget can be spent again")
        self.restore = button(self.tr("Enter the missing entries again"), tip, "primary")
        self.restore.clicked.connect(self._on_restore)
        tip = self.tr("Only if nothing can be restored: missing debits stay uncounted")
        self.accept = button(self.tr("Continue without what is missing"), tip)
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
        self.bring_in_front()
        self.refresh()
        self.accounts.setFocus()

    @property
    def picture(self) -> LedgerPicture | None:
        """What is shown; None while nothing could be read."""
        return self._picture

    @Slot()
    def refresh(self) -> None:
        """Read the ledger again."""
        work = partial(budgets.look_at_ledger, self._context, self._path, DELTA)
        title = self.tr("Reading the ledger")
        self.read(LOOK, title, work, self._on_read, self._on_unread, told=False)

    # -- what comes back

    def _on_read(self, found: LedgerPicture) -> None:
        self.band.clear()
        self._show(found)

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
        self.answer.setText("" if picture is None else answer_words(picture))
        self.where.setText("" if picture is None else str(picture.path))
        notes = doubts if picture is None else (*doubts, *picture.notes)
        self.warning.setText("\n".join(f"△ {in_window(one)}" for one in notes))
        self.warning.setVisible(bool(notes))
        rows = [account_row(one) for one in accounts]
        self.accounts.lines.set_table(account_headings(), rows)
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
            debit_headings(), [] if account is None else debit_rows(account)
        )
        self.limits.lines.set_table(
            limit_headings(), [] if account is None else limit_rows(account)
        )
        if account is None or not account.debits:
            self._hub.latest(DRAW).cancel()
            self.chart.set_chart(None)
            self.chart.set_placeholder(self.tr("Nothing has been spent yet."))
        else:
            self._hub.latest(DRAW).query(
                self.tr("Composing losses"),
                token_only(partial(account_curves, account, DELTA)),
                then=self.chart.set_chart,
                quiet=True,
            )
        if account is not None:
            key = account.key
            self.form.people.setText(key.population or key.source[:12])
            self.people.show_known(key.population, people_lines(account))

    # -- wishes

    @Slot(str, object, str)
    def _on_limit(self, people: str, limit: object, reason: str) -> None:
        if not isinstance(limit, PureEpsilon | ZeroConcentrated):
            return
        account = self._account()
        source = ""
        if account is not None and people == account.key.source[:12]:
            people, source = "", account.key.source
        set_it = partial(budgets.set_limit, population=people, source=source)
        path, context = self._path, self._context
        work = token_only(lambda token: set_it(context, path, limit, reason, token=token))
        self.change(self.tr("Setting a limit"), work, self._on_set)

    @Slot(str, str, bool, str)
    def _on_people(self, one: str, other: str, same: bool, reason: str) -> None:
        work = partial(declare_people, self._context, self._path, one, other, same, reason)
        self.change(self.tr("Declaring who people are"), work, self._on_declared)

    def _on_declared(self, same: bool) -> None:
        self.people.clear_typed()
        self._on_entered(same)

    def _on_set(self, found: LedgerPicture) -> None:
        self.form.clear_typed()
        self._on_entered(found)

    @Slot()
    def _on_restore(self) -> None:
        reason = self.reason.text().strip()
        work = token_only(partial(witnessing.restore_ledger, self._context, self._path, reason, ()))
        self.change(self.tr("Entering missing entries again"), work, self._on_settled)

    @Slot()
    def _on_accept(self) -> None:
        reason = self.reason.text().strip()
        work = token_only(partial(witnessing.accept_witness, self._context, self._path, reason))
        self.change(self.tr("Continuing without the witness"), work, self._on_settled)

    def _on_settled(self, found: object) -> None:
        self.reason.clear()
        self._on_entered(found)

    def _on_entered(self, found: object) -> None:
        self.refresh()
        self.entered.emit()

    def fit(self, theme: Theme) -> None:
        """Fit the parts to the theme."""
        for lines, rows in ((self.accounts, 5), (self.debits, 6), (self.limits, 4)):
            lines.setMinimumHeight(theme.row * rows)
        self.chart.setMinimumHeight(theme.row * 10)
