"""The cells of an Excel sheet as texts, row by row, taken from its XML as it comes."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.excel.parts import (
    BrokenPartError,
    Depth,
    Parts,
    Sheet,
    check_text,
    feed,
    new_parser,
    open_part,
    short_names,
    unescaped,
)
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.table import Notes

_EPOCH_1900 = datetime(1899, 12, 30)
_EPOCH_1904 = datetime(1904, 1, 1)
_MARCH_1900 = 61
_THERE_IS_NO_SUCH_DAY = 60
_DAY_MS = 86_400_000


def moment_text(days: float, since_1904: bool, shows_day: bool = False) -> str | None:
    """The text of a number that is shown as a date: a day, a moment, a time of day below 1.

    With ``shows_day`` (the format has a day) a number below 1 is on the day 0, which is 1 January
    1904 in the system of 1904; that of 1900 has no such day.
    Moments are exact to the millisecond, as in Excel. None for what is no moment: a number below 0,
    one beyond the year 9999, and the days 0 January and 29 February 1900, which Excel has and the
    calendar has not.
    """
    if not 0 <= days < 2_958_466:
        return None
    whole, ms = divmod(round(days * _DAY_MS), _DAY_MS)
    if whole == 0 and not shows_day:
        return clock_text(ms)
    epoch = _EPOCH_1904 if since_1904 else _EPOCH_1900
    if not since_1904:
        if whole in (0, _THERE_IS_NO_SUCH_DAY):
            return None
        whole += whole < _MARCH_1900
    try:
        day = (epoch + timedelta(days=whole)).date().isoformat()
    except OverflowError:
        return None
    return f"{day} {clock_text(ms)}" if ms else day


def duration_text(days: float) -> str | None:
    """The text of a number that is shown as hours, minutes, seconds; None below 0."""
    return clock_text(round(days * _DAY_MS)) if days >= 0 else None


def clock_text(ms: int) -> str:
    """Hours, minutes and seconds of some milliseconds: ``26:00:00``, ``10:10:10.5``."""
    seconds, ms = divmod(ms, 1_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours:02}:{minutes:02}:{seconds:02}"
    return f"{text}.{ms:03}".rstrip("0") if ms else text


_NAMES = short_names("sheetData", "row", "c", "v", "f", "is", "t", "rPh", "mergeCell", "dimension")
_WITHIN = {"sheetData": "", "row": "sheetData", "c": "row"}
"""The element that must contain each of these: elsewhere, programs do not agree on reading it."""
_DIGITS = "0123456789"
_LONGEST_SHOWN = 40
_DIGITS_OF_DOUBLES = 17
_LETTERS = re.compile("[A-Z]{1,3}")
_MOST_COLUMNS = 16_384
_MOST_ROWS = 1_048_576
"""As Excel has; a few thousand bytes can pack millions of rows."""
Row = tuple[int, list[str | None]]


class SheetCells:
    """Reads the cells of one sheet; :meth:`rows` can be taken once.

    A cell without a value is None. Numbers get their shortest text, dates theirs; a number that is
    shown as a date and is none stays the number, errors such as ``#N/A`` stay what they are: both
    are noted. ``expected`` is the number of the last row as the sheet states it; it may be wrong.
    """

    _long_text: str | None = None
    """What stands for a text that is too long for any cell; without it the sheet is refused."""

    def __init__(
        self, archive: zipfile.ZipFile, sheet: Sheet, parts: Parts, name: str, notes: Notes
    ) -> None:
        self._archive, self._sheet, self._parts = archive, sheet, parts
        self._name, self._notes = name, notes
        self._number, self._column, self._digits = 0, -1, "0"
        self._row: list[str | None] = []
        self._done: list[Row] = []
        self._kind = self._style = ""
        self._pieces: list[str] = []
        self._has_value = self._has_formula = self._aloud = False
        self._within, self._text, self._seen = "", "", False
        self._depth = Depth()
        self._merged: list[str] = []
        self._columns: dict[str, int] = {}
        self.expected: int | None = None
        self._parser = new_parser()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def rows(self) -> Iterator[Row]:
        """Rows with some value and their numbers in the sheet.

        Raises InputError that names row and column, and what expat and the archive raise.
        """
        # How much one row holds decides nothing where its texts may be replaced.
        by_size = self._long_text is None
        with open_part(self._archive, self._sheet.part, by_size=by_size) as file:
            for _ in feed(self._parser, file):
                check_text(self._pieces, self._long_text)
                yield from self._done
                self._done.clear()
        yield from self._done
        for place in self._merged:
            self._notes.add(
                "merged",
                msg(
                    "{name}: the cells {place} are merged; only the first of them has a value, "
                    "the others are read as empty.",
                    name=self._name,
                    place=place,
                ),
            )

    # ---- what expat tells

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        short = _NAMES.get(name)
        if short in _WITHIN:
            self._enter(short)
        if short == "c":
            self._kind = attributes.get("t", "n")
            self._style = attributes.get("s", "")
            self._column = self._column_at(attributes.get("r"))
            self._has_value = self._has_formula = False
            self._pieces.clear()
            return
        if short == "row":
            self._begin_row(attributes.get("r"))
            return
        self._depth.deeper()
        if self._text or (short in ("v", "is") and self._has_value):
            self._second_value()
        elif short == "v" or (short == "t" and not self._aloud):
            self._has_value = True
            self._text = name
            self._parser.CharacterDataHandler = self._pieces.append
        elif short == "is":
            self._has_value = True
        elif short == "f":
            self._has_formula = True
        elif short == "rPh":
            self._aloud = True
        elif short == "mergeCell":
            self._merged.append(attributes.get("ref", ""))
        elif short == "dimension":
            last = attributes.get("ref", "").rpartition(":")[2].lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            self.expected = int(last) if last.isdecimal() else None

    def _end(self, name: str) -> None:
        short = _NAMES.get(name)
        if short in _WITHIN:
            self._within = _WITHIN[short]
        if short == "c":
            self._keep()
            return
        if short == "row":
            if any(value is not None for value in self._row):
                self._done.append((self._number, self._row))
            self._row = []
            return
        self._depth.higher()
        if name == self._text:
            self._text, self._parser.CharacterDataHandler = "", None
        elif short == "rPh":
            self._aloud = False

    def _enter(self, short: str) -> None:
        """The cells, a row or a cell begins."""
        if self._within != _WITHIN[short] or (short == "sheetData" and self._seen):
            raise BrokenPartError(msg("an element `{short}` is in the wrong place", short=short))
        self._within, self._seen = short, True

    def _begin_row(self, place: str | None) -> None:
        number = self._number + 1 if place is None else int(float(place))
        if number <= self._number:
            raise ValueError(f"row {number:,} comes after row {self._number:,}")
        if number > _MOST_ROWS:
            raise InputError(
                "workbook.rows",
                msg(
                    "{name}: the sheet has a row {row:,}, expected none after row {most:,}, the "
                    "last row in Excel.",
                    name=self._name,
                    row=number,
                    most=_MOST_ROWS,
                ),
                hint="Save the table as CSV or Parquet with the program that wrote the sheet.",
                details={"row": number},
            )
        self._number, self._column, self._digits = number, -1, str(number)

    def _second_value(self) -> None:
        raise ValueError("a cell has two values")

    def _column_at(self, place: str | None) -> int:
        """The column of the next cell, from 0."""
        if place is not None:
            return self._column_of(place)
        if self._column + 1 >= _MOST_COLUMNS:
            raise ValueError(f"there is no cell {_MOST_COLUMNS + 1:,} in a row")
        return self._column + 1

    def _column_of(self, place: str) -> int:
        letters = place.rstrip(_DIGITS)
        found = self._columns.get(letters)
        if found is None:
            found = 0
            if _LETTERS.fullmatch(letters):
                for letter in letters:
                    found = found * 26 + ord(letter) - ord("A") + 1
            if not 1 <= found <= _MOST_COLUMNS:
                raise ValueError(f"there is no cell {place[:_LONGEST_SHOWN]}")
            self._columns[letters] = found
        if place[len(letters) :] != self._digits:
            raise ValueError(f"cell {place[:_LONGEST_SHOWN]} stands in row {self._number:,}")
        return found - 1

    # ---- values

    def _keep(self) -> None:
        value = self._value("".join(self._pieces)) if self._has_value else None
        if value is None and self._has_formula:
            raise self._fault(
                "workbook.formula",
                "found a formula whose value was never computed",
                "Open the workbook in its program and save it, which computes the values.",
            )
        row, column = self._row, self._column
        if column < len(row):
            raise self._fault("read.damaged", "found a cell twice", _AGAIN)
        while len(row) < column:
            row.append(None)
        row.append(value)

    def _value(self, raw: str) -> str | None:
        kind = self._kind
        try:
            if kind in _ASCII:
                _refuse_other_digits(raw)
            if kind == "n":
                return self._number_value(raw) if raw else None
            if kind == "s":
                return self._parts.strings[_place_of(raw)] if raw else None
            if kind == "b":
                return _TRUTH[raw.strip()] if raw else None
        except (ValueError, LookupError):
            what = msg(
                "found `{raw}`, expected {expected}",
                raw=raw[:_LONGEST_SHOWN],
                expected=_EXPECTED[kind],
            )
            raise self._fault("read.damaged", what, _AGAIN) from None
        if kind == "d":
            return _iso(raw) or None
        if kind == "e" and raw:
            self._note(
                "error", msg("the cell holds the error {raw}; it is kept as a text.", raw=raw)
            )
            return raw
        if kind == "str" and not raw and not self._has_formula:
            return None
        return unescaped(raw)

    def _number_value(self, raw: str) -> str:
        if self._style:
            style = int(self._style)
            if style in self._parts.dates:
                return self._moment(float(raw))
            if style and style not in self._parts.numbers:
                self._note(
                    "style",
                    msg(
                        "the workbook does not say how this number is shown; it is read as a "
                        "number, and may be a date."
                    ),
                )
        if raw.isdecimal() and (raw[0] != "0" or raw == "0"):
            return raw
        if raw.lstrip("+-").isdecimal():
            return str(int(raw))
        number = float(raw)
        if not math.isfinite(number):
            raise ValueError(raw)
        text = number_text(number)
        if len(raw) > _DIGITS_OF_DOUBLES and _is_cut(raw, number):
            self._note(
                "cut",
                msg(
                    "the number has more digits than a double holds; it is read as {text}.",
                    text=text,
                ),
            )
        return text

    def _moment(self, number: float) -> str:
        parts, style = self._parts, int(self._style)
        if style in parts.durations:
            text = duration_text(number)
        else:
            text = moment_text(number, parts.since_1904, style in parts.days)
        if text is not None:
            return text
        if not math.isfinite(number):
            raise ValueError(number)
        kept = number_text(number)
        self._note(
            "strange", msg("the number {kept} is not a date; it is kept as a number.", kept=kept)
        )
        return kept

    def _note(self, kind: str, what: str) -> None:
        note = msg(
            "Row {number:,}, column {letters}: {what}",
            number=self._number,
            letters=column_letters(self._column),
            what=what,
        )
        self._notes.add(f"{kind} {self._column}", note)

    def _fault(self, code: str, what: str, hint: str) -> InputError:
        return InputError(
            code,
            msg(
                "{name}, row {number:,}, column {letters}: {what}.",
                name=self._name,
                number=self._number,
                letters=column_letters(self._column),
                what=what,
            ),
            hint=hint,
            details={"row": self._number},
        )


_AGAIN = "The file may be damaged; save it again with its program."
_ASCII = ("n", "s", "b")
_TRUTH = {"0": "false", "1": "true", "false": "false", "true": "true"}
_EXPECTED = {"n": "a number", "s": "the number of a shared text", "b": "0 or 1"}


def _refuse_other_digits(raw: str) -> None:
    """Raise ValueError for what Python takes for digits and Excel does not."""
    if "_" in raw or not raw.isascii():
        raise ValueError(raw)


def _place_of(raw: str) -> int:
    """The number of a shared text; ValueError for one below 0, which would count from the end."""
    place = int(raw)
    if place < 0:
        raise ValueError(raw)
    return place


def _is_cut(raw: str, number: float) -> bool:
    """Whether a decimal is another number than its double: whole, shortest, of 17 or 16 digits."""
    forms = (number_text(number), f"{number:.17g}", f"{number:.16g}")
    same = (Decimal(number), *map(Decimal, forms))
    try:
        return Decimal(raw) not in same
    except InvalidOperation:  # its exponent has more digits than those of decimals may have
        return True


def _iso(raw: str) -> str:
    """A date of ISO 8601 in our form: a day at midnight is a day."""
    text = raw.strip().removesuffix("Z").replace("T", " ").strip()
    day, _, clock = text.partition(" ")
    if "." in clock:
        clock = clock.rstrip("0").rstrip(".")
    return day if not clock or clock == "00:00:00" else f"{day} {clock}"


def column_letters(place: int) -> str:
    """The letters of a column of a sheet, counted from 0: A to Z, then AA and so on."""
    found = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        found = chr(ord("A") + rest) + found
    return found
