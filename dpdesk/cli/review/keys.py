"""``dpdesk review key …`` and ``dpdesk review trust …``."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from dpdesk.app import signing
from dpdesk.app.context import AppContext
from dpdesk.cli.printing import Outcome, columns
from dpdesk.core.jobs import CancelToken, Report

if TYPE_CHECKING:
    from dpdesk.project.review.cards import Card
    from dpdesk.project.review.trust import TrustEntry, TrustList


def key_new(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Make a key."""
    card = signing.make_key(context, options.person, options.passphrase, report)
    text = (
        f"A key for {card.person} was made.\n"
        f"Fingerprint: {_grouped(card.fingerprint)}\n\n"
        "Give others your card, and read them the fingerprint yourself:\n"
        f"  dpdesk review key card {card.fingerprint[:8]} --out card.json\n"
        "No one can recover the passphrase.\n"
    )
    return Outcome(text, _card(card), kept=True)


def key_list(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """List the keys of this computer."""
    keys = signing.own_keys(context)
    found = [stored.card for stored in keys if stored.card is not None]
    rows = [("person", "fingerprint", "made")]
    rows += [
        (card.person, _grouped(card.fingerprint, 20), f"{card.created:%Y-%m-%d}") for card in found
    ]
    problems = [stored.problem for stored in keys if stored.problem]
    text = columns(rows) if found else "There is no key on this computer."
    text = "\n".join([text, *problems]) + "\n"
    return Outcome(text, {"keys": [_card(card) for card in found], "problems": problems})


def key_card(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Write the public card of a key."""
    card = signing.write_card(context, options.key, options.out, report)
    text = (
        f"Written: {options.out}\nIt is public. Those who trust it should compare the fingerprint "
        f"with you:\n{_grouped(card.fingerprint)}\n"
    )
    return Outcome(text, _card(card), kept=True)


def key_passphrase(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Change the passphrase of a key."""
    card = signing.change_passphrase(
        context, options.key, options.passphrase, options.new_passphrase, report
    )
    return Outcome(f"The key of {card.person} has a new passphrase.\n", _card(card), kept=True)


def trust_add(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Trust the key of a card."""
    entry = signing.trust_card(context, options.card, options.fingerprint, report)
    text = f"Trusted from now on: {entry.person}, {_grouped(entry.fingerprint)}\n"
    if options.fingerprint is None:
        text += f"Compare the fingerprint with {entry.person}, not with the file.\n"
    return Outcome(text, _entry(entry), kept=True)


def trust_list(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """List whose signatures count."""
    trust = signing.trust_list(context)
    found, words = _list(trust), signing.changed_elsewhere(context, trust)
    return replace(found, text=f"{found.text}Warning: {words}.\n") if words else found


def trust_revoke(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Revoke a key."""
    entry = signing.revoke_key(
        context, options.key, options.reason, report, retired=options.retired
    )
    text = f"The key of {entry.person}, {_grouped(entry.fingerprint, 20)}, counts no more.\n"
    return Outcome(text, _entry(entry), kept=True)


def trust_import(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Join a list from a file."""
    found = _list(signing.import_trust(context, options.file, report))
    return Outcome(found.text, found.json, kept=True)


def trust_export(
    context: AppContext, options: Namespace, token: CancelToken, report: Report
) -> Outcome:
    """Write the list to a file."""
    trust = signing.export_trust(context, options.out, report)
    text = f"Written: {options.out}\nIts fingerprint: {_grouped(trust.fingerprint_of_list())}\n"
    return Outcome(text, _list(trust).json, kept=True)


def _list(trust: TrustList) -> Outcome:
    rows = [("person", "fingerprint", "since", "revoked")]
    rows += [
        (
            entry.person,
            _grouped(entry.fingerprint, 20),
            f"{entry.added:%Y-%m-%d}",
            f"{entry.revoked.time:%Y-%m-%d}, {entry.revoked.kind.value}" if entry.revoked else "",
        )
        for entry in trust.entries
    ]
    text = columns(rows) if trust.entries else "No one's signature counts on this computer yet."
    for one, other in trust.spellings():
        text += f"\nWarning: {one} and {other} count as one person, since the names are so alike."
    whole = trust.fingerprint_of_list()
    plain = {"fingerprint": whole, "entries": [_entry(entry) for entry in trust.entries]}
    return Outcome(f"{text}\n\nFingerprint of this list: {_grouped(whole)}\n", plain)


def _card(card: Card) -> dict[str, object]:
    return {
        "person": card.person,
        "fingerprint": card.fingerprint,
        "created": card.created.isoformat(),
    }


def _entry(entry: TrustEntry) -> dict[str, object]:
    revoked = entry.revoked
    return {
        "person": entry.person,
        "fingerprint": entry.fingerprint,
        "added": entry.added.isoformat(),
        "revoked": None
        if revoked is None
        else {
            "time": revoked.time.isoformat(),
            "kind": revoked.kind.value,
            "reason": revoked.reason,
        },
    }


def _grouped(fingerprint: str, digits: int = 64) -> str:
    from dpdesk.project.review.texts import fingerprint_text

    return fingerprint_text(fingerprint, digits)
