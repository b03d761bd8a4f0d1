"""Before Qt is asked: a display that answers and the system's libraries, or one sentence."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from dpdesk.core.errors import StorageError
from dpdesk.ui.display import ThisSystem, require_display, system_libraries
from tests.helpers.elf import needed_libraries

# What every Linux with Python and its wheels has.
_ALWAYS = {
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
}


class Machine:
    """A machine that lacks some libraries and whose displays answer or not."""

    def __init__(
        self,
        lacks: Iterable[str] = (),
        displays: Iterable[str] = (":0", "wayland-0"),
        apt: bool = True,
        root: bool = False,
    ) -> None:
        self._lacks, self._displays, self._apt, self._root = set(lacks), set(displays), apt, root
        self.asked: list[str] = []

    def loads(self, library: str) -> bool:
        return library not in self._lacks

    def answers(self, plugin: str, display: str) -> bool:
        self.asked.append(display)
        return display in self._displays

    def has_apt(self) -> bool:
        return self._apt

    def is_root(self) -> bool:
        return self._root


def refusal(environment: Mapping[str, str], machine: Machine) -> StorageError:
    with pytest.raises(StorageError) as caught:
        require_display(environment, "linux", machine)
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.line
    return caught.value


@pytest.mark.parametrize("environment", [{}, {"DISPLAY": "", "QT_QPA_PLATFORM": "xcb"}])
def test_without_a_display_it_says_so(environment: dict[str, str]) -> None:
    error = refusal(environment, Machine())
    assert error.code == "display.missing"
    assert "DISPLAY" in error.sentence


@pytest.mark.parametrize(
    "environment",
    [{"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}, {"QT_QPA_PLATFORM": "offscreen"}],
)
def test_with_a_display_or_none_needed_it_goes_on(environment: dict[str, str]) -> None:
    require_display(environment, "linux", Machine())


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_systems_are_not_asked(platform: str) -> None:
    machine = Machine(displays=())
    require_display({"DISPLAY": ":0"}, platform, machine)
    assert machine.asked == []


def test_missing_libraries_are_named_with_the_one_command_that_installs_them() -> None:
    machine = Machine(lacks=("libxcb-cursor.so.0", "libxkbcommon-x11.so.0"))
    error = refusal({"DISPLAY": ":0"}, machine)
    assert error.code == "display.libraries"
    assert error.line == (
        "The window cannot start because libraries of the system are missing: libxcb-cursor.so.0, "
        "libxkbcommon-x11.so.0; install them with `sudo apt-get install -y "
        "--no-install-recommends libxcb-cursor0 libxkbcommon-x11-0`."
    )


def test_root_needs_no_sudo_and_other_systems_hear_the_names_alone() -> None:
    lacks = ("libxcb-cursor.so.0",)
    as_root = refusal({"DISPLAY": ":0"}, Machine(lacks, root=True)).line
    assert "with `apt-get install" in as_root
    elsewhere = refusal({"DISPLAY": ":0"}, Machine(lacks, apt=False)).line
    assert "apt-get" not in elsewhere
    assert "libxcb-cursor0" in elsewhere


def test_libraries_that_any_window_needs_are_asked_for_without_a_display_too() -> None:
    error = refusal({"QT_QPA_PLATFORM": "offscreen"}, Machine(lacks=("libEGL.so.1",)))
    assert "libegl1" in error.line


def test_a_display_that_does_not_answer_is_named() -> None:
    error = refusal({"DISPLAY": "far:3"}, Machine())
    assert error.code == "display.silent"
    assert "`far:3`" in error.sentence


def test_one_display_that_can_be_used_is_enough() -> None:
    both = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}
    require_display(both, "linux", Machine(lacks=("libwayland-cursor.so.0",)))
    require_display(both, "linux", Machine(lacks=("libxcb-cursor.so.0",)))
    require_display(both, "linux", Machine(displays=(":0",)))
    refusal(both, Machine(displays=()))


def test_only_the_display_that_was_asked_for_counts() -> None:
    both = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "QT_QPA_PLATFORM": "xcb"}
    assert refusal(both, Machine(displays=("wayland-0",))).code == "display.silent"
    assert "`nosuch`" in refusal(both | {"QT_QPA_PLATFORM": "nosuch"}, Machine()).sentence


def _without_linker(names: set[str]) -> set[str]:
    return {name for name in names if not name.startswith("ld-linux")}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the libraries of Linux")
def test_the_table_holds_every_library_that_the_installed_toolkit_asks_for() -> None:
    found = importlib.util.find_spec("PySide6")
    assert found is not None
    assert found.submodule_search_locations is not None
    qt = Path(found.submodule_search_locations[0]) / "Qt"
    if not qt.is_dir():
        pytest.skip("the toolkit is not the one of the wheels")
    own = {path.name for path in (qt / "lib").iterdir()}
    for use, plugin in (("xcb", "libqxcb.so"), ("wayland", "libqwayland.so")):
        known = {one.name for one in system_libraries() if one.use in ("any", use)}
        libraries, seen = [qt / "plugins/platforms" / plugin, qt / "lib/libQt6Widgets.so.6"], set()
        while libraries:
            needed = needed_libraries(libraries.pop())
            assert _without_linker(needed) - own - _ALWAYS <= known
            libraries += [qt / "lib" / name for name in (needed & own) - seen]
            seen |= needed


def test_this_machine_does_not_load_what_is_not_there() -> None:
    assert not ThisSystem().loads("libdpdesk-nowhere.so.0")


needs_x = pytest.mark.skipif(
    not ThisSystem().loads("libxcb.so.1"), reason="the X library is not installed"
)


@needs_x
def test_a_display_where_nobody_listens_does_not_answer() -> None:
    assert not ThisSystem().answers("xcb", ":4711")


@needs_x
def test_the_program_ends_with_one_sentence_where_qt_would_abort(tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")
    }
    done = subprocess.run(
        [sys.executable, "-m", "dpdesk"],
        env=environment | {"DISPLAY": ":4711"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="there is no virtual display server")
@needs_x
def test_a_real_display_answers() -> None:
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        number = server.stdout.readline().strip()
        script = (
            "from dpdesk.ui.display import ThisSystem; "
            f"print(ThisSystem().answers('xcb', ':{number}'))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        server.terminate()
    assert done.stdout == "True\n"
