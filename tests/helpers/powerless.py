"""Run Python as a user without special rights: for the superuser no file is read only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_NOBODY = 65534
# What is imported later may lie where only the superuser can read.
_PRELUDE = f"""
import importlib, os, pkgutil, sqlite3, sys
if sys.platform != "win32": import fcntl, pwd
import dpdesk.io, dpdesk.project
for package in (dpdesk.io, dpdesk.project):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid({_NOBODY}, {_NOBODY}, {_NOBODY})
    os.setresuid({_NOBODY}, {_NOBODY}, {_NOBODY})
"""


def run_powerless(code: str, folder: Path, first: str = "") -> str:
    """What the code prints; ``folder`` can be looked at by anybody while it runs.

    ``first`` runs before the rights are given up.
    """
    for place in (folder, *folder.parents):
        mode = place.stat().st_mode
        if os.geteuid() == 0 and mode & 0o005 != 0o005:
            place.chmod(mode | 0o055)
    done = subprocess.run(
        [sys.executable, "-c", first + _PRELUDE + code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
