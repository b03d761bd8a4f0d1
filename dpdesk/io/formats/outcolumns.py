"""What the columns of a published table become in a statistical file.

A column is numeric when every text of it is the text of a number, as the readers of these formats
write it (no leading zeros, no digit more than a double holds), so nothing is lost on the way back.
Dates become dates where the release says that they are, and where it says nothing of a column and
every text is one as the readers write it. Everything else stays text.
"""

from __future__ import annotations

import datetime
import math
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, Variable, is_lettered
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted_whole
from dpdesk.io.formats.moments import microseconds
from dpdesk.io.formats.numbers import number_text

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv


# Names of columns that statistical programs accept.


SPSS_WORDS = re.compile("ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH", re.IGNORECASE)
STATA_WORDS = re.compile(
    r"_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|str[0-9]+|strL"
    "|using|with"
)
SAS_WORDS = re.compile("_(N|ERROR|NUMERIC|CHARACTER|ALL)_", re.IGNORECASE)
"""Words that are no names of columns in each program."""


def accepted_names(
    names: Sequence[str],
    most: int,
    ascii_only: bool = False,
    first: str = "",
    other: str = "",
    reserved: re.Pattern[str] = SPSS_WORDS,
) -> list[str]:
    """Names of at most ``most`` bytes of letters, digits and ``_``, each different but for case.

    ``first`` and ``other`` are further characters that may begin a name, or stand within it;
    ``reserved`` are words that are no names. A name that is accepted as it is stays, whichever
    other would become the same; others are changed as little as possible.
    """
    flags = re.ASCII if ascii_only else re.NOFLAG
    plain = [_plain(name, flags, first, other, reserved) for name in names]
    found: dict[int, str] = {}
    taken: set[str] = set()
    for place, name in enumerate(names):
        if cut_text(plain[place], most) == name and name.upper() not in taken:
            taken.add(name.upper())
            found[place] = name
    numbers: dict[str, int] = {}
    for place, text in enumerate(plain):
        if place in found:
            continue
        made, number = cut_text(text, most), numbers.get(text, 1)
        while made.upper() in taken:
            number += 1
            ending = f"_{number}"
            made = cut_text(text, most - len(ending)) + ending
        numbers[text] = number
        taken.add(made.upper())
        found[place] = made
    return [found[place] for place in range(len(plain))]


def unused_names(names: Iterable[str], start: str) -> Iterator[str]:
    """``start`` with a number, over and over, but none of ``names`` whatever their case."""
    taken = {name.upper() for name in names}
    return (made for n in count(1) if (made := f"{start}{n}").upper() not in taken)


def _plain(
    name: str, flags: re.RegexFlag, first: str, other: str, reserved: re.Pattern[str]
) -> str:
    text = re.sub(rf"[^\w{re.escape(first + other)}]", "_", name, flags=flags)
    if reserved is STATA_WORDS:  # letters and decimal digits, no other numerals
        text = "".join(c if c.isalpha() or c.isdecimal() else "_" for c in text)
    if not text or text != name or text.endswith("."):
        text = text.rstrip("_.") or "v"
    if not (text[0].isalpha() or text[0] in first) or reserved.fullmatch(text):
        text = f"v_{text}"
    return text


def cut_text(text: str, most: int) -> str:
    """A label of at most ``most`` bytes of UTF-8."""
    return text.encode("utf-8")[:most].decode("utf-8", "ignore")


