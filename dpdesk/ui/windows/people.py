"""The window about people and keys; it stands beside the main window and blocks nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from dpdesk.app import signing
from dpdesk.app.review.values import StoredKey, TrustList
from dpdesk.app.types import AppContext
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import joined
from dpdesk.ui.files import FileAsker, FilePlace
from dpdesk.ui.jobs import JobDone, JobFailed, JobHub
from dpdesk.ui.jobs.hub import Work, alone, report_only
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import PageStack
from dpdesk.ui.windows.base import SideWindow
from dpdesk.ui.windows.people_pages import ADD, EXPORT, IMPORT, KeysPage, TrustPage
from dpdesk.ui.words.spoken import said_error


@dataclass(frozen=True)
class Listed:
    """The own keys and the trusted ones; None, and why, when these cannot be read."""

    keys: tuple[StoredKey, ...]
    trust: TrustList | None
    problem: str = ""


def list_people(context: AppContext, token: CancelToken, report: Report) -> Listed:
    """Read both lists."""
    keys = signing.own_keys(context)
    try:
        return Listed(keys, signing.trust_list(context))
    except (InputError, StorageError) as error:
        return Listed(keys, None, said_error(error))


def write_card(
    context: AppContext,
    fingerprint: str,
    out: Path,
    replace: bool,
    token: CancelToken,
    report: Report,
) -> Path:
    """Write the card of an own key; a file that is there only with ``replace``."""
    signing.write_card(context, fingerprint, out, report, replace=replace)
    return out


def export_trust(
    context: AppContext, out: Path, replace: bool, token: CancelToken, report: Report
) -> Path:
    """Write this computer's list to a file."""
    signing.export_trust(context, out, report, replace=replace)
    return out


KEYS, TRUST = "keys", "trust"


class PeopleWindow(SideWindow):
    """``changed()`` when keys or trusted keys are others than before."""

    room = (84, 26)

    changed = Signal()

    def __init__(
        self,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(hub, theme, parent)
        self._context, self._asker = context, asker
        self.setWindowTitle(self.tr("People and keys – DPDesk"))
        self.setAccessibleName(self.tr("People and keys"))
        self._build(theme)
        self.follow_theme(theme)

    def present(self) -> None:
        """Show the window in front, with what is true now."""
        self.refresh()
        self.bring_in_front()

    def refresh(self) -> None:
        """Read both lists again."""
        work = partial(list_people, self._context)
        self.read("people.list", self.tr("Reading keys"), work, self._on_listed, told=False)

    def turn(self, page: str) -> None:
        """Show KEYS or TRUST."""
        self.strip.choose(page)
        self._on_page(page)

    def _build(self, theme: ThemeManager) -> None:
        self.strip = ChoiceStrip(self.tr("Own keys, or trusted people"))
        self.strip.set_choices(((KEYS, self.tr("My keys")), (TRUST, self.tr("Trusted people"))))
        self.strip.chosen.connect(self._on_page)
        self.keys, self.trust = KeysPage(theme), TrustPage(theme)
        self._pages = PageStack()
        for page in (self.keys, self.trust):
            self._pages.addWidget(page)
        self.frame(self._pages, (self.strip, self.band))
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
            report_only(partial(signing.make_key, self._context, person, passphrase)),
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
            work = partial(export_trust, self._context, path, replace)
            title = self.tr("Export the list of trusted keys")
            self._hub.mutate(title, work, then=self.tell_written, failed=self._on_failed)
        else:
            card = partial(write_card, self._context, purpose, path, replace)
            title = self.tr("Write the card")
            self._hub.mutate(title, card, then=self.tell_written, failed=self._on_failed)

    @Slot(str, str, str)
    def _on_change(self, fingerprint: str, old: str, new: str) -> None:
        self._hub.mutate(
            self.tr("Changing a passphrase"),
            report_only(partial(signing.change_passphrase, self._context, fingerprint, old, new)),
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
            title, work = self.tr("Reading the card"), alone(partial(signing.look_at_card, path))
            self._hub.query(
                title, work, then=partial(self.trust.show_card, path), failed=self._on_trust_failed
            )

    def _import(self, files: str) -> None:
        title = self.tr("Import a list of trusted keys")
        path = self._asker.open_file(title, "", files)
        if path is not None:
            self._change(title, report_only(partial(signing.import_trust, self._context, path)))

    def _export(self, files: str) -> None:
        title = self.tr("Export the list of trusted keys")
        self._place.ask(EXPORT, title, "trusted-keys.json", files)

    @Slot(object, str)
    def _on_trust(self, path: Path, digits: str) -> None:
        work = report_only(partial(signing.trust_card, self._context, path, digits or None))
        self._hub.mutate(
            self.tr("Trusting a key"), work, done=self._on_changed, failed=self._on_card_failed
        )

    @Slot(str, str, bool)
    def _on_revoke(self, fingerprint: str, reason: str, retired: bool) -> None:
        work = report_only(
            partial(signing.revoke_key, self._context, fingerprint, reason, retired=retired)
        )
        self._change(self.tr("Revoking a key"), work)

    def _change(self, title: str, work: Work[object]) -> None:
        self._hub.mutate(title, work, done=self._on_changed, failed=self._on_trust_failed)

    # -- what comes back

    def _on_listed(self, found: Listed) -> None:
        self.keys.show_keys(found.keys)
        self.trust.show_trust(found.trust, found.problem)

    def _on_made(self, outcome: JobDone[object]) -> None:
        self.keys.make.setEnabled(True)
        self.keys.clear_form()
        text = self.tr(
            "The key has been made. Write its card and give it to the others; on this "
            "computer, too, it counts only when it is among the trusted people."
        )
        self.band.show_message("ok", text)
        self._tell()

    def _on_not_made(self, outcome: JobFailed) -> None:
        self.keys.make.setEnabled(True)
        self.keys.problem.say(_words(outcome))
        self.keys.first.setFocus()

    def _on_passphrase(self, outcome: JobDone[object]) -> None:
        self.keys.close_change()
        self.keys.open_change.setFocus()
        text = self.tr("The key has a new passphrase; the old one no longer opens it.")
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

    def _on_changed(self, outcome: JobDone[object]) -> None:
        self.trust.close_forms()
        self.band.clear()
        if outcome.notes:
            self.band.show_message("caution", joined(outcome.notes))
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


def _words(outcome: JobFailed) -> str:
    return outcome.full
