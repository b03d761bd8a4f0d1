"""Strict RFC 4180 over raw bytes: comma, LF, quotes only around whole fields, no BOM, no NUL.

A lenient reader may see another table than a strict one does; a release must have one reading only.
It must have one way to be written, too: quotes that no field needs could mark rows of a class, so
fields have quotes only when they hold a comma, a quote or a line end, or are empty and alone in
their line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg

_PIECE = 8 << 20
_TAKEN = 1 << 20
_LONGEST = 64 << 20
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


@dataclass(frozen=True, eq=False)
class Lines:
    """What the strict reading of a CSV found.

    ``fields`` of each record, data ``rows``, and the bytes of the ``header``. ``data`` are the data
    rows, where rows that equal the one before them, byte by byte, are left out, and ``counts`` has
    how many rows each line stands for; both are None where these lines are too many to be kept.
    """

    fields: int
    rows: int
    header: bytes = field(repr=False)
    data: Any = field(repr=False, default=None)
    counts: Any = field(repr=False, default=None)


def check_grammar(path: Path, token: CancelToken) -> tuple[int, int]:
    """Number of fields per record and of data rows (records less the header) of a strict CSV.

    Raises as :func:`read_lines`.
    """
    found = read_lines(path, token, 0)
    return found.fields, found.rows


def read_lines(path: Path, token: CancelToken, most: int) -> Lines:
    """Read a strict CSV once; its different lines are kept where they take ``most`` bytes at most.

    Raises UnreadableTableError with the row (1 is the header) and the reason, and
    OSError when the file cannot be read.
    """
    return _by_line(path, token, most) or _by_byte(path, token, most)


def _by_line(path: Path, token: CancelToken, most: int) -> Lines | None:
    """The lines of a table without quotes, looked at as wholes: quicker, and nothing is compiled.

    None where each byte has to be looked at: for quotes, and wherever something is wrong.
    """
    import numpy as np

    header, rest, rows, size = b"", b"", 0, 0
    kept, counts = [], [np.empty(0, np.int64)]
    with path.open("rb") as stream:
        while piece := stream.read(_TAKEN):
            token.check()
            text = rest + piece
            start, stop = 0, text.rfind(b"\n") + 1
            rest = text[stop:]
            if len(rest) > _LONGEST:
                return None
            if stop and not header:
                start = text.index(b"\n") + 1
                header = text[:start]
                if header == b"\n" or header.startswith(b"\xef\xbb\xbf") or _special(header):
                    return None
            if start == stop:
                continue
            lines, times = _different(text, start, stop)
            if _special(lines) or not _even(lines, header.count(b",")):
                return None
            rows, size = rows + int(times.sum()), size + len(lines)
            if len(header) + size <= most:
                kept.append(lines)
                counts.append(times)
    if rest or not header:
        return None
    found = header.count(b",") + 1, rows, header
    if most <= 0 or len(header) + size > most:
        return Lines(*found)
    return Lines(*found, np.frombuffer(b"".join(kept), np.uint8), np.concatenate(counts))


def _different(text: bytes, start: int, stop: int) -> tuple[bytes, Any]:
    """The lines of a part of a text that differ from the one before, and how often each follows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = np.flatnonzero(np.frombuffer(text, np.uint8, stop - start, start) == _LF)
    bounds = np.zeros(len(ends) + 1, np.int32)
    bounds[1:] = ends + 1
    places = [None, pa.py_buffer(bounds), pa.py_buffer(text).slice(start)]
    runs = pc.run_end_encode(pa.Array.from_buffers(pa.binary(), len(ends), places))
    times = np.diff(runs.run_ends.to_numpy(), prepend=0).astype(np.int64)
    if len(times) == len(ends):
        return text[start:stop], times
    return b"".join(runs.values.to_pylist()), times


def _special(text: bytes) -> bool:
    return any(byte in text for byte in (b'"', b"\r", b"\0"))


def _even(lines: bytes, commas: int) -> bool:
    """Whether each line has so many commas, and none is empty where there are none."""
    import numpy as np

    data = np.frombuffer(lines, np.uint8)
    ends, found = np.flatnonzero(data == _LF), np.flatnonzero(data == _COMMA)
    each = np.diff(np.searchsorted(found, ends), prepend=0)
    empty = commas == 0 and np.diff(ends, prepend=-1).min() == 1
    return bool((each == commas).all()) and not empty


