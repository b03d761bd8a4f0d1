"""Dates and times of statistical programs: numbers since an epoch, made readable without loss.

SPSS counts seconds since 14 October 1582, SAS days or seconds and Stata days or milliseconds since
1 January 1960. What is no moment of the years 1 to 9999, or would lose its time of day in a column
of dates, keeps a text of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.labels import Kind, Variable
from dpdesk.core.messages import msg
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.table import Notes, listed

# The display formats that SAS has itself, as "SAS Formats and Informats" and its volume on
# national languages list them: which of them show dates, moments or times, and which other
# values.


_LANGUAGES = (
    "(AFR|CAT|CRO|CSY|DAN|DES|DEU|ENG|ESP|EUR|FIN|FRA|FRS|HUN|ITA|MAC|NLD|NOR|POL|PTG|RUS|SLO|SVE)"
)
_ISO = "([BE]|IS|ND)8601"
_WIDTH = r"[\d.]*"
_MOMENTS = (
    r"DATETIME|DATEAMPM|MDYAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|NLDATM\w*?|B8601DJ"
    rf"|{_ISO}(D[TZNX]|LX)|{_LANGUAGES}DFDT|J(DATEY|NENGO)TW?|TWMDY"
)
_DATES = (
    r"DATE|DAY|DDMMYY[BCDNPS]?|MMDDYY[BCDNPS]?|X?YYMMDD[BCDNPS]?|JULIAN|JULDAY|PDJUL[GI]|MONYY"
    r"|YYMM[CDNPS]?|MMYY[CDNPS]?|YYMON|YYQ[CDNPSZ]?|YYQR[CDNPS]?|QTRR?|YEAR|MONTH|MONNAME|DOWNAME"
    r"|WEEKDAY|WEEKDAT[EX]|WORDDAT[EX]|(YY)?WEEK[UVW]|NLDATE\w*?|HDATE|HEBDATE|MINGUO|NENGO"
    rf"|{_ISO}DA|{_LANGUAGES}DF(D[DEN]|DWN|MN|MY|WDX|WKX)|JNENGOW?"
    r"|JDATE(MD|MDW|MNW|MON|QRW|QTR|SEM|SMW|WK|YDW|YM|YMD|YMW)"
)
_TIMES = rf"TIME|TIMEAMPM|TOD|HHMM|HOUR|MMSS|NLTIM\w*?|{_ISO}(TM|TZ|TX|LZ)|JTIME(H|HM|HMS|HW|MW|SW)"
KINDS = tuple(
    (kind, f"({names}){_WIDTH}")
    for kind, names in ((Kind.DATETIME, _MOMENTS), (Kind.DATE, _DATES), (Kind.TIME, _TIMES))
)
"""Kinds of values, and patterns of the formats with widths that show them."""

_NUMBERS = (
    r"|F|BEST[DX]?|Z|COMMAX?|DOLLARX?|EUR(FR|TO)[A-Z]{3}|EUROX?|NUMX?|E|D|PERCENTN?|NEGPAREN|HEX"
    r"|BINARY|OCTAL|IBR?|PIBR?|RB|PD|PK|ZD|VMSZN|ROMAN|WORDS|WORDF|FRACT|SSN|YEN|PVALUE|SIZEK\w*"
    r"|VAXRB|FLOAT|IEEER?|S370\w*|ODDSR|STIMES|NLBEST|NLNUMI?|NLMN[IL]\w+|NLPCT[INP]?|NLPVALUE"
    r"|NLSTR(MON|QTR|WK)|RSTDO\w+"
)
_TEXTS = (
    r"|CHAR|UPCASE|ASIS|ASCII|EBCDIC|VARYING|QUOTE|REVERJ|REVERS|MSGCASE|BASE64X|UTF\w*|UCS[24]\w*"
    r"|UESCE?|UNCRE?|UPARENP?E?|UUID|N8601\w*|BIDI|SBIDI|CPTDW|CPTWD|CSTR|KANJIX?|(LOGVS|VSLOG)R?|W"
)
BUILT_IN = re.compile(rf"\$?({_NUMBERS}{_TEXTS})", re.IGNORECASE)
"""Formats, without their widths, of numbers that are no times, and of texts."""


# Notes about numbers that are no moments, or stay numbers although they mean a time.


_PERIODS = {"%tw": "weeks", "%tm": "months", "%tq": "quarters", "%th": "half-years"}
"""What columns of Stata count since 1960 by the beginning of their display format."""
_LEAP, _BUSINESS = "%tC", "%tb"


def note_periods(notes: Notes, variables: Sequence[Variable], file_format: str) -> None:
    """Note columns of Stata that count weeks to half-years, or seconds with leap seconds."""
    for variable in variables if file_format == "dta" else ():
        start = variable.format.replace("%-", "%")[:3]
        what = "milliseconds with leap seconds" if start == _LEAP else _PERIODS.get(start)
        if start == _BUSINESS:
            notes.add(
                f"period {variable.name}",
                msg(
                    "Column `{name}` counts days of a business calendar ({format}); it is read "
                    "as that number.",
                    name=variable.name,
                    format=variable.format,
                ),
            )
        if what is not None:
            notes.add(
                f"period {variable.name}",
                msg(
                    "Column `{name}` counts {what} since 1960 ({format}); it is read as that "
                    "number.",
                    name=variable.name,
                    what=what,
                    format=variable.format,
                ),
            )


def note_absent_labels(named: Mapping[str, str], sets: Mapping[str, object], notes: Notes) -> None:
    """Note columns of Stata whose set of value labels the file lacks, and sets of no column.

    ``named`` holds the name of the set by column, ``sets`` those that the file has.
    """
    lacking = [name for name, one in named.items() if one and one not in sets]
    if lacking:
        notes.add(
            "labels",
            msg(
                "The file does not contain the value labels of {listed}, although it names "
                "them; the values are read without them.",
                listed=listed(lacking),
            ),
        )
    idle = [one for one in sets if one not in named.values()]
    if idle:
        notes.add(
            "idle labels",
            msg(
                "The value labels called {listed} belong to no column; they are left out.",
                listed=listed(idle),
            ),
        )


def without_ranges(notes: Notes, variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """The variables without ranges of missing dates, which are noted: ranges are of numbers."""
    found = []
    for variable in variables:
        missing = variable.missing
        if missing.low is not None and variable.kind is not Kind.NUMBER:
            variable = replace(variable, missing=replace(missing, low=None, high=None))
            notes.add(
                f"range {variable.name}",
                msg(
                    "Column `{name}`: the range of missing dates or times is not kept; its values "
                    "stay ordinary values.",
                    name=variable.name,
                ),
            )
        found.append(variable)
    return tuple(found)


def note_strange(notes: Notes, variable: Variable, numbers: Any, strange: Any, start: int) -> None:
    """Note the first of the numbers marked as ``strange``, and how many there are.

    ``start`` is the number of rows above those of ``numbers``.
    """
    places = np.flatnonzero(strange)
    if not len(places):
        return
    first = int(places[0])
    what = {Kind.TIME: "time of a day"}.get(variable.kind, "date of the years 1 to 9999")
    notes.add(
        f"strange {variable.name}",
        msg(
            "Row {start:,}, column `{name}`: the number {numbers} is not a {what}; it "
            "is kept as a number.",
            start=start + first + 1,
            name=variable.name,
            numbers=number_text(numbers[first]),
            what=what,
        ),
        len(places),
    )


def outside_sentence(row: int, name: str, text: str) -> str:
    """The note on the first date of a column that is told with other years than 1 to 9999."""
    return msg(
        "Row {row:,}, column `{name}`: the value {text} is not a date of the years 1 to 9999; "
        "it is kept as this text.",
        row=row,
        name=name,
        text=text,
    )


def finer_sentence(row: int, name: str) -> str:
    """The note on the first moment of a column of moments that has nanoseconds."""
    return msg(
        "Row {row:,}, column `{name}`: the timestamp is finer than a microsecond; it is read "
        "to the microsecond.",
        row=row,
        name=name,
    )


def note_outside(notes: Notes, name: str, texts: Any, start: int) -> None:
    """Note the first of the ``texts`` of dates (Arrow) with other years; see above."""
    import pyarrow.compute as pc

    other = pc.not_equal(pc.utf8_slice_codeunits(texts, 4, 5), "-")
    odd = pc.or_(other, pc.match_substring(texts, "BC"))
    places = np.flatnonzero(pc.and_(odd, pc.not_equal(texts, "")).fill_null(False))
    if len(places):
        first = int(places[0])
        sentence = outside_sentence(start + first + 1, name, texts[first].as_py())
        notes.add(f"outside {name}", sentence, len(places))


def note_rounded(notes: Notes, variable: Variable, numbers: Any, finer: Any, start: int) -> None:
    """Note the first of the numbers marked as ``finer`` than a microsecond; see above."""
    places = np.flatnonzero(finer)
    if len(places):
        first = int(places[0])
        notes.add(
            f"finer {variable.name}",
            msg(
                "Row {row:,}, column `{name}`: the number {value} is a timestamp finer than a "
                "microsecond; it is read to the microsecond.",
                row=start + first + 1,
                name=variable.name,
                value=number_text(numbers[first]),
            ),
            len(places),
        )


Floats = NDArray[np.float64]

_DAY = 86_400
_FIRST = np.datetime64("0001-01-01", "us").astype(np.int64)
_LAST = np.datetime64("9999-12-31T23:59:59.999999", "us").astype(np.int64)
_SPSS = np.datetime64("1582-10-14", "us").astype(np.int64)
_SIXTIES = np.datetime64("1960-01-01", "us").astype(np.int64)

_SPSS_KINDS = (
    (Kind.DATETIME, r"(DATETIME|YMDHMS)[\d.]*"),
    (Kind.DATE, r"(DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR)[\d.]*"),
    (Kind.TIME, r"(TIME|MTIME)[\d.]*"),
)
_STATA_KINDS = (
    (Kind.TIME, r"%-?tc[Hh]{2}:MM(:SS(\.s{1,3})?)?(_?([AaPp]\.?[Mm]\.?))?"),
    (Kind.DATETIME, r"%-?tc.*"),
    (Kind.DATE, r"%-?t?d.*"),
)
_MOST, _TOLD = 4e18, 0.5
"""Microseconds that 64 bits hold with any epoch; how near doubles tell them apart."""
_BY_FORMAT = {
    "sav": _SPSS_KINDS,
    "sas7bdat": KINDS,
    "xpt": KINDS,
    "dta": _STATA_KINDS,
}

_COUNTED = {
    "dta": re.compile(r"%-?t[Cwmqhyb].*"),
    "sav": re.compile(r"(DTIME|WKDAY|MONTH)[\d.]*"),
}
"""Formats that show numbers as periods, days of the week or durations."""
_TRANSPORT = 8
PROGRAMS = frozenset(_BY_FORMAT)
"""Formats whose display formats are known."""


@dataclass(frozen=True)
class Clock:
    """How a column counts time: microseconds of its epoch since 1970, and of one unit."""

    epoch: int
    unit: int


def kind_of(file_format: str, display: str) -> Kind:
    """What the numbers of a column are, by its display format."""
    for kind, pattern in _BY_FORMAT[file_format]:
        if re.fullmatch(pattern, display, re.IGNORECASE if file_format != "dta" else 0):
            return kind
    return Kind.NUMBER


def shows(file_format: str, display: str, kind: Kind) -> bool:
    """Whether a display format is one that the program knows for values of this kind.

    Names of more than 8 letters have no room in SAS transport files.
    """
    if file_format == "xpt" and len(display.rstrip("0123456789.")) > _TRANSPORT:
        return False
    if kind is not Kind.NUMBER:
        return kind_of(file_format, display) is kind
    counted = _COUNTED.get(file_format)
    return counted is not None and counted.fullmatch(display) is not None


def is_own_format(display: str) -> bool:
    """Whether a format (without its width) is none that SAS has: it was made for labels."""
    known = BUILT_IN.fullmatch(display) is not None
    return not known and kind_of("sas7bdat", display) is Kind.NUMBER


def clock_of(file_format: str, kind: Kind) -> Clock:
    """How a column of this kind counts in a file of this format."""
    if file_format == "sav":
        return Clock(int(_SPSS) if kind is not Kind.TIME else 0, 1_000_000)
    unit = 1_000 if file_format == "dta" else 1_000_000
    if kind is Kind.TIME:
        return Clock(0, unit)
    return Clock(int(_SIXTIES), unit if kind is Kind.DATETIME else _DAY * 1_000_000)


def moments(numbers: Floats, kind: Kind, clock: Clock) -> tuple[Any, Any, NDArray[np.bool_]]:
    """Arrow dates, datetimes or times; texts of what is none; and where numbers are no moments.

    NaN is null in both. The third array marks the numbers that were kept as such.
    """
    import pyarrow as pa

    present = ~np.isnan(numbers)
    with np.errstate(invalid="ignore", over="ignore"):
        countable = present & (np.abs(numbers) < _MOST / clock.unit)
    whole = microseconds(np.where(countable, numbers, 0.0), clock.unit) + clock.epoch
    first, last = (0, _DAY * 1_000_000 - 1) if kind is Kind.TIME else (_FIRST, _LAST)
    fits = countable & (whole >= first) & (whole <= last)
    whole = np.where(fits, whole, 0)
    odd: list[str | None] | None = None
    if kind is Kind.DATE:
        with_time = fits & (whole % (_DAY * 1_000_000) != 0)
        fits &= ~with_time
        values = pa.array((whole // (_DAY * 1_000_000)).astype(np.int32), mask=~fits)
        values = values.cast(pa.date32())
        odd = _odd_dates(numbers, whole, with_time, present & ~fits & ~with_time)
        strange = present & ~fits & ~with_time
    else:
        target = pa.time64("us") if kind is Kind.TIME else pa.timestamp("us")
        values = pa.array(whole, mask=~fits).cast(target)
        strange = present & ~fits
        odd = _odd_dates(numbers, whole, np.zeros_like(fits), strange)
    return values, pa.array(odd, pa.string()), strange


def microseconds(numbers: Floats, unit: int) -> NDArray[np.int64]:
    """Microseconds of numbers that count ``unit`` of them each, to the nearest one.

    Where doubles of that size lie too far apart to tell microseconds, the shortest decimal that is
    the number is taken at its word, so that milliseconds come back until the year 9999.
    """
    whole = np.trunc(numbers)
    part = numbers - whole
    made: NDArray[np.int64] = whole.astype(np.int64) * unit
    made += np.rint(part * unit).astype(np.int64)
    for at in np.flatnonzero((part != 0) & (np.spacing(np.abs(numbers)) * unit > _TOLD)):
        made[at] = int((Decimal(repr(float(numbers[at]))) * unit).to_integral_value())
    return made


def rounded(numbers: Floats, clock: Clock) -> NDArray[np.bool_]:
    """Which numbers are finer than a microsecond, as fine as moments are read."""
    with np.errstate(invalid="ignore", over="ignore"):
        back = np.rint(numbers * clock.unit) / clock.unit
        finer: NDArray[np.bool_] = np.abs(back - numbers) > np.spacing(np.abs(numbers))
    return finer


def coded_labels(labels: Mapping[Any, str], file_format: str, kind: Kind) -> dict[str, str]:
    """Value labels by the texts of their values; a label of NaN is of none."""
    return {
        code_text(code, file_format, kind): str(label)
        for code, label in labels.items()
        if code == code  # not NaN
    }


def code_text(code: str | float, file_format: str, kind: Kind) -> str:
    """The text of a labelled value, as it stands among the values of a column of this kind.

    ``code`` is a number, a text, or in a column of no texts the letter of a missing value.
    """
    if isinstance(code, str):
        return code.rstrip(" ") if kind is Kind.TEXT else f".{code}"
    if kind in (Kind.TEXT, Kind.NUMBER):
        return number_text(code)
    values, odd, _ = moments(np.array([code], np.float64), kind, clock_of(file_format, kind))
    found = odd[0].as_py() or str(values[0].as_py())
    return found.rstrip("0") if "." in found else found


def moment_texts(numbers: Floats, places: NDArray[np.bool_], clock: Clock) -> dict[int, str]:
    """Texts of those of the marked numbers that are moments of the years 1 to 9999."""
    values, odd, strange = moments(np.where(places, numbers, np.nan), Kind.DATE, clock)
    texts: dict[int, str] = {}
    for at in np.flatnonzero(places & ~strange):
        day = values[int(at)].as_py()
        texts[int(at)] = odd[int(at)].as_py() or f"{day} 00:00:00"
    return texts


def _odd_dates(
    numbers: Floats,
    whole: NDArray[np.int64],
    with_time: NDArray[np.bool_],
    strange: NDArray[np.bool_],
) -> list[str | None]:
    odd: list[str | None] = [None] * len(numbers)
    for at in np.flatnonzero(with_time):
        text = str(np.datetime64(int(whole[at]), "us")).replace("T", " ")
        odd[at] = text.rstrip("0").rstrip(".") if "." in text else text
    for at in np.flatnonzero(strange):
        odd[at] = number_text(numbers[at])
    return odd
