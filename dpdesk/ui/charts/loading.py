"""The plotting library, imported in pieces while there is time for it.

Its import takes 100 ms and more, in the main thread alone: it makes classes of the toolkit, and two
threads that do so at the same time crash the process. :func:`plot_pieces` does the same in many
turns of the event loop; to plot before it is done, call :func:`load_plots`.
"""

from __future__ import annotations
import __future__

import ast
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec, module_from_spec

from PySide6 import QtCore, QtGui, QtWidgets

_TOOLKIT = (QtCore, QtGui, QtWidgets)
_PLOTTING = ("library", "axes", "items", "surface", "lattice_board")
_PIECE_SECONDS = 0.008


class ImportInPieces:
    """The import of one package, statement by statement of its own module."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rest: Iterator[None] | None = None

    def advance(self, enough: Callable[[], bool]) -> bool:
        """Go on until it is enough for now; whether the package is all there.

        Raises what an import would; the next call begins anew.
        """
        if self._rest is None:
            if self._name in sys.modules:
                return True
            self._rest = self._statements()
        try:
            for _ in self._rest:
                if enough():
                    return False
        except BaseException:
            sys.modules.pop(self._name, None)
            self._rest = None
            raise
        self._rest = None
        return True

    def _statements(self) -> Iterator[None]:
        """Do what an import does; all at once where the module has no text."""
        spec = find_spec(self._name)
        source = getattr(getattr(spec, "loader", None), "get_source", None)
        text = source(self._name) if source is not None else None
        if spec is None or text is None:
            importlib.import_module(self._name)
            return
        module = module_from_spec(spec)
        sys.modules[self._name] = module
        flags = 0
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for one in statement.names:  # these count for all of the module's text
                    flags |= getattr(__future__, one.name).compiler_flag
            part = ast.Module([statement], [])
            exec(compile(part, str(spec.origin), "exec", flags, dont_inherit=True), vars(module))
            yield


class _Turn:
    """Some milliseconds of this thread's time, again and again."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._until = time.thread_time() + _PIECE_SECONDS

    def over(self) -> bool:
        """Whether they are used up."""
        return time.thread_time() >= self._until


_LIBRARY = ImportInPieces("pyqtgraph")


def plot_pieces() -> Iterator[None]:
    """Import what plots need, with a pause after each piece of some milliseconds.

    The library takes over all names of the toolkit, which makes their classes: these come first.
    """
    turn = _Turn()
    for part in _TOOLKIT:
        for name in dir(part):
            getattr(part, name)
            if turn.over():
                yield
                turn.begin()
    while not _LIBRARY.advance(turn.over):
        yield
        turn.begin()
    for name in _PLOTTING:
        yield
        importlib.import_module(f"dpdesk.ui.charts.{name}")


def load_plots() -> None:
    """Import what is left of the library now."""
    _LIBRARY.advance(lambda: False)
