"""Normalised text: other encodings to UTF-8, and odd but readable CSV to plain CSV, as streams."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.line_kernels import blank_length

# Guessing an 8-bit encoding for a text that is not UTF-8. A guess is always told, never silent.


CANDIDATES = ("cp1252", "iso8859_2", "cp1250")
_WORD = re.compile(rb"[^\s,;|\t\"]*[\x80-\xff][^\s,;|\t\"]*")
_LETTER = rb"A-Za-z\xc0-\xff"
_SIGNS = re.compile(
    rb"(?<![%(letter)s])(?:[cdhkmn]?m\xb3(?![%(letter)s])"  # m³, cm³
    rb"|\xa3(?:(?:m|mn|bn|k|K|M|million|billion|thousand)s?)?(?![%(letter)s])"  # £, £m, £bn
    rb"|[\xa1\xbf](?=[A-Z\xc0-\xde]))" % {b"letter": _LETTER}  # ¿Cuál, ¡Sí
)
_GUILLEMETS = b"\xab\xbb"
_OLDER = ("cp850", "mac_roman")
"""Of DOS and of old Macintosh computers: their letters stand where others have hardly any."""
_BETWEEN = re.compile(rb"[\x80\x85\x91\x92\x96\x97\x99]|(?<=[0-9])[\x93\x94]|[\x93\x94](?=[0-9])")
"""Signs of cp1252 that stand inside words too; those of the others are letters."""
_OPENED, _CLOSED = b"\x82\x84\x8b\x91\x93", b"\x92\x93\x94\x9b"
"""Quotes of cp1252 before and behind a word."""
_ROW = re.compile(rb"[\x80-\xff]{3}")
_PAIRS = re.compile(rb"'?(?:[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]){2,}'?")
"""A word of Shift JIS alone, whose second bytes may be those of ASCII letters."""
_MANY_LETTERS = 8
_ENOUGH = 20_000


@dataclass(frozen=True)
class LegacyGuess:
    """The likeliest encoding, a word read with it, and how many words are valid UTF-8 instead.

    ``likely`` is False where most words have rows of letters that no language of Western or Central
    Europe has: they are Cyrillic, Greek, Chinese or others, and no guess is right.
    """

    encoding: str
    example: str
    utf8_words: int
    likely: bool = True


def high_words(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Words that hold a byte above 127, from a stream, up to some thousands.

    A word cut by a chunk's end is left out, so that no half character misleads.
    """
    given = 0
    for chunk in chunks:
        if chunk.isascii():
            continue
        for found in _WORD.finditer(chunk):
            if (found.start() > 0 and found.end() < len(chunk)) or len(chunk) < 4096:
                yield found.group()
                given += 1
        if given >= _ENOUGH:
            return


def guess_legacy(words: Iterable[bytes]) -> LegacyGuess:
    """Choose the encoding in which the words look most like words of a language.

    Letters beside letters count for an encoding, signs and undefined bytes inside words against
    it; ties go to the commoner encoding (cp1252 first). Signs of units, amounts and quotations,
    which stand beside letters in every language, count for none.
    """
    sample = list(words)
    utf8 = sum(is_utf8(word) for word in sample)
    told = _told_by_letters(sample)
    scores = {encoding: sum(_score(w, encoding) for w in told) for encoding in CANDIDATES}
    best = max(CANDIDATES, key=lambda encoding: scores[encoding])
    if _looks_older(told):
        plain = [_BETWEEN.sub(b"'", _unquoted(word)) for word in told]
        ranked = (best, *_OLDER)
        best = max(ranked, key=lambda encoding: sum(_score(word, encoding) for word in plain))
    example = sample[0].decode(best, "replace")[:40] if sample else ""
    return LegacyGuess(best, example, utf8, likely=not _in_rows(sample))


def _looks_older(words: Iterable[bytes]) -> bool:
    """Whether most signs are of those of which cp1252 has hardly a letter."""
    plain = (_BETWEEN.sub(b"", _unquoted(word)) for word in words)
    high = [byte for word in plain for byte in word if byte >= 0x80]
    return 2 * sum(byte < 0xA0 for byte in high) > len(high)


def _unquoted(word: bytes) -> bytes:
    """A word without quotes around it, and without what stands behind it in a sentence."""
    signs = b"()[].,:;!?'"
    return word.lstrip(signs + _OPENED).rstrip(signs + _CLOSED)


def _in_rows(words: Iterable[bytes]) -> bool:
    different = {*words}
    paired = {word for word in different if _PAIRS.fullmatch(word)}
    rows = paired | {word for word in different if _ROW.search(word)}
    letters = {word[i : i + 1] for word in rows for i in range(len(word)) if word[i] >= 0x80}
    letters |= {word[i : i + 2] for word in paired for i in range(len(word)) if word[i] >= 0x80}
    return 2 * len(rows) > len(different) and len(letters) >= _MANY_LETTERS


