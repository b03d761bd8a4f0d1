"""The window in which a table of a database server is chosen."""

from dpdesk.ui.database.window import DatabaseWindow

__all__ = ["DatabaseWindow"]
