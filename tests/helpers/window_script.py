"""The program as ``python -m dpdesk open PATH`` starts it, used by a script instead of a person.

Run ``python -m tests.helpers.window_script END PATH OUT``: the window opens PATH, searches, keeps a
candidate, visits every step, writes the release to OUT, and is then left by END: ``quit`` (File >
Quit), ``close`` (as by the window's own button), or ``busy`` (File > Quit while a search is
running). Nothing of the program is replaced.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot

from dpdesk.app.types import SetParameters
from dpdesk.ui.application import Application
from dpdesk.ui.desk import Desk
from dpdesk.ui.main_window import MainWindow

LOOK_EVERY_MS = 20


class Script(QObject):
    """Goes on to the next step when what the last one waits for is there."""

    def __init__(self, desk: Desk, end: str, out: Path) -> None:
        super().__init__(desk)
        self._desk, self._end, self._out = desk, end, out
        self._steps = self._told()
        self._holds = next(self._steps)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_EVERY_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()

    @Slot()
    def _look(self) -> None:
        if self._holds():
            self._holds = next(self._steps)

    def _calm(self) -> bool:
        return not self._desk.workbench.hub.busy and not self._desk.protect.busy

    def _told(self) -> Iterator[Callable[[], bool]]:
        desk, bench, window = self._desk, self._desk.workbench, self._desk.window
        yield lambda: bench.profile is not None and self._calm()
        window.show_panel("protect")
        yield lambda: bench.explored is not None and self._calm()
        desk.protect.keep()
        yield lambda: len(bench.candidates) == 1 and self._calm()
        for identifier in desk.panels:
            window.show_panel(identifier)
            yield self._calm
        bench.write_release(self._out)
        yield lambda: bench.release is not None and self._calm()
        print("released", flush=True)
        if self._end == "busy":
            bench.apply(SetParameters({"model": "TS"}))
            bench.explore()
            print("searching" if bench.hub.busy else "idle", flush=True)
        window.set_unsaved(False)  # the question about unsaved work is not what is tried here
        if self._end == "close":
            window.close()
        else:
            window.actions_.action("file.quit").trigger()
        yield lambda: False


def main(end: str, path: str, out: str) -> None:
    """Start the program with a script at its side."""
    run = Application.run

    def run_with_script(
        application: Application,
        window: MainWindow,
        begin: Callable[[], object] | None = None,
    ) -> int:
        desk = application.findChild(Desk)
        assert desk is not None
        Script(desk, end, Path(out))
        return run(application, window, begin)

    Application.run = run_with_script  # type: ignore[method-assign]
    sys.argv = ["dpdesk", "open", path]
    runpy.run_module("dpdesk", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