def _by_byte(path: Path, token: CancelToken, most: int) -> Lines:
    """The same by an automaton that walks each byte; see :func:`read_lines`."""
    import numpy as np

    scan, held = _scanner(), _Held(most)
    # automaton, fields so far, expected fields, records, error, any, what the quotes hold; then
    # places in the lines held: their end, the beginning of the last one and of the one before,
    # lines, end of the header
    state = np.zeros(12, np.int64)
    with path.open("rb") as stream:
        first = True
        while piece := stream.read(_PIECE):
            token.check()
            if first and piece.startswith(b"\xef\xbb\xbf"):
                raise UnreadableTableError("starts with a byte order mark, expected none")
            first = False
            held.make_room(state, len(piece))
            scan(np.frombuffer(piece, np.uint8), state, held.data, held.counts)
            if state[4]:
                raise _error(state)
            held.keep_header(state)
    if first:
        raise UnreadableTableError("is empty, expected a header row")
    if state[0] == _QUOTED:
        raise UnreadableTableError(
            msg("row {state}: a quoted field never ends", state=state[3] + 1)
        )
    if state[5]:
        raise UnreadableTableError(
            msg("row {state}: the last line does not end, expected LF", state=state[3] + 1)
        )
    if not state[2]:
        raise UnreadableTableError("row 1: the line is empty, expected a header row")
    return held.lines(state)


class _Held:
    """Room for the different lines of a table, as far as they are kept."""

    def __init__(self, most: int) -> None:
        import numpy as np

        self._most = most
        self._whole = most > 0
        self._header = b""
        self.data = np.empty(0, np.uint8)
        self.counts = np.empty(0, np.int64)

    def make_room(self, state: Any, size: int) -> None:
        """Room for all lines of the next bytes; lines but the last one go where they are many."""
        import numpy as np

        end, first, before = (int(state[slot]) for slot in (7, 8, 9))
        if self._whole and end > self._most:
            self._whole, self.counts = False, np.empty(0, np.int64)
        if not self._whole:
            self.data[: end - before] = self.data[before:end].copy()
            state[7], state[8], state[9] = end - before, first - before, 0
        if len(self.data) < state[7] + size:
            grown = np.empty(2 * (int(state[7]) + size), np.uint8)
            grown[: state[7]] = self.data[: state[7]]
            self.data = grown
        # A record takes a byte for each field at least, and two where it has one alone.
        lines = int(state[10]) + size // max(2, int(state[2])) + 2
        if self._whole and len(self.counts) < lines:
            longer = np.empty(lines, np.int64)
            longer[: state[10]] = self.counts[: state[10]]
            self.counts = longer

    def keep_header(self, state: Any) -> None:
        """The bytes of the header, once they have been read."""
        if not self._header and state[3]:
            self._header = bytes(self.data[: state[11]])

    def lines(self, state: Any) -> Lines:
        """All that was found."""
        found = int(state[2]), int(state[3]) - 1, self._header
        if not self._whole or state[7] > self._most:
            return Lines(*found)
        data = self.data[state[11] : state[7]].copy()
        return Lines(*found, data, self.counts[1 : state[10]].copy())


def _error(state: Any) -> UnreadableTableError:
    row = int(state[3]) + 1
    if state[4] == _RAGGED:
        return UnreadableTableError(
            msg(
                "row {row}: found {state} fields, expected {state2} as in the header",
                row=row,
                state=state[1],
                state2=state[2],
            )
        )
    return UnreadableTableError(
        msg("row {row}: {reasons}", row=row, reasons=_REASONS[int(state[4])])
    )


@cache
def _scanner() -> Callable[[Any, Any, Any, Any], None]:
    from dpdesk.core.compiled import kernel

    return kernel(_scan)


def _scan(data: Any, state: Any, kept: Any, counts: Any) -> None:
    """Run the automaton over a piece; ``state`` carries it from piece to piece.

    ``kept`` gets each byte, but a line that equals the one before it is counted there alone, and
    the automaton need not walk it: it stands where it stood before that line. The header is never
    taken for the line before.
    """
    mode, fields, expected, records, error, inside, held = state[:7]
    end, first, before, lines = state[7:11]
    i, size = 0, len(data)
    while i < size:
        if end == first and records > 1:
            j, length = 0, first - before
            if i + length <= size:
                while j < length and data[i + j] == kept[before + j]:
                    j += 1
            if j == length:
                records, i = records + 1, i + length
                if len(counts):
                    counts[lines - 1] += 1
                continue
        byte = data[i]
        kept[end] = byte
        end, i = end + 1, i + 1
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
                if records == 0:
                    state[11] = end
                if len(counts):
                    counts[lines] = 1
                before, first, lines = first, end, lines + 1
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
    state[7], state[8], state[9], state[10] = end, first, before, lines