def _told_by_letters(words: Iterable[bytes]) -> list[bytes]:
    """The words without the signs of cp1252 that other encodings would take for letters."""
    found = [_SIGNS.sub(b" ", word) for word in words]
    opened = sum(word.startswith(_GUILLEMETS[:1]) for word in found)
    closed = sum(word.rstrip(b".!?)").endswith(_GUILLEMETS[1:]) for word in found)
    if opened and opened == closed:
        found = [word.strip(_GUILLEMETS + b".!?)") for word in found]
    return found


def is_utf8(word: bytes) -> bool:
    """Whether these bytes are a text in UTF-8."""
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _score(word: bytes, encoding: str) -> float:
    try:
        text = word.decode(encoding)
    except UnicodeDecodeError:
        return -10.0
    score = 0.0
    for position, character in enumerate(text):
        if character < "\x80":
            continue
        around = text[max(0, position - 1) : position] + text[position + 1 : position + 2]
        in_word = any(neighbour.isalpha() for neighbour in around)
        if "\x80" <= character <= "\x9f":
            score -= 5.0
        elif character.isupper() and position and text[position - 1].islower():
            score -= 1.0
        elif character.isalpha():
            score += 1.0 if in_word else 0.0
        elif in_word:
            score -= 1.0
    return score


Bytes = NDArray[np.uint8]
State = NDArray[np.int64]

# The kernel's own constants: a compiled kernel that is kept on disk would not notice a change of
# constants that it takes from another module.
_ORDINARY, _DELIMITER, _QUOTE, _CR, _LF, _ESCAPE = range(6)
_START, _PLAIN, _QUOTED, _QUOTE_SEEN = range(4)
_MODE, _FIELD, _RECORD, _AFTER_CR, _CONSUMED, _PENDING, _MARK = range(7)
_QUOTE_BYTE, _COMMA_BYTE, _LF_BYTE = 0x22, 0x2C, 0x0A
_NO_BLANK_LINE, _UNFINISHED = -1, -2
_ROOM = 16
"""More bytes than one byte of a text can become, the end of a record aside."""


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
        msg(
            "{name}, line {line}: found bytes that are not text in the encoding {encoding}.",
            name=name,
            line=line,
            encoding=encoding,
        ),
        hint="Name the right encoding (`encoding` under [source]), or save the file as UTF-8.",
        details={"line": line, "encoding": encoding},
    )


def _classes(delimiter: str, quote: str, escape: str) -> Bytes:
    classes = np.full(256, _ORDINARY, dtype=np.uint8)
    classes[ord("\n")], classes[ord("\r")] = _LF, _CR
    classes[ord(delimiter)] = _DELIMITER
    if quote:
        classes[ord(quote)] = _QUOTE
    if escape:
        classes[ord(escape)] = _ESCAPE
    return classes


@kernel
def _blank_line(data: Bytes, classes: Bytes, start: int, blanks: bool, last: bool) -> int:
    """Where the blank line that starts here ends, or why there is none.

    ``blanks`` says that a line of blanks is blank too; in the rows of a single column it is a
    value.
    """
    i = start
    while blanks and i < len(data) and classes[data[i]] == _ORDINARY:
        length = blank_length(data, i, len(data))
        if length <= 0:
            return _NO_BLANK_LINE if last or length == 0 else _UNFINISHED
        i += length
    if i == len(data):
        return i if last else _UNFINISHED
    kind = classes[data[i]]
    return i if kind in (_CR, _LF) else _NO_BLANK_LINE


@kernel
def _end_field(state: State, out: Bytes, n: int, width: int, skip: int, is_record: bool) -> int:
    """Close a field, and the record when it ends; the new length of ``out``."""
    emit = state[_RECORD] >= skip
    if emit and state[_FIELD] < width:
        out[n] = _QUOTE_BYTE
        n += 1
        if not is_record and state[_FIELD] + 1 < width:
            out[n] = _COMMA_BYTE
            n += 1
    state[_MODE] = _START
    state[_FIELD] += 1
    if is_record:
        if emit:
            for _ in range(state[_FIELD], width):
                out[n], out[n + 1], out[n + 2] = _COMMA_BYTE, _QUOTE_BYTE, _QUOTE_BYTE
                n += 3
            out[n] = _LF_BYTE
            n += 1
        state[_FIELD] = 0
        state[_RECORD] += 1
    return n


@kernel
def _literal(byte: int, out: Bytes, n: int, emit: bool) -> int:
    """Write a byte of a value; the new length of ``out``."""
    if emit:
        out[n] = byte
        n += 1
        if byte == _QUOTE_BYTE:
            out[n] = byte
            n += 1
    return n


