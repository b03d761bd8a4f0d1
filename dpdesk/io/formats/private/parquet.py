"""Parquet files for private methods: values as they lie there, each made a text by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.core.schema import form
from dpdesk.io.formats.columns import check_names, no_text
from dpdesk.io.formats.parquet_look import footer_told
from dpdesk.io.formats.private.texts import checked_texts
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values
from dpdesk.io.private.values import UNREADABLE

_ROWS = 100_000
_DAY = 86_400
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""Seconds since 1970 of the first and the last one of the years 1 to 9999."""
_LEAST, _MOST = -(2**63), 2**63 - 1
_SHORT = 32
"""Bits of dates, and of times in seconds or milliseconds."""
_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


class ParquetRows:
    """A Parquet file; see :class:`~dpdesk.io.formats.table.TableReader`."""

    encoding = "utf-8"

    def __init__(self, request: ReadRequest) -> None:
        from pyarrow import parquet

        self._name = Path(request.path).name
        self.notes = Notes()
        self._coded = request.coded
        with footer_told(Path(request.path)):
            self._file = parquet.ParquetFile(request.path)
            schema = self._file.schema_arrow
        check_names(schema.names, self._name, "Rename one of them.")
        asked = set(map(form, request.wanted))
        self._wanted = [name for name in schema.names if form(name) in asked]
        for name in self._wanted:
            kind = schema.field(name).type
            if not has_text(kind):
                raise no_text(self._name, name, str(kind))
        if self._coded:
            texts = [name for name in schema.names if is_text(schema.field(name).type)]
            self._file.close()
            self._file = parquet.ParquetFile(request.path, read_dictionary=texts)
        self.variables = tuple(Variable(name) for name in schema.names)
        self.rows: int | None = self._file.metadata.num_rows

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order of the file; of columns that nobody wants, where there is one.

        Where the request asks for codes, columns of texts, whole numbers and truth values come as
        dictionaries.
        """
        import pyarrow as pa

        wanted = [variable.name in self._wanted for variable in self.variables]
        given = _dictionary if self._coded else text_values
        try:
            for batch in self._file.iter_batches(_ROWS, use_threads=not self._coded):
                yield tuple(
                    given(column) if asked else self._sign(column)
                    for column, asked in zip(batch.columns, wanted, strict=True)
                )
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                "read.damaged",
                msg(
                    "{name}: the file is damaged ({error}).",
                    name=self._name,
                    error=str(error)[:200],
                ),
                hint="Get the file again from where it comes from.",
            ) from error

    def _sign(self, array: Any) -> Values:
        signs = _presence(array)
        return Values(signs.values.dictionary_encode()) if self._coded else signs

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def has_text(kind: Any) -> bool:
    """Whether values of an Arrow type have a text each."""
    import pyarrow as pa

    t = pa.types
    if t.is_dictionary(kind):
        return has_text(kind.value_type)
    is_number = t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind)
    is_time = t.is_date(kind) or t.is_timestamp(kind) or t.is_time(kind)
    return bool(is_text(kind) or is_number or is_time or t.is_boolean(kind) or t.is_null(kind))


def is_text(kind: Any) -> bool:
    """Whether values of an Arrow type are texts."""
    import pyarrow as pa

    t = pa.types
    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


def _dictionary(array: Any) -> Values:
    """Each value that occurs as :func:`text_values` gives it; others than texts as they are."""
    import pyarrow as pa

    t = pa.types
    if not t.is_dictionary(array.type):
        if not (is_text(array.type) or t.is_integer(array.type) or t.is_boolean(array.type)):
            return text_values(array)
        array = array.dictionary_encode()
    values = text_values(array.dictionary)
    if values.odd is not None:
        return text_values(array)
    return Values(pa.DictionaryArray.from_arrays(array.indices, values.values))


def _presence(array: Any) -> Values:
    """A sign in each row that has a value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    there = array.is_valid()
    if pa.types.is_dictionary(array.type) and is_text(array.type.value_type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        there = pc.and_(there, pc.fill_null(pc.greater(pc.binary_length(array), 0), False))
    return Values(pc.if_else(there, pa.scalar("x"), pa.scalar("")))


def text_values(array: Any) -> Values:
    """Values that have a text each, and texts for what is unreadable by itself."""
    import pyarrow as pa

    t = pa.types
    if t.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        # Without a check of what the bytes are, which would refuse the file for one of them.
        raw = pa.large_binary()
        return Values(checked_texts(array.cast(pa.large_string()).view(raw)))
    if t.is_null(kind):
        return Values(pa.repeat("", len(array)))
    if t.is_float16(kind):
        array = array.cast(pa.float32())
    if t.is_decimal256(kind):
        return Values(array.cast(pa.string()))
    if t.is_date64(kind):
        array = array.cast(pa.date32(), safe=False)
    if t.is_date(kind) or t.is_timestamp(kind) or t.is_time(kind):
        return _moments(array)
    return Values(array)


def _moments(array: Any) -> Values:
    """Dates, moments and times; one outside the years 1 to 9999, or the day, is unreadable."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, unit, first, last = array.type, 1, _FIRST, _LAST
    whole = array.view(pa.int32() if kind.bit_width == _SHORT else pa.int64()).cast(pa.int64())
    if pa.types.is_date(kind):
        first, last = _FIRST // _DAY, _LAST // _DAY
    else:
        unit = _UNITS[kind.unit]
    if pa.types.is_time(kind):
        first, last = 0, _DAY - 1
    low, high = max(first * unit, _LEAST), min((last + 1) * unit - 1, _MOST)
    good = pc.and_(pc.greater_equal(whole, low), pc.less_equal(whole, high))
    good = pc.fill_null(good, True)
    odd = pc.if_else(good, pa.scalar(None, pa.string()), pa.scalar(UNREADABLE, pa.string()))
    return Values(pc.if_else(good, array, pa.scalar(None, array.type)), odd)
