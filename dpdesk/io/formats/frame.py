"""A table that a program has in memory, as one canonical text in the private folder.

The bytes are defined, so that their SHA-256 names the content: ``resources/docs/python.md`` says
how. The first line is a JSON object (its keys sorted, without blanks): ``format``, ``version``,
``rows``, and ``columns``, each with its name, its kind and what is said of it. Below it stand the
rows: values as texts in double quotes (doubled inside), parted by commas; nothing at all for a
missing value; UTF-8, each row ends in LF.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Kind, Variable, variable_from_plain
from dpdesk.core.messages import msg
from dpdesk.core.shapes import read_json
from dpdesk.io.failures import private_error
from dpdesk.io.formats.columns import NullWatch, check_names
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values, damaged
from dpdesk.io.private.values import UNREADABLE

if TYPE_CHECKING:
    import numpy as np
    import pyarrow
    from numpy.typing import NDArray

_FORMAT, _VERSION = "dpdesk-frame", 1
_ROWS = 65_536
_LONGEST_ROW = 1 << 23
"""Bytes of all texts of a row; blocks of twice as many are read at a time, quotes included."""
_BLOCK = 1 << 25


@dataclass(frozen=True, eq=False)
class FrameColumn:
    """One column: what is said of it, its texts (null where there is none), its declared order."""

    variable: Variable
    texts: pyarrow.Array
    order: tuple[str, ...] = ()


def texts_of_values(values: pyarrow.Array) -> pyarrow.Array:
    """Arrow values as the texts that a Parquet file of them would give; null stays.

    A text that is no UTF-8 and a moment outside of the years 1 to 9999 become
    :data:`~dpdesk.io.private.values.UNREADABLE`.
    """
    import pyarrow as pa

    from dpdesk.io.database import in_memory
    from dpdesk.io.formats.numbers import text_sql
    from dpdesk.io.formats.private.parquet import text_values

    found = text_values(values)
    table = pa.table({"v": found.values} | ({} if found.odd is None else {"s": found.odd}))
    con = in_memory()
    try:
        con.register("given", table)
        kind = str(con.execute("DESCRIBE SELECT v FROM given").fetchall()[0][1])
        odd = "s, " if found.odd is not None else ""
        made = con.sql(f"SELECT coalesce({odd}{text_sql('v', kind)}) AS t FROM given")
        texts = made.to_arrow_table().column("t").cast(pa.large_string()).combine_chunks()
    finally:
        con.close()
    return texts


def write_frame(
    columns: Sequence[FrameColumn],
    path: Path,
    home: Path,
    token: CancelToken,
    *,
    private: bool = False,
) -> Path:
    """Write the canonical text to ``path``, in a new folder of the private one below ``home``.

    With ``private``, a row that is too long becomes unreadable instead of being refused.
    Raises InputError ``source.names``, ``frame.long``, StorageError, Cancelled.
    """
    import pyarrow as pa
    from pyarrow import csv

    check_names([column.variable.name for column in columns], path.name, "Rename one of them.")
    columns = _shortened(columns, path.name, private=private)
    try:
        path.parent.mkdir(mode=0o700)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(_head(columns))
            table = pa.table({f"c{j}": column.texts for j, column in enumerate(columns)})
            options = csv.WriteOptions(include_header=False, quoting_style="all_valid")
            for batch in table.to_batches(_ROWS):
                token.check()
                csv.write_csv(batch, out, options)
    except OSError as problem:
        raise private_error(problem, home, "write in") from problem
    return path


def _head(columns: Sequence[FrameColumn]) -> bytes:
    listed = [
        column.variable.as_plain() | ({"order": list(column.order)} if column.order else {})
        for column in columns
    ]
    head = {
        "format": _FORMAT,
        "version": _VERSION,
        "rows": len(columns[0].texts),
        "columns": listed,
    }
    text = json.dumps(head, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"


def _shortened(
    columns: Sequence[FrameColumn], name: str, *, private: bool
) -> Sequence[FrameColumn]:
    """The columns without rows that no block of the reader could hold."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes: NDArray[np.int64] = np.zeros(len(columns[0].texts), np.int64)
    for column in columns:
        lengths = pc.fill_null(pc.binary_length(column.texts), 0)
        sizes += lengths.to_numpy(zero_copy_only=False)
    long = sizes > _LONGEST_ROW
    if not long.any():
        return columns
    if not private:
        row = int(long.argmax()) + 1
        raise InputError(
            "frame.long",
            msg(
                "{name}, row {row:,}: found texts of {found:,} bytes, expected at most {most:,}.",
                name=name,
                row=row,
                found=int(sizes[row - 1]),
                most=_LONGEST_ROW,
            ),
            details={"row": row},
        )
    lost = pa.scalar(UNREADABLE, pa.large_string())
    kept = pa.array(~long)
    return [replace(one, texts=pc.if_else(kept, one.texts, lost)) for one in columns]


class FrameReader:
    """Such a text; see :class:`~dpdesk.io.formats.table.TableReader`.

    For a private method the kind and the measure that a column has in the frame are not told: one
    value of another type can change them.
    """

    encoding = "utf-8"

    def __init__(self, request: ReadRequest) -> None:
        self._path = Path(request.path)
        self._name = self._path.name
        self.notes = Notes()
        head, self._start = self._read_head()
        try:
            known = (head["format"], head["version"]) == (_FORMAT, _VERSION)
            found = [variable_from_plain(_without_order(each)) for each in head["columns"]]
            self.rows: int | None = int(head["rows"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._damaged() from error
        if not known:
            raise self._damaged()
        if request.private:
            found = [replace(each, kind=Kind.TEXT, measure="") for each in found]
        self.variables = tuple(found)
        check_names([each.name for each in found], self._name, "Rename one of them.")

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows, in their order."""
        import pyarrow as pa
        from pyarrow import csv

        names = [f"c{j}" for j in range(len(self.variables))]
        watch = NullWatch([each.name for each in self.variables], self.notes)
        left, done = limit, 0
        try:
            with self._path.open("rb") as file:
                file.seek(self._start)
                reader = csv.open_csv(
                    file,
                    csv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False),
                    csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
                    csv.ConvertOptions(
                        column_types=dict.fromkeys(names, pa.string()),
                        null_values=[""],
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=False,
                    ),
                )
                for batch in reader:
                    some = batch if left is None else batch.slice(0, left)
                    yield tuple(watch.values(j, column) for j, column in enumerate(some.columns))
                    done += batch.num_rows
                    left = None if left is None else left - some.num_rows
                    if left == 0:
                        return
        except pa.ArrowInvalid as error:
            if self.rows:
                raise self._damaged() from error
        if done != self.rows:
            raise self._damaged()

    def close(self) -> None:
        """Nothing stays open."""

    def _read_head(self) -> tuple[Mapping[str, Any], int]:
        with self._path.open("rb") as file:
            line = file.readline()
        try:
            head = read_json(line)
        except ValueError as error:
            raise self._damaged() from error
        if not isinstance(head, Mapping):
            raise self._damaged()
        return head, len(line)

    def _damaged(self) -> Exception:
        return damaged(self._name, "the file is not what DPDesk writes for a DataFrame")


def _without_order(column: Mapping[str, object]) -> Mapping[str, object]:
    return {key: value for key, value in column.items() if key != "order"}
