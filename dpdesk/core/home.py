"""Where what lasts is kept: settings, keys, ledgers, caches."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dpdesk.core.systems import reachable

_ADDRESS = re.compile(r"\s*(file:|[a-z][a-z0-9+.-]+://)", re.IGNORECASE)


def default_home() -> Path:
    """``DPDESK_HOME``, or the platform's per-user data folder when that is unset."""
    named = os.environ.get("DPDESK_HOME")
    if named:
        return expanded(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("dpdesk", appauthor=False))


def is_address(text: str) -> bool:
    """Whether a text is an address (URL), which taken as a path would name a folder `file:`."""
    return _ADDRESS.match(text) is not None


def local_path(text: str) -> Path:
    """The path that is written; InputError ``path.address`` for an address."""
    if is_address(text):
        from dpdesk.core.errors import InputError
        from dpdesk.core.messages import msg
        from dpdesk.core.passwords import without_password

        raise InputError(
            "path.address",
            msg(
                "{path}: this is an address, expected the path of a file or folder.",
                path=without_password(text.strip()),
            ),
            hint="Write the path alone, without the part up to the two slashes.",
        )
    return Path(reachable(Path(text)))


def expanded(text: str | Path) -> Path:
    """A path with the home folder for its ``~``; as it stands where there is no such user."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        path = Path(text)
    return Path(reachable(path))