@kernel
def _undoubled(state: State, out: Bytes, n: int, emit: bool) -> int:
    """Write the quote that did not close its value, and go on with that value."""
    state[_MODE] = _QUOTED
    return _literal(state[_MARK], out, n, emit)


@kernel
def _one_byte(state: State, kind: int, byte: int, out: Bytes, n: int, width: int, skip: int) -> int:
    """Take one byte of a record over into the plain form; the new length of ``out``."""
    emit = state[_RECORD] >= skip and state[_FIELD] < width
    if state[_MODE] == _START and emit:
        out[n] = _QUOTE_BYTE
        n += 1
    if state[_PENDING] != 0:
        state[_PENDING] = 0
        if kind in (_DELIMITER, _QUOTE, _ESCAPE):
            return _literal(byte, out, n, emit)
        n = _literal(state[_MARK], out, n, emit)
    elif kind == _ESCAPE:
        if state[_MODE] == _QUOTE_SEEN:
            n = _undoubled(state, out, n, emit)
        elif state[_MODE] == _START:
            state[_MODE] = _PLAIN
        state[_PENDING], state[_MARK] = 1, byte
        return n
    mode = state[_MODE]
    if mode != _QUOTED and kind in (_CR, _LF, _DELIMITER):
        return _end_field(state, out, n, width, skip, kind != _DELIMITER)
    if kind == _QUOTE and mode == _START:
        state[_MODE] = _QUOTED
        return n
    if kind == _QUOTE and mode == _QUOTED:
        state[_MODE], state[_MARK] = _QUOTE_SEEN, byte
        return n
    if mode == _QUOTE_SEEN and kind != _QUOTE:
        n = _undoubled(state, out, n, emit)
    state[_MODE] = _PLAIN if mode in (_START, _PLAIN) else _QUOTED
    return _literal(byte, out, n, emit)


@kernel
def _rewrite_chunk(
    data: Bytes, classes: Bytes, state: State, out: Bytes, width: int, skip: int, last: bool
) -> int:
    """Write the records of a chunk in plain form; the number of bytes written.

    Plain form: every field quoted, comma, LF, no blank lines, ``width`` fields (those beyond are
    left out, those that are missing empty), the
    first ``skip`` records left out. It stops where ``out`` could be too small for one more record
    end. Bytes from ``state[_CONSUMED]`` on must be given again.
    """
    n = 0
    i = 0
    most = len(out) - 3 * width - _ROOM
    while i < len(data) and n <= most:
        kind = classes[data[i]]
        if state[_AFTER_CR] != 0 and kind == _LF:
            state[_AFTER_CR] = 0
            i += 1
            continue
        if state[_MODE] == _START and state[_FIELD] == 0:
            blanks = width != 1 or state[_RECORD] == 0
            end = _blank_line(data, classes, i, blanks, last)
            if end == _UNFINISHED:
                break
            if end != _NO_BLANK_LINE:
                state[_AFTER_CR] = 1 if end < len(data) and classes[data[end]] == _CR else 0
                i = end + 1
                continue
        ends = state[_MODE] != _QUOTED and kind == _CR
        n = _one_byte(state, kind, data[i], out, n, width, skip)
        state[_AFTER_CR] = 1 if ends else 0
        i += 1
    state[_CONSUMED] = min(i, len(data))
    return n


def rewritten(
    chunks: Iterator[bytes], delimiter: str, quote: str, width: int, skip: int, escape: str = ""
) -> Iterator[memoryview]:
    """The records of a scanned, faultless text in plain form (see :func:`_rewrite_chunk`)."""
    classes = _classes(delimiter, quote, escape)
    state = np.zeros(7, dtype=np.int64)
    rest = b""
    for chunk, last in _with_end(chunks):
        text = rest + chunk
        done = -1
        while done:
            data = np.frombuffer(text, dtype=np.uint8)
            out = np.empty(3 * len(data) + 3 * width + 2 * _ROOM, dtype=np.uint8)
            size = _rewrite_chunk(data, classes, state, out, width, skip, last)
            done = int(state[_CONSUMED])
            text = text[done:]
            yield memoryview(out.data)[:size]
        rest = text
    if state[_MODE] != _START or state[_FIELD] > 0:
        left = bytes([int(state[_MARK])]) * int(state[_PENDING]) if state[_FIELD] < width else b""
        yield memoryview(left + _tail(int(state[_MODE]), int(state[_FIELD]), width))


def _tail(mode: int, field: int, width: int) -> bytes:
    """What closes a last record that has no line end."""
    if field >= width:
        return b"\n"
    return (b'""' if mode == _START else b'"') + b',""' * (width - field - 1) + b"\n"
