"""The audit log in a window: who did what and when, and whether the log is as it was written."""

from dpdesk.ui.audit.window import AuditWindow

__all__ = ["AuditWindow"]
