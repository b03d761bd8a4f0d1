"""Step 3: how values of each attribute may be made coarser.

``HierarchiesPanel(workbench, theme)``; ``attributesAsked()`` wants the step Attributes,
``dataAsked()`` the step Data.
"""

from dpdesk.ui.panels.hierarchies.panel import HierarchiesPanel

__all__ = ["HierarchiesPanel"]
