"""Texts of fixed width, and texts that ARGUS metadata describe; runs in the reading process."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from io import TextIOWrapper
from itertools import islice
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.core.source_spec import FixedColumn
from dpdesk.io.failures import check_width
from dpdesk.io.formats.argus import ArgusColumn, metadata_beside, read_metadata
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values
from dpdesk.io.sniff import encoding_of, read_head

_ROWS = 20_000
_FALLBACK = "cp1252"
_CHUNK = 1 << 20
_LONGEST_SHOWN = 40
_DIGITS = re.compile(r"[+-]?[0-9]+")
_POINTED = re.compile(r"[+-]?([0-9]+\.[0-9]*|\.[0-9]+)")
_LONGEST_FIELD = 1 << 30


class FixedWidthReader:
    """A text of described columns; see :class:`~dpdesk.io.formats.table.TableReader`.

    Blanks around a value are no part of it. A line that ends before a column gives it the empty
    text, which is noted, and so is what stands between the columns or in two of them. A blank line
    is a row without any value.
    """

    def __init__(self, request: ReadRequest) -> None:
        csv.field_size_limit(_LONGEST_FIELD)
        self._path = Path(request.path)
        self.notes, self.rows = Notes(), None
        columns, self._separator = described_columns(request, self.notes)
        check_width(self._path.name, len(columns))
        self._columns = columns
        self._last = max(column.start - 1 + column.width for column in columns)
        self._gaps = [] if self._separator else self._checked_places()
        self.variables = tuple(column.variable for column in columns)
        self._decimals = [column.decimals for column in request.columns] or [None] * len(columns)
        head, _ = read_head(self._path)
        encoding, mark, guessed = encoding_of(head, request.encoding, self._path.name)
        self.encoding = self._detected() if guessed else encoding
        raw = self._path.open("rb")
        raw.seek(mark)
        self._file = TextIOWrapper(raw, self.encoding, errors="strict", newline=None)

    def _detected(self) -> str:
        """UTF-8 when the whole text is, else Windows-1252, which is noted."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self._path.open("rb") as file:
            try:
                while chunk := file.read(_CHUNK):
                    decoder.decode(chunk)
                decoder.decode(b"", True)
            except UnicodeDecodeError:
                self.notes.add(
                    "encoding",
                    msg(
                        "{name} is not UTF-8; it was read as {fallback}, a guess; name the "
                        "`encoding` if letters look wrong.",
                        name=self._path.name,
                        fallback=_FALLBACK,
                    ),
                )
                return _FALLBACK
        return "utf-8"

    def _checked_places(self) -> list[slice]:
        """What no column has of a line, up to the last one; columns that overlap are noted."""
        gaps: list[slice] = []
        end, before = 0, ""
        for column in sorted(self._columns, key=lambda one: one.start):
            first, name = column.start - 1, column.variable.name
            last = first + column.width
            if first > end:
                gaps.append(slice(end, first))
            elif first < end:
                self.notes.add(
                    f"overlap {name}",
                    msg(
                        "The columns `{one}` and `{other}` overlap from position {place:,} on; "
                        "what is there is read into both.",
                        one=before,
                        other=name,
                        place=first + 1,
                    ),
                )
            if last > end:
                end, before = last, name
        return gaps

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order of the lines."""
        import pyarrow as pa

        take = self._fields if self._separator else self._cut
        nothing = [""] * len(self._columns)
        rows = (take(number, line) if line.strip() else nothing for number, line in self._lines())
        for batch in iter(lambda: list(islice(rows, _ROWS)), []):
            kept = batch if limit is None else batch[:limit]
            limit = None if limit is None else limit - len(kept)
            yield tuple(Values(pa.array(texts, pa.string())) for texts in zip(*kept, strict=True))
            if limit == 0:
                break

    def _lines(self) -> Iterator[tuple[int, str]]:
        number = 0
        try:
            for number, line in enumerate(self._file, start=1):
                text = line.rstrip("\n").rstrip("\x1a")
                if "\0" in text:
                    raise self._fault(number, "found a NUL character, expected text")
                if text.strip() or "\x1a" not in line:
                    yield number, text
        except UnicodeDecodeError:
            what = msg(
                "found bytes that are not text in the encoding {encoding}", encoding=self.encoding
            )
            raise self._fault(number + 1, what, "encoding.undecodable") from None

    def _cut(self, number: int, line: str) -> list[str]:
        values: list[str] = []
        if len(line) > self._last and line[self._last :].strip():
            self.notes.add(
                "beyond",
                msg(
                    "Line {line:,} continues after the last described column, which ends at "
                    "position {last:,}; what follows is not read.",
                    line=number,
                    last=self._last,
                ),
            )
        for gap in self._gaps:
            if left := line[gap].lstrip():
                place = gap.start + len(line[gap]) - len(left) + 1
                self.notes.add(
                    "between",
                    msg(
                        "Line {line:,} has a character at position {place:,}, where no column "
                        "is described; what is there is not read.",
                        line=number,
                        place=place,
                    ),
                )
        if "\t" in line:
            self.notes.add(
                "tab",
                msg(
                    "Line {line:,} holds a tab, which counts as one character of the line.",
                    line=number,
                ),
            )
        for column, decimals in zip(self._columns, self._decimals, strict=True):
            first = column.start - 1
            text = line[first : first + column.width].strip()
            if not text and len(line) <= first:
                self._note_short(number, column.variable, len(line))
            elif len(line) < first + column.width and text:
                self._check_cut(number, column, len(line))
            if decimals is not None:
                text = self._pointed(number, column, text, decimals)
            values.append(text)
        return values

    def _check_cut(self, number: int, column: ArgusColumn, length: int) -> None:
        self.notes.add(
            "cut",
            msg(
                "Line {line:,} ends inside column `{name}`, after {length} characters; what is "
                "there is read as its value.",
                line=number,
                name=column.variable.name,
                length=length,
            ),
        )

    def _note_short(self, number: int, variable: Variable, length: int) -> None:
        self.notes.add(
            f"short {variable.name}",
            msg(
                "Line {line:,} ends after {length} characters, before column `{name}`; its "
                "value is empty.",
                line=number,
                length=length,
                name=variable.name,
            ),
        )

    def _pointed(self, number: int, column: ArgusColumn, text: str, decimals: int) -> str:
        """A number whose decimal point is not written, with its point."""
        if not text or decimals == 0 or _POINTED.fullmatch(text):
            return text
        if not _DIGITS.fullmatch(text):
            name = column.variable.name
            what = msg(
                "column `{name}`: found `{text}`, expected a number",
                name=name,
                text=text[:_LONGEST_SHOWN],
            )
            raise self._fault(number, what, "fixed.number")
        sign = "-" if text.startswith("-") else ""
        filled = text.lstrip("+-").zfill(decimals + 1)
        whole, rest = filled[:-decimals].lstrip("0") or "0", filled[-decimals:].rstrip("0")
        if rest:
            return f"{sign}{whole}.{rest}"
        return "0" if whole == "0" else f"{sign}{whole}"

    def _fields(self, number: int, line: str) -> list[str]:
        try:
            reader = csv.reader(
                [line], delimiter=self._separator[:1], strict=True, skipinitialspace=True
            )
            fields = next(reader)
        except csv.Error:
            what = "found a quote that opens or ends inside a value, expected quotes around it"
            raise self._fault(number, what, "fixed.quote") from None
        if len(fields) != len(self._columns):
            what = msg(
                "found {fields} fields, expected {columns}",
                fields=len(fields),
                columns=len(self._columns),
            )
            raise self._fault(number, what, "fixed.ragged")
        return [text.strip() for text in fields]

    def _fault(self, number: int, what: str, code: str = "fixed.text") -> InputError:
        return InputError(
            code,
            msg("{name}, line {number:,}: {what}.", name=self._path.name, number=number, what=what),
            hint="Correct the line, or name the right `encoding` or `columns` under [source].",
            details={"line": number},
        )


def described_columns(request: ReadRequest, notes: Notes) -> tuple[list[ArgusColumn], str]:
    """The columns of a text, and the separator of its fields (empty: fixed width).

    Raises InputError ``source.columns`` when nothing describes it, and for bad metadata.
    """
    if request.columns:
        return [_from_plan(column) for column in request.columns], ""
    file = Path(request.path)
    path = Path(request.metadata) if request.metadata else metadata_beside(file)
    if path is None:
        raise InputError(
            "source.columns",
            msg("{name}: it is not stated where its columns are.", name=file.name),
            hint=msg(
                "Put {file}.rda next to it, name it as `metadata`, or give `columns` or "
                "`widths` under [source].",
                file=file.stem,
            ),
        )
    meta = read_metadata(path)
    for note in meta.notes:
        notes.add(note, note)
    return meta.columns, meta.separator


def _from_plan(column: FixedColumn) -> ArgusColumn:
    return ArgusColumn(Variable(column.name), column.start, column.width)
