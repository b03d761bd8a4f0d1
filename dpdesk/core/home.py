"""Where what lasts is kept: settings, keys, ledgers, caches."""

from __future__ import annotations

import os
from pathlib import Path


def default_home() -> Path:
    """``DPDESK_HOME``, or the platform's per-user data folder when that is unset."""
    named = os.environ.get("DPDESK_HOME")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("dpdesk", appauthor=False))
