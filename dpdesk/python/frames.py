"""DataFrames of pandas: as a source, with everything that they say, and as an answer.

pandas is imported by the functions that give a frame; to recognise one, it need not be.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Kind, Variable
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.io.formats.frame import FrameColumn, texts_of_values, write_frame
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.private.parquet import has_text
from dpdesk.io.private.values import UNREADABLE

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

    from dpdesk.app.context import AppContext

NAME = "data.frame"
"""What a DataFrame is called in plans and messages, unless its source gives it a name."""
LABELS, VALUE_LABELS = "labels", "value_labels"
"""Entries of `DataFrame.attrs`: the label of each column, and of each one labels of its values."""
_RESET = (
    "Make it a column with `frame.reset_index()`, or drop it with `frame.reset_index(drop=True)`."
)


def pandas() -> Any:
    """The library; StorageError ``python.pandas`` where it is not installed."""
    try:
        import pandas as found
    except ImportError as error:
        raise StorageError(
            "python.pandas",
            "pandas is not installed, and tables are handed over as its DataFrames.",
            hint="Install it: pip install pandas",
        ) from error
    return found


def is_frame(data: object) -> TypeGuard[pd.DataFrame]:
    """Whether ``data`` is a DataFrame; pandas is not imported for the answer."""
    known = sys.modules.get("pandas")
    return known is not None and isinstance(data, known.DataFrame)


@contextmanager
def held_frame(
    frame: pd.DataFrame, name: str, context: AppContext, token: CancelToken, private: bool
) -> Iterator[Path]:
    """A frame as a file of the private folder, in the form of :mod:`dpdesk.io.formats.frame`.

    With ``private``, no value decides whether the frame is read: one that has no text is
    unreadable. Raises InputError ``frame.*`` for what a text would lose, StorageError, Cancelled.
    """
    _check_shape(frame, name)
    labels = _table(frame.attrs.get(LABELS, {}), LABELS, name)
    coded = _table(frame.attrs.get(VALUE_LABELS, {}), VALUE_LABELS, name)
    columns = []
    for j, column in enumerate(frame.columns):
        token.check()
        place = _Place(name, column, private)
        made = _column(frame.iloc[:, j], place)
        found = Variable(
            name=column,
            label=str(labels.get(column) or ""),
            kind=made.kind,
            measure="ordinal" if made.order else "",
            value_labels=_value_labels(coded.get(column, {}), place),
        )
        columns.append(FrameColumn(found, made.texts, made.order))
    folder = context.workspace.new_path()
    try:
        yield write_frame(columns, folder / name, context.home, token, private=private)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Place:
    """Where values stand, and whether a method reads them that no single value may stop."""

    frame: str
    column: str
    private: bool

    def refusal(
        self, code: str, row: int | None, found: str, expected: str, hint: str
    ) -> InputError:
        """An error that names the frame, the column and, from 1 on, the row."""
        said = {"name": self.frame, "column": self.column, "found": found, "expected": expected}
        sentence = msg("{name}, column `{column}`: found {found}, expected {expected}.", **said)
        if row is not None:
            sentence = msg(
                "{name}, row {row:,}, column `{column}`: found {found}, expected {expected}.",
                row=row,
                **said,
            )
        return InputError(
            code,
            sentence,
            hint=hint,
            details={"column": self.column} | ({} if row is None else {"row": row}),
        )


@dataclass(frozen=True, eq=False)
class _Texts:
    texts: pyarrow.Array
    kind: Kind
    order: tuple[str, ...] = ()


def _check_shape(frame: pd.DataFrame, name: str) -> None:
    """Refuse what is no column, and columns whose names are no texts."""
    import pandas as pd

    index = frame.index
    if (
        isinstance(index, pd.MultiIndex)
        or index.name is not None
        or index.inferred_type
        not in (
            "integer",
            "empty",
        )
    ):
        raise InputError(
            "frame.index",
            msg(
                "{name}: the index of the DataFrame holds data that would be lost, expected "
                "columns.",
                name=name,
            ),
            hint=_RESET,
        )
    for column in frame.columns:
        if not isinstance(column, str):
            raise InputError(
                "frame.names",
                msg(
                    "{name}: a column is called {column}, expected a text.",
                    name=name,
                    column=repr(column),
                ),
                hint="Rename the columns, for instance with `frame.columns = "
                "frame.columns.map(str)`.",
            )


def _table(given: object, key: str, name: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(
            "frame.labels",
            msg(
                "{name}: `attrs[{key}]` is a {kind}, expected a dictionary by columns.",
                name=name,
                key=repr(key),
                kind=type(given).__name__,
            ),
        )
    return given


def _value_labels(given: object, place: _Place) -> dict[str, str]:
    labels = _table(given, VALUE_LABELS, place.frame)
    known = {_text(value): str(label) for value, label in labels.items() if label is not None}
    return {value: label for value, label in known.items() if value is not None}


def _column(series: pd.Series[Any], place: _Place) -> _Texts:
    """A column as texts. What its type alone says may be refused for a private method, too."""
    import pandas as pd
    import pyarrow as pa

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(series, place)
    if pd.api.types.is_object_dtype(dtype):
        found = _objects(series, place)
    else:
        try:
            values = pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, UnicodeEncodeError):
            found = _objects(series.astype(object), place)
        else:
            if isinstance(values, pa.ChunkedArray):
                values = values.combine_chunks()
            if not has_text(values.type):
                raise _no_text(place, str(dtype))
            texts = texts_of_values(values)
            _refuse_unreadable(texts, place)
            found = _Texts(texts, _kind(values.type))
    _refuse_both(found.texts, place)
    return found


def _no_text(place: _Place, kind: str) -> InputError:
    return place.refusal(
        "frame.type",
        None,
        msg("values of the type {kind}", kind=kind),
        "texts, numbers, dates or truth values",
        "Leave the column out, or turn it into text first, for instance with `astype(str)`.",
    )


def _kind(kind: pyarrow.DataType) -> Kind:
    import pyarrow as pa

    t = pa.types
    if t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind):
        return Kind.NUMBER
    if t.is_date(kind):
        return Kind.DATE
    if t.is_timestamp(kind):
        return Kind.DATETIME
    return Kind.TIME if t.is_time(kind) else Kind.TEXT


def _refuse_unreadable(texts: pyarrow.Array, place: _Place) -> None:
    import pyarrow.compute as pc

    if place.private:
        return
    row = pc.index(texts, UNREADABLE).as_py()
    if row >= 0:
        raise place.refusal(
            "frame.value",
            row + 1,
            "a value that has no text (a text that is not UTF-8, or a date outside the years 1 "
            "to 9999)",
            "one that has a text",
            "Correct the value, or make it a missing one.",
        )


def _refuse_both(texts: pyarrow.Array, place: _Place) -> None:
    """Refuse missing values next to empty texts: both would be read as the empty text."""
    import pyarrow.compute as pc

    if place.private or not texts.null_count:
        return
    row = pc.index(texts, "").as_py()
    if row >= 0:
        raise place.refusal(
            "frame.empty",
            row + 1,
            "an empty text, and missing values in other rows",
            "one of the two, since they cannot be distinguished",
            "Replace one with the other or with a code, for instance with `replace('', pd.NA)`.",
        )


def _categorical(series: pd.Series[Any], place: _Place) -> _Texts:
    """Each category by its text; an ordered one keeps its order."""
    import pandas as pd
    import pyarrow as pa

    listed = pd.Series(series.cat.categories)
    made = _column(listed, place)
    texts = made.texts.to_pylist()
    twice = next((text for j, text in enumerate(texts) if text in texts[:j]), None)
    if twice is not None:
        raise place.refusal(
            "frame.categories",
            None,
            msg("several categories whose text is {value}", value=quoted(twice)),
            "a different text for each",
            "Merge or rename the categories.",
        )
    codes = series.cat.codes.to_numpy()
    taken = made.texts.take(pa.array(codes, pa.int64(), mask=codes < 0))
    _refuse_both(taken, place)
    return _Texts(taken, made.kind, tuple(texts) if series.cat.ordered else ())


def _objects(series: pd.Series[Any], place: _Place) -> _Texts:
    """A column of Python's own values: each by itself, so that none changes how others are read."""
    import pandas as pd
    import pyarrow as pa

    values = series.to_numpy()
    if pd.api.types.infer_dtype(series, skipna=True) == "string":
        try:
            return _Texts(pa.array(values, pa.large_string(), from_pandas=True), Kind.TEXT)
        except (pa.ArrowException, UnicodeEncodeError, TypeError):
            pass
    absent = pd.isna(series).to_numpy()
    texts = [None if gone else _text(value) for value, gone in zip(values, absent, strict=True)]
    lost = [UNREADABLE if text is None and not gone else text for text, gone in
            zip(texts, absent, strict=True)]  # fmt: skip
    kinds = {_kind_of(value) for value, gone in zip(values, absent, strict=True) if not gone}
    if not place.private:
        _refuse_objects(values, lost, kinds, place)
    kind = kinds.pop() if len(kinds) == 1 else None
    return _Texts(pa.array(lost, pa.large_string()), kind or Kind.TEXT)


