"""The plan checked against another file, in a window: what no longer fits, and what to do."""

from dpdesk.ui.fitting.window import FitWindow

__all__ = ["FitWindow"]
