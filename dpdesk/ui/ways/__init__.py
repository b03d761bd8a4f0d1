"""Ways to release sensitive columns, compared on the data that are open: a window of its own."""

from dpdesk.ui.ways.window import WaysWindow

__all__ = ["WaysWindow"]
