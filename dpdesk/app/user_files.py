"""Settings of the user and saved work, for the window."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.project.history import History
from dpdesk.project.saving import save_work
from dpdesk.project.settings import LoadedSettings, Settings, load_settings, save_settings

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper

__all__ = [
    "LoadedSettings",
    "Settings",
    "home_folder",
    "load_settings",
    "save_history",
    "save_settings",
    "save_work",
]


def home_folder() -> Path:
    """The folder of settings, crash reports and private work: DPDESK_HOME, or the usual one."""
    from dpdesk.core.home import default_home

    return default_home()


def save_history(history: History, path: Path, keeper: PartialKeeper) -> None:
    """Save the present state of the work as a plan file and note that it is saved.

    The history keeps hierarchies made by hand as they are, so that undo still works on them.
    Raises StorageError; ValueError when no data file was chosen.
    """
    save_work(history.state, path, keeper)
    history.mark_saved()
