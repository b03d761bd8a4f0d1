"""Getting slow imports out of the way while the user looks at the first screen."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, Report

MODULES = ("dpdesk.ui.charts.surface", "duckdb", "numpy", "pyarrow", "dpdesk.core.compiled")


def warm_up(token: CancelToken, report: Report, modules: Sequence[str] = MODULES) -> int:
    """Import what the first real work would wait for; returns how many modules came in.

    A module that cannot be imported is left to the work that needs it, which can say so better.
    """
    found = 0
    for name in modules:
        token.check()
        try:
            importlib.import_module(name)
        except (ImportError, OSError, RuntimeError, DpdeskError):
            continue
        found += 1
    return found
