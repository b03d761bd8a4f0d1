"""Step 3: how values of each attribute may be made coarser.

``HierarchiesPanel(workbench, theme, asker)``
"""

from dpdesk.ui.panels.hierarchies.panel import HierarchiesPanel

__all__ = ["HierarchiesPanel"]
