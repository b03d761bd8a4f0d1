"""Pseudonyms of a column: HMAC-SHA-256 of every different value, computed inside the database.

The database computes the two hashes that make an HMAC (RFC 2104) on all cores without holding the
interpreter; its answers are compared, for some values, with those of the cryptography library. The
blocks made from the key meet the values in a step that only streams, so neither a block nor what is
hashed with it is ever spilled to the disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.messages import msg
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query
from dpdesk.io.emptyrows import blank_sql
from dpdesk.io.failures import storage_error
from dpdesk.io.missing import condition as condition_of
from dpdesk.io.missing import form_sql, missing_sql

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

REPLACE = "Replace identifiers by pseudonyms"
_BATCH = 4_096  # what follows holds the interpreter for a few milliseconds at most
_BLOCK, _DIGEST = 64, 32
_CHECKED = 200
_ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)
_TEXT = f"trim({form_sql('v')}, ' ')"
_BLANK = blank_sql("v")
"""Blanks of any kind, or nothing: no identifier."""
_WHOLE = r"[+-]?[0-9]+([.]0?)?"
_DIGITS = f"ltrim(regexp_extract({_TEXT}, '[0-9]+'), '0')"
_NUMBER = (
    f"CASE WHEN {_DIGITS} = '' THEN '0' WHEN {_TEXT}[1] = '-' THEN '-' || {_DIGITS} "
    f"ELSE {_DIGITS} END"
)


@dataclass(frozen=True, eq=False)
class Replacement:
    """The released text of every value of a column: an Arrow table with columns ``v`` and ``p``.

    Missing and blank values have the empty text. ``values`` counts different identifiers, ``alike``
    the texts that were taken for an identifier which stands otherwise too (``A1`` with a blank).
    """

    table: pyarrow.Table = field(repr=False)
    values: int
    alike: int


def pseudonyms_of(
    con: DuckDBPyConnection,
    column: Column,
    missing: Sequence[str],
    key: bytes,
    length: int,
    numbers: bool,
    place: Path,
    token: CancelToken,
    report: Report,
) -> Replacement:
    """Pseudonyms of all values of a column, ``length`` characters each, under the domain's key.

    Neither missing values nor blank ones, whatever ``missing`` says, have one.

    Values are compared as texts: NFC, blanks at both ends removed; with ``numbers`` as whole
    numbers: no plus sign, no zeros in front, no ``.0`` behind.

    Raises InputError ``pseudonym.not-number``, RefusedError ``pseudonym.collision`` or
    ``pseudonym.self-check``, StorageError, Cancelled.
    """
    report(StepStarted(REPLACE, 1, 1))
    # A missing value with blanks around it is no identifier either, and no text none whatever a
    # plan lists: all rows without an identifier would pass for one person.
    either = (missing_sql(column, missing), condition_of(column.user_missing, missing, _TEXT))
    condition = " OR ".join((*filter(None, either), _BLANK))
    if numbers:
        _check_numbers(con, column, condition, place, token)
    form = _NUMBER if numbers else _TEXT
    inner, outer = _pads(key)
    distinct = f"SELECT DISTINCT {column.sql}::VARCHAR AS v FROM {DATA}"
    statement = (
        f"SELECT v, c, CASE WHEN c IS NULL THEN NULL ELSE "
        "unhex(sha256($1 || unhex(sha256($2 || encode(c))))) END AS h FROM "
        f"(SELECT v, CASE WHEN {condition} THEN NULL ELSE {form} END AS c FROM ({distinct}))"
    )
    with query(con, token, place) as cursor:
        total = _count(cursor, column)
        batches = cursor.sql(statement, params=[outer, inner]).to_arrow_reader(_BATCH)
        parts: list[pyarrow.Table] = []
        done = 0
        for batch in _each(batches, place, token):
            if not parts:
                _compare(batch.slice(0, _CHECKED), key)
            parts.append(_named(batch, length))
            done += batch.num_rows
            report(StepProgress(REPLACE, done, max(done, total), "values"))
        return _counted(cursor, column, parts)


def _each(
    batches: pyarrow.RecordBatchReader, place: Path, token: CancelToken
) -> Iterator[pyarrow.RecordBatch]:
    try:
        for batch in batches:
            token.check()
            yield batch
    except OSError as problem:
        token.check()  # Arrow calls a query that a cancel interrupts an error of the disk
        raise storage_error(problem, place, "read") from problem


def _pads(key: bytes) -> tuple[bytes, bytes]:
    """The inner and the outer block of RFC 2104."""
    if not 1 <= len(key) <= _BLOCK:
        raise ValueError("a key has 1 to 64 bytes")
    block = key.ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)


def _count(cursor: DuckDBPyConnection, column: Column) -> int:
    if column.domain is not None:
        return len(column.domain)
    found = cursor.execute(f"SELECT approx_count_distinct({column.sql}) FROM {DATA}").fetchall()
    return int(found[0][0])


def _check_numbers(
    con: DuckDBPyConnection, column: Column, condition: str, place: Path, token: CancelToken
) -> None:
    with query(con, token, place) as cursor:
        found = cursor.execute(
            f"SELECT min(r) FROM (SELECT rowid AS r, {column.sql}::VARCHAR AS v FROM {DATA}) "
            f"WHERE NOT ({condition}) AND NOT regexp_full_match({_TEXT}, '{_WHOLE}')"
        ).fetchall()
    if found[0][0] is None:
        return
    row = int(found[0][0]) + 1
    raise InputError(
        "pseudonym.not-number",
        msg(
            "{name}, row {row:,}, column `{column}`: found a value that is not a whole number, "
            "although the plan says that identifiers are whole numbers.",
            name=place.name,
            row=row,
            column=column.name,
        ),
        hint='Remove `values = "number"`, so that they are compared as texts.',
        details={"column": column.name, "row": row},
    )


def _compare(batch: pyarrow.RecordBatch, key: bytes) -> None:
    """The database's answers are those of the cryptography library."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.hmac import HMAC

    for text, digest in zip(batch.column(1).to_pylist(), batch.column(2).to_pylist(), strict=True):
        if text is None:
            continue
        made = HMAC(key, SHA256())
        made.update(text.encode("utf-8"))
        if made.finalize() != digest:
            raise RefusedError(
                "pseudonym.self-check",
                "The release was not made: two ways to compute a pseudonym disagree.",
                hint="This is an error in the program; please report it.",
            )


