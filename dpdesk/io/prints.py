"""Rows compared as a whole, whatever their order: by keyed prints of 64 bits.

The key is drawn for each comparison, so nobody can make a row in advance whose print is that of
another; by chance a row that is not there finds its print among n others with a chance of n/2^64.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

    from dpdesk.io.published import PublishedCsv

Prints = NDArray[np.uint64]
_BATCH = 200_000


def fresh_print_key() -> Prints:
    """A key for one comparison; the second number is odd."""
    return np.array([secrets.randbits(64), secrets.randbits(64) | 1], np.uint64)


def apart(first: Prints, second: Prints) -> tuple[int, int]:
    """How many prints only the first list has, and only the second, each as often as it occurs."""
    from dpdesk.io.print_kernels import count_apart

    found = np.zeros(2, np.int64)
    count_apart(np.sort(first), np.sort(second), found)
    return int(found[0]), int(found[1])


def published_prints(
    published: PublishedCsv, columns: Sequence[str], key: Prints, token: CancelToken
) -> Prints:
    """The print of every row of a published table on these columns, in file order."""
    rows = np.zeros(published.rows, np.uint64)
    done = 0
    for batch in published.batches(columns, token) if columns else ():
        part = rows[done : done + batch.num_rows]
        for column in batch.columns:
            _fold(part, column, key)
        done += batch.num_rows
    return rows


def source_prints(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    mapping: Mapping[str, Mapping[str, str]],
    key: Prints,
    place: Path,
    token: CancelToken,
) -> Prints:
    """The print of every row of a source on these columns, in source order.

    ``mapping`` gives the released text of every raw text for columns that are recoded; KeyError
    for a text that it lacks.
    """
    found = np.zeros(rows, np.uint64)
    for column in columns:
        recode = mapping.get(column.name)
        if column.domain is None:
            _fold_texts(found, con, column, recode, key, place, token)
        else:
            _fold_codes(found, con, column, column.domain, recode, key, place, token)
    return found


def _fold_codes(
    found: Prints,
    con: DuckDBPyConnection,
    column: Column,
    domain: Sequence[str],
    recode: Mapping[str, str] | None,
    key: Prints,
    place: Path,
    token: CancelToken,
) -> None:
    from dpdesk.io.print_kernels import fold_prints

    texts = [recode[value] for value in domain] if recode is not None else domain
    prints = _of_texts(texts, key)
    with query(con, token, place) as cursor:
        codes = cursor.sql(f"SELECT enum_code({column.sql}) AS v FROM {DATA}").to_arrow_table()
    fold_prints(found, codes.column(0).to_numpy(), prints, key)


def _fold_texts(
    found: Prints,
    con: DuckDBPyConnection,
    column: Column,
    recode: Mapping[str, str] | None,
    key: Prints,
    place: Path,
    token: CancelToken,
) -> None:
    import pyarrow

    done = 0
    with query(con, token, place) as cursor:
        for batch in cursor.sql(
            msg("SELECT {sql} FROM {data}", sql=column.sql, data=DATA)
        ).to_arrow_reader(_BATCH):
            token.check()
            texts = batch.column(0)
            if recode is not None:
                texts = pyarrow.array([recode[text] for text in texts.to_pylist()])
            _fold(found[done : done + len(texts)], texts, key)
            done += len(texts)


def _of_texts(texts: Sequence[str], key: Prints) -> Prints:
    from dpdesk.io.print_kernels import print_texts

    raw = [text.encode() for text in texts]
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum([len(text) for text in raw], out=offsets[1:])
    prints = np.empty(len(raw), np.uint64)
    print_texts(offsets, np.frombuffer(b"".join(raw) or b"\0", np.uint8), key, prints)
    return prints


def _fold(rows: Prints, texts: pyarrow.Array | pyarrow.ChunkedArray, key: Prints) -> None:
    """Fold a column of texts into the prints of as many rows."""
    import pyarrow

    from dpdesk.io.print_kernels import fold_prints, print_texts

    done = 0
    for chunk in texts.chunks if isinstance(texts, pyarrow.ChunkedArray) else (texts,):
        if not len(chunk):
            continue
        width = np.int64 if pyarrow.types.is_large_string(chunk.type) else np.int32
        _, raw, data = chunk.buffers()
        offsets = np.frombuffer(raw, width)[chunk.offset : chunk.offset + len(chunk) + 1]
        held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(1, np.uint8)
        prints = np.empty(len(chunk), np.uint64)
        print_texts(offsets.astype(np.int64), held, key, prints)
        part = rows[done : done + len(chunk)]
        fold_prints(part, np.arange(len(chunk)), prints, key)
        done += len(chunk)
