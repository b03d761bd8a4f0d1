"""Compare: candidates side by side, two of them pinned, one of them to be released."""

from dpdesk.ui.panels.compare.panel import ComparePanel

__all__ = ["ComparePanel"]
