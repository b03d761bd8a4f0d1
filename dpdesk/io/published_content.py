"""What the texts of a published column look like: type, free text, addresses, extreme numbers."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.labels import NOTHING_MISSING, UserMissing
from dpdesk.core.release import Content
from dpdesk.core.schema import ColumnType, ValueCount
from dpdesk.io.database import connect, query
from dpdesk.io.failures import storage_error
from dpdesk.io.missing import DATE_FORMS, ISO_DATE, condition, user_missing_flags

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.workspace import Workspace


# The classes of a published table, and what lies in them, read from its CSV alone.
#
# The texts come from the verifier's reader; a database only groups them, so that large tables
# neither fill the memory nor keep a cancel waiting.


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """The different ``texts`` of a column (an Arrow array) and the ``rows`` of each (int64)."""

    texts: Any
    rows: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PublishedPairs:
    """One column of the table by class and value.

    ``classes``, ``values`` and ``counts`` have shape (pairs,), int64; ``classes`` index the sizes
    of the classes, ``values`` the texts of ``distinct``.
    """

    column: str
    distinct: PublishedValues
    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]


class PublishedClasses:
    """The rows of a published table grouped by the exact text of its quasi-identifiers.

    ``sizes`` are the rows per class, shape (classes,), int64. Without quasi-identifiers all rows
    are one class. Made by :func:`grouped`.
    """

    def __init__(
        self,
        con: DuckDBPyConnection,
        published: PublishedCsv,
        quasi_identifiers: Sequence[str],
        place: Path,
    ) -> None:
        self._con = con
        self._published = published
        self._place = place
        self._quasi = tuple(quasi_identifiers)
        self._others = tuple(name for name in published.columns if name not in self._quasi)
        self.sizes: NDArray[np.int64] = np.zeros(0, np.int64)

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are no quasi-identifiers, in file order."""
        return self._others

    def load(self, token: CancelToken, report: Report, step: str) -> None:
        """Read the table and make its classes. Raises UnreadableTableError, OSError, Cancelled."""
        names = [f"c{place}" for place in range(len(self._quasi))]
        names += [f"v{place}" for place in range(len(self._others))]
        done = 0
        with query(self._con, token, self._place) as cursor:
            listed = ", ".join(f"{name} VARCHAR" for name in names)
            cursor.execute(f"CREATE TABLE published ({listed})")
            for batch in self._published.batches((*self._quasi, *self._others), token):
                cursor.register("batch", batch.rename_columns(names))
                cursor.execute("INSERT INTO published SELECT * FROM batch")
                cursor.unregister("batch")
                done += batch.num_rows
                report(StepProgress(step, done, self._published.rows, "rows"))
        self._make_classes(token)

    def _make_classes(self, token: CancelToken) -> None:
        keys = ", ".join(f"c{place}" for place in range(len(self._quasi)))
        group, using = f"GROUP BY {keys}" if keys else "", f"USING ({keys})"
        join = f"JOIN classes {using}" if keys else "CROSS JOIN classes"
        others = "".join(f", v{place}" for place in range(len(self._others)))
        listed = f"{keys}, " if keys else ""
        with query(self._con, token, self._place) as cursor:
            cursor.execute(
                "CREATE TABLE classes AS SELECT (row_number() OVER ()) - 1 AS class, * FROM "
                f"(SELECT {listed}count(*) AS size FROM published {group})"
            )
            cursor.execute(f"CREATE TABLE placed AS SELECT class{others} FROM published {join}")
            cursor.execute("DROP TABLE published")
            (self.sizes,) = _numbers(cursor, "SELECT size FROM classes ORDER BY class")

    def values(self, quasi_identifier: str, token: CancelToken) -> PublishedValues:
        """The different texts of a quasi-identifier with their rows."""
        name = f"c{self._quasi.index(quasi_identifier)}"
        with query(self._con, token, self._place) as cursor:
            return _values(
                cursor,
                f"SELECT {name} AS v, sum(size)::BIGINT AS n FROM classes GROUP BY v ORDER BY v",
            )

    def rows_with(
        self, tokens: Sequence[str], user: Mapping[str, UserMissing], token: CancelToken
    ) -> int:
        """Rows in which a quasi-identifier is one of these texts, or missing by the source."""
        parts = [
            condition(user.get(name, NOTHING_MISSING), tokens, f"c{place}")
            for place, name in enumerate(self._quasi)
        ]
        hit = " OR ".join(part for part in parts if part)
        if not hit:
            return 0
        with query(self._con, token, self._place) as cursor:
            found = cursor.execute(f"SELECT sum(size)::BIGINT FROM classes WHERE {hit}").fetchone()
        return int(found[0] or 0) if found else 0

    def pairs(self, column: str, token: CancelToken) -> PublishedPairs:
        """One of the other columns by class and value."""
        name = f"v{self._others.index(column)}"
        with query(self._con, token, self._place) as cursor:
            cursor.execute(
                "CREATE OR REPLACE TEMP TABLE tally AS "
                "SELECT (row_number() OVER (ORDER BY v)) - 1 AS code, v, n FROM "
                f"(SELECT {name} AS v, count(*) AS n FROM placed GROUP BY v)"
            )
            distinct = _values(cursor, "SELECT v, n FROM tally ORDER BY code")
            classes, codes, counts = _numbers(
                cursor,
                f"SELECT class, code, count(*) AS n FROM placed JOIN tally ON {name} = v "
                "GROUP BY class, code",
            )
            cursor.execute("DROP TABLE tally")
        return PublishedPairs(column, distinct, classes, codes, counts)


