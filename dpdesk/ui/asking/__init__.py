"""Asking a release of rows for counts: a window of its own."""

from dpdesk.ui.asking.window import AskWindow

__all__ = ["AskWindow"]
