"""The first step: open a table and see what is in it."""

from dpdesk.ui.panels.data.panel import DataPanel

__all__ = ["DataPanel"]
