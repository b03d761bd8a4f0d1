"""Review and export: what will leave, whether it holds what it claims, and where it goes."""

from dpdesk.ui.panels.review.panel import ReviewPanel

__all__ = ["ReviewPanel"]
