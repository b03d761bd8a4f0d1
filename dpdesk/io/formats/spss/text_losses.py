"""Values of an SPSS file that the reading library would lose without a word.

It ends a text at a NUL byte (or leaves the byte out), and takes for missing every number that the
file keeps for the open ends of ranges, and every one that is NaN. So the rows are looked at once
before they are read: texts with something behind a NUL and numbers of that kind are refused with
their place; NaN, which no program of this format can tell from a missing value, is noted. In
an encoding of several bytes it drops the beginning of a character at the end of a text: this is
refused or noted, see :mod:`dpdesk.io.formats.endings`.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.endings import Endings, codec_name, is_known
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.spss.layout import (
    BYTECODE,
    PLAIN,
    SLOT,
    ZLIB,
    Cells,
    Label,
    SavLayout,
    named_encoding,
    read_layout,
)
from dpdesk.io.formats.stat_faults import (
    breaks_off,
    check_names,
    label_breaks_off,
    no_text,
    note_cut,
    note_cut_label,
    note_nul,
    nul_in_text,
)
from dpdesk.io.formats.table import Notes, damaged

# Labels and missing values of an SPSS file that the reading library takes for those of no column.
#
# It takes the last record of value labels of a column alone, and finds columns of long texts by
# their long names alone, as they are written; SPSS and PSPP add records up, and know both names.


_UTF8, _SIGN = "utf-8", b"$FL"
_WIDER = {"big5": "cp950", "shift_jis": "cp932", "gb2312": "gbk", "euc_kr": "cp949"}
"""Codecs with the letters that Windows has besides, as the library reads them."""
Values = dict[Any, str]


def completed(
    path: Path, meta: Any, endings: Endings, notes: Notes
) -> dict[str, Mapping[Any, str]]:
    """The value labels of each column, and in ``meta`` the missing values, as the file has them.

    Noted are those of no column, names that the library does not give, and ranges of missing texts,
    which are left out. Raises InputError ``read.damaged`` for a column that is a number in its
    description and a text by its format, ``encoding.undecodable`` for a label that is no text.
    """
    layout = read_layout(path)
    names = list(meta.column_names)
    found: dict[str, Mapping[Any, str]] = dict(meta.variable_value_labels)
    encoding = endings.encoding or _UTF8
    if len(names) != len(layout.columns) or not is_known(encoding):
        return found
    file = _File(path.name, layout, names, codec_name(encoding), endings)
    file.check_kinds(meta.readstat_variable_types)
    file.note_names(notes)
    for j, labels in enumerate(file.labels(notes)):
        given = found.get(names[j], {})
        if layout.columns[j].numeric:
            given = {code: text for code, text in given.items() if not isinstance(code, str)}
        # The library's tables may decode a value otherwise, so what tells is how many there are.
        if len(labels) > len(given):
            bare = {code.rstrip(" ") if isinstance(code, str) else code: code for code in given}
            own = {file.code(code): file.text(names[j], raw) for code, raw in labels.items()}
            given = own | {code: given[bare[code]] for code in bare}
        if given or names[j] in found:
            found[names[j]] = given
    meta.missing_ranges = file.missing(meta.missing_ranges, notes)
    return found


def _two_kinds(name: str) -> str:
    return msg("column `{name}` is a number by its description and a text by its format", name=name)


class _File:
    def __init__(
        self, name: str, layout: SavLayout, names: list[str], codec: str, endings: Endings
    ) -> None:
        self._name, self._layout, self._names = name, layout, names
        self._codec, self._endings = _WIDER.get(codec, codec), endings

    def _decoded(self, raw: bytes) -> str:
        return raw.rstrip(b" \0").decode(self._codec, "replace")

    def code(self, code: float | bytes) -> float | str:
        """A labelled value as it stands in its column."""
        return self._decoded(code) if isinstance(code, bytes) else code

    def text(self, column: str, raw: bytes, what: str = "its label") -> str:
        """A label; InputError ``encoding.undecodable`` when it is no text."""
        raw = raw.rstrip(b" \0")
        try:
            return raw.decode(self._codec)
        except UnicodeDecodeError as error:
            whole = self._endings.cut(raw)
            if whole is None:
                encoding = self._endings.encoding
                raise no_text(self._name, column, what, encoding) from error
            return whole

    def check_kinds(self, kinds: Mapping[str, str]) -> None:
        """Refuse a column whose numbers the library takes for texts, or the other way round."""
        for name, cells in zip(self._names, self._layout.columns, strict=True):
            if cells.numeric == (kinds.get(name) == "string"):
                raise damaged(self._name, _two_kinds(name))

    def note_names(self, notes: Notes) -> None:
        """Note columns that the file calls by a longer name than the library."""
        for name, raw in zip(self._names, self._layout.names, strict=True):
            long = self._decoded(raw)
            if long and long.casefold() != name.casefold() and "\ufffd" not in long:
                notes.add(
                    f"name {name}",
                    msg(
                        "Column `{column}`: the file also calls it `{long}`; this "
                        "name is left out.",
                        column=name,
                        long=long,
                    ),
                )

    def _column(self, name: bytes) -> int | None:
        """The column of a long name, or of a short one, whatever their case."""
        wanted = self._decoded(name).casefold()
        for names in (self._layout.names, self._layout.short):
            for j, one in enumerate(names):
                if self._decoded(one).casefold() == wanted:
                    return j
        return None

    def labels(self, notes: Notes) -> list[dict[Any, bytes]]:
        """The labels of each column, of a value with two the last one."""
        found: list[dict[Any, bytes]] = [{} for _ in self._names]
        for label in self._layout.labels:
            if label.code is None:
                continue
            place = label.column if isinstance(label.column, int) else self._column(label.column)
            is_long = not isinstance(label.column, int)
            if place is None or (is_long and self._layout.columns[place].numeric):
                notes.add(
                    "idle labels",
                    msg(
                        "The value labels called `{called}` belong to no column; "
                        "they are left out.",
                        called=self._called(label),
                    ),
                )
                continue
            cells = self._layout.columns[place]
            if cells.numeric:
                (bits,) = struct.unpack(f"{self._layout.order}Q", label.code)
                (number,) = struct.unpack(f"{self._layout.order}d", label.code)
                if number == number and bits != self._layout.sysmis:
                    found[place][number] = label.text
            elif is_long or sum(cells.segments) == 1:
                found[place][label.code.rstrip(b" \0")] = label.text
        return found

    def _called(self, label: Label) -> str:
        return self._decoded(label.column) if isinstance(label.column, bytes) else ""

    def missing(self, given: Mapping[str, list[Any]], notes: Notes) -> dict[str, list[Any]]:
        """The missing values of each column, those of long texts too; without ranges of texts."""
        found = dict(given)
        for raw, values in self._layout.missing:
            place = self._column(raw)
            if place is None or self._layout.columns[place].numeric:
                notes.add(
                    f"idle missing {self._decoded(raw)}",
                    msg(
                        "The missing values of a column `{column}`, which the file does not "
                        "have, are left out.",
                        column=self._decoded(raw),
                    ),
                )
            elif not found.get(self._names[place]):
                texts = [self._decoded(value) for value in values]
                found[self._names[place]] = [{"lo": text, "hi": text} for text in texts]
        for name, items in found.items():
            single = [
                one for one in items if not isinstance(one["lo"], str) or one["lo"] == one["hi"]
            ]
            if len(single) < len(items):
                found[name] = single
                notes.add(
                    f"range {name}",
                    msg(
                        "Column `{column}`: the range of missing texts is not kept; its values "
                        "stay ordinary values.",
                        column=name,
                    ),
                )
        return found


def check_codes(path: Path, encoding: str | None) -> None:
    """Refuse labelled values at which the reading library breaks down: texts that are none.

    ``encoding`` is the one that the plan names; without it the file's own counts. Raises InputError
    ``encoding.undecodable``, and ``read.damaged`` for a number that its format shows as a text.
    """
    with path.open("rb") as start:
        if start.read(len(_SIGN)) != _SIGN:  # no file of SPSS is the library's to say
            return
    layout = read_layout(path)
    encoding = encoding or named_encoding(path) or _UTF8
    codec = codec_name(encoding) if is_known(encoding) else "latin-1"
    file = _File(path.name, layout, [], codec, Endings(encoding))
    names = [name.decode(codec, "replace") for name in layout.names]
    for name, cells in zip(names, layout.columns, strict=True):
        if cells.numeric and cells.shown_as_text:
            raise damaged(path.name, _two_kinds(name))
    for label in layout.labels:
        if label.code is not None and _is_text(label, layout):
            file.text(_column(label, names, codec), label.code, "a value that has a label")


def check_labels(
    file: str, layout: SavLayout, names: Sequence[str], encoding: str, notes: Notes
) -> None:
    """Raise InputError ``encoding.undecodable`` for a label that ends inside a character.

    One that holds a NUL is noted.
    Two labels of one value, of which the last is taken, and a label of the missing value are noted.
    """
    endings = Endings(encoding)
    codec = codec_name(encoding) if is_known(encoding) else "latin-1"
    given: dict[tuple[str, bytes | str], bytes] = {}
    for label in layout.labels:
        column = _column(label, names, codec)
        value = _value(label, layout, codec)
        what = "its label" if value is None else msg("the label of the value {value}", value=value)
        if any(b"\0" in text.rstrip(b" \0") for text in _texts(label, layout)):
            note_nul(notes, column, what)
        broken = [text for text in _texts(label, layout) if endings.breaks_off(text)]
        if any(endings.is_foreign(text) for text in broken):
            raise label_breaks_off(file, column, what, encoding)
        if broken:
            note_cut_label(notes, column, what)
        if value is None:
            continue
        text = label.text.rstrip(b" \0")
        known = value if value == "nan" or not _is_text(label, layout) else _bare(label.code)
        before = given.setdefault((column, known), text)
        if value == "nan":
            notes.add(
                f"label nan {column}",
                msg(
                    "Column `{column}`: the missing value has a label; it is left out.",
                    column=column,
                ),
            )
        elif before != text:
            first, last = (one.decode(codec, "replace") for one in (before, text))
            notes.add(
                f"labels {column}",
                msg(
                    "Column `{column}`: the value {value} has two labels, `{first}` and "
                    "`{last}`; the last one is taken.",
                    column=column,
                    value=value,
                    first=first,
                    last=last,
                ),
            )


def _texts(label: Label, layout: SavLayout) -> Iterator[bytes]:
    """The label, and the value that it is of if that is a text."""
    yield label.text
    if label.code is not None and _is_text(label, layout):
        yield label.code


def _bare(code: bytes | None) -> bytes:
    return (code or b"").rstrip(b" \0")


def _column(label: Label, names: Sequence[str], codec: str) -> str:
    if isinstance(label.column, int):
        return names[label.column]
    named = label.column.decode(codec, "replace")
    return next((name for name in names if name.casefold() == named.casefold()), named)


def _is_text(label: Label, layout: SavLayout) -> bool:
    return isinstance(label.column, bytes) or not layout.columns[label.column].numeric


def _value(label: Label, layout: SavLayout, codec: str) -> str | None:
    """The value that a label is of, ``nan`` for one that is missing; None for a column's own."""
    if label.code is None:
        return None
    if _is_text(label, layout):
        text = _bare(label.code).decode(codec, "replace")
        return f"`{text}`"
    (number,) = struct.unpack(f"{layout.order}d", label.code)
    (bits,) = struct.unpack(f"{layout.order}Q", label.code)
    return "nan" if math.isnan(number) or bits == layout.sysmis else number_text(number)


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


