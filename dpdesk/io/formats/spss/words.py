"""The rows of an SPSS file as words of 8 bytes, whatever way they are compressed in.

Bytecode (PSPP developers' guide, "Data Record"): a word of eight commands, then the words that they
take as they stand. A command is 0 (nothing), 1 to 251 (that number less the bias), 252 (the end),
253 (the next word as it stands), 254 (eight blanks) or 255 (the system-missing value). In a file
with zlib the bytecode lies in deflated blocks that a list at the end of the file tells of.

The only chain is that of the command words: how many words follow one is counted from its bytes.
Everything else is done by numpy for all commands of a piece at once.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dpdesk.io.formats.spss.layout import BYTECODE, PLAIN, SLOT, ZLIB, SavLayout

Words = NDArray[np.uint64]

_PIECE = 1 << 20
_END, _AS_IT_STANDS, _BLANKS, _SYSMIS = 252, 253, 254, 255
_LOW, _ONES = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x0101010101010101)
_TRAILER, _BLOCK = 24, 24


def words_of(file: IO[bytes], layout: SavLayout) -> Iterator[Words]:
    """Words of the rows, in the byte order of the file, in pieces of about a megabyte.

    Ends where the file ends or says so; raises ValueError, zlib.error or struct.error where it
    cannot be followed.
    """
    file.seek(layout.start)
    if layout.compression == PLAIN:
        yield from _whole_words(_read(file))
    elif layout.compression == BYTECODE:
        yield from _expanded(_whole_words(_read(file)), layout)
    elif layout.compression == ZLIB:
        yield from _expanded(_whole_words(_inflated(file, layout)), layout)
    else:
        raise ValueError("an unknown compression")


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _whole_words(pieces: Iterator[bytes]) -> Iterator[Words]:
    rest = b""
    for piece in pieces:
        data = rest + piece if rest else piece
        whole = len(data) // SLOT
        rest = data[whole * SLOT :]
        yield np.frombuffer(data, np.uint64, whole)


def _inflated(file: IO[bytes], layout: SavLayout) -> Iterator[bytes]:
    """The blocks of a file with zlib, in the order of their list."""
    order = layout.order
    _, place, size = struct.unpack(f"{order}3q", file.read(24))
    end = file.seek(0, 2)
    if not 0 <= place <= end or size < _TRAILER:
        raise ValueError("no list of blocks")
    file.seek(place)
    trailer = file.read(min(size, end - place))
    (count,) = struct.unpack_from(f"{order}i", trailer, 20)
    for number in range(count):
        _, start, _, packed = struct.unpack_from(
            f"{order}qqii", trailer, _TRAILER + _BLOCK * number
        )
        if not 0 <= start <= end:
            raise ValueError("a block outside of the file")
        file.seek(start)
        yield from _inflated_block(file, packed)


def _inflated_block(file: IO[bytes], packed: int) -> Iterator[bytes]:
    """One block in pieces, however far it unfolds."""
    block = zlib.decompressobj()
    for first in range(0, packed, _PIECE):
        data = file.read(min(_PIECE, packed - first))
        while data:
            yield block.decompress(data, _PIECE)
            data = block.unconsumed_tail
    yield block.flush()
    if not block.eof:
        raise ValueError("a block breaks off")


def _expanded(pieces: Iterator[Words], layout: SavLayout) -> Iterator[Words]:
    """The words that commands stand for."""
    table, rest = _table(layout), np.empty(0, np.uint64)
    for piece in pieces:
        words = np.concatenate([rest, piece]) if len(rest) else piece
        places, done = _command_places(words)
        rest = words[done:]
        made, ended = _made(words[:done], places, table)
        yield made
        if ended:
            return
    if len(rest) and layout.rows is None:
        raise ValueError("a command without its words")


def _command_places(words: Words) -> tuple[NDArray[np.int64], int]:
    """Places of the command words whose words are all there, and where the next one stands."""
    steps = (_count_as_it_stands(words) + 1).tobytes()
    places: list[int] = []
    at, total = 0, len(words)
    while at < total:
        places.append(at)
        at += steps[at]
    if at > total:
        at = places.pop()
    return np.array(places, np.int64), at


def _count_as_it_stands(words: Words) -> NDArray[np.uint8]:
    """How many bytes of each word are the command 253."""
    other = words ^ np.uint64(_AS_IT_STANDS * int(_ONES))
    nonzero = (((other & _LOW) + _LOW) | other) & ~_LOW
    found: NDArray[np.uint8] = np.uint8(8) - np.bitwise_count(nonzero)
    return found


def _made(words: Words, places: NDArray[np.int64], table: Words) -> tuple[Words, bool]:
    taken = np.ones(len(words), np.bool_)
    taken[places] = False
    commands = words[places].view(np.uint8)
    ends = np.flatnonzero(commands == _END)
    if len(ends):
        commands = commands[: ends[0]]
    commands = commands[commands != 0]
    made = table[commands]
    as_it_stands = commands == _AS_IT_STANDS
    made[as_it_stands] = words[taken][: np.count_nonzero(as_it_stands)]
    return made, bool(len(ends))


def _table(layout: SavLayout) -> Words:
    """What each command stands for, in the byte order of the file."""
    numbers = np.arange(256, dtype=np.float64) - layout.bias
    table: Words = numbers.astype(f"{layout.order}f8").view(np.uint64)
    table[_BLANKS] = np.frombuffer(b" " * SLOT, np.uint64)[0]
    table[_SYSMIS] = np.array([layout.sysmis], f"{layout.order}u8").view(np.uint64)[0]
    return table