def _refuse_objects(
    values: Sequence[object], texts: Sequence[str | None], kinds: set[Kind | None], place: _Place
) -> None:
    for row, (value, text) in enumerate(zip(values, texts, strict=True), start=1):
        if text == UNREADABLE:
            raise place.refusal(
                "frame.value",
                row,
                msg("a value of the type {kind} that has no text", kind=type(value).__name__),
                "texts, numbers, dates or truth values",
                "Leave the column out, or turn it into text first, for instance with "
                "`astype(str)`.",
            )
    if len(kinds) > 1:
        listed = sorted({type(value).__name__ for value, text in zip(values, texts, strict=True)
                         if text is not None})  # fmt: skip
        raise place.refusal(
            "frame.mixed",
            None,
            msg("values of several types ({kinds})", kinds=", ".join(listed)),
            "one type",
            "Give all of them one type, for instance with `astype(str)`.",
        )


def _kind_of(value: object) -> Kind | None:
    """What a value is; a truth value is told apart from texts by None."""
    if isinstance(value, str):
        return Kind.TEXT
    if _is_truth(value):
        return None
    if isinstance(value, datetime):
        return Kind.DATETIME
    if isinstance(value, date):
        return Kind.DATE
    return Kind.TIME if isinstance(value, time) else Kind.NUMBER


