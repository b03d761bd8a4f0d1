"""Starting: a clear word without a display, collection in the main thread, faults without data."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from dpdesk.core.errors import StorageError
from dpdesk.core.resources import resource, resource_files
from dpdesk.ui.crash import CrashReporter, Fault
from dpdesk.ui.jobs import GcKeeper
from dpdesk.ui.settings import StoredSettings
from tests.helpers.memory_settings import PlainSettings
from tests.helpers.waiting import PATIENCE_SECONDS


def test_the_window_s_modules_load_no_slow_library() -> None:
    script = (
        "import sys; import dpdesk.ui.main_window, dpdesk.ui.application; "
        "print([m for m in ('numba', 'duckdb', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert done.stdout.strip() == "[]"


def test_collection_happens_only_where_it_is_asked_for(qapp: QApplication) -> None:
    keeper = GcKeeper()
    keeper.start()
    assert not gc.isenabled()
    keeper.settle()
    keeper.collect()
    keeper.stop()
    assert gc.isenabled()


def test_settings_are_saved_when_changed() -> None:
    saved: list[PlainSettings] = []
    store = StoredSettings(PlainSettings(), saved.append)
    store.change(theme="dark", recent=("a.csv",))
    assert saved == [PlainSettings(theme="dark", recent=("a.csv",))]
    assert store.current.theme == "dark"


def test_settings_that_cannot_be_saved_are_no_reason_to_stop() -> None:
    def save(settings: PlainSettings) -> None:
        raise StorageError("settings.not-saved", "The disk is full.")

    store = StoredSettings(PlainSettings(), save)
    store.change(theme="dark")
    assert store.current.theme == "dark"
    assert store.problem == "The disk is full."


def test_a_fault_names_places_and_no_values(qtbot: QtBot, tmp_path: Path) -> None:
    reporter = CrashReporter(tmp_path)
    try:
        raise ValueError("Jane Roe, 1 Main Street")
    except ValueError as error:
        with qtbot.waitSignal(reporter.reported) as caught:
            reporter.on_exception(ValueError, error, error.__traceback__)
    (fault,) = caught.args
    assert isinstance(fault, Fault)
    log = (tmp_path / "faults.log").read_text()
    assert "test_application.py" in log
    assert "Jane" not in log + fault.sentence + fault.places
    assert (tmp_path / "faults.log").stat().st_mode & 0o077 == 0


def test_faults_of_other_threads_arrive_in_the_main_thread(qtbot: QtBot, tmp_path: Path) -> None:
    reporter = CrashReporter(tmp_path)
    heard: list[int] = []

    class Listener:
        def hear(self, fault: Fault) -> None:
            heard.append(threading.get_ident())

    listener = Listener()
    reporter.reported.connect(listener.hear)

    def fail() -> None:
        error = RuntimeError("x")
        reporter.on_exception(RuntimeError, error, None)

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: heard == [threading.get_ident()])


@pytest.mark.qt_no_exception_capture
def test_hooks_are_taken_over_and_given_back(tmp_path: Path, qapp: QApplication) -> None:
    before = (sys.excepthook, threading.excepthook)
    reporter = CrashReporter(tmp_path)
    reporter.install()
    assert sys.excepthook == reporter.on_exception
    assert (tmp_path / "crash.log").exists()
    reporter.uninstall()
    assert (sys.excepthook, threading.excepthook) == before
    assert not (tmp_path / "crash.log").exists()


def test_what_a_crash_left_is_known_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "crash.log").write_text("Fatal Python error: Segmentation fault\n")
    assert CrashReporter(tmp_path).last_crash == "Fatal Python error: Segmentation fault"
    assert CrashReporter(tmp_path / "other").last_crash == ""


def test_bundled_files_are_found() -> None:
    names = [entry.name for entry in resource_files("fonts", ".ttf")]
    assert "DejaVuSans.ttf" in names
    assert resource("fonts/DejaVuSans.ttf").is_file()
    assert resource_files("no-such-folder", ".ttf") == ()
    with pytest.raises(StorageError, match=r"no-such\.txt"):
        resource("no-such.txt")
