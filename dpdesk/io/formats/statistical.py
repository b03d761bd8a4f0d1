"""SPSS, Stata and SAS files, read in pieces by ReadStat; runs in the reading process."""

from __future__ import annotations

import mmap
import struct
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.labels import Kind, UserMissing, Variable
from dpdesk.core.messages import msg
from dpdesk.io.formats import plain_reading
from dpdesk.io.formats.dropped_parts import note_unkept
from dpdesk.io.formats.endings import Endings
from dpdesk.io.formats.moments import (
    clock_of,
    code_text,
    coded_labels,
    kind_of,
    moment_texts,
    moments,
    note_absent_labels,
    note_periods,
    note_rounded,
    note_strange,
    rounded,
    without_ranges,
)
from dpdesk.io.formats.plain_reading import plain_codec, plain_reader
from dpdesk.io.formats.request import ReadRequest, iconv_name
from dpdesk.io.formats.sas import text_losses as sas_losses
from dpdesk.io.formats.sas.catalogs import labels_of_columns
from dpdesk.io.formats.sas.text_losses import check_places
from dpdesk.io.formats.spss import text_losses as sav_losses
from dpdesk.io.formats.spss.layout import check_labels, named_encoding, stated_rows
from dpdesk.io.formats.spss.text_losses import check_codes, completed
from dpdesk.io.formats.stat_faults import (
    check_names,
    check_told_names,
    encoding_of_release,
    nameless,
    names_encoding,
    no_rows,
    note_guess,
    note_other_encoding,
    note_unseen,
    told_encoding,
    unreadable,
)
from dpdesk.io.formats.stata import text_losses as dta_losses
from dpdesk.io.formats.stata import text_losses as dta_texts
from dpdesk.io.formats.stata.labels import checked_labels
from dpdesk.io.formats.stata.layout import DtaLayout, read_any_layout
from dpdesk.io.formats.table import Notes, Values, damaged

if TYPE_CHECKING:
    import pyarrow

_CELLS, _MOST_ROWS, _LEAST_ROWS = 3_000_000, 250_000, 1_000
_LOWEST = 1.797e308
_GUESS = "WINDOWS-1252"
"""What the library takes for the encoding of a file that names none."""
_CONVERTED = "UTF8"
"""UTF-8 by a name with which the library converts texts instead of taking them as they are."""
_DOUBLED = "is duplicated"
"""What the library says of a column that has the name of an earlier one."""
_MEASURES = ("nominal", "ordinal", "scale")