PIECE = 4_000
_NAMED = 8
_SHOWN = 200
_CELLS, _MOST_SEEN = 40_000, 100_000
_NUMBER = re.compile(r"-?(\d+(\.\d+)?(e[+-]\d+)?)")
_SHAPES = {
    Kind.DATE: re.compile(r"\d{4}-\d\d-\d\d"),
    Kind.DATETIME: re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    Kind.TIME: re.compile(r"\d\d:\d\d:\d\d"),
}
_FRACTION = r"(\.\d{1,5}[1-9]|\.[1-9])?"
_DECLARED = {
    kind: shape if kind is Kind.DATE else re.compile(shape.pattern + _FRACTION)
    for kind, shape in _SHAPES.items()
}
_DAY = len("2018-05-06")
_FIRST_YEAR = "1583"  # programs count days by another calendar before
_EPOCH = datetime.datetime(1970, 1, 1)
_SECOND = 1_000_000
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True)
class About:
    """What a file says of the release itself; ``lines`` hold its guarantee and the title again."""

    title: str
    created: datetime.date
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Accepted:
    """Which values of a numeric column a format can hold; others make it a column of texts.

    ``letters`` may follow the point of a lettered missing value. Numbers that are not 0 lie between
    ``least`` and ``most``. Moments are counted since ``epoch`` (seconds before 1970), ``scale`` to
    the second. ``timed_days`` says that a column of dates may hold a time of day, ``first_day`` is
    the first of the program's calendar: it shows earlier ones as missing.
    """

    letters: frozenset[str] = frozenset()
    least: float = 0.0
    most: float = 8e307
    epoch: float = 0.0
    scale: int = 1
    timed_days: bool = False
    first_day: str = ""

    def holds_moment(self, text: str) -> bool:
        """Whether a moment comes back to the microsecond, in other programs too."""
        exact = micros(text, Kind.DATETIME) or 0
        stored, unit = self.stored(exact, Kind.DATETIME), _SECOND // self.scale
        if exact % 1_000:
            back = round(stored * unit)  # as programs count
        else:
            back = int(microseconds(np.array([stored]), unit)[0])
        return back - round(self.epoch) * _SECOND == exact

    def stored(self, exact: int, kind: Kind) -> float:
        """The number of a moment of so many microseconds, rounded once."""
        epoch = 0 if kind is Kind.TIME else round(self.epoch)
        return (exact + epoch * _SECOND) / (_SECOND // self.scale)


@dataclass
class OutColumn:
    """A column to write; what its texts have shown so far.

    ``unsaid`` is true until the first text of a column of which the release says nothing; ``shape``
    is what all of its texts must look like from then on, if that was a date. ``cases`` are the
    cases of the letters of its missing values, ``blanks`` says that a text ends with blanks and
    ``empty`` that one is empty but for them, ``beyond`` that one has letters beyond ASCII.
    """

    variable: Variable
    accepted: Accepted
    numeric: bool = True
    letters: bool = False
    cases: set[bool] = field(default_factory=set)
    blanks: bool = False
    empty: bool = False
    beyond: bool = False
    integral: bool = True
    present: bool = False
    low: float = 0.0
    high: float = 0.0
    bytes: int = 1
    digits: int = 1
    decimals: int = 0
    moments: bool = field(default=False)
    unsaid: bool = False
    shape: re.Pattern[str] | None = None

    @property
    def kind(self) -> Kind:
        """What is written: numbers, texts, or moments as numbers."""
        if not self.numeric:
            return Kind.TEXT
        return self.variable.kind if self.moments else Kind.NUMBER

    def look(self, texts: Sequence[str]) -> None:
        """Take notice of some texts of the column."""
        for text in texts:
            self.bytes = max(self.bytes, len(text.encode("utf-8")))
            self.blanks = self.blanks or text.endswith(" ")
            self.beyond = self.beyond or not text.isascii()
            self.empty = self.empty or not text.rstrip(" ")
            if text and self.numeric:
                self._look_at(text)

    def _look_at(self, text: str) -> None:
        if self.accepted.letters and is_lettered(text):
            self._look_at_letter(text[1])
            return
        if self.unsaid:
            self._guess(text)
        number = self._as_number(text)
        if number is None:
            self.numeric = False
            return
        first, self.present = not self.present, True
        self.low = number if first else min(self.low, number)
        self.high = number if first else max(self.high, number)
        self.integral = self.integral and number.is_integer()
        point = text.partition(".")[2]
        self.decimals = max(self.decimals, len(point) if "e" not in text else 6)
        self.digits = max(self.digits, len(text))

    def _look_at_letter(self, letter: str) -> None:
        """Formats have letters of one case: two that differ in it alone would become one."""
        self.letters = True
        if letter != "_":
            self.cases.add(letter.isupper())
        if letter not in self.accepted.letters or len(self.cases) > 1:
            self.numeric = False

    def _guess(self, text: str) -> None:
        """Take the column for one of dates when its first text is one."""
        self.unsaid = False
        for kind, shape in _SHAPES.items():
            if shape.fullmatch(text):
                self.variable, self.shape = replace(self.variable, kind=kind), shape
                self.moments = True

    def _as_number(self, text: str) -> float | None:
        if not self.moments:
            return self._held(code_number(text))
        kind = self._kind_of(text)
        if (self.shape or _DECLARED[kind]).fullmatch(text) is None:
            return None
        first = self.accepted.first_day if self.shape is None else _FIRST_YEAR
        if kind is not Kind.TIME and text < first:
            return None
        number = seconds(text, kind)
        if number is None or (kind is Kind.DATETIME and not self.accepted.holds_moment(text)):
            return None
        return number

    def _kind_of(self, text: str) -> Kind:
        """What a text of a column of moments is: in one of dates perhaps a moment."""
        timed = self.accepted.timed_days and len(text) > _DAY
        return Kind.DATETIME if timed and self.variable.kind is Kind.DATE else self.variable.kind

    def _held(self, number: float | None) -> float | None:
        if not number:
            return number
        return number if self.accepted.least <= abs(number) <= self.accepted.most else None

    def numbers(self, texts: Any) -> NDArray[np.float64]:
        """The numbers of an Arrow array of texts of the column; NaN for a missing one."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.moments and not self.letters:
            plain = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
            found: NDArray[np.float64] = pc.cast(plain, pa.float64()).to_numpy(zero_copy_only=False)
            return found
        return np.array([self._one(text) for text in texts.to_pylist()], dtype=np.float64)

    def stored(self, texts: Any) -> NDArray[np.float64]:
        """The numbers of an Arrow array of moments as the format counts them; NaN for missing."""
        return np.array([self._stored(text) for text in texts.to_pylist()], dtype=np.float64)

    def _stored(self, text: str) -> float | None:
        kind = self._kind_of(text)
        exact = None if is_lettered(text) else micros(text, kind)
        return None if exact is None else self.accepted.stored(exact, kind)

    def code(self, text: str) -> float | None:
        """The number of a labelled or user-missing value of the column, seconds for a moment."""
        return whole_seconds(text, self.variable.kind) if self.moments else code_number(text)

    def _one(self, text: str) -> float | None:
        if not text or is_lettered(text):
            return None
        return seconds(text, self._kind_of(text)) if self.moments else float(text)


def code_number(text: str) -> float | None:
    """The number that a text is in its shortest form, of a labelled code too; None for others."""
    if _NUMBER.fullmatch(text) is None:
        return None
    number = float(text)
    return number if number_text(number) == text and math.isfinite(number) else None


def seconds(text: str, kind: Kind) -> float | None:
    """Seconds since 1970 of a date or a moment, or since midnight of a time; None for others."""
    exact = micros(text, kind)
    return None if exact is None else exact / _SECOND


def micros(text: str, kind: Kind) -> int | None:
    """The same in microseconds, exactly."""
    if not text:
        return None
    try:
        if kind is Kind.TIME:
            clock = datetime.time.fromisoformat(text)
            base = clock.hour * 3600 + clock.minute * 60 + clock.second
            return base * _SECOND + clock.microsecond
        if kind is Kind.DATE:
            day = datetime.date.fromisoformat(text)
            return (day - _EPOCH.date()).days * 86_400 * _SECOND
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if moment.tzinfo is not None else (moment - _EPOCH) // _MICROSECOND


def whole_seconds(text: str, kind: Kind) -> float | None:
    """The seconds of a moment without fractions, written as values are; None for others."""
    return seconds(text, kind) if _SHAPES[kind].fullmatch(text) else None


def survey(
    table: PublishedCsv, book: Codebook, accepted: Accepted, token: CancelToken
) -> tuple[OutColumn, ...]:
    """Look at all values once; ``accepted`` says which numbers the format can hold."""
    columns = tuple(
        OutColumn(variable, accepted, moments=variable.kind in _SHAPES)
        for variable in (
            book.get(name) or Variable(name, kind=Kind.NUMBER) for name in table.columns
        )
    )
    for column in columns:
        column.numeric = column.variable.kind is not Kind.TEXT
        column.unsaid = book.get(column.variable.name) is None
    seen: list[set[str]] = [set() for _ in columns]
    for batch in table.batches(table.columns, token):
        for column, values, known_ones in zip(columns, batch.columns, seen, strict=True):
            _look_at_new(column, values, known_ones, token)
    for column in columns:
        if column.letters and not column.present and book.get(column.variable.name) is None:
            column.numeric = False  # nothing says that these letters stand for missing numbers
        if not column.present and not column.letters:
            column.numeric = column.numeric and column.variable.kind is not Kind.TEXT
            column.moments = column.moments and column.shape is None
    return columns


def _look_at_new(column: OutColumn, values: Any, seen: set[str], token: CancelToken) -> None:
    """Look at those values of a batch that were not seen before."""
    fresh = values.unique()
    for start in range(0, len(fresh), PIECE):
        token.check()
        texts = [text for text in fresh.slice(start, PIECE).to_pylist() if text not in seen]
        column.look(texts)
        if len(seen) < _MOST_SEEN:
            seen.update(texts)
        time.sleep(0)


def pieces(table: PublishedCsv, token: CancelToken) -> Iterator[list[Any]]:
    """The table in small pieces, an Arrow array of texts per column; others get their turn."""
    size = max(50, _CELLS // max(1, len(table.columns)))
    for batch in table.batches(table.columns, token):
        for start in range(0, batch.num_rows, size):
            token.check()
            piece: Any = batch.slice(start, size)
            yield [column.combine_chunks() for column in piece.columns]
            time.sleep(0)


def renamed(columns: Sequence[OutColumn], names: Sequence[str]) -> list[str]:
    """A sentence for each column that the format calls otherwise; of many for the first ones."""
    pairs = [(column.variable.name, name) for column, name in zip(columns, names, strict=True)]
    other = [(name, there) for name, there in pairs if name != there]
    found = [
        msg(
            "The column {name} is called {quoted_whole} in the file.",
            name=quoted_whole(name) if name else msg("without a name"),
            quoted_whole=quoted_whole(there),
        )
        for name, there in other[: _NAMED + 1]
    ]
    if len(other) <= _NAMED + 1:
        return found
    rest = other[_NAMED:]
    listed = [f"{quoted_whole(name)} → {quoted_whole(there)}" for name, there in rest[:_SHOWN]]
    some = " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))
    more = msg("{rest:,} more columns have another name in the file", rest=len(rest))
    return [
        *found[:_NAMED],
        msg(
            "{more}{shown} {some}.",
            more=more,
            shown=", such as" if len(rest) > _SHOWN else ":",
            some=some,
        ),
    ]


def check_length(column: OutColumn, most: int, program: str) -> None:
    """Raise RefusedError ``export.too-large`` when a format cannot hold a text of the column."""
    if not column.numeric and column.bytes > most:
        raise RefusedError(
            "export.too-large",
            msg(
                "The column `{name}` holds a text of {bytes:,} bytes, but {program} holds at "
                "most {most:,}.",
                name=column.variable.name,
                bytes=column.bytes,
                program=program,
                most=most,
            ),
            hint="Export to csv or parquet instead.",
        )


def file_label(column: OutColumn, name: str) -> str:
    """The label of a column; its true name when the format needs another and it has no label."""
    said = column.variable
    return said.label or (said.name if said.name != name else "")


def fixed_bytes(texts: Any, width: int, fill: int = 32) -> NDArray[np.uint8]:
    """An Arrow array of texts as UTF-8 bytes of shape (rows, width), filled up with ``fill``."""
    end = bytes([fill])
    raw = b"".join(text.encode("utf-8").ljust(width, end) for text in texts.to_pylist())
    return np.frombuffer(raw, dtype=np.uint8).reshape(len(texts), width)
