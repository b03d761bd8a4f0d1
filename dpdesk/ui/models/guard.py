"""A guard for ``data()``: one faulty cell must not call the error reporter for every repaint."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., Any])


def guarded(function: _Function) -> _Function:
    """Report the first exception of each model to ``sys.excepthook``, and return None for all."""

    @functools.wraps(function)
    def safe(self: Any, *arguments: Any) -> Any:
        try:
            return function(self, *arguments)
        except Exception:  # noqa: BLE001 - Qt calls this for each cell and role
            if not getattr(self, "_fault_reported", False):
                self._fault_reported = True
                sys.excepthook(*sys.exc_info())
            return None

    return cast(_Function, safe)