_LOWER, _HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_NUL, _BLANK = 0, 32
_MOST_WORDS = 1 << 18


@dataclass(frozen=True)
class Loss:
    """A value that would be lost: row and column counted from 0; ``number`` None for a text.

    ``ending`` says that it is the text's last bytes that would be.
    """

    row: int
    column: int
    number: float | None = None
    ending: bool = False


def refuse_losses(
    path: Path, names: Sequence[str], limit: int | None, notes: Notes, encoding: str = ""
) -> None:
    """Refuse the first value that would be lost, and labels that would.

    ``names`` are those of the columns; with ``limit`` only the first rows are looked at. NaN is
    noted. ``encoding`` is the one that texts are read in; without it their endings are not looked
    at. Raises InputError ``read.nul``, ``read.reserved``, ``encoding.undecodable``, and
    ``read.damaged`` when the file cannot be followed, or holds more rows than it says.
    """
    layout = read_layout(path)
    if len(layout.columns) != len(names):
        what = msg(
            "it describes {columns:,} columns, but {names:,} were found",
            columns=len(layout.columns),
            names=len(names),
        )
        raise damaged(path.name, what)
    check_names(path.name, [_decoded(name, encoding) for name in layout.names])
    check_labels(path.name, layout, names, encoding, notes)
    if layout.rows is None:
        notes.add(
            "rows",
            "The file does not say how many rows it has, so rows missing at its end cannot be "
            "detected.",
        )
    scan = _Scan(layout, names, notes, Endings(encoding))
    try:
        loss = scan.first_loss(path, limit)
    except (struct.error, ValueError, zlib.error) as error:
        raise damaged(path.name, "the compressed rows cannot be followed") from error
    if loss is None:
        return
    if loss.ending:
        raise breaks_off(path.name, loss.row + 1, names[loss.column], encoding)
    if loss.number is None:
        raise nul_in_text(path.name, loss.row + 1, names[loss.column])
    raise _reserved(path.name, loss.row + 1, names[loss.column], loss.number)