def _is_truth(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def _text(value: object) -> str | None:
    """The text of a value, as :func:`texts_of_values` would give it; None for one without."""
    if isinstance(value, str):
        return value if _is_utf8(value) and UNREADABLE not in value else None
    if _is_truth(value):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return None if value.tzinfo is not None else _short(value.isoformat())
    plain = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    if isinstance(plain, int):
        return str(plain)
    if isinstance(plain, float):
        return number_text(plain)
    return _decimal(plain) if isinstance(plain, Decimal) and plain.is_finite() else None


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _moment(value: datetime) -> str:
    """A moment as the database writes it: one with a time zone in UTC."""
    nanoseconds = getattr(value, "nanosecond", 0)
    whole = value if value.tzinfo is None else value.astimezone(UTC)
    text = whole.strftime("%H:%M:%S") + f".{whole.microsecond:06d}{nanoseconds:03d}"
    zone = "" if value.tzinfo is None else "+00"
    return f"{whole.year:04d}-{whole.month:02d}-{whole.day:02d} {_short(text)}{zone}"


def _short(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimal(value: Decimal) -> str:
    text = _short(f"{value:f}")
    return "0" if text == "-0" else text


def texts_of(values: Iterable[object]) -> list[str]:
    """Values as the texts that a frame of them has; a missing one as the empty text.

    Raises InputError ``frame.value`` for one that has no text.
    """
    found = []
    for value in values:
        gone = value is None or type(value).__name__ in ("NAType", "NaTType") or value != value
        text = "" if gone else _text(value)
        if text is None:
            raise InputError(
                "frame.value",
                msg(
                    "Found a value of the type {kind} that has no text, expected texts, numbers, "
                    "dates or truth values.",
                    kind=type(value).__name__,
                ),
            )
        found.append(text)
    return found


def dtype_texts(series: pd.Series[Any]) -> list[str | None]:
    """The texts of a column as a source would have them; a value without text counts as missing."""
    return cast("list[str | None]", _column(series, _Place("", "", private=True)).texts.to_pylist())
