"""The classes of a published table, and what lies in them, read from its CSV alone.

The texts come from the verifier's reader; a database only groups them, so that large tables neither
fill the memory nor keep a cancel waiting.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.labels import NOTHING_MISSING, UserMissing
from dpdesk.io.database import connect, query
from dpdesk.io.failures import storage_error
from dpdesk.io.missing import condition

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.workspace import Workspace


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
