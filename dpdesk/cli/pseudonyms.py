"""``dpdesk pseudonyms …``: the keys with which identifiers are replaced."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from dpdesk.app import pseudonyms
from dpdesk.app.context import AppContext
from dpdesk.cli.printing import Outcome, columns
from dpdesk.core.jobs import CancelToken, Report

if TYPE_CHECKING:
    from dpdesk.project.pseudonym_keys import StoredPseudonymKey


def new(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Make a key."""
    made = pseudonyms.make_key(context, options.name, report)
    text = (
        f"The key {made.name} was made. Its id: {made.id}\n\n"
        "A plan names it beside an identifier:\n"
        f'  pseudonym = {{ key = "{made.name}" }}\n'
        "Anyone who has the key can tell whose pseudonym is whose. Without it no one can make the "
        "same\npseudonyms again, so keep a backup in a safe place:\n"
        f'  dpdesk pseudonyms export "{made.name}" --out FILE\n'
    )
    return Outcome(text, _plain(made), kept=True)


def show(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """List the keys."""
    stored = pseudonyms.list_keys(context)
    found = [each for each in stored if not each.problem]
    rows = [("key", "id", "made"), *((each.name, each.id, each.created[:10]) for each in found)]
    problems = [each.problem for each in stored if each.problem]
    text = columns(rows) if found else "There is no key for pseudonyms on this computer."
    text = "\n".join([text, *problems]) + "\n"
    return Outcome(text, {"keys": [_plain(each) for each in found], "problems": problems})


def export(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Write a backup of a key."""
    out, passphrase = options.out, options.passphrase
    found = pseudonyms.export_key(context, options.name, passphrase, out, report)
    text = f"Written: {out}\nWhoever has this file and its passphrase has the key {found.name}.\n"
    return Outcome(text, _plain(found), kept=True)


def take(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Take a key from a backup."""
    found = pseudonyms.import_key(context, options.file, options.passphrase, report)
    return Outcome(f"The key {found.name} is here now.\n", _plain(found), kept=True)


def delete(context: AppContext, options: Namespace, token: CancelToken, report: Report) -> Outcome:
    """Take a key away."""
    found = pseudonyms.delete_key(context, options.name, options.id, report)
    text = (
        f"The key {found.name} was deleted. Where a backup or a copy of it exists, it still opens "
        "every pseudonym.\n"
    )
    return Outcome(text, _plain(found), kept=True)


def _plain(key: StoredPseudonymKey) -> dict[str, object]:
    return {"name": key.name, "id": key.id, "created": key.created}
