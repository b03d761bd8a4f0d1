"""Writing a chart to a file: picture, drawing or numbers; whole or not at all."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QCoreApplication,
    QEvent,
    QIODevice,
    QPoint,
    QSaveFile,
)
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from dpdesk.core.charts import ChartTable
from dpdesk.core.errors import StorageError

translate = QCoreApplication.translate

PICTURE_RATIO = 2.0


class ChartSaved(QEvent):
    """Tells the window around a chart that it was saved as a file."""

    KIND = QEvent.Type(QEvent.registerEventType())

    def __init__(self, path: Path) -> None:
        super().__init__(self.KIND)
        self.path = path


def table_csv(table: ChartTable) -> str:
    """The twin as CSV: UTF-8 text, commas, LF, an empty field for None, no grouping."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def picture(widget: QWidget) -> bytes:
    """A widget as PNG at twice its size on screen."""
    size = widget.size() * PICTURE_RATIO
    image = QImage(size, QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(PICTURE_RATIO)
    image.fill(widget.palette().color(widget.backgroundRole()))
    painter = QPainter(image)
    widget.render(painter, QPoint())
    painter.end()
    data, buffer = QByteArray(), QBuffer()
    buffer.setBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; StorageError ``chart.not-written`` otherwise."""
    file = QSaveFile(str(path))
    if file.open(QIODevice.OpenModeFlag.WriteOnly):
        complete = file.write(content) == len(content)
        if complete and file.commit():
            return
    raise StorageError(
        "chart.not-written",
        translate("ChartView", "The chart could not be written to {path}: {reason}.").format(
            path=path, reason=file.errorString()
        ),
        hint=translate("ChartView", "Choose another folder."),
    )