@contextmanager
def grouped(
    published: PublishedCsv,
    quasi_identifiers: Sequence[str],
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    step: str,
) -> Iterator[PublishedClasses]:
    """The classes of a published table, for as long as the block lasts.

    ``quasi_identifiers`` are columns of the table. Progress in rows comes under ``step``. Raises
    UnreadableTableError, OSError, StorageError and Cancelled.
    """
    spill = workspace.new_path(".spill")
    try:
        spill.mkdir(mode=0o700)
    except OSError as problem:
        raise storage_error(problem, workspace.folder, "write into") from problem
    con = connect(spill)
    try:
        classes = PublishedClasses(con, published, quasi_identifiers, workspace.folder)
        classes.load(token, report, step)
        yield classes
    finally:
        con.close()
        shutil.rmtree(spill, ignore_errors=True)


def _values(cursor: DuckDBPyConnection, statement: str) -> PublishedValues:
    """The answer to a statement that gives texts and their rows."""
    table = _table(cursor, statement)
    texts = table.column(0).combine_chunks()
    return PublishedValues(texts, np.asarray(table.column(1).to_numpy(), dtype=np.int64))


def _numbers(cursor: DuckDBPyConnection, statement: str) -> list[NDArray[np.int64]]:
    """The columns of a statement that gives whole numbers."""
    columns = _table(cursor, statement).columns
    return [np.asarray(column.to_numpy(), dtype=np.int64) for column in columns]


def _table(cursor: DuckDBPyConnection, statement: str) -> Any:
    """The answer as an Arrow table, which is made without keeping others waiting."""
    return cursor.sql(statement).to_arrow_table()


# What pseudonyms of a published table give away: the histories of persons with several rows.
#
# The rows of one pseudonym together are a *history*: how many rows it has in which classes. k
# counts persons who are alike in one row; whoever knows all rows of a person looks for the history,
# and few persons may share it.


_WORDS = 2  # of 64 bits each, by which histories are compared


@dataclass(frozen=True)
class Histories:
    """Different pseudonyms; those with several rows; the most rows of one; those whose history is
    shared by fewer than k pseudonyms (themselves included); ``alone`` those who share it with
    nobody. Rows without a pseudonym count nowhere.
    """

    pseudonyms: int
    several: int
    most: int
    few: int
    alone: int

    def as_json(self) -> dict[str, int]:
        """The figures by name."""
        return dict(vars(self))


def histories(
    published: PublishedCsv,
    quasi_identifiers: Sequence[str],
    column: str,
    k: int,
    token: CancelToken,
) -> Histories:
    """Compare the histories of all pseudonyms of a column.

    Two histories are taken for the same when sums of random words of 128 bits are, which for
    different ones happens once in 2^128 pairs. KeyError for an unknown column.
    """
    table = published.counted((*quasi_identifiers, column), token)
    token.check()
    places = [_codes(table.column(f"c{place}")) for place in range(len(quasi_identifiers))]
    persons, empty = _persons(table.column(f"c{len(quasi_identifiers)}"))
    classes, rows = _joined(places, len(persons)), table.column("rows").to_numpy()
    kept = persons != empty
    persons, classes, rows = persons[kept], classes[kept], rows[kept].astype(np.uint64)
    if not len(persons):
        return Histories(0, 0, 0, 0, 0)
    token.check()
    order = np.argsort(persons, kind="stable")
    starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
    counts = np.add.reduceat(rows[order], starts)
    words = _random_words(int(classes.max()) + 1)
    sums = [np.add.reduceat((words[:, w][classes] * rows)[order], starts) for w in range(_WORDS)]
    token.check()
    alike = _alike(sums)
    return Histories(
        pseudonyms=len(starts),
        several=int((counts > 1).sum()),
        most=int(counts.max()),
        few=int((alike < k).sum()),
        alone=int((alike == 1).sum()),
    )


def _codes(column: Any) -> NDArray[np.int64]:
    """A code for each text; equal texts have equal codes."""
    coded = column.combine_chunks().dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _persons(column: Any) -> tuple[NDArray[np.int64], int]:
    """A code for each pseudonym, and the code of the empty text (-1: there is none)."""
    import pyarrow.compute as pc

    missing = np.flatnonzero(pc.equal(column, "").to_numpy(zero_copy_only=False))
    codes = _codes(column)
    return codes, int(codes[missing[0]]) if len(missing) else -1


