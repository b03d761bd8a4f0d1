"""Keys of this computer's users, and the list of persons whose signatures count here."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError

if TYPE_CHECKING:
    from dpdesk.project.review.cards import Card
    from dpdesk.project.review.keys import KeyStore, Signer, StoredKey
    from dpdesk.project.review.trust import TrustEntry, TrustList


def now() -> datetime:
    """The time of this computer, in whole seconds, as events carry it."""
    return datetime.now(UTC).replace(microsecond=0)


def own_keys(context: AppContext) -> tuple[StoredKey, ...]:
    """The keys on this computer; damaged files come with the sentence that says so."""
    return _keys(context).keys()


def make_key(context: AppContext, person: str, passphrase: str) -> Card:
    """Make a signing key for a person, locked by a passphrase.

    Raises InputError ``person.name`` or ``key.passphrase-rule``, StorageError.
    """
    return _keys(context).create(person, passphrase, now())


def write_card(context: AppContext, key: str, out: Path) -> Card:
    """Write the public card of a key (named by person or fingerprint) to a new file."""
    if out.exists():
        raise InputError("card.exists", f"{out}: the file is there already.", hint="Name another.")
    store = _keys(context)
    return store.export_card(store.find(key).fingerprint, out, context.workspace)


def change_passphrase(context: AppContext, key: str, old: str, new: str) -> Card:
    """Lock a key by another passphrase; on any failure the old one stays."""
    store = _keys(context)
    card = store.find(key)
    store.change_passphrase(card.fingerprint, old, new)
    return card


def find_key(context: AppContext, key: str | None) -> Card:
    """The key meant by a person's name or the first digits of a fingerprint; None: the only one.

    Raises InputError ``key.missing`` or ``key.ambiguous``.
    """
    store = _keys(context)
    if key is not None:
        return store.find(key)
    cards = [stored.card for stored in own_keys(context) if stored.card is not None]
    if len(cards) == 1:
        return cards[0]
    if not cards:
        raise InputError(
            "key.missing",
            "There is no key on this computer.",
            hint='Make one with `dpdesk review key new --person "Your Name"`.',
        )
    names = ", ".join(card.person for card in cards)
    raise InputError(
        "key.ambiguous",
        f"There are {len(cards)} keys on this computer: {names}.",
        hint="Say whose key signs with `--as`.",
    )


def unlock(context: AppContext, key: str | None, passphrase: str) -> Signer:
    """Open a key for signing; see :func:`find_key`. Raises InputError ``key.passphrase`` too."""
    return _keys(context).unlock(find_key(context, key).fingerprint, passphrase)


def trust_list(context: AppContext) -> TrustList:
    """Whose signatures count on this computer. Raises InputError ``trust.damaged``."""
    from dpdesk.project.review.trust import TrustStore

    return TrustStore(context.home, context.workspace).load()


def look_at_card(path: Path) -> Card:
    """Whose key a card holds, before it is trusted.

    Raises InputError ``card.unreadable``, ``card.key`` or ``card.signature``.
    """
    from dpdesk.project.review.cards import read_card

    return read_card(path)


def trust_card(context: AppContext, path: Path, fingerprint: str | None = None) -> TrustEntry:
    """Add the key of a card to the list.

    With ``fingerprint``, as its holder told it, the card must be that of this very key: InputError
    ``trust.fingerprint`` otherwise.
    """
    from dpdesk.project.review.cards import read_card
    from dpdesk.project.review.texts import fingerprint_text
    from dpdesk.project.review.trust import TrustStore

    card = read_card(path)
    wanted = "".join((fingerprint or "").split()).lower()
    if fingerprint is not None and (len(wanted) < 20 or not card.fingerprint.startswith(wanted)):
        raise InputError(
            "trust.fingerprint",
            f"{path}: the fingerprint of this key is {fingerprint_text(card.fingerprint)}, not the "
            "one given.",
            hint="Give at least the first 20 digits, as the key's holder reads them to you.",
        )
    entry = TrustStore(context.home, context.workspace).add(card, now()).entry(card.fingerprint)
    assert entry is not None
    return entry


def revoke_key(context: AppContext, key: str, reason: str, *, retired: bool) -> TrustEntry:
    """Make a key count no more; ``retired`` keeps what it signed before.

    ``key`` is the first digits of a fingerprint (8 or more) or a person with a single key.
    Raises InputError ``trust.missing``, ``trust.ambiguous`` or ``trust.reason``.
    """
    from dpdesk.project.review.trust import RevokedAs, TrustStore

    store = TrustStore(context.home, context.workspace)
    found = _trusted(store.load(), key)
    kind = RevokedAs.RETIRED if retired else RevokedAs.COMPROMISED
    entry = store.revoke(found.fingerprint, now(), reason, kind).entry(found.fingerprint)
    assert entry is not None
    return entry


def import_trust(context: AppContext, path: Path) -> TrustList:
    """Join the agency's list from a file with this computer's."""
    from dpdesk.project.review.trust import TrustStore

    return TrustStore(context.home, context.workspace).import_list(path)


def export_trust(context: AppContext, out: Path) -> TrustList:
    """Write this computer's list to a new file."""
    from dpdesk.project.review.trust import TrustStore

    if out.exists():
        raise InputError("trust.exists", f"{out}: the file is there already.", hint="Name another.")
    return TrustStore(context.home, context.workspace).export_list(out, context.workspace)


def _keys(context: AppContext) -> KeyStore:
    from dpdesk.project.review.keys import KeyStore

    return KeyStore(context.home, context.workspace)


def _trusted(trust: TrustList, key: str) -> TrustEntry:
    from dpdesk.project.review.texts import fold_person

    digits = "".join(key.split()).lower()
    found = [
        entry
        for entry in trust.entries
        if (len(digits) >= 8 and entry.fingerprint.startswith(digits))
        or fold_person(entry.person) == fold_person(key)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError("trust.missing", f"No key of {key} is in the list of trusted keys.")
    raise InputError(
        "trust.ambiguous",
        f"{len(found)} keys of {key} are in the list of trusted keys.",
        hint="Give the first digits of the fingerprint.",
    )
