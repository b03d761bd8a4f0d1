"""The budget ledger in a window: who spent what, when, what is left, and the limits."""

from dpdesk.ui.ledger.window import RESTORED, LedgerWindow

__all__ = ["RESTORED", "LedgerWindow"]
