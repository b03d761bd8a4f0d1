"""What is done to keys and to the list of trusted keys, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.app import signing
from dpdesk.app.review.values import Card, StoredKey, TrustEntry, TrustList
from dpdesk.app.types import AppContext
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report
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
