"""Minimal moves by a program that the user installed: what it gives is checked before it is used.

Source: resources/docs/exact.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.graver import GraverError, GraverTool
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.exact.moves import Matrix

_MOST_COMPARED = 200
_MOST_ENTRY = 127


def longest_by(tool: GraverTool, matrix: Matrix, at_least: int, token: CancelToken) -> int:
    """The largest L1 norm of a minimal move of a matrix, as ``tool`` finds it.

    ``at_least`` is the length of a minimal move that is known. Raises RefusedError
    ``cube.exact-too-large`` when the program fails or gives what cannot be right, Cancelled.
    """
    name = tool.name()
    try:
        basis = tool.basis(matrix, token)
        return _checked(basis, matrix, at_least, token)
    except GraverError as error:
        raise RefusedError(
            "cube.exact-too-large",
            f"How much the noise must hide beside these exact tables was asked of {name}, and "
            f"{error}.",
            hint="Release at most two tables exactly, or tables of fewer categories.",
            details={"key": "exact"},
        ) from error


def _checked(basis: NDArray[np.int64], matrix: Matrix, at_least: int, token: CancelToken) -> int:
    if not len(basis) or np.abs(basis).max() > _MOST_ENTRY:
        raise GraverError("it gave no moves, or moves too large to be minimal")
    if (basis @ matrix.T.astype(np.int64)).any():
        raise GraverError("a move that it gave does not keep what is exact")
    norms = np.abs(basis).sum(axis=1)
    longest = int(norms.max())
    small = basis.astype(np.int8)
    for move in small[norms == longest][:_MOST_COMPARED]:
        token.check()
        for sign in (1, -1):
            inside = (np.abs(small) <= np.abs(move)) & (sign * small * move >= 0)
            if (inside.all(axis=1) & (norms < longest)).any():
                raise GraverError("a move that it gave is not minimal")
    if longest < at_least:
        raise GraverError(f"a minimal move of {at_least} rows is missing")
    return longest