def _reserved(name: str, row: int, column: str, number: float) -> InputError:
    return InputError(
        "read.reserved",
        msg(
            "{file}, row {row:,}, column `{name}`: found the number {value}, which SPSS keeps "
            "for the open end of a range, expected another number or a missing value.",
            file=name,
            row=row,
            name=column,
            value=number_text(number),
        ),
        hint="Recode the value in its program, or make it missing there.",
        details={"row": row, "column": column},
    )


def _decoded(name: bytes, encoding: str) -> str:
    """A name as text; different ones stay different."""
    try:
        return name.decode(encoding.replace("WINDOWS-", "cp") or "latin-1", "backslashreplace")
    except LookupError:
        return name.decode("latin-1")


class _Scan:
    def __init__(
        self, layout: SavLayout, names: Sequence[str], notes: Notes, endings: Endings
    ) -> None:
        self._layout, self._names, self._notes, self._endings = layout, names, notes, endings
        self._owner = np.zeros(layout.slots, np.int64)
        for j, cells in enumerate(layout.columns):
            self._owner[cells.start : cells.start + sum(cells.segments)] = j
        numeric = np.array([cells.numeric for cells in layout.columns], np.bool_)[self._owner]
        self._numbers, self._texts = np.flatnonzero(numeric), np.flatnonzero(~numeric)
        wide = np.dtype(f"{layout.order}u8")
        ends = {layout.highest, layout.lowest} - {layout.sysmis}
        self._ends = [np.array([end], wide).view(np.uint64)[0] for end in sorted(ends)]
        self._sysmis = np.array([layout.sysmis], wide).view(np.uint64)[0]

    def first_loss(self, path: Path, limit: int | None) -> Loss | None:
        """The first value that would be lost, by row, then by column."""
        slots, done, rest = self._layout.slots, 0, np.empty(0, np.uint64)
        wanted = min((one for one in (limit, self._layout.rows) if one is not None), default=None)
        with path.open("rb") as file:
            pieces = words_of(file, self._layout)
            for words in pieces:
                joined = np.concatenate([rest, words]) if len(rest) else words
                rows = len(joined) // slots
                if wanted is not None:
                    rows = min(rows, wanted - done)
                loss = self._look(joined[: rows * slots].reshape(rows, slots), done)
                done, rest = done + rows, joined[rows * slots :]
                if loss is not None:
                    return loss
                if done == wanted:
                    if limit is None:
                        self._check_end(path, len(rest), pieces)
                    return None
        if self._layout.rows is None:
            self._check_break(path, done, len(rest))
        return None

    def _check_break(self, path: Path, done: int, left: int) -> None:
        """Raise InputError ``read.damaged`` when a file that counts no rows ends inside a row."""
        layout = self._layout
        step = {PLAIN: SLOT * layout.slots, ZLIB: 1}.get(layout.compression, SLOT)
        if left or (path.stat().st_size - layout.start) % step:
            raise damaged(path.name, "the file ends inside this row", done + 1)

    def _check_end(self, path: Path, left: int, pieces: Iterator[Words]) -> None:
        """Raise InputError ``read.damaged`` when another row follows those that the file counts."""
        for words in pieces:
            if left >= self._layout.slots:
                break
            left += len(words)
        if left >= self._layout.slots:
            what = msg(
                "the file says that it has {rows:,} rows, but more follow", rows=self._layout.rows
            )
            raise damaged(path.name, what)

    def _look(self, block: Words, done: int) -> Loss | None:
        losses = [self._number(block, done), self._text(block, done)]
        found = [loss for loss in losses if loss is not None]
        return min(found, key=lambda loss: (loss.row, loss.column), default=None)

    def _number(self, block: Words, done: int) -> Loss | None:
        numbers = block[:, self._numbers] if len(self._texts) else block
        odd = np.isnan(numbers.view(f"{self._layout.order}f8"))
        if odd.any():
            self._note(odd & (numbers != self._sysmis), done)
        kept = np.zeros(numbers.shape, np.bool_)
        for end in self._ends:
            kept |= numbers == end
        if not kept.any():
            return None
        row, at = (int(place) for place in np.argwhere(kept)[0])
        number = numbers[row, at : at + 1].view(f"{self._layout.order}f8")[0]
        return Loss(done + row, int(self._owner[self._numbers[at]]), float(number))

    def _note(self, odd: NDArray[np.bool_], done: int) -> None:
        for at in np.flatnonzero(odd.any(axis=0)):
            name = self._names[self._owner[self._numbers[at]]]
            row = done + int(np.argmax(odd[:, at])) + 1
            self._notes.add(
                f"nan {name}",
                msg(
                    "Row {row:,}, column `{name}`: the number is not a number (NaN); it is read "
                    "as missing.",
                    row=row,
                    name=name,
                ),
                int(np.count_nonzero(odd[:, at])),
            )

    def _text(self, block: Words, done: int) -> Loss | None:
        if not len(self._texts):
            return None
        texts = block[:, self._texts] if len(self._numbers) else block
        odd = ((texts - _LOWER) & ~texts & _HIGH) != 0
        if self._endings.looks:
            odd |= (texts & _HIGH) != 0
        if not odd.any():
            return None
        columns = np.unique(self._owner[self._texts[odd.any(axis=0)]])
        losses = [self._text_of(block, int(j), done) for j in columns]
        found = [loss for loss in losses if loss is not None]
        return min(found, key=lambda loss: (loss.row, loss.column), default=None)

    def _text_of(self, block: Words, j: int, done: int) -> Loss | None:
        """The first text of a column with anything but NULs and blanks behind a NUL, or broken."""
        cells = self._layout.columns[j]
        size = max(1, _MOST_WORDS // sum(cells.segments))
        for first in range(0, len(block), size):
            raw = _bytes_of(block[first : first + size], cells)
            behind = np.logical_or.accumulate(raw == _NUL, axis=1)
            lost = (behind & (raw != _NUL) & (raw != _BLANK)).any(axis=1)
            broken = self._broken(raw, j, done + first)
            if lost.any() or broken.any():
                at = int(np.argmax(lost | broken))
                return Loss(done + first + at, j, ending=not lost[at])
        return None

    def _broken(self, raw: NDArray[np.uint8], j: int, start: int) -> NDArray[np.bool_]:
        """Texts that end inside a character and seem to be in another encoding; others noted."""
        if not self._endings.looks:
            return np.zeros(len(raw), np.bool_)
        broken = self._endings.rows(raw)
        foreign = broken & self._endings.foreign(raw)
        cut = np.flatnonzero(broken & ~foreign)
        if len(cut):
            row, name = start + int(cut[0]) + 1, self._names[j]
            note_cut(self._notes, row, name, len(cut))
        return foreign


def _bytes_of(block: Words, cells: Cells) -> NDArray[np.uint8]:
    """The bytes of the texts of a column, of shape (rows, bytes).

    All segments of a long text but the last hold a byte less than their slots, which says nothing.
    """
    parts, at = [], cells.start
    for number, slots in enumerate(cells.segments):
        part = np.ascontiguousarray(block[:, at : at + slots]).view(np.uint8)
        parts.append(part if number == len(cells.segments) - 1 else part[:, : SLOT * slots - 1])
        at += slots
    return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
