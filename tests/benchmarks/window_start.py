"""How long the window needs to its first paint, and what memory it holds when it is idle.

Run as ``python -m tests.benchmarks.window_start``; it needs no display. Each start is a fresh
process with the same home; the first, which may compile, is left out. The floor is a bare window
of the toolkit with one label; next to it is a Python without a window that imports the database,
the columns and the compiler, which the window holds ready. pandas is hidden, since no user has it.
All take turns. Seconds run from the start of the process: to the
first paint, elapsed and of the processor, and to the moment when all is ready that the window warms
up; memory is the resident set at these two moments and after a further idle second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HIDDEN = """
import sys
class Hidden:
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden)
"""
FLOOR = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow
from tests.benchmarks.window_start import say
app = QApplication(sys.argv[:1])
window = QMainWindow()
window.setCentralWidget(QLabel("hello"))
window.show()
app.processEvents()
say("painted")
say("ready")
QTimer.singleShot(1000, lambda: (say("idle"), app.quit()))
app.exec()
"""
LIBRARIES = """
import duckdb, numpy, pyarrow.compute, pyarrow.acero, pyarrow.csv
from tests.benchmarks.window_start import say
say("painted")
from dpdesk.core.compiled import start
start()
say("ready")
say("idle")
"""
WINDOW = """
from pathlib import Path
from PySide6.QtCore import QTimer
from dpdesk.app.context import AppContext
from dpdesk.ui.application import Application
from dpdesk.ui.desk import Desk
from tests.benchmarks.window_start import say
from tests.helpers.asking import ScriptedAsker
from tests.helpers.events import wait_until
from tests.helpers.memory_settings import MemorySettings
home = Path(sys.argv[1])
application = Application.start(home, MemorySettings())
with AppContext.open(home) as context:
    given = application.hub, application.theme, MemorySettings(), ScriptedAsker(), application
    desk = Desk(context, *given)
    desk.window.shown.connect(lambda: say("painted"))
    application.show(desk.window)
    wait_until(application.is_ready, 60)
    say("ready")
    QTimer.singleShot(1000, application.qt.quit)
    application.qt.exec()
    say("idle")
    desk.window.close()
    wait_until(lambda: not application.hub.busy and not desk.window.isVisible())
    desk.end()
application.stop()
"""
MOMENTS = ("painted", "ready", "idle")


def say(moment: str) -> None:
    """Print seconds elapsed since this process began, of its processor time, and its memory."""
    elapsed = time.time() - float(os.environ["STARTED"])
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    held = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    print(f"{moment} {elapsed:.3f} {time.process_time():.3f} {held:.0f}", flush=True)


def started(code: str, home: Path) -> dict[str, list[float]]:
    """The numbers of :func:`say` at each moment of one start."""
    variables = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "DPDESK_HOME": str(home)}
    # An installed program need not compile its modules again at each start.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables["PYTHONPYCACHEPREFIX"] = str(home.parent / "bytecode")
    variables["STARTED"] = str(time.time())
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN + code, str(home)],
        check=True,
        capture_output=True,
        text=True,
        env=variables,
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    return {line[0]: [float(part) for part in line[1:]] for line in lines if line[0] in MOMENTS}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often each is started")
    options = parser.parse_args()
    works = {"the window": WINDOW, "floor: a bare window": FLOOR, "libraries alone": LIBRARIES}
    found: dict[str, list[dict[str, list[float]]]] = {label: [] for label in works}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name) / "home"
        home.mkdir()
        for _ in range(options.times + 1):
            for label, code in works.items():
                found[label].append(started(code, home))
    print("the first start, which may compile, is left out; the least of the others")
    for label, starts in found.items():
        for moment in MOMENTS:
            numbers = zip(*(start[moment] for start in starts[1:]), strict=True)
            elapsed, processor, held = (min(part) for part in numbers)
            print(
                f"{label:22}{moment:9}{elapsed:6.2f} s elapsed{processor:6.2f} s of processor"
                f"{held:6.0f} MB"
            )


if __name__ == "__main__":
    main()
