"""The audit log in a window beside the main one; it blocks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication, QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QWidget

from dpdesk.app import auditing
from dpdesk.app.auditing import AuditCheck, AuditEntry, AuditSearch, AuditView
from dpdesk.app.review.values import EventType
from dpdesk.app.types import AppContext
from dpdesk.core.charts import Cell
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.ui.files import FileAsker, FilePlace
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.jobs import JobCancelled, JobFailed, JobHub
from dpdesk.ui.jobs.hub import alone
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.table import TableModel
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.activity import JobLine
from dpdesk.ui.widgets.layouts import FlowBox, leave_wheel
from dpdesk.ui.widgets.states import button, note
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.words.numbers import grouped
from dpdesk.ui.words.spoken import in_window, moment_words, said

translate = QCoreApplication.translate


def headings() -> tuple[str, ...]:
    """Headings of the list."""
    return (
        translate("Audit", "Entry"),
        translate("Audit", "Time (UTC)"),
        translate("Audit", "Who"),
        translate("Audit", "Action"),
        translate("Audit", "With what"),
    )


def row_of(entry: AuditEntry) -> tuple[int, str, str, str, str]:
    """A line of the list."""
    return (entry.n, time_words(entry.time), entry.who, deed(entry), entry.subject)


def time_words(text: str) -> str:
    """A time as the log has it, without what all of them share."""
    return moment_words(text)


def deed(entry: AuditEntry) -> str:
    """What was done: ``decided (ballot)``."""
    event = entry.facts.get("event")
    word = action_word(entry.action)
    return f"{word} ({event_word(event)})" if isinstance(event, str) and event else word


def action_word(action: str) -> str:
    """An action in words; one that this version does not know, as it is written."""
    words: dict[str, str] = {
        Logged.OPENED: translate("Audit", "opened"),
        Logged.RAN: translate("Audit", "ran"),
        Logged.RELEASED: translate("Audit", "released"),
        Logged.VIEWED: translate("Audit", "viewed"),
        Logged.DECIDED: translate("Audit", "decided"),
        Logged.EXPORTED: translate("Audit", "exported"),
        Logged.CHANGED: translate("Audit", "changed"),
        Logged.CREATED: translate("Audit", "created"),
        Logged.COPIED: translate("Audit", "copied"),
        Logged.RESCUED: translate("Audit", "rescued"),
        Logged.SOURCE_CHANGED: translate("Audit", "source changed"),
        Logged.TRIED: translate("Audit", "tried on the data"),
        Logged.COMPARED: translate("Audit", "compared on the data"),
        Logged.COMPARED_PUBLIC: translate("Audit", "compared on a file declared public"),
        Logged.DEBITED: translate("Audit", "debited"),
        Logged.BEGUN: translate("Audit", "began a ledger"),
        Logged.LIMITED: translate("Audit", "set a budget limit"),
        Logged.RESTORED: translate("Audit", "restored a ledger"),
        Logged.PEOPLE: translate("Audit", "declared who people are"),
        Logged.ACCEPTED: translate("Audit", "accepted a lost witness"),
    }
    return words.get(action, action)


def event_word(event: str) -> str:
    """An event of a review in words; one that this version does not know, as it is written."""
    words: dict[str, str] = {
        EventType.SUBMIT: translate("Audit", "submission"),
        EventType.START: translate("Audit", "start of a review"),
        EventType.BALLOT: translate("Audit", "vote"),
        EventType.REVEAL: translate("Audit", "vote revealed"),
        EventType.MERGE: translate("Audit", "copies joined"),
        EventType.RELEASE: translate("Audit", "release"),
        EventType.WITHDRAW: translate("Audit", "withdrawal"),
        EventType.SUPERSEDE: translate("Audit", "replaced by another"),
        "protocol": translate("Audit", "protocol locked"),
    }
    return words.get(event, event)


def _fact_word(name: str) -> str:
    words = {
        "sha256": translate("Audit", "SHA-256 of the data"),
        "source": translate("Audit", "SHA-256 of the data"),
        "manifest_sha256": translate("Audit", "SHA-256 of the release's manifest"),
        "release": translate("Audit", "SHA-256 of the release's manifest"),
        "out": translate("Audit", "Written to"),
        "format": translate("Audit", "Format"),
        "command": translate("Audit", "Command"),
        "event": translate("Audit", "Event of the review"),
        "id": translate("Audit", "Id of the event"),
        "person": translate("Audit", "Signed by"),
        "key": translate("Audit", "Fingerprint of the key"),
        "written": translate("Audit", "Anything written"),
        "from": translate("Audit", "From"),
        "what": translate("Audit", "What"),
        "reason": translate("Audit", "Reason"),
        "method": translate("Audit", "Method"),
        "ledger": translate("Audit", "Id of the ledger"),
        "row": translate("Audit", "Entry of the ledger"),
        "entry": translate("Audit", "Hash of the ledger's entry"),
        "record": translate("Audit", "Text of the ledger's entry"),
        "cost": translate("Audit", "Cost"),
        "population": translate("Audit", "Population"),
        "account": translate("Audit", "Account"),
        "limit": translate("Audit", "Limit"),
        "one": translate("Audit", "One population"),
        "other": translate("Audit", "Other population"),
        "same": translate("Audit", "Same people"),
        "entries": translate("Audit", "Entries that were lost"),
        "first": translate("Audit", "First entry that was lost"),
        "last": translate("Audit", "Last entry of the ledger"),
        "key_id": translate("Audit", "Id of the key"),
    }
    return words.get(name, name)


def entry_words(entry: AuditEntry) -> str:
    """All of an entry, one thing a line."""
    text = translate("Audit", "Entry {n}, {time} UTC: {who} {deed} {subject}")
    lines = [
        text.format(
            n=grouped(entry.n),
            time=time_words(entry.time),
            who=entry.who,
            deed=deed(entry),
            subject=entry.subject,
        )
    ]
    text = translate("Audit", "{what}: {value}")
    for name, value in entry.facts.items():
        lines.append(text.format(what=_fact_word(name), value=_value(value)))
    first = translate("Audit", "none: it is the first one")
    lines.append(text.format(what=translate("Audit", "Hash of this entry"), value=entry.hash))
    before = translate("Audit", "Hash of the entry before it")
    lines.append(text.format(what=before, value=entry.previous or first))
    return "\n".join(lines)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return translate("Audit", "yes") if value else translate("Audit", "no")
    if isinstance(value, int):
        return grouped(value)
    return str(value)


def answer_words(view: AuditView) -> str:
    """One sentence about the log."""
    if view.newest is None:
        return translate("Audit", "No entries yet: the log begins with the next action.")
    newest = view.newest
    last = translate("Audit", "the last one at {time} UTC: {who} {deed} {subject}.").format(
        time=time_words(newest.time), who=newest.who, deed=deed(newest), subject=newest.subject
    )
    if view.total == 1:
        return translate("Audit", "1 entry, {last}").format(last=last)
    return translate("Audit", "{n} entries, {last}").format(n=grouped(view.total), last=last)


def found_words(view: AuditView) -> str:
    """How many entries a search finds; empty when nothing is searched for."""
    if not (view.search.words or view.search.action):
        return ""
    if view.count == 0:
        return translate("Audit", "No entry found: search for fewer words.")
    text = translate("Audit", "{n} of {total} entries found.")
    return text.format(n=grouped(view.count), total=grouped(view.total))


def check_words(check: AuditCheck, advice: str) -> tuple[str, str]:
    """What the check has shown: a look (``ok``, ``caution``, ``fail``) and a plain answer."""
    if check.fault is not None:
        text = translate("Audit", "✕ Broken at entry {n}: {reason}. {advice}")
        return "fail", text.format(
            n=grouped(check.fault.n), reason=said(check.fault.reason), advice=said(advice)
        )
    if check.entries == 0:
        return "ok", translate("Audit", "✓ Intact: it has no entries yet.")
    text = translate("Audit", "✓ Intact: the only entry is as it was written.")
    if check.entries > 1:
        text = translate(
            "Audit", "✓ Intact: all {n} entries are as they were written, each after the other."
        ).format(n=grouped(check.entries))
    if not check.notes:
        return "ok", text
    odd = translate("Audit", "△ {note}").format(note=in_window(check.notes[0]))
    if len(check.notes) > 1:
        more = translate("Audit", "{n} times in all.").format(n=grouped(len(check.notes)))
        odd = f"{odd} {more}"
    return "caution", f"{text} {odd}"


_SHOWN = 5


@dataclass(frozen=True)
class FoundRows:
    """Found entries as rows: the cells that are shown, then all fields of the entry."""

    view: AuditView

    @property
    def columns(self) -> Sequence[str]:
        """Headings."""
        return headings()

    @property
    def count(self) -> int:
        """Number of found entries."""
        return self.view.count

    def page(self, start: int, count: int) -> Sequence[Sequence[Cell]]:
        """Rows from ``start``."""
        found = self.view.page(start, count)
        return [(*row_of(entry), *astuple(entry)) for entry in found]


def entry_of(row: Sequence[Cell]) -> AuditEntry:
    """The entry of a row."""
    number, *texts = row[_SHOWN:]
    return AuditEntry(int(str(number)), *(str(text) for text in texts))


@dataclass(frozen=True)
class Checked:
    """What the check has shown, and what to do about it."""

    check: AuditCheck
    advice: str


def check_chain(context: AppContext, token: CancelToken, report: Report) -> Checked:
    """Check the whole chain."""
    check = auditing.check_audit(context, token, report)
    return Checked(check, auditing.fault_advice(context, check))


def export_log(
    context: AppContext, out: Path, replace: bool, token: CancelToken, report: Report
) -> Path:
    """Write the whole log to a file."""
    auditing.export_audit(context, out, token, replace=replace)
    return out


class EntryGrid(DataGrid):
    """The entries, of which one is chosen."""

    def __init__(self, theme: ThemeManager, name: str, rows: TableModel) -> None:
        super().__init__(theme, name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setModel(rows)
        self.verticalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)


class AuditPage(QWidget):
    """``searched()`` while somebody types; ``againAsked()``, ``exportAsked()``; ``brokenAsked()``
    when the broken entry is to be shown.
    """

    searched = Signal()
    againAsked = Signal()
    exportAsked = Signal()
    brokenAsked = Signal()

    def __init__(self, theme: ThemeManager, progress: JobLine, rows: TableModel) -> None:
        super().__init__()
        self._rows = rows
        self._actions: tuple[str, ...] = ()
        self.looks_for_fault = False
        layout = column(self, gap=SPACE.m)
        layout.addWidget(note(self.tr("What was done on this computer?"), "headline"))
        self.answer, self.state = note("", "answer"), note()
        self.readonly, self.found = note("", "caution"), note()
        layout.addWidget(self.answer)
        layout.addWidget(progress)
        layout.addWidget(self.state)
        tip = self.tr("Go to the first entry that is not as it was written, or the one before it")
        self.show_broken = button(self.tr("&Show that entry"), tip)
        self.show_broken.clicked.connect(self.brokenAsked)
        self.show_broken.hide()
        layout.addWidget(self.show_broken, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self.readonly)
        layout.addWidget(self._build_bar())
        layout.addWidget(self.found)
        self.grid = EntryGrid(theme, self.tr("Entries of the audit log, the newest first"), rows)
        self.grid.setToolTip(self.tr("Arrow keys choose an entry; all of it is shown below"))
        self.grid.selectionModel().selectionChanged.connect(self._on_chosen)
        rows.dataChanged.connect(self._on_rows)
        rows.modelReset.connect(self._on_chosen)
        layout.addWidget(self.grid, 1)
        self.entry = note()
        layout.addWidget(self.entry)
        self._rest = QWidget()
        layout.addWidget(self._rest, 1)
        theme.changed.connect(self._on_theme)
        self.export.setEnabled(False)
        for one in (self.answer, self.state, self.readonly, self.found, self._rest):
            one.hide()

    @property
    def wanted(self) -> AuditSearch:
        """What is searched for."""
        return AuditSearch(self.search.text().strip(), str(self.action.currentData() or ""))

    def show_view(self, view: AuditView | None) -> None:
        """Say what is listed; None: nothing can be."""
        self.answer.setText("" if view is None else answer_words(view))
        self.answer.setVisible(view is not None)
        locked = view is not None and not view.writable
        text = self.tr("△ The log cannot be written: nothing is released or exported until it can.")
        self.readonly.setText(text if locked else "")
        self.readonly.setVisible(locked)
        words = "" if view is None else found_words(view)
        self.found.setText(words)
        self.found.setVisible(bool(words))
        some = view is not None and view.total > 0
        self.export.setEnabled(some)
        for one in (self.search, self.action, self.grid, self.entry):
            one.setVisible(some)
        self._rest.setVisible(not some)
        self._offer(() if view is None else view.actions)

    def show_check(self, look: str, words: str, *, broken: bool) -> None:
        """Say whether the chain holds; empty: not known yet."""
        set_look(self.state, look)
        self.state.setText(words)
        self.state.setVisible(bool(words))
        self.show_broken.setVisible(broken)

    def forget_search(self) -> None:
        """List everything, to go to the broken entry in it."""
        self.looks_for_fault = True
        self.search.clear()
        self.action.setCurrentIndex(0)

    def go_to(self, row: int) -> None:
        """Choose the entry in a row."""
        self.looks_for_fault = False
        self.grid.selectRow(row)
        self.grid.scrollTo(self._rows.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        self.grid.setFocus()

    @Slot()
    def _on_theme(self) -> None:
        words = self.search.placeholderText()
        self.search.setMinimumWidth(self.search.fontMetrics().horizontalAdvance(words) + 32)

    def _build_bar(self) -> FlowBox:
        bar = FlowBox(gap=SPACE.s)
        self.search = QLineEdit()
        self.search.setPlaceholderText(self.tr("Search: a name, a file, a day, a hash…"))
        self.search.setAccessibleName(self.tr("Search the audit log"))
        self.search.setToolTip(self.tr("Entries that contain all of these words, anywhere"))
        self.search.textChanged.connect(self.searched)
        self.action = NarrowCombo(14)
        self.action.setAccessibleName(self.tr("What was done"))
        self.action.set_help(self.tr("List only what was done in this way"))
        self.action.addItem(self.tr("All that was done"), "")
        self.action.currentIndexChanged.connect(self.searched)
        leave_wheel(self.action)
        self.again = button(self.tr("&Read again"), self.tr("Read and check the log again (F5)"))
        self.again.clicked.connect(self.againAsked)
        self.export = button(
            self.tr("E&xport…"), self.tr("Write the whole log as CSV or JSON"), "primary"
        )
        self.export.clicked.connect(self.exportAsked)
        for one in (self.search, self.action, self.again, self.export):
            bar.add(one)
        self._on_theme()
        return bar

    def _offer(self, actions: tuple[str, ...]) -> None:
        if actions == self._actions or not actions:
            return
        chosen, self._actions = self.action.currentData(), actions
        self.action.blockSignals(True)
        while self.action.count() > 1:
            self.action.removeItem(1)
        for action in actions:
            self.action.addItem(action_word(action), action)
        self.action.setCurrentIndex(max(0, self.action.findData(chosen)))
        self.action.blockSignals(False)

    @Slot(QModelIndex, QModelIndex)
    def _on_rows(self, first: QModelIndex, last: QModelIndex) -> None:
        if first.row() == 0 and not self._chosen_rows() and not self.looks_for_fault:
            self.grid.selectRow(0)
        self._on_chosen()

    def _chosen_rows(self) -> list[QModelIndex]:
        return self.grid.selectionModel().selectedRows()

    @Slot()
    def _on_chosen(self) -> None:
        rows = self._chosen_rows()
        row = self._rows.row(rows[0].row()) if rows else None
        self.entry.setText("" if row is None else entry_words(entry_of(row)))


FIND, CHECK = "audit.find", "audit.check"
PATIENCE_MS = 250


class AuditWindow(SideWindow):
    """Lists, searches, checks and exports the audit log of this computer."""

    channels = (FIND, CHECK)
    shortcuts = MappingProxyType({"F5": "refresh"})
    room = (96, 26)

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(hub, theme, parent)
        self._context = context
        self._view: AuditView | None = None
        self._checked: Checked | None = None
        self.setWindowTitle(self.tr("Audit log – DPDesk"))
        self.setAccessibleName(self.tr("Audit log"))
        self.rows = TableModel(hub, self)
        self.page = AuditPage(theme, self.progress, self.rows)
        self.frame(self.page, (self.band,))
        self._place = FilePlace(asker, self.band, self)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._connect()
        self.follow_theme(theme)

    def _connect(self) -> None:
        self.page.searched.connect(self._patience.start)
        self.page.againAsked.connect(self.refresh)
        self.page.exportAsked.connect(self._on_export)
        self.page.brokenAsked.connect(self._on_broken)
        self._patience.timeout.connect(self._find)
        self._place.chosen.connect(self._on_place)
        self.rows.failed.connect(self.tell_failure)

    def present(self) -> None:
        """Show the window in front, with what is true now."""
        self.bring_in_front()
        self.refresh()
        self.page.search.setFocus()

    @Slot()
    def refresh(self) -> None:
        """Read and check the log again."""
        self.band.clear()
        self._checked = None
        self._find()
        self._check()

    @property
    def view(self) -> AuditView | None:
        """What is listed; None while nothing could be read."""
        return self._view

    @property
    def checked(self) -> Checked | None:
        """What the check of the chain has shown; None while it has not ended."""
        return self._checked

    # -- wishes

    @Slot()
    def _find(self) -> None:
        work = alone(partial(auditing.find_entries, self._context, self.page.wanted))
        title = self.tr("Reading the audit log")
        self.read(FIND, title, work, self._on_found, self._on_unread, told=False)

    def _check(self) -> None:
        title = self.tr("Checking the chain of the audit log")
        self.page.show_check("note", "", broken=False)
        work = partial(check_chain, self._context)
        self.read(CHECK, title, work, self._on_checked, self._on_unread, self._on_unchecked)

    @Slot()
    def _on_export(self) -> None:
        filters = self.tr("Table (*.csv);;JSON (*.json)")
        self._place.ask("", self.tr("Export the audit log"), "audit-log.csv", filters)

    @Slot(str, object, bool)
    def _on_place(self, purpose: str, path: Path, replace: bool) -> None:
        work = partial(export_log, self._context, path, replace)
        self.change(self.tr("Exporting the audit log"), work, self._on_written)

    @Slot()
    def _on_broken(self) -> None:
        if self._checked is None or self._checked.check.fault is None:
            return
        self.page.forget_search()
        self._patience.stop()
        self._find()

    # -- what comes back

    def _on_found(self, view: AuditView) -> None:
        self._view = view
        self.page.show_view(view)
        self.rows.set_source(FoundRows(view))
        self._go_to_fault()

    def _go_to_fault(self) -> None:
        view, checked = self._view, self._checked
        if not self.page.looks_for_fault or view is None or checked is None:
            return
        if checked.check.fault is not None and view.count:
            work = alone(partial(view.place_of, checked.check.fault.n))
            self.read(FIND, self.tr("Finding the entry"), work, self.page.go_to, told=False)

    def _on_checked(self, checked: Checked) -> None:
        self._checked = checked
        look, words = check_words(checked.check, checked.advice)
        self.page.show_check(look, words, broken=checked.check.fault is not None)

    def _on_unchecked(self, outcome: JobCancelled) -> None:
        self.page.show_check("caution", self.tr("△ Not checked: it was stopped."), broken=False)

    def _on_unread(self, outcome: JobFailed) -> None:
        self._view = None
        self.rows.set_source(None)
        self.page.show_view(None)
        self.page.show_check("note", "", broken=False)
        self.band.show_error(outcome)

    def _on_written(self, found: object) -> None:
        self.tell_written(found)
        self._find()
