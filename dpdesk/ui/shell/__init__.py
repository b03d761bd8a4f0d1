"""The parts of the main window around the panels.

``Panel``         base class of the panels: status, activation, run, explanation
``PanelEntry``    a panel with its id, title and icon, as the window takes it
``PanelStatus`` / ``Mark``  what the navigation shows of a panel
``ActionSpec`` / ``ActionSet``  actions declared once; menus, palette and help derive from them
"""

from dpdesk.ui.shell.actions import MENUS, ActionSet, ActionSpec
from dpdesk.ui.shell.navigation import Mark, Panel, PanelEntry, PanelStatus

__all__ = ["MENUS", "ActionSet", "ActionSpec", "Mark", "Panel", "PanelEntry", "PanelStatus"]
