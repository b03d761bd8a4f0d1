"""The window about people and keys; it stands beside the main window and blocks nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from dpdesk.app import signing
from dpdesk.app.review.values import Card, StoredKey, TrustEntry, TrustList
from dpdesk.app.types import AppContext
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.ui.files import FileAsker
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.people.keys_page import KeysPage
from dpdesk.ui.people.trust_page import ADD, EXPORT, IMPORT, TrustPage
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import MessageBand, column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import PageStack
from dpdesk.ui.widgets.placing import FilePlace
from dpdesk.ui.words.spoken import said_error


@dataclass(frozen=True)
class Listed:
    """The own keys and the trusted ones; None, and why, when these cannot be read."""

    keys: tuple[StoredKey, ...]
    trust: TrustList | None
    problem: str = ""


@dataclass(frozen=True)
class ListPeople:
    """Read both lists."""

    context: AppContext

    def __call__(self, token: CancelToken, report: Report) -> Listed:
        """What there is."""
        keys = signing.own_keys(self.context)
        try:
            return Listed(keys, signing.trust_list(self.context))
        except (InputError, StorageError) as error:
            return Listed(keys, None, said_error(error))


@dataclass(frozen=True)
class MakeKey:
    """Make a key; the passphrase is that of the new key."""

    context: AppContext
    person: str
    passphrase: str = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> Card:
        """The card of the new key."""
        return signing.make_key(self.context, self.person, self.passphrase, report)


@dataclass(frozen=True)
class ChangePassphrase:
    """Lock an own key by another passphrase."""

    context: AppContext
    fingerprint: str
    old: str = field(repr=False)
    new: str = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> Card:
        """The card of the key."""
        return signing.change_passphrase(self.context, self.fingerprint, self.old, self.new, report)


@dataclass(frozen=True)
class WriteCard:
    """Write the card of an own key; a file that is there only with ``replace``."""

    context: AppContext
    fingerprint: str
    out: Path
    replace: bool

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The file that was written."""
        signing.write_card(self.context, self.fingerprint, self.out, report, replace=self.replace)
        return self.out


@dataclass(frozen=True)
class FoundCard:
    """A card and the file that holds it."""

    path: Path
    card: Card


@dataclass(frozen=True)
class ReadCard:
    """Look at a card before it is trusted."""

    path: Path

    def __call__(self, token: CancelToken, report: Report) -> FoundCard:
        """The card."""
        return FoundCard(self.path, signing.look_at_card(self.path))


@dataclass(frozen=True)
class TrustCard:
    """Trust the key of a card; ``digits`` are those that its holder read out, empty: none."""

    context: AppContext
    path: Path
    digits: str

    def __call__(self, token: CancelToken, report: Report) -> TrustEntry:
        """The new entry."""
        return signing.trust_card(self.context, self.path, self.digits or None, report)


@dataclass(frozen=True)
class Revoke:
    """Let a key count no more; ``retired`` keeps what it signed before."""

    context: AppContext
    fingerprint: str
    reason: str
    retired: bool

    def __call__(self, token: CancelToken, report: Report) -> TrustEntry:
        """The entry as it is now."""
        return signing.revoke_key(
            self.context, self.fingerprint, self.reason, report, retired=self.retired
        )


@dataclass(frozen=True)
class ImportTrust:
    """Join the agency's list with this computer's."""

    context: AppContext
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> TrustList:
        """The joined list."""
        return signing.import_trust(self.context, self.path, report)


