"""What can be done that an audit log keeps."""

from __future__ import annotations

from enum import StrEnum


class Logged(StrEnum):
    """What was done, in the words of an entry; the window says them in the reader's language.

    Entries are hashed with these words: a word that was once written is never changed.
    """

    OPENED = "opened"
    RAN = "ran"
    RELEASED = "released"
    VIEWED = "viewed"
    DECIDED = "decided"
    EXPORTED = "exported"
    CHANGED = "changed"
    CREATED = "created"
    COPIED = "copied"
    RESCUED = "rescued"
    SOURCE_CHANGED = "source changed"
    TRIED = "tried on the data"
    COMPARED = "compared on the data"
    COMPARED_PUBLIC = "compared on a file declared public"
    DEBITED = "debited"
    BEGUN = "began a ledger"
    LIMITED = "set a budget limit"
    RESTORED = "restored a ledger"
    PEOPLE = "declared who people are"
    ACCEPTED = "accepted a lost witness"
