"""Where what lasts is kept: settings, keys, ledgers, caches."""

from __future__ import annotations

import os
from pathlib import Path


def default_home() -> Path:
    """``DPDESK_HOME``, or the platform's per-user data folder when that is unset."""
    named = os.environ.get("DPDESK_HOME")
    if named:
        return expanded(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("dpdesk", appauthor=False))


def expanded(text: str | Path) -> Path:
    """A path with the home folder for its ``~``; as it stands where there is no such user."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)
