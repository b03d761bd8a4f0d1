"""A process that the kernel ends as soon as it asks for an internet socket.

The filter binds every thread and every
process that is started later, whatever language made the call: ``socket`` with AF_INET or AF_INET6
ends the process with SIGSYS. Sockets of the machine's own (AF_UNIX) stay allowed.
"""

from __future__ import annotations

import ctypes
import platform
import socket
import struct
import sys

# Linux: the architecture's audit number and its number of the call `socket`.
_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06  # BPF: load a word, jump if equal, return
_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_CALL, _ARCHITECTURE, _FAMILY = 0, 4, 16  # where the words lie in struct seccomp_data
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_char_p))


def can_forbid() -> bool:
    """Whether this machine has such filters, and we know its numbers."""
    return sys.platform == "linux" and platform.machine() in _CALLS


def forbid() -> None:
    """Put the filter on. Raises OSError where the kernel refuses it."""
    audit, call = _CALLS[platform.machine()]
    families = (socket.AF_INET, socket.AF_INET6)
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 5, audit),
        (_LOAD, 0, 0, _CALL),
        (_EQUAL, 0, 3, call),
        (_LOAD, 0, 0, _FAMILY),
        (_EQUAL, 2, 0, families[0]),
        (_EQUAL, 1, 0, families[1]),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _KILL_PROCESS),
    ]
    packed = b"".join(struct.pack("HBBI", *line) for line in lines)
    library = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(lines), packed)
    for asked in (
        (_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (_SECCOMP, _FILTER, ctypes.byref(program), 0, 0),
    ):
        if library.prctl(*asked) != 0:
            raise OSError(ctypes.get_errno(), "the kernel refused the filter")
