"""The structural scan of a delimited text: one pass over the bytes, no values kept.

The kernel checks what RFC 4180 asks for and counts what the reader needs to know: records, fields
per record, line ends, quotes, NUL bytes and UTF-8 (RFC 3629). It runs without the GIL, in chunks,
and stops at the first fault, which it names by physical line (counted from 1; CR LF is one line
end; line ends inside quotes count) and field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.plain import BLANKS
from dpdesk.io.line_kernels import is_blank_point

Bytes = NDArray[np.uint8]
State = NDArray[np.int64]

# Where the parser stands.
START, PLAIN, QUOTED, QUOTE_SEEN = 0, 1, 2, 3
# What a fault is.
NONE, SHORT, LONG, NUL, ENCODING, AFTER_QUOTE, UNTERMINATED = 0, 1, 2, 3, 4, 5, 6
# Slots of the state.
(
    MODE, LINE, FIELD, RECORDS, EXPECTED, RECORD_LINE, QUOTE_LINE, PREVIOUS_CR,
    LF_ENDS, CRLF_ENDS, CR_ENDS, BLANK_LINES, STRAY, STRAY_LINE, EXTRA_RECORDS, EXTRA_LINE,
    UTF8_LEFT, UTF8_LOW, UTF8_HIGH, MULTIBYTE, FAULT, FAULT_LINE, FAULT_FIELD, FAULT_FOUND,
    CONTENT, EXTRA_CONTENT, OFFSET, RECORD_START, LONGEST, QUOTED_ENDS, QUOTED_FIELDS, BLANK_LINE,
    UTF8_LINE, FIRST_LINE, DATA_LINE, HELD, HEADERS, WEIGHT,
    PENDING, BEFORE, PROTECTED, LOOSE, LOOSE_LINE, LOOSE_FIELD, TAIL, TAIL_START, TAIL_WIDEST,
    TAIL_KIND, TAIL_LINE, TAIL_FIELD, TAIL_FOUND, LOOSE_AT,
    UNEVEN, SHORT_RECORDS, SHORT_LINE, LONG_RECORDS, LONG_LINE, WIDEST, POINT,
    LONGEST_LINE, LINE_FIELD, INSIDE, UNLIKE, ROWLIKE, ROWLIKE_LINE, EMPTY_RUN, INNER_BLANK,
) = range(67)  # fmt: skip
SLOTS = 67
_NO_CONTENT = 1 << 40
"""Added to ``EMPTY_RUN``, the delimiters behind the last byte that is not blank, in a line that has
no such byte yet."""

WEIGHTS = 65_521
"""Row i (from 0) has the weight i mod this number, plus 1: small enough that no sum overflows."""

# What a byte is; the two kinds that a value is made of come first.
_ORDINARY, _BLANK, _DELIMITER, _QUOTE, _CR, _LF, _HIGH, _ZERO, _ESCAPE = range(9)
_BACKSLASH = 0x5C
_MOST_NOTES, _NARROW = 20, 2
"""Lines at the end of a text that may be notes below a table, and columns of a table that has none:
more lines are a fault, and so is one field where a row has two."""


def byte_classes(delimiter: str, quote: str, escape: str = "") -> Bytes:
    """What each byte value means to the kernel; all marks are single ASCII characters.

    ``quote`` and ``escape`` may be empty: no byte is then one.
    """
    classes = np.zeros(256, dtype=np.uint8)
    for first, last in BLANKS:
        classes[first : last + 1] = _BLANK
    classes[0] = _ZERO
    classes[0x80:] = _HIGH
    classes[ord("\n")] = _LF
    classes[ord("\r")] = _CR
    classes[ord(delimiter)] = _DELIMITER
    if quote:
        classes[ord(quote)] = _QUOTE
    if escape:
        classes[ord(escape)] = _ESCAPE
    return classes


def new_state(
    first_line: int = 1, header: bool = False, width: int = 0, uneven: bool = False
) -> State:
    """The state before the first byte; with a header the first record is no row.

    ``width`` is the number of fields; 0: that of the first record. ``uneven`` says that records
    may have another number.
    """
    state = np.zeros(SLOTS, dtype=np.int64)
    state[LINE] = state[RECORD_LINE] = first_line
    state[HEADERS] = 1 if header else 0
    state[WEIGHT] = 1
    state[EXPECTED] = width
    state[UNEVEN] = 1 if uneven else 0
    state[BEFORE] = state[LOOSE_AT] = -2
    state[EMPTY_RUN] = _NO_CONTENT
    return state


@kernel
def _weigh(state: State, weighed: State, field: int, held: int) -> None:
    """Add the bytes of a value to the sums of its column."""
    if held > 0 and (field < state[EXPECTED] or state[EXPECTED] == 0):
        weighed[0, field] += held
        weighed[1, field] += held * state[WEIGHT]


@kernel
def _fault(state: State, kind: int, line: int, field: int, found: int) -> None:
    state[FAULT] = kind
    state[FAULT_LINE] = line
    state[FAULT_FIELD] = field
    state[FAULT_FOUND] = found


@kernel
def _too_short(state: State, kind: int, fields: int) -> None:
    """A record of too few fields: a fault unless no good record comes behind it."""
    if state[TAIL] == 0:
        state[TAIL_KIND], state[TAIL_LINE], state[TAIL_FOUND] = kind, state[RECORD_LINE], fields
        state[TAIL_FIELD] = fields if kind == SHORT else fields - 1
        state[TAIL_START] = state[RECORD_START]
    state[TAIL] += 1
    state[TAIL_WIDEST] = max(state[TAIL_WIDEST], fields)


@kernel
def _count_uneven(state: State, fields: int) -> None:
    """A record of too few or too many fields in a text in which there may be such."""
    if fields < state[EXPECTED]:
        if state[SHORT_RECORDS] == 0:
            state[SHORT_LINE] = state[RECORD_LINE]
        state[SHORT_RECORDS] += 1
    else:
        if state[LONG_RECORDS] == 0:
            state[LONG_LINE] = state[RECORD_LINE]
        state[LONG_RECORDS] += 1
        state[WIDEST] = max(state[WIDEST], fields)


@kernel
def _count_record(state: State, weighed: State, fields: int) -> None:
    """A good record."""
    if fields > state[EXPECTED]:
        if state[EXTRA_RECORDS] == 0:
            state[EXTRA_LINE] = state[RECORD_LINE]
        state[EXTRA_RECORDS] += 1
    if state[RECORDS] < state[HEADERS]:
        weighed[:, :] = 0
    else:
        _weigh(state, weighed, fields - 1, state[HELD])
        state[WEIGHT] = state[WEIGHT] % WEIGHTS + 1
    state[RECORDS] += 1
    if state[RECORDS] == 2:
        state[DATA_LINE] = state[RECORD_LINE]


@kernel
def _compare_line(state: State) -> None:
    """Note whether a line of a record of several is, quotes apart, neither a row nor blank.

    As everywhere, a row may have surplus empty fields at its end.
    """
    fields, run = state[FIELD] - state[LINE_FIELD] + state[INSIDE] + 1, state[EMPTY_RUN]
    if run == _NO_CONTENT:
        state[INNER_BLANK] += 1
    elif fields < state[EXPECTED] or (run < _NO_CONTENT and fields - run > state[EXPECTED]):
        state[UNLIKE] = 1
    state[LINE_FIELD] = state[FIELD]
    state[INSIDE] = 0
    state[EMPTY_RUN] = _NO_CONTENT


@kernel
def _count_rowlike(state: State) -> None:
    """Count a record of several lines, each of which could be a row.

    Two lines of two fields do not count: an address with one delimiter looks like that.
    """
    lines = state[LINE] - state[RECORD_LINE] + 1
    if lines > 1:
        _compare_line(state)
        lines -= state[INNER_BLANK]
        if state[UNLIKE] == 0 and state[EXPECTED] > 1 and lines + state[EXPECTED] > 4:
            state[ROWLIKE] += 1
            if state[ROWLIKE] == 1:
                state[ROWLIKE_LINE] = state[RECORD_LINE]
    state[LINE_FIELD] = state[INSIDE] = state[UNLIKE] = state[INNER_BLANK] = 0
    state[EMPTY_RUN] = _NO_CONTENT


@kernel
def _end_record(state: State, weighed: State, offset: int) -> bool:
    """Close the record that ends here; False on a fault. Blank lines are no records."""
    fields = state[FIELD] + 1
    _count_rowlike(state)
    quoted_empty = state[MODE] == QUOTE_SEEN
    blank = fields == 1 and state[CONTENT] == 0 and not quoted_empty
    if blank and (state[EXPECTED] != 1 or state[MODE] == START):
        state[BLANK_LINES] += 1
        if state[BLANK_LINE] == 0 and state[RECORDS] > 0:
            state[BLANK_LINE] = state[RECORD_LINE]
    else:
        if state[RECORDS] == 0:
            state[EXPECTED] = max(state[EXPECTED], fields if state[EXPECTED] == 0 else 0)
            state[FIRST_LINE] = state[RECORD_LINE]
        surplus = fields > state[EXPECTED] and state[EXTRA_CONTENT] != 0
        if state[UNEVEN] != 0 and (surplus or fields < state[EXPECTED]):
            _count_uneven(state, fields)
            _count_record(state, weighed, fields)
        elif surplus:
            _fault(state, LONG, state[RECORD_LINE], state[EXPECTED], fields)
            return False
        elif fields < state[EXPECTED]:
            _too_short(state, SHORT, fields)
        elif state[TAIL] > 0:
            state[FAULT] = state[TAIL_KIND]
            return False
        else:
            _count_record(state, weighed, fields)
    length = offset - state[RECORD_START]
    if length > state[LONGEST]:
        state[LONGEST] = length
        state[LONGEST_LINE] = state[RECORD_LINE]
    state[MODE] = START
    state[FIELD] = 0
    state[CONTENT] = 0
    state[HELD] = 0
    state[EXTRA_CONTENT] = 0
    return True


@kernel
def _high_byte(state: State, byte: int) -> bool:
    """One byte above 127 against the table of well-formed UTF-8; False when it does not fit."""
    if state[UTF8_LEFT] > 0:
        if byte < state[UTF8_LOW] or byte > state[UTF8_HIGH]:
            return False
        state[UTF8_LEFT] -= 1
        state[POINT] = state[POINT] << 6 | (byte & 0x3F)
        state[UTF8_LOW] = 0x80
        state[UTF8_HIGH] = 0xBF
        if state[UTF8_LEFT] == 0:
            if state[MULTIBYTE] == 0:
                state[UTF8_LINE] = state[LINE]
            state[MULTIBYTE] += 1
        return True
    state[UTF8_LOW] = 0x80
    state[UTF8_HIGH] = 0xBF
    if 0xC2 <= byte <= 0xDF:
        state[UTF8_LEFT] = 1
    elif 0xE0 <= byte <= 0xEF:
        state[UTF8_LEFT] = 2
        if byte == 0xE0:
            state[UTF8_LOW] = 0xA0
        elif byte == 0xED:
            state[UTF8_HIGH] = 0x9F
    elif 0xF0 <= byte <= 0xF4:
        state[UTF8_LEFT] = 3
        if byte == 0xF0:
            state[UTF8_LOW] = 0x90
        elif byte == 0xF4:
            state[UTF8_HIGH] = 0x8F
    else:
        return False
    state[POINT] = byte & (0x3F >> state[UTF8_LEFT])
    return True


@kernel
def _line_end(state: State, weighed: State, kind: int, after_cr: bool, offset: int) -> bool:
    """A CR or LF outside or inside quotes; False on a fault."""
    if kind == _LF and after_cr:
        if state[MODE] == QUOTED:
            state[HELD] += 1
            return True
        state[CR_ENDS] -= 1
        state[CRLF_ENDS] += 1
        state[RECORD_START] = offset + 1
        return True
    if state[MODE] == QUOTED:
        if state[LOOSE_AT] == state[QUOTED_FIELDS]:
            _fault(state, AFTER_QUOTE, state[LOOSE_LINE], state[LOOSE_FIELD], 0)
            return False
        _compare_line(state)
        state[QUOTED_ENDS] += 1
        state[HELD] += 1
        state[CONTENT] = 1
        if state[EXPECTED] > 0 and state[FIELD] >= state[EXPECTED]:
            state[EXTRA_CONTENT] = 1
        state[LINE] += 1
        return True
    if not _end_record(state, weighed, offset):
        return False
    if kind == _CR:
        state[CR_ENDS] += 1
    else:
        state[LF_ENDS] += 1
    state[LINE] += 1
    state[RECORD_LINE] = state[LINE]
    state[RECORD_START] = offset + 1
    return True


@kernel
def _quote(state: State) -> bool:
    """A quote character; only in front of or inside a field is it a mark."""
    mode = state[MODE]
    if mode == START:
        state[MODE] = QUOTED
        state[QUOTE_LINE] = state[LINE]
        state[QUOTED_FIELDS] += 1
    elif mode == QUOTED:
        state[MODE] = QUOTE_SEEN
    elif mode == QUOTE_SEEN:
        state[MODE] = QUOTED
        state[CONTENT] = 1
        state[HELD] += 1
        state[EMPTY_RUN] = 0
    else:
        if state[STRAY] == 0:
            state[STRAY_LINE] = state[LINE]
        state[STRAY] += 1
        state[CONTENT] = 1
        state[HELD] += 1
        state[EMPTY_RUN] = 0
    return True


@kernel
def _loose(state: State) -> None:
    """A quote inside a quoted value that is not doubled: part of the value, which goes on.

    It must end in the same line (see :func:`_line_end`), so that no line is taken for a value.
    """
    state[MODE] = QUOTED
    state[HELD] += 1
    if state[LOOSE] == 0:
        state[LOOSE_LINE], state[LOOSE_FIELD] = state[LINE], state[FIELD]
    state[LOOSE] += 1
    state[LOOSE_AT] = state[QUOTED_FIELDS]


@kernel
def _content(state: State, blank: bool) -> bool:
    """An ordinary byte of a value."""
    mode = state[MODE]
    if mode == QUOTE_SEEN:
        _loose(state)
    if mode == START:
        state[MODE] = PLAIN
    state[HELD] += 1
    if not blank:
        state[EMPTY_RUN] = 0
    if not blank or mode not in (START, PLAIN):
        state[CONTENT] = 1
        if state[EXPECTED] > 0 and state[FIELD] >= state[EXPECTED]:
            state[EXTRA_CONTENT] = 1
    return True


@kernel
def _special(
    state: State, weighed: State, kind: int, byte: int, after_cr: bool, offset: int
) -> bool:
    """Every byte that the fast loop does not swallow; False on a fault."""
    if state[UTF8_LEFT] > 0 and kind != _HIGH:
        _fault(state, ENCODING, state[LINE], state[FIELD], byte)
        return False
    if state[PENDING] != 0:
        state[PENDING] = 0
        state[HELD] += 1
        state[CONTENT] = 1
        if kind in (_DELIMITER, _QUOTE, _ESCAPE):
            state[PROTECTED] += 1
            return True
    elif kind == _ESCAPE:
        if state[MODE] == QUOTE_SEEN:
            _loose(state)
        if state[MODE] == START:
            state[MODE] = PLAIN
        if state[EXPECTED] > 0 and state[FIELD] >= state[EXPECTED]:
            state[EXTRA_CONTENT] = 1
        state[EMPTY_RUN] = 0
        state[PENDING] = 1
        return True
    if kind == _HIGH:
        if not _high_byte(state, byte):
            _fault(state, ENCODING, state[LINE], state[FIELD], byte)
            return False
        return _content(state, state[UTF8_LEFT] > 0 or is_blank_point(state[POINT]))
    if kind == _ZERO:
        _fault(state, NUL, state[LINE], state[FIELD], 0)
        return False
    if kind in (_CR, _LF):
        return _line_end(state, weighed, kind, after_cr, offset)
    if kind == _QUOTE:
        return _quote(state)
    if kind == _DELIMITER and state[MODE] != QUOTED:
        _weigh(state, weighed, state[FIELD], state[HELD])
        state[HELD] = 0
        state[FIELD] += 1
        state[MODE] = START
        state[EMPTY_RUN] += 1
        return True
    if kind == _DELIMITER:
        run = state[EMPTY_RUN]
        _content(state, False)
        state[INSIDE] += 1
        state[EMPTY_RUN] = run + 1
        return True
    return _content(state, kind == _BLANK)


@kernel
def scan_chunk(data: Bytes, classes: Bytes, state: State, weighed: State) -> None:
    """Scan one chunk; a fault is left in the state and ends the scan.

    The loop keeps mode and field in registers for what nearly every byte is (part of a value, or a
    delimiter) and hands the rest to :func:`_special` through the state. ``weighed`` has the sums of
    each column, and room for as many columns as the chunk can open.
    """
    after_cr = state[PREVIOUS_CR] != 0
    mode, field, held, size = state[MODE], state[FIELD], state[HELD], len(data)
    i = 0
    while i < size:
        kind = classes[data[i]]
        simple = state[UTF8_LEFT] == 0 and state[PENDING] == 0
        if kind == _ORDINARY and mode != QUOTE_SEEN and simple:
            if mode == START:
                mode = PLAIN
            state[CONTENT] = 1
            state[EMPTY_RUN] = 0
            if field >= state[EXPECTED] > 0:
                state[EXTRA_CONTENT] = 1
            first = i
            i += 1
            while i < size and classes[data[i]] <= _BLANK:
                i += 1
            held += i - first
        elif kind == _DELIMITER and mode != QUOTED and simple:
            _weigh(state, weighed, field, held)
            held = 0
            field += 1
            mode = START
            state[EMPTY_RUN] += 1
            i += 1
        elif kind == _QUOTE and mode == QUOTED and simple:
            mode = QUOTE_SEEN
            if (data[i - 1] if i > 0 else state[BEFORE]) == _BACKSLASH:
                state[PROTECTED] += 1
            i += 1
        else:
            state[MODE], state[FIELD], state[HELD] = mode, field, held
            if not _special(state, weighed, kind, data[i], after_cr, state[OFFSET] + i):
                return
            mode, field, held = state[MODE], state[FIELD], state[HELD]
            after_cr = kind == _CR
            i += 1
            continue
        after_cr = False
    state[MODE], state[FIELD], state[HELD] = mode, field, held
    state[PREVIOUS_CR] = 1 if after_cr else 0
    if size > 0:
        state[BEFORE] = data[size - 1]
    state[OFFSET] += size


@kernel
def finish(state: State, weighed: State) -> None:
    """The end of the text: close the last record, or find it open."""
    if state[FAULT] != NONE:
        return
    if state[PENDING] != 0:
        state[HELD] += 1
        state[CONTENT] = 1
    ended = state[BEFORE] in (0x0A, 0x0D)
    if state[UTF8_LEFT] > 0:
        if state[MULTIBYTE] > 0 and state[TAIL] == 0 and state[RECORD_LINE] == state[LINE]:
            _too_short(state, UNTERMINATED, state[FIELD] + 1)  # breaks off inside a letter
        else:
            _fault(state, ENCODING, state[LINE], state[FIELD], 0)
    elif state[MODE] == QUOTED:
        if state[LOOSE_AT] == state[QUOTED_FIELDS]:
            _fault(state, AFTER_QUOTE, state[LOOSE_LINE], state[LOOSE_FIELD], 0)
        elif state[TAIL] == 0 and state[RECORD_LINE] == state[LINE] - (1 if ended else 0):
            _too_short(state, UNTERMINATED, state[FIELD] + 1)
        else:
            _fault(state, UNTERMINATED, state[QUOTE_LINE], state[FIELD], 0)
    elif state[MODE] != START or state[FIELD] > 0:
        _end_record(state, weighed, state[OFFSET])


@dataclass(frozen=True)
class ScanResult:
    """What a scan found; ``fault`` is NONE when the whole text was walked.

    ``records`` counts all non-blank records, a header among them; ``fields`` is the width of the
    first. ``tail`` counts lines that are left out at the end because they have another number of
    fields (the last one that
    has no line end, or notes of one field), ``tail_start`` is the first byte of them.
    ``protected`` counts marks that an escape protects, or quotes behind a backslash that close a
    value where there is no escape; ``loose`` quotes inside quoted values that are not doubled.
    ``longest`` is the length in bytes of the longest record, which begins in ``longest_line``.
    ``sizes`` are the bytes of all
    values of each column, ``weighted`` the same with the weight of each row (see ``WEIGHTS``),
    modulo 2^64; the header counts in neither. ``short_records`` and ``long_records`` have fewer or
    more fields than the first, ``widest`` the most, in a text in which there may be such.
    ``rowlike`` counts records of several lines, each of which is blank or has, quotes apart, the
    fields of a row; ``rowlike_line`` is where the first begins.
    """

    records: int
    fields: int
    first_line: int
    data_line: int
    lf_ends: int
    crlf_ends: int
    cr_ends: int
    blank_lines: int
    blank_line: int
    stray_quotes: int
    stray_line: int
    extra_records: int
    extra_line: int
    multibyte: int
    multibyte_line: int
    longest: int
    quoted_ends: int
    quoted_fields: int
    protected: int
    loose: int
    loose_line: int
    tail: int
    tail_start: int
    tail_line: int
    fault: int
    line: int
    column: int
    found: int
    sizes: tuple[int, ...] = field(default=(), kw_only=True)
    weighted: tuple[int, ...] = field(default=(), kw_only=True)
    tail_notes: bool = field(default=False, kw_only=True)
    short_records: int = field(default=0, kw_only=True)
    short_line: int = field(default=0, kw_only=True)
    long_records: int = field(default=0, kw_only=True)
    long_line: int = field(default=0, kw_only=True)
    widest: int = field(default=0, kw_only=True)
    longest_line: int = field(default=0, kw_only=True)
    rowlike: int = field(default=0, kw_only=True)
    rowlike_line: int = field(default=0, kw_only=True)

    @property
    def newline(self) -> str:
        """The one line end of the text: LF, CRLF or CR; "mixed", or "none" without any."""
        kinds = [
            name
            for name, count in (
                ("LF", self.lf_ends),
                ("CRLF", self.crlf_ends),
                ("CR", self.cr_ends),
            )
            if count
        ]
        if not kinds:
            return "none"
        return kinds[0] if len(kinds) == 1 else "mixed"


def result_of(state: State, weighed: State) -> ScanResult:
    """The state as plain numbers."""
    slots = (
        RECORDS, EXPECTED, FIRST_LINE, DATA_LINE, LF_ENDS, CRLF_ENDS, CR_ENDS, BLANK_LINES,
        BLANK_LINE, STRAY, STRAY_LINE, EXTRA_RECORDS, EXTRA_LINE, MULTIBYTE, UTF8_LINE, LONGEST,
        QUOTED_ENDS, QUOTED_FIELDS, PROTECTED, LOOSE, LOOSE_LINE, TAIL, TAIL_START, TAIL_LINE,
        FAULT, FAULT_LINE, FAULT_FIELD, FAULT_FOUND,
    )  # fmt: skip
    sums = weighed[:, : int(state[EXPECTED])]
    sizes, weighted = sums[0].tolist(), sums[1].view(np.uint64).tolist()
    counted = ScanResult(*(int(state[slot]) for slot in slots))
    return replace(
        counted,
        sizes=tuple(sizes),
        weighted=tuple(weighted),
        short_records=int(state[SHORT_RECORDS]),
        short_line=int(state[SHORT_LINE]),
        long_records=int(state[LONG_RECORDS]),
        long_line=int(state[LONG_LINE]),
        widest=int(state[WIDEST]),
        longest_line=int(state[LONGEST_LINE]),
        rowlike=int(state[ROWLIKE]),
        rowlike_line=int(state[ROWLIKE_LINE]),
    )


def scan(
    chunks: Iterator[bytes],
    delimiter: str,
    quote: str,
    first_line: int = 1,
    header: bool = False,
    escape: str = "",
    width: int = 0,
    uneven: bool = False,
) -> ScanResult:
    """Scan a text that comes in chunks, up to its end or its first fault.

    Lines of another number of fields at the end are no fault when they may be a line that breaks
    off or notes below the table; see ``tail`` of the result. With ``uneven`` lines of another
    number of fields are no fault anywhere.
    """
    classes = byte_classes(delimiter, quote, escape)
    state = new_state(first_line, header, width, uneven)
    weighed = np.zeros((2, 1), dtype=np.int64)
    for chunk in chunks:
        weighed = _with_room(weighed, state, len(chunk))
        scan_chunk(np.frombuffer(chunk, dtype=np.uint8), classes, state, weighed)
        if state[FAULT] != NONE or state[TAIL] > _MOST_NOTES:
            break
    else:
        finish(state, weighed)
    return _with_tail(result_of(state, weighed), state)


def _with_tail(result: ScanResult, state: State) -> ScanResult:
    """The result, with the fault of the last lines unless they are notes or break off.

    A short line that has its line end does not break off: it is a row that lacks a field.
    """
    closed = state[BEFORE] in (0x0A, 0x0D) and state[TAIL_KIND] != UNTERMINATED
    notes = state[TAIL_WIDEST] == 1 and result.fields > _NARROW and result.tail <= _MOST_NOTES
    broken = notes or (result.tail == 1 and not closed)
    if result.tail == 0:
        return result
    if result.fault == NONE and broken and result.records > 1:
        found = int(state[TAIL_FOUND])
        return replace(result, found=found, tail_notes=bool(closed or result.tail > 1))
    return replace(
        result,
        fault=int(state[TAIL_KIND]),
        line=int(state[TAIL_LINE]),
        column=int(state[TAIL_FIELD]),
        found=int(state[TAIL_FOUND]),
    )


def _with_room(weighed: State, state: State, size: int) -> State:
    """The sums with room for each column that the next bytes can open."""
    wanted = int(state[EXPECTED]) or int(state[FIELD]) + size + 1
    if wanted <= weighed.shape[1]:
        return weighed
    grown = np.zeros((2, wanted), dtype=np.int64)
    grown[:, : weighed.shape[1]] = weighed
    return grown
