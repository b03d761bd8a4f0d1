"""The second step: say what each column is for the protection."""

from dpdesk.ui.panels.attributes.panel import AttributesPanel

__all__ = ["AttributesPanel"]
