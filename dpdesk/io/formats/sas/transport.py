"""SAS transport files, versions 5 and 8; runs in the reading process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Kind, UserMissing, Variable
from dpdesk.core.messages import counted, msg
from dpdesk.io.formats.dropped_parts import note_file_label
from dpdesk.io.formats.endings import Endings, chosen
from dpdesk.io.formats.moments import (
    clock_of,
    coded_labels,
    kind_of,
    moments,
    note_rounded,
    note_strange,
    rounded,
)
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.plain_reading import plain_codec
from dpdesk.io.formats.request import ReadRequest, iconv_name
from dpdesk.io.formats.sas.catalogs import labels_of_columns
from dpdesk.io.formats.sas.transport_layout import (
    CARD,
    Field,
    Member,
    odd_zeros,
    read_members,
    to_ieee,
    words_of,
)
from dpdesk.io.formats.stat_faults import (
    check_names,
    label_breaks_off,
    no_rows,
    no_text,
    note_cut,
    note_cut_label,
    note_guess,
    note_nul,
    nul_in_label,
)
from dpdesk.io.formats.table import Notes, Values, damaged
from dpdesk.io.sniff import codec_name

_NAMES, _LABELS = (8, 32), (40, 256)
"""Bytes at which a program cuts names and labels off."""


class Words:
    """How the texts of a table are read: as the plan says, as UTF-8, or else as cp1252.

    They are UTF-8 unless a name or a label is none; one that was cut off inside its last character
    is.
    """

    def __init__(self, member: Member, named: str | None) -> None:
        self.encoding = named or ("utf-8" if _are_utf8(member) else "cp1252")
        self.endings = Endings(self.encoding, by_plan=named is not None)
        self._guessed = named is None and self.encoding != "utf-8"

    def of(self, member: Member, file: str, notes: Notes) -> Iterator[tuple[str, str]]:
        """Name and label of each column.

        Raises InputError ``encoding.undecodable`` and ``read.nul``; noted is a guessed encoding,
        and what was cut off.
        """
        for field in member.fields:
            column = field.name.decode(self.encoding, "replace")
            texts = (("its name", field.name, _NAMES), ("its label", field.label, _LABELS))
            name, label = (self._text(*text, column, file, notes) for text in texts)
            yield name, label

    def _text(
        self, what: str, raw: bytes, ends: tuple[int, ...], column: str, file: str, notes: Notes
    ) -> str:
        if b"\0" in raw and ends is _NAMES:
            raise nul_in_label(file, column, what)
        if b"\0" in raw:
            note_nul(notes, column, what)
            raw = raw.partition(b"\0")[0].rstrip(b" ")
        if self._guessed and not raw.isascii():
            note_guess(notes, self.encoding, raw.decode(self.encoding, "replace"))
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            text = self.endings.cut(raw)
            if text is None:
                raise no_text(file, column, what, self.encoding) from error
            if self.endings.is_foreign(raw) and len(raw) not in ends:
                raise label_breaks_off(file, column, what, self.encoding) from error
        note_cut_label(notes, column, what)
        return text


def _are_utf8(member: Member) -> bool:
    endings = Endings("utf-8")
    for field in member.fields:
        for raw, ends in ((field.name, _NAMES), (field.label, _LABELS)):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                foreign = endings.is_foreign(raw) and len(raw) not in ends
                if endings.cut(raw) is None or foreign:
                    return False
    return True


_BYTES = 32 << 20
_WIDE = 5
"""From so many bytes on, a number made of printable ASCII alone is hardly one."""
_LETTERS = UserMissing(letters=True)


class TransportReader:
    """A .xpt file; see :class:`~dpdesk.io.formats.table.TableReader`."""

    def __init__(self, request: ReadRequest) -> None:
        self._path = Path(request.path)
        self.notes = Notes()
        members = self._members(private=request.private)
        name = chosen(request.table, tuple(members), self._path.name, "table", self.notes)
        self._member = members[name]
        if request.encoding is not None:
            plain_codec(codec_name(request.encoding, self._path.name), self._path.name)
        words = Words(self._member, request.encoding)
        self.encoding, self._endings = words.encoding, words.endings
        named = words.of(self._member, self._path.name, self.notes)
        self.variables = tuple(
            _variable(field, *texts)
            for field, texts in zip(self._member.fields, named, strict=True)
        )
        self.variables = self._labelled(request)
        check_names(self._path.name, [variable.name for variable in self.variables])
        self.rows: int | None = self._count()
        if self.rows == 0 and not request.private:
            raise no_rows(self._path.name, len(self.variables))
        note_file_label(self.notes, self._member.label.decode(self.encoding, "replace"))

    def _members(self, *, private: bool) -> dict[str, Member]:
        """The tables by their names; raises InputError ``read.names`` for two of the same name."""
        found: dict[str, Member] = {}
        for member in read_members(self._path, private=private):
            if member.name in found:
                raise InputError(
                    "read.names",
                    msg(
                        "{file}: two tables of the file have the same name, `{name}`.",
                        file=self._path.name,
                        name=member.name,
                    ),
                    hint="Write each table to a file of its own, or give it another name.",
                    details={"table": member.name},
                )
            found[member.name] = member
        return found

    def _labelled(self, request: ReadRequest) -> tuple[Variable, ...]:
        """The variables with the value labels of a catalogue."""
        encoding = iconv_name(request.encoding)
        displays = {variable.name: variable.format for variable in self.variables}
        found = labels_of_columns(displays, request.catalog, self._path, encoding, self.notes)
        return tuple(
            replace(variable, value_labels=coded_labels(found[variable.name], "xpt", variable.kind))
            if variable.name in found
            else variable
            for variable in self.variables
        )

    def _count(self) -> int:
        """Rows: as the header counts them, else without the blanks that fill up the last card.

        Of the rows that are nothing but blanks, those are filling which the last 80 bytes hold.
        """
        member = self._member
        size = member.stop - member.start
        rows, rest = divmod(size, member.row_bytes)
        if member.rows is not None:
            if rows < member.rows:
                what = msg(
                    "the file ends after {rows:,} rows, but says that it has {rows2:,}",
                    rows=rows,
                    rows2=member.rows,
                )
                raise damaged(self._path.name, what, rows + 1)
            self._check_end(member.start + member.rows * member.row_bytes)
            return member.rows
        if member.stop % CARD:
            self.notes.add(
                "card",
                "The file does not end with a whole record of 80 bytes, as the format requires; "
                "it may have been cut off after a row.",
            )
        with self._path.open("rb") as file:
            file.seek(member.start + rows * member.row_bytes)
            if file.read(rest).strip(b" "):
                what = msg(
                    "the file ends inside a row of {row_bytes:,} bytes", row_bytes=member.row_bytes
                )
                raise damaged(self._path.name, what, rows + 1)
            first = max(0, (size - CARD) // member.row_bytes)
            file.seek(member.start + first * member.row_bytes)
            tail = file.read((rows - first) * member.row_bytes)
            filled = first + -(-len(tail.rstrip(b" ")) // member.row_bytes)
            read = min(rows, max(filled, max(0, size - CARD) // member.row_bytes + 1))
            self._note_end(file, read, rows)
        return read

    def _note_end(self, file: IO[bytes], read: int, rows: int) -> None:
        """Note rows at the end that may be filling, or filling that may be rows."""
        member, size = self._member, self._member.stop - self._member.start
        file.seek(member.stop - 1)
        nul = file.read(1) == b"\0"
        blank = 0
        while blank < read:
            start = (read - blank - 1) * member.row_bytes
            file.seek(member.start + start)
            zeros = nul and start > size - CARD
            if not _looks_filled(file.read(member.row_bytes), member, zeros):
                break
            blank += 1
        if blank:
            many = counted("{n:,} row", "{n:,} rows", n=blank)
            self.notes.add(
                "end",
                msg(
                    "The file ends with {many} that may be padding (spaces, NULs, or text in "
                    "place of numbers); version 5 of the format does not say, and they are "
                    "read as rows.",
                    many=many,
                ),
            )
        if rows > read and not any(field.numeric for field in member.fields):
            left = rows - read
            many = counted("{n:,} row", "{n:,} rows", n=left)
            self.notes.add(
                "filling",
                msg(
                    "After the last row there is room for {many} of spaces; version 5 of the "
                    "format does not say whether these are rows or padding, and they are left "
                    "out.",
                    many=many,
                ),
            )

    def _check_end(self, end: int) -> None:
        """Refuse a table with more behind the rows that it counts than what fills up a card."""
        left = self._member.stop - end
        with self._path.open("rb") as file:
            file.seek(end)
            if left >= self._member.row_bytes and file.read(left).strip(b" \0"):
                what = msg(
                    "the file says that it has {rows:,} rows, but more follow",
                    rows=self._member.rows,
                )
                raise damaged(self._path.name, what)

    def close(self) -> None:
        """Nothing is held open between pieces."""

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in blocks of some megabytes."""
        member, rows = self._member, self.rows or 0
        wanted = rows if limit is None else min(limit, rows)
        size = max(1, _BYTES // member.row_bytes)
        with self._path.open("rb") as file:
            file.seek(member.start)
            for start in range(0, wanted, size):
                count = min(size, wanted - start)
                raw = np.frombuffer(file.read(count * member.row_bytes), np.uint8)
                table = self._block(raw.reshape(count, member.row_bytes))
                yield tuple(
                    self._values(variable, table[:, field.start : field.start + field.width], start)
                    for variable, field in zip(self.variables, member.fields, strict=True)
                )

    def _block(self, table: Any) -> Any:
        """The rows among those of a block, shape (rows, bytes)."""
        return table

    def _values(self, variable: Variable, raw: Any, start: int) -> Values:
        import pyarrow as pa

        if variable.kind is Kind.TEXT:
            return Values(self._texts(variable, raw, start))
        words = words_of(raw)
        numbers, letters, cut = to_ieee(words)
        self._note_cut(variable, numbers, cut, start)
        self._note_zeros(variable, words, start)
        marks: list[str | None] | None = None
        special = (letters != 0) & (letters != ord("."))
        if special.any():
            marks = [f".{chr(letter)}" if letter not in (0, 46) else None for letter in letters]
        if variable.kind is Kind.NUMBER:
            values = pa.array(numbers, mask=np.isnan(numbers))
            odd = pa.nulls(len(numbers), pa.string()) if marks is None else pa.array(marks)
            return Values(values, odd)
        clock = clock_of("xpt", variable.kind)
        values, odd, strange = moments(numbers, variable.kind, clock)
        note_strange(self.notes, variable, numbers, strange, start)
        finer = rounded(numbers, clock) & ~strange
        note_rounded(self.notes, variable, numbers, finer, start)
        if marks is not None:
            odd = pa.array(
                [mark or text for mark, text in zip(marks, odd.to_pylist(), strict=True)]
            )
        return Values(values, odd)

    def _note_cut(self, variable: Variable, numbers: Any, cut: Any, start: int) -> None:
        places = np.flatnonzero(cut)
        if len(places):
            first = int(places[0])
            self.notes.add(
                f"cut {variable.name}",
                msg(
                    "Row {row:,}, column `{name}`: the number has more digits than a double "
                    "holds; it is read as {value}.",
                    row=start + first + 1,
                    name=variable.name,
                    value=number_text(numbers[first]),
                ),
                len(places),
            )

    def _note_zeros(self, variable: Variable, words: Any, start: int) -> None:
        places = np.flatnonzero(odd_zeros(words))
        if len(places):
            byte = int(words[places[0]]) >> 56
            self.notes.add(
                f"zero {variable.name}",
                msg(
                    "Row {row:,}, column `{column}`: the number begins with the byte {byte:02X} "
                    "before zeros, which SAS does not write; it is read as 0, and other "
                    "programs may take it for missing.",
                    row=start + int(places[0]) + 1,
                    column=variable.name,
                    byte=byte,
                ),
                len(places),
            )

    def _texts(self, variable: Variable, raw: Any, start: int) -> Any:
        import pyarrow as pa

        width = raw.shape[1]
        joined = np.ascontiguousarray(raw).view(f"S{width}").reshape(-1)
        texts: list[str] = []
        for at, value in enumerate(joined.tolist()):
            try:
                texts.append(value.rstrip(b" \0").decode(self.encoding))
            except UnicodeDecodeError as error:
                texts.append(self._cut(variable, raw[at : at + 1], start + at + 1, error))
        return pa.array(texts, pa.string())

    def _cut(self, variable: Variable, raw: Any, row: int, error: UnicodeDecodeError) -> str:
        """A text without the beginning of a character at its end; InputError for another one."""
        text = self._endings.cut(raw.tobytes())
        if text is None or self._endings.foreign(raw)[0]:
            raise InputError(
                "encoding.undecodable",
                msg(
                    "{name}, row {row:,}, column `{column}`: found bytes that are not text in "
                    "the encoding {encoding}.",
                    name=self._path.name,
                    row=row,
                    column=variable.name,
                    encoding=self.encoding,
                ),
                hint="Name the right `encoding` under [source], for instance cp1252.",
                details={"row": row, "column": variable.name},
            ) from error
        note_cut(self.notes, row, variable.name, 1)
        return text


def _looks_filled(row: bytes, member: Member, zeros: bool) -> bool:
    """Whether the bytes of a row may be none of a row: nothing in them, or text for numbers.

    NULs are the number 0 as well: of a table without texts they may be filling only with ``zeros``,
    among the bytes that fill up the last card.
    """
    texts = any(not field.numeric for field in member.fields)
    if not row.strip(b" \0" if texts or zeros else b" "):
        return True
    numbers = [row[f.start : f.start + f.width] for f in member.fields if f.numeric]
    wide = any(len(number) >= _WIDE for number in numbers)
    return wide and all(number.isascii() and number.decode().isprintable() for number in numbers)


def _variable(field: Field, name: str, label: str) -> Variable:
    return Variable(
        name=name,
        label=label,
        kind=kind_of("xpt", field.format) if field.numeric else Kind.TEXT,
        storage="double" if field.numeric else "string",
        width=0 if field.numeric else field.width,
        format=field.format,
        missing=_LETTERS if field.numeric else UserMissing(),
    )
