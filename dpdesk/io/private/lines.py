"""A text for a private method: each physical line is a record, and no line is read by another.

LF, CR and CR LF end a line, inside quotes too. A line with another number of fields, with a quote
that nothing closes, or with bytes that are no text is one row whose values are all unreadable.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.io.coding import texts
from dpdesk.io.csvload import CHECK
from dpdesk.io.failures import LONGEST_LINE
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.sniff import codec_name
from dpdesk.io.source import Digest, FilePrint, Stretch, byte_chunks

if TYPE_CHECKING:
    import pyarrow

SEPARATOR = re.compile(b"(\xef\xbb\xbf)?sep=.", re.IGNORECASE)
"""A line that names the delimiter, for Excel."""
FILLED = "filled"
Bytes: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int64]
Sizes: TypeAlias = NDArray[np.int32]
NumberedTexts: TypeAlias = tuple[Sequence[str], NDArray[np.int32]]
"""Different texts, and for each line the number of its own."""
_BLOCK, _FEW, _LF, _CR = 1 << 19, 256, 0x0A, 0x0D
_SIGN = np.frombuffer(UNREADABLE.encode(), np.uint8)
_LOST = "\udc80"
"""What stands for bytes that are no text: no UTF-8 has it, so its line is unreadable."""
_STATEFUL = ("iso2022", "hz", "utf-7", "utf_7")
_NO_ORDER = ("utf-16", "utf-32")


@dataclass(frozen=True)
class Grammar:
    """How fields stand in a line; an empty delimiter: the line is one field.

    ``blanks`` says that blanks before a field are no part of it.
    """

    delimiter: str = ""
    quote: str = ""
    escape: str = ""
    blanks: bool = False

    def marks(self) -> Places:
        """The characters as the compiled steps take them."""
        codes = [ord(sign) if sign else -1 for sign in (self.delimiter, self.quote, self.escape)]
        return np.array([*codes, int(self.blanks)], np.int64)


def line_codec(encoding: str, name: str) -> str:
    """The codec of an encoding in which a line can be read by itself.

    Raises InputError ``encoding.unknown``, and ``encoding.state`` for an encoding in which one line
    changes how the next ones are read, or that leaves the order of its bytes open.
    """
    codec = codec_name(encoding, name)
    if codec == "utf-8-sig":
        return "utf-8"
    if codec.startswith(_STATEFUL) or codec in _NO_ORDER:
        hint = (
            msg("Name {codec}-le or {codec}-be.", codec=codec)
            if codec in _NO_ORDER
            else "Save it as UTF-8."
        )
        raise InputError(
            "encoding.state",
            msg(
                "{name}: in the encoding {encoding}, the beginning of a file changes how its "
                "lines are read, which no differentially private method allows.",
                name=name,
                encoding=encoding,
            ),
            hint=hint,
            details={"encoding": encoding},
        )
    return codec


def _mark_unit(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return _LOST, error.end


def _mark_byte(error: UnicodeError) -> tuple[str, int]:
    # The byte behind a wrong one may end the line, so only the wrong one goes.
    assert isinstance(error, UnicodeDecodeError)
    return _LOST, error.start + 1


codecs.register_error("dpdesk.unit", _mark_unit)
codecs.register_error("dpdesk.byte", _mark_byte)


def _utf8(chunks: Iterator[bytes], codec: str) -> Iterator[bytes]:
    """The text in UTF-8; what is no text of the encoding is none of UTF-8 either."""
    if codec == "utf-8":
        yield from chunks
        return
    wide = codec.startswith(_NO_ORDER)
    decoder = codecs.getincrementaldecoder(codec)("dpdesk.unit" if wide else "dpdesk.byte")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
    yield decoder.decode(b"", True).encode("utf-8", "surrogatepass")


def _blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes in pieces of whole lines; of a line that is too long, just too many."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        if len(held) < _BLOCK:
            continue
        end = max(held.rfind(b"\n"), held.rfind(b"\r")) + 1
        if end:
            yield bytes(held[:end])
            del held[:end]
        elif len(held) > LONGEST_LINE:
            del held[LONGEST_LINE + 1 :]
    if held:
        yield bytes(held)


class TextLines:
    """The lines of a text below its first ``skip`` ones; they can be read once.

    ``first`` takes the next line that is not blank as a text.
    """

    def __init__(
        self, path: Path, codec: str, skip: int, token: CancelToken, report: Report
    ) -> None:
        self._digest = Digest()
        chunks = byte_chunks(Stretch(path), token, report, CHECK, digest=self._digest)
        self._blocks = _blocks(_utf8(chunks, codec))
        self._held = b""
        self.number = 0
        above = self._line() if skip else b""
        # A first line that names the delimiter for Excel is none of those that a plan counts.
        more = skip if above and SEPARATOR.fullmatch(above) else skip - 1
        for _ in range(more):
            self._line()

    @property
    def print(self) -> FilePrint:
        """Hash and size of the file; whole when all lines have been read."""
        return self._digest.found()

    def first(self) -> bytes | None:
        """The next line that is not blank; None at the end of the text."""
        while (line := self._line()) is not None:
            text = line.removeprefix(codecs.BOM_UTF8)
            if text.strip(b"\r\n\x1a"):
                return text
        return None

    def _line(self) -> bytes | None:
        if not self._held:
            self._held = next(self._blocks, b"")
        if not self._held:
            return None
        ends = [at for at in (self._held.find(b"\n"), self._held.find(b"\r")) if at >= 0]
        end = min(ends, default=len(self._held) - 1) + 1
        if self._held[end - 1 : end] == b"\r" and self._held[end : end + 1] == b"\n":
            end += 1
        line, self._held = self._held[:end], self._held[end:]
        self.number += 1
        return line.rstrip(b"\r\n")

    def split(
        self, grammar: Grammar, width: int, wanted: Sequence[int]
    ) -> Iterator[Callable[[], SplitLines]]:
        """Steps that find the fields of the lines that are left, by their places, in any order.

        ``width`` is how many fields a line has.
        """
        places = np.full(width, -1, np.int64)
        places[list(wanted)] = np.arange(len(wanted))
        if self._held:
            yield partial(_split, self._held, grammar, places, len(wanted))
            self._held = b""
        for block in self._blocks:
            yield partial(_split, block, grammar, places, len(wanted))


@dataclass(frozen=True, eq=False)
class SplitLines:
    """Lines of a text and where their wanted fields stand: places and sizes by line and column.

    ``filled`` tells which lines hold more than blanks, ``lost`` how many are unreadable; ``words``
    are the bytes of ``data``, eight in one, and some more.
    """

    data: Bytes
    words: NDArray[np.uint64]
    marks: Places
    firsts: Places
    sizes: Sizes
    filled: NDArray[np.bool_]
    lost: int

    def table(self) -> pyarrow.Table:
        """The fields as columns f0, f1, …, and the column :data:`FILLED`.

        A value of an unreadable line is :data:`~dpdesk.io.private.values.UNREADABLE`.
        """
        import pyarrow as pa

        arrays = list(map(self._texts, self.firsts.T, self.sizes.T))
        names = [*(f"f{c}" for c in range(len(arrays))), FILLED]
        return pa.table([*arrays, pa.array(self.filled)], names=names)

    def _texts(self, firsts: Places, sizes: Sizes) -> pyarrow.Array:
        import pyarrow as pa

        from dpdesk.io.private.line_kernels import put_fields

        ends = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=ends[1:])
        buffer = np.empty(int(ends[-1]), np.uint8)
        put_fields(self.data, firsts, sizes, self.marks, _SIGN, buffer)
        buffers = pa.py_buffer(ends), pa.py_buffer(buffer)
        return pa.LargeStringArray.from_buffers(len(sizes), *buffers)

    def numbered(self, most: int, keep: bool) -> list[NumberedTexts] | None:
        """The texts of each column and their numbers by line; None where a column has too many.

        ``keep`` says that lines of blanks count.
        """
        whole = keep or bool(self.filled.all())
        firsts = self.firsts if whole else self.firsts[self.filled]
        sizes = self.sizes if whole else self.sizes[self.filled]
        found = self._numbered(firsts, sizes, min(most, _FEW))
        for column, each in enumerate(found):
            if each is None:
                one = slice(column, column + 1)
                found[column] = self._numbered(firsts[:, one], sizes[:, one], most)[0]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    def _numbered(self, firsts: Places, sizes: Sizes, most: int) -> list[NumberedTexts | None]:
        from dpdesk.io.private.line_kernels import number_fields

        firsts, sizes = np.ascontiguousarray(firsts), np.ascontiguousarray(sizes)
        rows, columns = firsts.shape
        slots = np.zeros((columns, 2 << most.bit_length()), np.int32)
        single, lines = np.zeros((columns, 256), np.int32), np.empty((columns, most), np.int64)
        packs = np.empty((columns, most, 2), np.uint64)
        numbers, counts = np.empty((columns, rows), np.int32), np.zeros(columns, np.int64)
        ways = slots, single, packs, lines, numbers, counts
        number_fields(self.data, self.words, firsts, sizes, self.marks, *ways)
        found: list[NumberedTexts | None] = []
        for column, count in enumerate(counts):
            first = lines[column, : max(count, 0)]
            held = self._texts(firsts[first, column], sizes[first, column])
            found.append(None if count < 0 else (texts(held), numbers[column]))
        return found


def _split(block: bytes, grammar: Grammar, places: Places, columns: int) -> SplitLines:
    from dpdesk.io.private.line_kernels import find_lines, split_lines

    words = np.zeros(len(block) // 8 + 4, "<u8")
    data = words.view(np.uint8)[: len(block)]
    data[:] = np.frombuffer(block, np.uint8)
    most = int(np.count_nonzero(data == _LF) + np.count_nonzero(data == _CR)) + 1
    starts, stops = np.empty(most, np.int64), np.empty(most, np.int64)
    # Of a single column a line of blanks is a value, as it is for the readers of other methods.
    count = find_lines(data, len(data), starts, stops, len(places) > 1)
    marks = grammar.marks()
    firsts, sizes = np.empty((count, columns), np.int64), np.empty((count, columns), np.int32)
    filled, plain = np.ones(count, np.bool_), block.isascii() and b"\0" not in block
    found = firsts, sizes, filled
    lost = split_lines(
        data, starts[:count], stops[:count], marks, places, LONGEST_LINE, plain, *found
    )
    return SplitLines(data, words, marks, firsts, sizes, filled, int(lost))


def fields_of(line: str, grammar: Grammar) -> tuple[str, ...] | None:
    """The fields of one line, a header; None where a quote is not closed."""
    fields: list[str] = []
    at = 0
    while True:
        while grammar.blanks and line[at : at + 1] == " ":
            at += 1
        if grammar.quote and line[at : at + 1] == grammar.quote:
            field, at = _quoted(line, at + 1, grammar)
            if at < 0 or (at < len(line) and line[at] != grammar.delimiter):
                return None
        else:
            field, at = _plain(line, at, grammar)
        fields.append(field)
        if at >= len(line):
            return tuple(fields)
        at += 1


def _protects(line: str, at: int, grammar: Grammar) -> bool:
    """Whether the escape stands here, in front of a delimiter, a quote or itself."""
    known = (grammar.delimiter, grammar.quote, grammar.escape)
    return line[at] == grammar.escape and at + 1 < len(line) and line[at + 1] in known


def _plain(line: str, at: int, grammar: Grammar) -> tuple[str, int]:
    """A field without quotes, and where it ends."""
    found: list[str] = []
    while at < len(line) and line[at] != grammar.delimiter:
        at += _protects(line, at, grammar)
        found.append(line[at])
        at += 1
    return "".join(found), at


def _quoted(line: str, at: int, grammar: Grammar) -> tuple[str, int]:
    """A field in quotes, and where it ends (-1: nowhere)."""
    found: list[str] = []
    while at < len(line):
        if _protects(line, at, grammar):
            at += 1
        elif line[at] == grammar.quote:
            if line[at + 1 : at + 2] != grammar.quote:
                return "".join(found), at + 1
            at += 1
        found.append(line[at])
        at += 1
    return "", -1
