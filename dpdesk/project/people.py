"""Who sits at this computer, and what it is called: for locks and the audit log.

Names come from the system's own list of users where there is one; environment variables, which
anybody can set, are the last resort. Neither proves anything: signatures do.
"""

from __future__ import annotations

import importlib
import os
import platform

from dpdesk.core.messages import msg


def user_name() -> str:
    """The name of the user of this process, or a number where there is no name."""
    try:
        return str(importlib.import_module("pwd").getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError, AttributeError):
        pass
    try:
        return os.getlogin()
    except OSError:
        return os.environ.get("USERNAME") or msg(
            "user {getattr}", getattr=getattr(os, "getuid", lambda: 0)()
        )


def host_name() -> str:
    """The name of this computer."""
    return platform.node() or "this computer"


def whoever() -> str:
    """User and computer as the audit log names them: ``name@computer``."""
    return f"{user_name()}@{host_name()}"
