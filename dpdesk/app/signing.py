"""Keys of this computer's users, and the list of persons whose signatures count here."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.auditing import mention
from dpdesk.app.context import AppContext
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import Note, Report, silent
from dpdesk.core.logged import Logged
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.project.review.cards import Card
    from dpdesk.project.review.keys import KeyStore, Signer, StoredKey
    from dpdesk.project.review.trust import TrustEntry, TrustList

_LIST = "trust"
"""Under what an entry of the audit log names the list of trusted keys after a change."""


def now() -> datetime:
    """The time of this computer, in whole seconds, as events carry it."""
    return datetime.now(UTC).replace(microsecond=0)


def own_keys(context: AppContext) -> tuple[StoredKey, ...]:
    """The keys on this computer; damaged files come with the sentence that says so."""
    return _keys(context).keys()


def make_key(context: AppContext, person: str, passphrase: str, report: Report = silent) -> Card:
    """Make a signing key for a person, locked by a passphrase.

    Like every change of keys and trust, it is entered in the audit log; ``report`` is told where
    that is impossible. Raises InputError ``person.name`` or ``key.passphrase-rule``, StorageError.
    """
    card = _keys(context).create(person, passphrase, now())
    _mention(context, "a key was made", card, report)
    return card


def write_card(
    context: AppContext, key: str, out: Path, report: Report = silent, *, replace: bool = False
) -> Card:
    """Write the public card of a key (named by person or fingerprint) to a file.

    Without ``replace`` the file must be new. Raises InputError ``card.exists``, ``key.missing``.
    """
    if out.exists() and not replace:
        raise InputError(
            "card.exists", msg("{out}: the file already exists.", out=out), hint="Name another."
        )
    store = _keys(context)
    card = store.export_card(store.find(key).fingerprint, out, context.workspace, new=not replace)
    facts = {"what": "card", "person": card.person, "key": card.fingerprint}
    mention(context, Logged.EXPORTED, out.absolute(), report, facts)
    return card


def change_passphrase(
    context: AppContext, key: str, old: str, new: str, report: Report = silent
) -> Card:
    """Lock a key by another passphrase; on any failure the old one stays."""
    store = _keys(context)
    card = store.find(key)
    store.change_passphrase(card.fingerprint, old, new)
    _mention(context, "a passphrase was changed", card, report)
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
        store.refuse_damaged()
        raise InputError(
            "key.missing",
            "There is no key on this computer.",
            hint='Make one with `dpdesk review key new --person "Your Name"`.',
        )
    names = ", ".join(card.person for card in cards)
    raise InputError(
        "key.ambiguous",
        msg("There are {n} keys on this computer: {names}.", n=len(cards), names=names),
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


def trust_card(
    context: AppContext, path: Path, fingerprint: str | None = None, report: Report = silent
) -> TrustEntry:
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
            msg(
                "{path}: the fingerprint of this key is {fingerprint}, not the one given.",
                path=path,
                fingerprint=fingerprint_text(card.fingerprint),
            ),
            hint="Give at least the first 20 digits, as the key's holder reads them to you.",
        )
    _tell_changes(context, report)
    trust = TrustStore(context.home, context.workspace).add(card, now())
    entry = trust.entry(card.fingerprint)
    assert entry is not None
    _mention(context, "a key is trusted", entry, report, trust)
    return entry


def revoke_key(
    context: AppContext, key: str, reason: str, report: Report = silent, *, retired: bool
) -> TrustEntry:
    """Make a key count no more; ``retired`` keeps what it signed before.

    ``key`` is the first digits of a fingerprint (8 or more) or a person with a single key.
    Raises InputError ``trust.missing``, ``trust.ambiguous`` or ``trust.reason``.
    """
    from dpdesk.project.review.trust import RevokedAs, TrustStore

    store = TrustStore(context.home, context.workspace)
    found = _trusted(store.load(), key)
    kind = RevokedAs.RETIRED if retired else RevokedAs.COMPROMISED
    _tell_changes(context, report)
    trust = store.revoke(found.fingerprint, now(), reason, kind)
    entry = trust.entry(found.fingerprint)
    assert entry is not None
    _mention(context, msg("a key was revoked as {value}", value=kind.value), entry, report, trust)
    return entry


def import_trust(context: AppContext, path: Path, report: Report = silent) -> TrustList:
    """Join the agency's list from a file with this computer's.

    When this computer's is damaged, it is kept under another name, which ``report`` is told.
    """
    from dpdesk.project.review.trust import TrustStore

    aside: list[Path] = []
    found = TrustStore(context.home, context.workspace).import_list(path, aside.append)
    for kept in aside:
        sentence = msg(
            "The list on this computer was damaged and is kept as {kept}; what had been added or "
            "revoked only on this computer has to be done again.",
            kept=kept,
        )
        report(Note("trust.set-aside", sentence))
    code = found.fingerprint_of_list()
    facts = {"what": "a list was joined", "sha256": code, _LIST: code}
    mention(context, Logged.CHANGED, path.absolute(), report, facts)
    return found


def export_trust(
    context: AppContext, out: Path, report: Report = silent, *, replace: bool = False
) -> TrustList:
    """Write this computer's list to a file; without ``replace`` it must be new."""
    from dpdesk.project.review.trust import TrustStore

    if out.exists() and not replace:
        raise InputError(
            "trust.exists", msg("{out}: the file already exists.", out=out), hint="Name another."
        )
    found = TrustStore(context.home, context.workspace).export_list(
        out, context.workspace, new=not replace
    )
    facts = {"what": "list of trusted keys", "sha256": found.fingerprint_of_list()}
    mention(context, Logged.EXPORTED, out.absolute(), report, facts)
    return found


def changed_elsewhere(context: AppContext, trust: TrustList) -> str:
    """A part of a sentence where the list is not the one that was last entered in the audit log.

    Empty where it is, and where the log cannot tell.
    """
    from dpdesk.project.audit import AuditLog

    try:
        with AuditLog.open_home(context.home, looking=True) as log:
            told = [entry for entry in log.entries_of(Logged.CHANGED) if _LIST in entry.facts]
    except StorageError:
        return ""
    if not told or told[-1].facts[_LIST] == trust.fingerprint_of_list():
        return ""
    return msg(
        "the list of trusted keys on this computer was changed outside DPDesk after {time}, when "
        "it was last entered in the audit log",
        time=told[-1].time,
    )


def _tell_changes(context: AppContext, report: Report) -> None:
    """Say, and enter, that another program changed the list, before this one changes it again."""
    words = changed_elsewhere(context, trust_list(context))
    if words:
        report(Note("trust.elsewhere", msg("Look through the list: {words}.", words=words)))
        mention(context, Logged.VIEWED, "trust.json", report, {"what": "a list changed elsewhere"})


def _mention(
    context: AppContext,
    what: str,
    key: Card | TrustEntry,
    report: Report,
    trust: TrustList | None = None,
) -> None:
    """Enter a change of keys or trust: it decides whose signatures count."""
    code = {} if trust is None else {_LIST: trust.fingerprint_of_list()}
    mention(
        context, Logged.CHANGED, key.person, report, {"what": what, "key": key.fingerprint, **code}
    )


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
        raise InputError(
            "trust.missing", msg("No key of {key} is in the list of trusted keys.", key=key)
        )
    raise InputError(
        "trust.ambiguous",
        msg("{n} keys of {key} are in the list of trusted keys.", n=len(found), key=key),
        hint="Give the first digits of the fingerprint.",
    )
