"""The plotting library, whole, for the modules that plot."""

from __future__ import annotations

from dpdesk.ui.charts.loading import load_plots

load_plots()

import pyqtgraph as pg  # noqa: E402  what was begun in pieces is finished first

__all__ = ["pg"]
