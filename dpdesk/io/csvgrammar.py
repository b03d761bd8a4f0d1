"""Strict RFC 4180 over raw bytes: comma, LF, quotes only around whole fields, no BOM, no NUL.

A lenient reader may see another table than a strict one does; a release must have one reading only.
It must have one way to be written, too: quotes that no field needs could mark rows of a class, so
fields have quotes only when they hold a comma, a quote or a line end, or are empty and alone in
their line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken

_PIECE = 8 << 20
_OK, _QUOTE_INSIDE, _TEXT_AFTER_QUOTE, _CARRIAGE_RETURN, _NUL, _RAGGED, _NEEDLESS = range(7)
_START, _PLAIN, _QUOTED, _CLOSED = range(4)
_EMPTY, _TEXT, _SPECIAL = range(3)
_QUOTE, _COMMA, _LF, _CR = 34, 44, 10, 13
_REASONS = {
    _QUOTE_INSIDE: "a quote inside a field that is not quoted",
    _TEXT_AFTER_QUOTE: "text after a closing quote",
    _CARRIAGE_RETURN: "a carriage return outside quotes, expected LF line ends",
    _NUL: "a NUL byte",
    _NEEDLESS: "quotes around a field that needs none",
}


class UnreadableTableError(InputError):
    """A published table that is no strict CSV; code ``published.unreadable``."""

    def __init__(self, reason: str) -> None:
        super().__init__("published.unreadable", reason)


def check_grammar(path: Path, token: CancelToken) -> tuple[int, int]:
    """Number of fields per record and of data rows (records less the header) of a strict CSV.

    Raises UnreadableTableError with the row (1 is the header) and the reason, and
    OSError when the file cannot be read.
    """
    import numpy as np

    scan = _scanner()
    # automaton, fields so far, expected fields, records, error, any, what the quotes hold
    state = np.zeros(7, np.int64)
    with path.open("rb") as stream:
        first = True
        while piece := stream.read(_PIECE):
            token.check()
            if first and piece.startswith(b"\xef\xbb\xbf"):
                raise UnreadableTableError("starts with a byte order mark, expected none")
            first = False
            scan(np.frombuffer(piece, np.uint8), state)
            if state[4]:
                raise _error(state)
    if first:
        raise UnreadableTableError("is empty, expected a header row")
    if state[0] == _QUOTED:
        raise UnreadableTableError(f"row {state[3] + 1}: a quoted field never ends")
    if state[5]:
        raise UnreadableTableError(f"row {state[3] + 1}: the last line does not end, expected LF")
    if not state[2]:
        raise UnreadableTableError("row 1: the line is empty, expected a header row")
    return int(state[2]), int(state[3]) - 1


def _error(state: Any) -> UnreadableTableError:
    row = int(state[3]) + 1
    if state[4] == _RAGGED:
        return UnreadableTableError(
            f"row {row}: found {state[1]} fields, expected {state[2]} as in the header"
        )
    return UnreadableTableError(f"row {row}: {_REASONS[int(state[4])]}")


@cache
def _scanner() -> Callable[[Any, Any], None]:
    from dpdesk.core.compiled import kernel

    return kernel(_scan)


def _scan(data: Any, state: Any) -> None:
    """Run the automaton over a piece; ``state`` carries it from piece to piece."""
    mode, fields, expected, records, error, inside, held = state
    for byte in data:
        if byte == 0:
            error = _NUL
        elif mode == _QUOTED:
            if byte == _QUOTE:
                mode = _CLOSED
            elif held != _SPECIAL:
                held = _SPECIAL if byte in (_COMMA, _LF, _CR) else _TEXT
        elif byte == _QUOTE:
            if mode == _PLAIN:
                error = _QUOTE_INSIDE
            held = _SPECIAL if mode == _CLOSED else _EMPTY
            mode, inside = _QUOTED, 1
        elif byte in (_COMMA, _LF):
            alone = byte == _LF and fields == 0 and held == _EMPTY
            if mode == _CLOSED and held != _SPECIAL and not alone:
                error = _NEEDLESS
                break
            fields += int(mode != _START or fields > 0 or byte == _COMMA)  # an empty line has none
            mode, inside = _START, int(byte == _COMMA)
            if byte == _LF:
                expected = fields if records == 0 else expected
                if fields != expected:
                    error = _RAGGED
                    break
                records, fields = records + 1, 0
        elif byte == _CR:
            error = _CARRIAGE_RETURN
        elif mode == _CLOSED:
            error = _TEXT_AFTER_QUOTE
        else:
            mode, inside = _PLAIN, 1
        if error != _OK:
            break
    state[0], state[1], state[2], state[3] = mode, fields, expected, records
    state[4], state[5], state[6] = error, inside, held