def _joined(places: Sequence[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """One code for each tuple of codes."""
    joined = np.zeros(count, np.int64)
    for codes in places:
        span = int(codes.max()) + 1 if len(codes) else 1
        joined = np.unique(joined * span + codes, return_inverse=True)[1].astype(np.int64)
    return joined


def _random_words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(secrets.token_bytes(8 * _WORDS * count), np.uint64).reshape(count, _WORDS)


def _alike(sums: Sequence[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """How many have the same sums as each."""
    order = np.lexsort(sums)
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = np.any([one[order][1:] != one[order][:-1] for one in sums], axis=0)
    group = np.cumsum(fresh) - 1
    sizes = np.bincount(group)
    found = np.empty(len(order), np.int64)
    found[order] = sizes[group]
    return found


_PIECE = 100_000
_INTEGER = r"[+-]?\d+"
_NUMBER = r"[+-]?(\d+(MARK\d*)?|MARK\d+)([eE][+-]?\d+)?"
_DATES = "|".join((ISO_DATE, *(form for form, _ in DATE_FORMS)))
_ADDRESS = r"[^\s@]+@[^\s@]+\.[A-Za-z]{2,}"
_WORDY = r"\S+(\s+\S+){3,}"
_MANY_VALUES, _WORDY_SHARE = 100, 0.3
_HIGH, _FAR = 0.99, 2.0


@dataclass(frozen=True)
class ColumnContent:
    """What the texts of a column look like; see :class:`dpdesk.core.release.ColumnFacts`."""

    type: ColumnType
    content: Content
    extreme: ValueCount | None


def column_content(
    texts: Any,
    rows: NDArray[np.int64],
    missing: Sequence[str],
    decimal: str,
    token: CancelToken,
    user: UserMissing = NOTHING_MISSING,
) -> ColumnContent:
    """Judge the different ``texts`` of a column (an Arrow array); each stands in ``rows`` rows.

    The type is that which all texts but the missing codes have, ``user`` being those of the source.
    Free text: many different texts, of which three in ten or more have four words. One e-mail
    address is enough for addresses.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    listed = pc.is_in(texts, value_set=pa.array(list(missing), pa.string()))
    present = ~_taken(pc.or_(listed, user_missing_flags(texts, user)))
    kept, counts = texts.filter(pa.array(present)), rows[present]
    if not len(kept):
        return ColumnContent(ColumnType.EMPTY, Content.PLAIN, None)
    number = _NUMBER.replace("MARK", "[.]" if decimal == "." else ",")
    if _all_match(kept, number, token):
        whole = _all_match(kept, _INTEGER, token)
        extreme = _extreme(kept, counts, decimal)
        kind = ColumnType.INTEGER if whole else ColumnType.DECIMAL
        return ColumnContent(kind, Content.PLAIN, extreme)
    if _all_match(kept, _DATES, token):
        return ColumnContent(ColumnType.DATE, Content.PLAIN, None)
    return ColumnContent(ColumnType.TEXT, _text_content(kept, token), None)


def _text_content(texts: Any, token: CancelToken) -> Content:
    if _matching(texts, _ADDRESS, token):
        return Content.ADDRESSES
    if len(texts) > _MANY_VALUES:
        wordy = _matching(texts, _WORDY, token)
        if wordy >= _WORDY_SHARE * len(texts):
            return Content.FREE_TEXT
    return Content.PLAIN


def _all_match(texts: Any, pattern: str, token: CancelToken) -> bool:
    for start in range(0, len(texts), _PIECE):
        token.check()
        piece = texts.slice(start, _PIECE)
        if _count(piece, pattern) < len(piece):
            return False
    return True


def _matching(texts: Any, pattern: str, token: CancelToken) -> int:
    found = 0
    for start in range(0, len(texts), _PIECE):
        token.check()
        found += _count(texts.slice(start, _PIECE), pattern)
    return found


def _count(texts: Any, pattern: str) -> int:
    import pyarrow.compute as pc

    hits = pc.match_substring_regex(texts, rf"^\s*(?:{pattern})\s*$")
    return int(pc.sum(hits).as_py() or 0)


def _extreme(texts: Any, rows: NDArray[np.int64], decimal: str) -> ValueCount | None:
    """The largest number where it is more than twice the 99th percentile of the rows, else None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = pc.utf8_trim_whitespace(texts)
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    plain = pc.replace_substring_regex(plain, r"^\+", "")
    try:
        numbers = pc.cast(plain, pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(rows[order])
    high = numbers[order][int(np.searchsorted(reached, _HIGH * reached[-1]))]
    last = int(order[-1])
    if not high > 0 or not numbers[last] > _FAR * high:
        return None
    return ValueCount(str(texts[last].as_py()), int(rows[last]))


def _taken(mask: Any) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.asarray(mask.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return found
