"""The frame of a plot: a view box between two axes, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pyqtgraph as pg
from PySide6.QtWidgets import QGraphicsGridLayout, QSizePolicy, QWidget

from dpdesk.ui.charts.axes import NumberAxis

PLACES = {"left": (0, 0), "bottom": (1, 1)}
MARGINS = (4.0, 8.0, 16.0, 4.0)


class PlotArea(pg.GraphicsWidget):  # type: ignore[misc]
    """``vb`` holds the items, ``axes`` stand at its left and below it."""

    def __init__(self, axes: Mapping[str, NumberAxis]) -> None:
        super().__init__()
        self.vb = pg.ViewBox(parent=self, enableMouse=False, enableMenu=False)
        grid = QGraphicsGridLayout()
        grid.setContentsMargins(*MARGINS)
        grid.setSpacing(0)
        grid.addItem(self.vb, 0, 1)
        grid.setRowStretchFactor(0, 100)
        grid.setColumnStretchFactor(1, 100)
        for side, axis in axes.items():
            axis.linkToView(self.vb)
            # Below everything: gridlines must not cross what they help to read.
            axis.setZValue(-1_000)
            axis.setFlag(axis.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            grid.addItem(axis, *PLACES[side])
        self.setLayout(grid)


class PlotFrame(pg.GraphicsView):  # type: ignore[misc]
    """A widget with one plot, ``plotItem``.

    The library's own plot widget makes menus with forms, two more axes, a title and a button for
    each plot. Nobody sees them here, and they take most of the time that a plot takes to be made.
    """

    def __init__(self, axes: Mapping[str, NumberAxis], parent: QWidget | None = None) -> None:
        super().__init__(parent, background=None)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.enableMouse(False)
        self.plotItem = PlotArea(axes)
        self.setCentralItem(self.plotItem)

    def add(self, item: pg.GraphicsObject) -> None:
        """Draw this, too; the ranges do not follow it."""
        self.plotItem.vb.addItem(item, ignoreBounds=True)

    def remove(self, item: pg.GraphicsObject) -> None:
        """Draw it no longer."""
        self.plotItem.vb.removeItem(item)

    def set_ranges(
        self, x: tuple[float, float], y: tuple[float, float], *, downwards: bool = False
    ) -> None:
        """Values at the edges, low and high; ``downwards``: low values of y lie above."""
        self.plotItem.vb.invertY(downwards)
        self.plotItem.vb.setRange(xRange=x, yRange=y, padding=0)
