"""A guard for ``data()``: one faulty cell must not call the error reporter for every repaint.

Nor must one text stop the window or turn its words: what a model gives to be laid out or read aloud
is cut and made legible here.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from PySide6.QtCore import Qt

from dpdesk.core.shown import LONGEST_VALUE
from dpdesk.ui.words.numbers import shortened

_LAID_OUT = frozenset(
    {
        Qt.ItemDataRole.DisplayRole,
        Qt.ItemDataRole.ToolTipRole,
        Qt.ItemDataRole.StatusTipRole,
        Qt.ItemDataRole.WhatsThisRole,
        Qt.ItemDataRole.AccessibleTextRole,
        Qt.ItemDataRole.AccessibleDescriptionRole,
    }
)
_MOST = 4 * LONGEST_VALUE
"""Several values and the words around them."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


def guarded(function: _Function) -> _Function:
    """Report the first exception of each model to ``sys.excepthook``, and return None for all.

    Texts that are laid out have a length that a window can stand; what is edited stays whole.
    """

    @functools.wraps(function)
    def safe(self: Any, *arguments: Any) -> Any:
        try:
            found = function(self, *arguments)
        except Exception:  # noqa: BLE001 - Qt calls this for each cell and role
            if not getattr(self, "_fault_reported", False):
                self._fault_reported = True
                sys.excepthook(*sys.exc_info())
            return None
        role = arguments[-1] if len(arguments) > 1 else Qt.ItemDataRole.DisplayRole
        if isinstance(found, str) and role in _LAID_OUT:
            return shortened(found, _MOST)
        return found

    return cast(_Function, safe)
