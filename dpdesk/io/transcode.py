"""Normalised text: other encodings to UTF-8, and odd but readable CSV to plain CSV, as streams."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.errors import InputError
from dpdesk.io.scan import (
    _BLANK,
    _CR,
    _DELIMITER,
    _LF,
    _QUOTE,
    PLAIN,
    QUOTE_SEEN,
    QUOTED,
    START,
    byte_classes,
)

Bytes = NDArray[np.uint8]
State = NDArray[np.int64]

_QUOTE_BYTE, _COMMA_BYTE, _LF_BYTE = 0x22, 0x2C, 0x0A
_R_MODE, _R_FIELD, _R_RECORD, _R_AFTER_CR, _R_CONSUMED = range(5)


def decoded(
    chunks: Iterator[bytes], encoding: str, name: str, first_line: int = 1
) -> Iterator[bytes]:
    """The chunks, decoded from ``encoding`` and encoded again as UTF-8.

    Raises InputError ``encoding.undecodable`` that names the physical line.
    """
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    line, after_cr = first_line, False
    for chunk, last in _with_end(chunks):
        pending = decoder.getstate()[0]
        try:
            text = decoder.decode(chunk, last)
        except UnicodeError as problem:
            raise _undecodable(pending + chunk, problem, encoding, name, line, after_cr) from None
        line += _new_lines(text, after_cr)
        after_cr = text.endswith("\r") if text else after_cr
        try:
            yield text.encode("utf-8")
        except UnicodeEncodeError as problem:
            at = line - _new_lines(text[problem.start :], False)
            raise _not_text(name, encoding, at) from None


def _with_end(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    for chunk in chunks:
        yield chunk, False
    yield b"", True


def _new_lines(text: str, after_cr: bool) -> int:
    crlf = text.count("\r\n") + (1 if after_cr and text.startswith("\n") else 0)
    return text.count("\n") + text.count("\r") - crlf


def _undecodable(
    data: bytes, problem: UnicodeError, encoding: str, name: str, line: int, after_cr: bool
) -> InputError:
    start = problem.start if isinstance(problem, UnicodeDecodeError) else 0
    before = data[:start].decode(encoding, "ignore")
    return _not_text(name, encoding, line + _new_lines(before, after_cr))


def _not_text(name: str, encoding: str, line: int) -> InputError:
    return InputError(
        "encoding.undecodable",
        f"{name}, line {line}: found bytes that are no text in the encoding {encoding}.",
        hint="Name the right encoding (`encoding` under [source]), or save the file as UTF-8.",
        details={"line": line, "encoding": encoding},
    )


@kernel
def _rewrite_chunk(
    data: Bytes, classes: Bytes, state: State, out: Bytes, width: int, skip: int, last: bool
) -> int:
    """Write the records of a chunk in plain form; the number of bytes written.

    Plain form: every field quoted, comma, LF, no blank lines, no fields beyond ``width``, the
    first ``skip`` records left out. Bytes from ``state[_R_CONSUMED]`` on must be given again.
    """
    mode = state[_R_MODE]
    field = state[_R_FIELD]
    record = state[_R_RECORD]
    after_cr = state[_R_AFTER_CR] != 0
    size = len(data)
    n = 0
    i = 0
    while i < size:
        kind = classes[data[i]]
        if after_cr and kind == _LF and mode == START and field == 0:
            after_cr = False
            i += 1
            continue
        if mode == START and field == 0:
            j = i
            while width != 1 and j < size and classes[data[j]] == _BLANK:
                j += 1
            if j == size and not last:
                break
            if j == size or classes[data[j]] == _CR or classes[data[j]] == _LF:
                after_cr = j < size and classes[data[j]] == _CR
                i = j + 1
                continue
        emit = record >= skip and field < width
        if mode == START and emit:
            out[n] = _QUOTE_BYTE
            n += 1
        ends = kind in (_CR, _LF) and mode != QUOTED
        after_cr = ends and kind == _CR
        if ends or (kind == _DELIMITER and mode != QUOTED):
            if emit:
                out[n] = _QUOTE_BYTE
                n += 1
            if ends:
                if record >= skip:
                    out[n] = _LF_BYTE
                    n += 1
                record += 1
                field = 0
            else:
                if emit and field + 1 < width:
                    out[n] = _COMMA_BYTE
                    n += 1
                field += 1
            mode = START
        elif kind == _QUOTE and mode == START:
            mode = QUOTED
        elif kind == _QUOTE and mode == QUOTED:
            mode = QUOTE_SEEN
        else:
            mode = PLAIN if mode in (START, PLAIN) else QUOTED
            if emit:
                out[n] = data[i]
                n += 1
                if data[i] == _QUOTE_BYTE:
                    out[n] = _QUOTE_BYTE
                    n += 1
        i += 1
    state[_R_MODE] = mode
    state[_R_FIELD] = field
    state[_R_RECORD] = record
    state[_R_AFTER_CR] = 1 if after_cr else 0
    state[_R_CONSUMED] = min(i, size)
    return n


def rewritten(
    chunks: Iterator[bytes], delimiter: str, quote: str, width: int, skip: int
) -> Iterator[memoryview]:
    """The records of a scanned, faultless text in plain form (see :func:`_rewrite_chunk`)."""
    classes = byte_classes(delimiter, quote)
    state = np.zeros(5, dtype=np.int64)
    rest = b""
    for chunk, last in _with_end(chunks):
        data = np.frombuffer(rest + chunk, dtype=np.uint8)
        out = np.empty(3 * len(data) + 16, dtype=np.uint8)
        size = _rewrite_chunk(data, classes, state, out, width, skip, last)
        rest = (rest + chunk)[int(state[_R_CONSUMED]) :]
        yield memoryview(out.data)[:size]
    if state[_R_MODE] != START or state[_R_FIELD] > 0:
        yield memoryview(_tail(int(state[_R_MODE]), int(state[_R_FIELD]), width))


def _tail(mode: int, field: int, width: int) -> bytes:
    """What closes a last record that has no line end."""
    if field >= width:
        return b"\n"
    return b'""\n' if mode == START else b'"\n'
