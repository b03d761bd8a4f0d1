"""Whether a window can be shown here: the system's libraries, and a display that answers.

Qt aborts the whole process when either is missing, so this is asked first, before Qt is imported.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from dpdesk.core import systems
from dpdesk.core.errors import StorageError
from dpdesk.core.resources import resource

LIBRARIES = "system-libraries.txt"
_NEEDS_NO_DISPLAY = frozenset(
    ("offscreen", "minimal", "minimalegl", "vnc", "linuxfb", "eglfs", "vkkhrdisplay")
)
_VARIABLES = {"wayland": "WAYLAND_DISPLAY", "xcb": "DISPLAY"}
_PATIENCE = 5.0


@dataclass(frozen=True)
class SystemLibrary:
    """A line of the bundled table: ``use`` is ``any`` or the name of a platform plugin of Qt."""

    use: str
    name: str
    package: str


class System(Protocol):
    """What is asked of the machine; tests give another one."""

    def loads(self, library: str) -> bool:
        """Whether the dynamic linker finds and loads the library."""
        ...

    def answers(self, plugin: str, display: str) -> bool:
        """Whether the display server ``display`` of ``xcb`` or ``wayland`` lets us connect."""
        ...

    def has_apt(self) -> bool:
        """Whether packages are those of Debian."""
        ...

    def is_root(self) -> bool:
        """Whether packages can be installed without asking."""
        ...


def system_libraries() -> tuple[SystemLibrary, ...]:
    """The bundled table; of several package names the oldest, which newer systems know too."""
    text = resource(LIBRARIES).read_text("utf-8")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(SystemLibrary(use, name, packages.split("|")[-1]) for use, name, packages in lines)


def require_display(
    environment: Mapping[str, str] = os.environ,
    platform: str = systems.name_of(),
    system: System | None = None,
) -> None:
    """Raise where a window cannot be shown; Qt itself would abort the process.

    Raises
    ------
    StorageError
        ``display.libraries``: libraries of the system are missing; ``display.missing``: there is
        no display; ``display.silent``: the display does not answer.
    """
    if not platform.startswith("linux"):
        return
    system = system or ThisSystem()
    named = environment.get("QT_QPA_PLATFORM", "")
    plugins = [re.split("[:-]", plugin)[0] for plugin in named.split(";") if plugin]
    if not _NEEDS_NO_DISPLAY.isdisjoint(plugins):
        _require_libraries((), system)
        return
    wanted = plugins or list(_VARIABLES)
    displays = {
        plugin: environment[variable]
        for plugin, variable in _VARIABLES.items()
        if plugin in wanted and environment.get(variable)
    }
    if not displays:
        raise _no_display(wanted, named)
    _require_one(displays, system)


def _require_one(displays: Mapping[str, str], system: System) -> None:
    """Raise unless one of the displays can be used: Qt takes the first that can."""
    errors: list[StorageError] = []
    for plugin, display in displays.items():
        try:
            _require_libraries((plugin,), system)
            _require_answer(plugin, display, system)
        except StorageError as error:
            errors.append(error)
        else:
            return
    raise errors[-1]


def _require_libraries(plugins: tuple[str, ...], system: System) -> None:
    needed = [one for one in system_libraries() if one.use in ("any", *plugins)]
    missing = [one for one in needed if not system.loads(one.name)]
    if not missing:
        return
    names = ", ".join(one.name for one in missing)
    packages = " ".join(dict.fromkeys(one.package for one in missing))
    command = f"apt-get install -y --no-install-recommends {packages}"
    if not system.is_root():
        command = f"sudo {command}"
    raise StorageError(
        "display.libraries",
        f"The window cannot start because libraries of the system are missing: {names}.",
        hint=f"Install them with `{command}`."
        if system.has_apt()
        else f"Install them with the package manager of this system (on Debian: {packages}).",
        details={"missing": [one.name for one in missing]},
    )


def _require_answer(plugin: str, display: str, system: System) -> None:
    if system.answers(plugin, display):
        return
    raise StorageError(
        "display.silent",
        f"The display `{display}` that {_VARIABLES[plugin]} names does not let DPDesk in.",
        hint="Start DPDesk from a desktop session, or use its commands: `dpdesk --help`.",
    )


def _no_display(wanted: list[str], named: str) -> StorageError:
    unset = [variable for plugin, variable in _VARIABLES.items() if plugin in wanted]
    reason = f"neither {' nor '.join(reversed(unset))} is set"
    if len(unset) == 1:
        reason = f"{unset[0]} is not set"
    if not unset:
        reason = f"QT_QPA_PLATFORM is `{named}`, expected `xcb` or `wayland`"
    return StorageError(
        "display.missing",
        f"There is no display to show the window on: {reason}.",
        hint="Start DPDesk from a desktop session, or use its commands: `dpdesk --help`.",
    )


class ThisSystem:
    """The machine that the program runs on; see :class:`System`."""

    def loads(self, library: str) -> bool:
        """Load the library as Qt would; it stays loaded."""
        try:
            ctypes.CDLL(library)
        except OSError:
            return False
        return True

    def answers(self, plugin: str, display: str) -> bool:
        """Connect; a server that says nothing for some seconds does not answer."""
        connect = _connects_to_wayland if plugin == "wayland" else _connects_to_x
        found: list[bool] = []
        thread = threading.Thread(target=lambda: found.append(connect(display)), daemon=True)
        thread.start()
        thread.join(_PATIENCE)
        return found == [True]

    def has_apt(self) -> bool:
        """Whether apt-get is there."""
        return shutil.which("apt-get") is not None

    def is_root(self) -> bool:
        """Whether the process runs as root."""
        return hasattr(os, "geteuid") and os.geteuid() == 0


@cache
def _connects_to_x(display: str) -> bool:
    """Connect, and stay so: some servers start afresh when their last client goes."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(os.fsencode(display), None))
    if xcb.xcb_connection_has_error(connection) == 0:
        return True
    xcb.xcb_disconnect(connection)
    return False


@cache
def _connects_to_wayland(display: str) -> bool:
    wayland = ctypes.CDLL("libwayland-client.so.0")
    wayland.wl_display_connect.restype = ctypes.c_void_p
    return wayland.wl_display_connect(os.fsencode(display)) is not None
