"""Passwords of database servers that a person typed, for as long as the program runs.

They are needed again whenever the table is read again (another way of reading, a release, an undo),
and must not be written anywhere. So they are kept in the memory of this process alone, and handed
to the reading process through its pipe, never by an argument or an environment.
"""

from __future__ import annotations

_kept: dict[str, str] = {}


def keep(address: str, password: str) -> None:
    """Use this password for an address from now on."""
    _kept[address] = password


def password_of(address: str) -> str | None:
    """The password that was typed for an address; None when there was none."""
    return _kept.get(address)