@dataclass(frozen=True)
class ExportTrust:
    """Write this computer's list to a file."""

    context: AppContext
    out: Path
    replace: bool

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The file that was written."""
        signing.export_trust(self.context, self.out, report, replace=self.replace)
        return self.out


KEYS, TRUST = "keys", "trust"


class PeopleWindow(QWidget):
    """``changed()`` when keys or trusted keys are others than before."""

    changed = Signal()

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self._context, self._hub, self._asker = context, hub, asker
        self._theme = theme
        set_look(self, "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(self.tr("People and keys – DPDesk"))
        self.setAccessibleName(self.tr("People and keys"))
        self._build(theme)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def present(self) -> None:
        """Show the window in front, with what is true now."""
        self.refresh()
        self.show()
        self.raise_()
        self.activateWindow()

    def refresh(self) -> None:
        """Read both lists again."""
        self._hub.latest("people.list").query(
            self.tr("Reading keys"),
            ListPeople(self._context),
            done=self._on_listed,
            failed=self._on_unlisted,
            quiet=True,
        )

    def turn(self, page: str) -> None:
        """Show KEYS or TRUST."""
        self.strip.choose(page)
        self._on_page(page)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
            return
        super().keyPressEvent(event)

    def _build(self, theme: ThemeManager) -> None:
        layout = column(self, margin=SPACE.l, gap=SPACE.m)
        self.strip = ChoiceStrip(self.tr("Own keys, or trusted people"))
        self.strip.set_choices(((KEYS, self.tr("My keys")), (TRUST, self.tr("Trusted people"))))
        self.strip.chosen.connect(self._on_page)
        layout.addWidget(self.strip)
        self.band = MessageBand(theme)
        layout.addWidget(self.band)
        self.keys, self.trust = KeysPage(theme), TrustPage(theme)
        self._pages = PageStack()
        for page in (self.keys, self.trust):
            self._pages.addWidget(page)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._pages)
        layout.addWidget(area, 1)
        self.keys.makeAsked.connect(self._on_make)
        self.keys.cardAsked.connect(self._on_card)
        self.keys.changeAsked.connect(self._on_change)
        self._place = FilePlace(self._asker, self.band, self)
        self._place.chosen.connect(self._on_place)
        self.trust.asked.connect(self._on_asked)
        self.trust.trustAsked.connect(self._on_trust)
        self.trust.revokeAsked.connect(self._on_revoke)

    # -- wishes

    @Slot(str)
    def _on_page(self, page: str) -> None:
        self._pages.setCurrentWidget(self.keys if page == KEYS else self.trust)

    @Slot(str, str)
    def _on_make(self, person: str, passphrase: str) -> None:
        self.keys.make.setEnabled(False)
        self._hub.mutate(
            self.tr("Making a key"),
            MakeKey(self._context, person, passphrase),
            done=self._on_made,
            failed=self._on_not_made,
        )

    @Slot(str, str)
    def _on_card(self, fingerprint: str, person: str) -> None:
        name = "-".join(person.lower().split()) + "-card.json"
        self._place.ask(fingerprint, self.tr("Write the card"), name, self.tr("Cards (*.json)"))

    @Slot(str, object, bool)
    def _on_place(self, purpose: str, path: Path, replace: bool) -> None:
        if purpose == EXPORT:
            work = ExportTrust(self._context, path, replace)
            title = self.tr("Export the list of trusted keys")
            self._hub.mutate(title, work, done=self._on_written, failed=self._on_failed)
        else:
            card = WriteCard(self._context, purpose, path, replace)
            title = self.tr("Write the card")
            self._hub.mutate(title, card, done=self._on_written, failed=self._on_failed)

    @Slot(str, str, str)
    def _on_change(self, fingerprint: str, old: str, new: str) -> None:
        self._hub.mutate(
            self.tr("Changing a passphrase"),
            ChangePassphrase(self._context, fingerprint, old, new),
            done=self._on_passphrase,
            failed=self._on_same_passphrase,
        )

    @Slot(str)
    def _on_asked(self, wish: str) -> None:
        does = {ADD: self._add, IMPORT: self._import, EXPORT: self._export}
        does[wish](self.tr("JSON files (*.json);;All files (*)"))

    def _add(self, files: str) -> None:
        path = self._asker.open_file(self.tr("The card of a key"), "", files)
        if path is not None:
            title, work = self.tr("Reading the card"), ReadCard(path)
            self._hub.query(title, work, done=self._on_read, failed=self._on_trust_failed)

    def _import(self, files: str) -> None:
        title = self.tr("Import a list of trusted keys")
        path = self._asker.open_file(title, "", files)
        if path is not None:
            self._change(title, ImportTrust(self._context, path))

    def _export(self, files: str) -> None:
        title = self.tr("Export the list of trusted keys")
        self._place.ask(EXPORT, title, "trusted-keys.json", files)

    @Slot(object, str)
    def _on_trust(self, path: Path, digits: str) -> None:
        work = TrustCard(self._context, path, digits)
        self._hub.mutate(
            self.tr("Trusting a key"), work, done=self._on_changed, failed=self._on_card_failed
        )

    @Slot(str, str, bool)
    def _on_revoke(self, fingerprint: str, reason: str, retired: bool) -> None:
        work = Revoke(self._context, fingerprint, reason, retired)
        self._change(self.tr("Revoking a key"), work)

    def _change(self, title: str, work: ImportTrust | Revoke) -> None:
        self._hub.mutate(title, work, done=self._on_changed, failed=self._on_trust_failed)

    # -- what comes back

    def _on_listed(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, Listed):
            self.keys.show_keys(outcome.value.keys)
            self.trust.show_trust(outcome.value.trust, outcome.value.problem)

    def _on_unlisted(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)

    def _on_made(self, outcome: JobDone) -> None:
        self.keys.make.setEnabled(True)
        self.keys.clear_form()
        text = self.tr(
            "The key is made. Write its card and give it to the others; on this computer, too, it "
            "counts only when it is among the trusted people."
        )
        self.band.show_message("ok", text)
        self._tell()

    def _on_not_made(self, outcome: JobFailed) -> None:
        self.keys.make.setEnabled(True)
        self.keys.problem.say(_words(outcome))
        self.keys.first.setFocus()

    def _on_passphrase(self, outcome: JobDone) -> None:
        self.keys.close_change()
        self.keys.open_change.setFocus()
        text = self.tr("The key has a new passphrase; the old one opens it no more.")
        self.band.show_message("ok", text)

    def _on_same_passphrase(self, outcome: JobFailed) -> None:
        form = self.keys.change_form
        if outcome.code == "key.passphrase":
            form.refuse_old(_words(outcome))
        else:
            form.say(_words(outcome))
            if outcome.code in ("key.missing", "key.damaged"):
                self.keys.close_change()
                self._on_failed(outcome)

    def _on_written(self, outcome: JobDone) -> None:
        self.band.show_message("ok", self.tr("Written: {path}").format(path=outcome.value))

    def _on_read(self, outcome: JobDone) -> None:
        if isinstance(outcome.value, FoundCard):
            self.trust.show_card(outcome.value.path, outcome.value.card)

    def _on_changed(self, outcome: JobDone) -> None:
        self.trust.close_forms()
        self.band.clear()
        if outcome.notes:
            self.band.show_message("caution", " ".join(outcome.notes))
        self._tell()

    def _tell(self) -> None:
        self.refresh()
        self.changed.emit()

    def _on_failed(self, outcome: JobFailed) -> None:
        self.band.show_error(outcome)
        self.refresh()  # a key that is gone is listed no more

    def _on_trust_failed(self, outcome: JobFailed) -> None:
        self.trust.problem.say(_words(outcome))

    def _on_card_failed(self, outcome: JobFailed) -> None:
        self.trust.card_problem.say(_words(outcome))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumSize(theme.ems(30), theme.row * 12)
        screen = self.screen().availableSize()
        wide, high = theme.ems(84), theme.row * 26
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))


def _words(outcome: JobFailed) -> str:
    return f"{outcome.sentence} {outcome.hint}".strip()
