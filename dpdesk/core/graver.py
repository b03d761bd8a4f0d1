"""What the engine asks of a program for Graver bases that the user may have installed.

The engine runs no program and writes no file; whoever opens the program says here what does.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken


class GraverError(Exception):
    """The program gave no basis; the text, a clause, says why."""


class GraverTool(Protocol):
    """A program that computes Graver bases."""

    def name(self) -> str:
        """Its name and version, such as ``4ti2 1.6.9``; empty where it is not installed."""

    def basis(self, matrix: NDArray[np.int8], token: CancelToken) -> NDArray[np.int64]:
        """The Graver basis of an integer matrix, one vector of each pair v, -v; shape (n, columns).

        Raises :class:`GraverError` when there is none, Cancelled.
        """


_tools: dict[int, GraverTool] = {}


def use_tool(owner: object, tool: GraverTool | None) -> None:
    """Say which program computes Graver bases as long as ``owner`` lives; None: no longer."""
    if tool is None:
        _tools.pop(id(owner), None)
    else:
        _tools[id(owner)] = tool


def installed_tool() -> GraverTool | None:
    """The program that is installed here, if there is one."""
    return next((tool for tool in list(_tools.values()) if tool.name()), None)