class StatisticalReader:
    """A .sav, .zsav, .dta or .sas7bdat file; see :class:`~dpdesk.io.formats.table.TableReader`."""

    def __init__(self, request: ReadRequest) -> None:
        self._begin(request)
        if self._format == "sav":
            check_labels(self._path)
        early = self._options["encoding"] or told_encoding(self._path, self._format)
        held = self._hold(early)
        if self._format == "sav" and not held:
            check_codes(self._path, self._options["encoding"])
        meta = self._metadata(self._options["encoding"])
        if self._format == "dta":
            check_whole(self._path)
        self.rows = self._stated_rows(meta)
        self._take_encoding(early if held else str(meta.file_encoding or ""), request.encoding)
        labels = self._value_labels(meta, request)
        self.variables = tuple(
            described(self._format, meta, name, labels.get(name, {})) for name in meta.column_names
        )
        if self.rows == 0 or not self.variables:
            if self.variables and self._format == "sav":
                self._refuse_losses(None)
            raise no_rows(self._path.name, len(self.variables))
        note_periods(self.notes, self.variables, self._format)
        self.variables = without_ranges(self.notes, self.variables)
        self._note_guess(text for variable in self.variables for text in _words(variable))
        self._check_labels()
        self._refuse_losses(request.limit)
        note_unkept(self._path, self._format, meta, self.notes)

    def _begin(self, request: ReadRequest) -> None:
        """Choose the library's function for the format, and what it is always told."""
        import pyreadstat

        self.notes = Notes()
        self._format, self._path = request.format, Path(request.path)
        self._read: Any = {
            "sav": pyreadstat.read_sav,
            "dta": pyreadstat.read_dta,
            "sas7bdat": pyreadstat.read_sas7bdat,
        }[request.format]
        self._options: dict[str, Any] = {
            "output_format": "dict",
            "disable_datetime_conversion": True,
            "user_missing": True,
            "encoding": iconv_name(request.encoding),
        }
        self.encoding = self._guessed = ""

    def _stated_rows(self, meta: Any) -> int | None:
        """How many rows the file says that it has; None where it does not.

        The library tells none of 2^30 and more, and reads what there is.
        """
        if self._format == "sav" and meta.number_rows is None:
            return stated_rows(self._path)
        return None if meta.number_rows is None else int(meta.number_rows)

    def _hold(self, encoding: str) -> str:
        """Keep the library from converting texts of that encoding, if it must not; the codec."""
        codec = plain_codec(encoding, self._path.name)
        if codec:
            self._read = plain_reader(self._read, codec)
        return codec

    def _take_encoding(self, told: str, named: str | None) -> None:
        """Take the encoding that the plan names, or the file, or else what is guessed."""
        told = told.replace(_CONVERTED, "UTF-8")
        guessed = named is None and not names_encoding(self._path, self._format)
        taken = told or (_GUESS if self._format == "dta" else "")
        self._guessed = taken if guessed else ""
        self.encoding = told or named or self._guessed
        known = iconv_name(named) or told or encoding_of_release(self._path) or ""
        self._endings = Endings(known, by_plan=named is not None)
        if self._format == "sav" and named is None:
            note_other_encoding(self.notes, named_encoding(self._path), told)

    def _refuse_losses(self, limit: int | None) -> None:
        """Refuse, or note, what the library would lose of the rows that are read."""
        names = [variable.name for variable in self.variables]
        if self._format == "sav":
            encoding = self._options["encoding"] or self.encoding
            sav_losses.refuse_losses(self._path, names, limit, self.notes, encoding)
        elif self._format == "dta":
            dta_losses.refuse_losses(self._path, names, limit, self.notes)
            if dta_texts.check_texts(self._path, names, limit, self.notes, self._endings):
                self._convert()
        else:
            check_places(self._path, limit, self.notes)
            if sas_losses.refuse_losses(
                self._path, names, limit, self.notes, self._is_read_of, self._endings
            ):
                self._convert()

    def _convert(self) -> None:
        """Let the library leave out the beginning of a character at the end of a text."""
        if self._endings.is_utf8:
            self._options["encoding"] = _CONVERTED

    def _check_labels(self) -> None:
        """Refuse, or note, names and labels of Stata and SAS that are not read whole."""
        note_unseen(self.notes, self._endings)
        is_stata = self._format == "dta"
        if self._format == "sav" or not (is_stata or self._endings.looks):
            return
        names = [variable.name for variable in self.variables]
        plain = self._metadata(plain_reading.PLAIN)
        plain_reading.check_labels(self._path.name, names, plain, self._endings, self.notes)
        if is_stata:
            encoding = self._endings.encoding or self.encoding
            endings = Endings(encoding)
            plain_reading.check_read(self._path.name, self.variables, plain, endings, encoding)

    def _is_read_of(self, row: int, column: int, raw: bytes) -> bool:
        """Whether the library reads these bytes in a cell, up to their first NUL."""
        import pyreadstat

        name = self.variables[column].name
        given = {"encoding": _CONVERTED} if self._endings.is_utf8 else {}
        try:
            read = self._piece(row, 1, [name], **given)[name]
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError):
            return False  # told with its place when the rows are read
        text = self._endings.decoded(raw.partition(b"\0")[0].rstrip(b" ")).rstrip(" ")
        return [str(value or "").rstrip(" ") for value in read] == [text]

    def _metadata(self, encoding: str | None) -> Any:
        """What the file says of itself."""
        import pyreadstat

        options = self._options | {"encoding": encoding}
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", UserWarning)
                meta = self._read(str(self._path), metadataonly=True, **options)[1]
        except TypeError as error:  # a name is made of the one that they lack
            raise nameless(self._path.name) from error
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError) as error:
            if isinstance(error, UnicodeError) and encoding in (None, "UTF-8") and self._is_utf8:
                meta = self._metadata(_CONVERTED)
                self._options["encoding"] = _CONVERTED
                return meta
            named = named_encoding(self._path) if self._format == "sav" else ""
            raise unreadable(self._path, error, self._options["encoding"], named=named) from error
        doubled = any(_DOUBLED in str(one.message) for one in told)
        check_told_names(self._path.name, meta.column_names, doubled)
        return meta

    @property
    def _is_utf8(self) -> bool:
        """Whether the library may have taken texts of UTF-8 as they are."""
        return self._format == "sas7bdat" or encoding_of_release(self._path) is not None

    def _value_labels(self, meta: Any, request: ReadRequest) -> Mapping[str, Mapping[Any, str]]:
        found: dict[str, Mapping[Any, str]] = dict(meta.variable_value_labels)
        if self._format == "sas7bdat":
            displays = {name: text or "" for name, text in meta.original_variable_types.items()}
            encoding = self._options["encoding"]
            found |= labels_of_columns(displays, request.catalog, self._path, encoding, self.notes)
        elif self._format == "sav":
            found = completed(self._path, meta, self._endings, self.notes)
        else:
            note_absent_labels(meta.variable_to_label, meta.value_labels, self.notes)
            sets, known = meta.variable_to_label, self._endings.encoding
            found = checked_labels(self._path, known, sets, found, self.notes)
        return found

    def _note_guess(self, texts: Iterable[str]) -> None:
        """Note a guessed encoding with the first text that is none of ASCII, if there is one."""
        if self._guessed and "guess" not in self.notes:
            example = next((text for text in texts if not text.isascii()), None)
            if example is not None:
                note_guess(self.notes, self._guessed, example)

    def close(self) -> None:
        """Nothing is held open between pieces."""

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in pieces; each reading skips what earlier ones gave."""
        size = max(_LEAST_ROWS, min(_MOST_ROWS, _CELLS // len(self.variables)))
        wanted = self.rows if limit is None else min(limit, self.rows or limit)
        done = 0
        while wanted is None or done < wanted:
            count = size if wanted is None else min(size, wanted - done)
            columns = self._piece(done, count)
            found = len(next(iter(columns.values())))
            yield tuple(
                self._values(variable, columns[variable.name], done) for variable in self.variables
            )
            done += found
            if found < count:
                break
        if limit is None and self.rows is not None and done != self.rows:
            what = msg(
                "the file ends after {done:,} rows, but says that it has {rows:,}",
                done=done,
                rows=self.rows,
            )
            raise damaged(self._path.name, what, done + 1)

    def _piece(
        self, start: int, count: int, only: Sequence[str] | None = None, **given: Any
    ) -> dict[str, Any]:
        import pyreadstat

        options = self._options | given | ({} if only is None else {"usecols": list(only)})
        try:
            found = self._read(str(self._path), row_offset=start, row_limit=count, **options)[0]
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError) as error:
            if only is not None:
                raise
            row, column = self._place(start, count, type(error))
            encoding = self._options["encoding"] or encoding_of_release(self._path)
            encoding = "UTF-8" if encoding == _CONVERTED else encoding
            raise unreadable(self._path, error, encoding, row, column, self.encoding) from error
        return dict(found)

    def _place(
        self, start: int, count: int, kind: type[Exception]
    ) -> tuple[int | None, str | None]:
        """Row (from 1) and column of the first value that cannot be read, by halving."""

        def readable(first: int, rows: int, only: Sequence[str]) -> bool:
            try:
                self._piece(first, rows, only)
            except kind:
                return False
            return True

        names = [variable.name for variable in self.variables]
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            if readable(start + low, middle - low, names):
                low = middle
            else:
                high = middle
        column = next((name for name in names if not readable(start + low, 1, [name])), None)
        others = sum(not readable(start + low, 1, [name]) for name in names[:50])
        return start + low + 1, column if others == 1 else None

    def _values(self, variable: Variable, raw: list[Any], start: int) -> Values:
        import pyarrow as pa

        if variable.kind is Kind.TEXT:
            texts = ["" if item is None else str(item) for item in raw]
            self._note_guess(texts)
            return Values(pa.array(texts))
        numbers, letters = _numbers(raw)
        if variable.kind is Kind.NUMBER:
            kind = pa.float32() if variable.storage == "float" else pa.float64()
            array = pa.array(numbers, mask=np.isnan(numbers)).cast(kind, safe=False)
            return Values(array, _lettered(letters, len(raw)))
        clock = clock_of(self._format, variable.kind)
        values, odd, strange = moments(numbers, variable.kind, clock)
        if self._format == "dta" and variable.kind is Kind.TIME and strange.any():
            odd, strange = self._whole_moments(variable, numbers, odd, strange)
        note_strange(self.notes, variable, numbers, strange, start)
        finer = rounded(numbers, clock) & ~strange
        note_rounded(self.notes, variable, numbers, finer, start)
        return Values(values, _merged(odd, letters))

    def _whole_moments(
        self, variable: Variable, numbers: Any, odd: Any, strange: Any
    ) -> tuple[Any, Any]:
        """Texts of moments of which the file shows the time of day alone, noted; what is left."""
        import pyarrow as pa

        found = moment_texts(numbers, strange, clock_of(self._format, Kind.DATETIME))
        if not found:
            return odd, strange
        self.notes.add(
            f"moments {variable.name}",
            msg(
                "Column `{column}` shows only times of day ({format}) but contains timestamps "
                "of other days; these are read with their day.",
                column=variable.name,
                format=variable.format,
            ),
        )
        left = strange.copy()
        left[list(found)] = False
        texts = [found.get(at, text) for at, text in enumerate(odd.to_pylist())]
        return pa.array(texts, pa.string()), left


def _numbers(raw: list[Any]) -> tuple[Any, dict[int, str]]:
    """Numbers (NaN for missing), and the lettered missing values by their place."""
    try:
        return np.array(raw, dtype=np.float64), {}
    except ValueError:
        letters = {at: f".{item}" for at, item in enumerate(raw) if isinstance(item, str)}
        plain = [None if isinstance(item, str) else item for item in raw]
        return np.array(plain, dtype=np.float64), letters


def _lettered(letters: Mapping[int, str], rows: int) -> pyarrow.Array:
    import pyarrow as pa

    if not letters:
        return pa.nulls(rows, pa.string())
    return pa.array([letters.get(at) for at in range(rows)], pa.string())


def _merged(odd: pyarrow.Array, letters: Mapping[int, str]) -> pyarrow.Array:
    import pyarrow as pa

    if not letters:
        return odd
    return pa.array([letters.get(at, text) for at, text in enumerate(odd.to_pylist())], pa.string())


def _words(variable: Variable) -> Iterator[str]:
    """Name and labels of a column."""
    yield from (variable.name, variable.label, *variable.value_labels.values())


def described(file_format: str, meta: Any, name: str, labels: Mapping[Any, str]) -> Variable:
    """What a file says of a column."""
    storage = str(meta.readstat_variable_types.get(name) or "")
    display = str(meta.original_variable_types.get(name) or "")
    is_text = storage == "string"
    kind = Kind.TEXT if is_text else kind_of(file_format, display)
    measure = str(meta.variable_measure.get(name) or "")

    def code(key: Any) -> str:
        return code_text(key, file_format, kind)

    return Variable(
        name=name,
        label=str(meta.column_names_to_labels.get(name) or ""),
        kind=kind,
        storage=storage,
        width=int(meta.variable_storage_width.get(name) or 0) if is_text else 0,
        format=display,
        measure=measure if measure in _MEASURES else "",
        value_labels=coded_labels(labels, file_format, kind),
        missing=_missing(
            meta.missing_ranges.get(name, ()), file_format != "sav" and not is_text, code
        ),
    )


def _missing(
    ranges: Sequence[Mapping[str, Any]], letters: bool, code: Callable[[Any], str]
) -> UserMissing:
    values: list[str] = []
    low = high = None
    for item in ranges:
        if item["lo"] == item["hi"]:
            values.append(code(item["lo"]))
        else:
            low = float("-inf") if item["lo"] <= -_LOWEST else float(item["lo"])
            high = float("inf") if item["hi"] >= _LOWEST else float(item["hi"])
    return UserMissing(tuple(values), low, high, letters)


# Whether a Stata file is whole: as many rows as it says, and all of what stands behind them.
#
# Its value labels stand behind the rows, and a reader takes a file that breaks off among them
# for one that has none.


_START, _END, _ROWS_END = b"<stata_dta>", b"</stata_dta>", b"</data>"
_TAGGED, _LONG_TABLES = 117, 108
_NAMES = {True: (9, 33), False: (33,)}
"""Bytes of the name of a table of labels, by whether the format is one before 110."""


def check_whole(path: Path) -> None:
    """Refuse a file that breaks off, that has other rows than it says, or names a column twice.

    Raises InputError ``read.damaged`` or ``read.names``.
    """
    _check_end(path)
    layout = read_any_layout(path)
    if layout is None:
        return
    check_names(path.name, _decoded(layout))
    end, rows = layout.start + layout.rows * layout.row_bytes, f"{layout.rows:,}"
    with path.open("rb") as file:
        file.seek(min(end, path.stat().st_size))
        if layout.release >= _TAGGED:
            whole = file.read(len(_ROWS_END)) == _ROWS_END
        else:
            whole = end <= path.stat().st_size and _is_whole(file.read(), layout)
    if not whole:
        what = msg(
            "the file breaks off after the {rows} rows that it says it has, or has a different "
            "number of rows",
            rows=rows,
        )
        raise damaged(path.name, what)


def _check_end(path: Path) -> None:
    """Refuse a file of version 13 and later that does not end with its last mark."""
    with path.open("rb") as file:
        if file.read(len(_START)) != _START:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end, size = data.rfind(_END), len(data)
    left = size - end - len(_END)
    if end < 0:
        raise damaged(
            path.name, ("the file breaks off after its rows, where value labels are stored")
        )
    if left:
        raise damaged(path.name, msg("{left:,} bytes follow after the end of the table", left=left))


def _decoded(layout: DtaLayout) -> list[str]:
    """The names of the columns; different ones stay different."""
    encoding = "utf-8" if layout.release > _TAGGED else "latin-1"
    return [name.decode(encoding, "backslashreplace") for name in layout.names]


def _is_whole(tail: bytes, layout: DtaLayout) -> bool:
    """Whether what stands behind the rows is nothing but whole tables of value labels."""
    before = layout.release < 110
    if any(_are_tables(tail, layout.order, width) for width in _NAMES[before]):
        return True
    return layout.release < _LONG_TABLES and _are_short_tables(tail, layout.order)


def _are_tables(tail: bytes, order: str, width: int) -> bool:
    """Tables of their length, a name of that width, 3 bytes, the numbers and bytes of labels."""
    at = 0
    while at < len(tail):
        body = at + 4 + width + 3
        if body + 8 > len(tail) or 0 not in tail[at + 4 : body - 3]:
            return False
        (length,) = struct.unpack_from(f"{order}i", tail, at)
        count, text = struct.unpack_from(f"{order}2i", tail, body)
        if count < 0 or text < 0 or 8 + 8 * count + text > length:
            return False
        at = body + length
    return at == len(tail)


def _are_short_tables(tail: bytes, order: str) -> bool:
    """Tables of a count, a name of 9 bytes and 1 byte, then values and labels of 2 and 8 bytes."""
    at = 0
    while at + 12 <= len(tail) and 0 in tail[at + 2 : at + 11]:
        (count,) = struct.unpack_from(f"{order}H", tail, at)
        at += 12 + 10 * count
    return at == len(tail)
