"""Files whose names a plan writes in another Unicode form than the disk has them."""

from __future__ import annotations

import os
from pathlib import Path

from dpdesk.core.schema import form


def as_on_disk(path: Path) -> Path:
    """The path of a file that is there: the given one, or the one with the same name by NFC.

    The given path where there is no such file, or more than one.
    """
    if str(path).isascii() or os.path.lexists(path):
        return path
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        if not os.path.lexists(found / part):
            wanted = form(part)
            try:
                same = [name for name in os.listdir(found) if form(name) == wanted]
            except OSError:
                return path
            if len(same) != 1:
                return path
            part = same[0]
        found /= part
    return found
