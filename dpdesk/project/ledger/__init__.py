"""The budget ledger: what was spent on whom, durably, before any noise exists.

``Ledger``      the open file: preview, debit, settle, limits, check
``Preview``     what a debit would do
``AccountKey``  whose budget: a population, or a source by its content hash
``Spending``    an exact sum of costs
``Witness``     what is known of ledgers apart from them
"""

from dpdesk.project.ledger.accounts import Book, DebitRecord, LimitRecord, Spending, add_up
from dpdesk.project.ledger.figures import Figures, figures
from dpdesk.project.ledger.file import FILE, stamp_of
from dpdesk.project.ledger.judging import (
    SHOWN_DELTA,
    UNDECLARED,
    Preview,
    left_of,
    open_doubts,
    preview,
    unit_words,
)
from dpdesk.project.ledger.ledger import Ledger, LedgerCheck, LedgerFault, check_file
from dpdesk.project.ledger.people import PeopleRecord
from dpdesk.project.ledger.records import (
    AccountKey,
    AuditEnd,
    LedgerEntry,
    Outcome,
    is_said,
    name_of,
)
from dpdesk.project.ledger.witness import SeenLedger, Witness, read_entry

__all__ = [
    "FILE",
    "SHOWN_DELTA",
    "UNDECLARED",
    "AccountKey",
    "AuditEnd",
    "Book",
    "DebitRecord",
    "Figures",
    "Ledger",
    "LedgerCheck",
    "LedgerEntry",
    "LedgerFault",
    "LimitRecord",
    "Outcome",
    "PeopleRecord",
    "Preview",
    "SeenLedger",
    "Spending",
    "Witness",
    "add_up",
    "check_file",
    "figures",
    "is_said",
    "left_of",
    "name_of",
    "open_doubts",
    "preview",
    "read_entry",
    "stamp_of",
    "unit_words",
]