def _named(batch: pyarrow.RecordBatch, length: int) -> pyarrow.Table:
    """Value and pseudonym of a batch; null for missing values."""
    import pyarrow

    digests = batch.column(2)
    known = digests.is_valid()
    texts = _base32(digests.drop_null(), length)
    order = np.cumsum(known.to_numpy(zero_copy_only=False)) - 1
    places = pyarrow.array(order, pyarrow.int64(), mask=~known.to_numpy(zero_copy_only=False))
    found = texts.take(places) if len(texts) else pyarrow.nulls(len(batch), pyarrow.string())
    return pyarrow.table({"v": batch.column(0), "c": batch.column(1), "p": found})


def _base32(digests: pyarrow.Array, length: int) -> pyarrow.Array:
    """The first ``length`` characters of the base32 text (RFC 4648, no padding) of digests."""
    import pyarrow

    count = len(digests)
    bits = np.unpackbits(_bytes(digests), axis=1)
    if bits.shape[1] < 5 * length:
        bits = np.pad(bits, ((0, 0), (0, 5 * length - bits.shape[1])))
    codes: NDArray[np.uint8] = np.packbits(
        bits[:, : 5 * length].reshape(count, length, 5), axis=2
    ).reshape(count, length)
    letters = np.ascontiguousarray(_ALPHABET[codes >> 3])
    offsets = np.arange(0, (count + 1) * length, length, dtype=np.int32)
    return pyarrow.StringArray.from_buffers(
        count, pyarrow.py_buffer(offsets), pyarrow.py_buffer(letters)
    )


def _bytes(digests: pyarrow.Array) -> NDArray[np.uint8]:
    """The bytes of digests without nulls, shape (digests, 32)."""
    count = len(digests)
    if not count:
        return np.zeros((0, _DIGEST), np.uint8)
    _, offsets, data = digests.buffers()
    first = int(np.frombuffer(offsets, np.int32)[digests.offset])
    return np.frombuffer(data, np.uint8, count * _DIGEST, first).reshape(count, _DIGEST)


def _counted(
    cursor: DuckDBPyConnection, column: Column, parts: Sequence[pyarrow.Table]
) -> Replacement:
    """The whole table, when different identifiers have different pseudonyms."""
    import pyarrow
    import pyarrow.compute as pc

    if not parts:
        empty = pyarrow.table({"v": pyarrow.array([], pyarrow.string())})
        return Replacement(empty.append_column("p", empty.column("v")), 0, 0)
    whole = pyarrow.concat_tables(parts)
    cursor.register("named", whole)
    found = cursor.execute(
        "SELECT count(c), count(DISTINCT c), count(DISTINCT p) FROM named"
    ).fetchall()
    cursor.unregister("named")
    texts, values, names = found[0]
    if values != names:
        raise RefusedError(
            "pseudonym.collision",
            msg("Two different identifiers of `{name}` have the same pseudonym.", name=column.name),
            hint="Give pseudonyms more characters with `length`, or use another key.",
            details={"column": column.name},
        )
    table = pyarrow.table({"v": whole.column("v"), "p": pc.fill_null(whole.column("p"), "")})
    return Replacement(table, values, texts - values)
