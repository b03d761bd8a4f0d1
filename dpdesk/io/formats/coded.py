"""Columns of few values, written as codes: each value is looked at once, however often it occurs.

The reading process writes, for each batch, the codes of one column after another, in as many bytes
as the values known by then need; what the codes stand for comes with its answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow

    from dpdesk.io.formats.table import Values


MOST_VALUES, FEW_VALUES = 200_000, 1_000
_MOST_OF_MANY, _ROWS_EACH = 1 << 20, 32


def most_coded(rows: int) -> int:
    """The most values that a coded column has."""
    most = max(MOST_VALUES, min(rows // _ROWS_EACH, _MOST_OF_MANY))
    return min(most, max(FEW_VALUES, rows // 3))


@dataclass(frozen=True)
class CodedTable:
    """Where the codes of a table lie in its file, and what they stand for.

    ``values`` are Arrow arrays, one for each column, whose first value is null; ``batches`` tells
    the rows of each batch and the bytes of a code of each column in it.
    """

    values: tuple[Any, ...] = field(repr=False)
    batches: tuple[tuple[int, tuple[int, ...]], ...] = field(repr=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(rows for rows, _ in self.batches)

    def read(self, path: Path) -> Iterator[list[NDArray[np.unsignedinteger[Any]]]]:
        """The codes of one batch after another, column by column. Raises OSError."""
        with path.open("rb") as file:
            for rows, widths in self.batches:
                yield [np.fromfile(file, f"u{width}", rows) for width in widths]


class _Codes:
    """The values of one column as far as it was read."""

    def __init__(self, kind: pyarrow.DataType) -> None:
        import pyarrow as pa

        self.values: Any = pa.array([None], kind)

    def of(self, batch: pyarrow.DictionaryArray) -> NDArray[np.unsignedinteger[Any]]:
        """The codes of the values of a batch."""
        import pyarrow as pa
        import pyarrow.compute as pc

        own = batch.dictionary
        places = pc.index_in(own, self.values)
        if places.null_count:
            added = own.filter(places.is_null()).unique()
            self.values = pa.concat_arrays([self.values, added])
            places = pc.index_in(own, self.values)
        codes = places.to_numpy().astype(f"u{_width(len(self.values))}")
        if batch.null_count:
            codes = np.append(codes, codes.dtype.type(0))
            places = batch.indices.cast(pa.int32())
            indices = pc.fill_null(places, len(own)).to_numpy()
        else:
            indices = batch.indices.to_numpy()
        found: NDArray[np.unsignedinteger[Any]] = codes[indices]
        return found


def _width(values: int) -> int:
    return 1 if values <= 1 << 8 else 2 if values <= 1 << 16 else 4


def write_codes(
    batches: Iterator[tuple[Values, ...]], target: str, most: int, tell: Callable[[int], None]
) -> CodedTable | None:
    """Write the codes of all rows to ``target``; None where a column cannot be told by codes.

    That is one of more than ``most`` values, or one that the reader does not give as a
    dictionary; ``target`` is removed then. ``tell`` hears how many rows are done. Raises OSError,
    and what reading raises.
    """
    columns: list[_Codes] = []
    told: list[tuple[int, tuple[int, ...]]] = []
    done = 0
    with os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        for batch in batches:
            if any(_is_plain(column) for column in batch):
                break
            if not columns:
                columns = [_Codes(column.values.dictionary.type) for column in batch]
            found = [each.of(column.values) for each, column in zip(columns, batch, strict=True)]
            if max(len(each.values) for each in columns) > most:
                break
            for codes in found:
                codes.tofile(file)
            told.append((len(found[0]), tuple(codes.itemsize for codes in found)))
            done += len(found[0])
            tell(done)
        else:
            return CodedTable(tuple(each.values for each in columns), tuple(told))
    Path(target).unlink()
    return None


def _is_plain(column: Values) -> bool:
    import pyarrow as pa

    return column.odd is not None or not pa.types.is_dictionary(column.values.type)
