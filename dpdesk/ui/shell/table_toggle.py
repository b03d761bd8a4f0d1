"""Ctrl+T: picture or table."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget


def toggle_tables(panel: QWidget) -> None:
    """Turn the chart that has the focus into its table and back, or all charts of a panel."""
    from dpdesk.ui.charts import ChartView

    views = [view for view in panel.findChildren(ChartView) if view.isVisible()]
    focus = QApplication.focusWidget()
    inside = [view for view in views if focus is not None and view.isAncestorOf(focus)]
    for view in inside or views:
        view.toggle_table()
