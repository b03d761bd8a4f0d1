"""Keeping the window's place and the positions of its splitters as text."""

from __future__ import annotations

import base64
import binascii
import json

from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QSplitter, QWidget

from dpdesk.core.jsontext import read_json


def geometry_text(window: QWidget) -> str:
    """Place and size of a window."""
    return _to_text(window.saveGeometry())


def layout_text(window: QWidget) -> str:
    """Positions of all splitters that have an object name."""
    named = {
        part.objectName(): _to_text(part.saveState())
        for part in window.findChildren(QSplitter)
        if part.objectName()
    }
    return json.dumps(named)


def take_first_size(window: QWidget) -> None:
    """A good size where the screen has room for it, and for the frame of the window."""
    room = window.screen().availableGeometry()
    width, height = min(1280, room.width()), min(820, room.height() - 40)
    window.resize(max(1100, width), max(700, height))


def restore(window: QWidget, geometry: str, layout: str) -> None:
    """Put a window and its splitters back; what cannot be read is left as it is."""
    if geometry:
        window.restoreGeometry(_from_text(geometry))
    try:
        named = read_json(layout or "{}")
    except ValueError:
        return
    if not isinstance(named, dict):
        return
    for part in window.findChildren(QSplitter):
        kept = named.get(part.objectName())
        if isinstance(kept, str):
            part.restoreState(_from_text(kept))


def _to_text(state: QByteArray) -> str:
    return base64.b64encode(bytes(state.data())).decode("ascii")


def _from_text(text: str) -> QByteArray:
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()
