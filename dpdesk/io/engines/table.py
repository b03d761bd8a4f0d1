"""A table in an engine: the values of its columns, and its distinct tuples, fetched as codes.

What an engine answers lies in the private folder alone: as a file while it is taken over, then in
the database of the store. A value becomes the text that the reader of its format makes of it, so a
table gives the same texts whether it is read or counted where it is.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.coding import texts
from dpdesk.io.database import literal, parquet_source, query
from dpdesk.io.engines.statements import (
    COUNT,
    SURE,
    doubts_of,
    first_of,
    tally_of,
    totals_of,
    tuples_of,
    values_of,
)
from dpdesk.io.formats.loading import scratch
from dpdesk.io.private.values import UNREADABLE, value_sql
from dpdesk.io.source import FilePrint

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from dpdesk.io.engines.statements import Engine
    from dpdesk.io.workspace import Workspace

MOST_VALUES = 20_000_000
"""Different values of a column of which texts are kept here: about 100 bytes each."""
_MOST_LISTED = 20_000
"""Values that are written into a statement, to be recoded by the engine."""
_FEW_TABLES = 3
"""Tables that the engine counts one by one."""
MOST_SEEN = 100_000
"""Values of a column that are looked at."""
_LOOK_UP = 0.1
"""Seconds between two looks whether the work that waits for its turn was cancelled."""
_BATCH = 1 << 20


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The values of a column by code point, how many rows hold each, and how many texts of the
    engine stand for them.
    """

    domain: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    texts: int = 0


@dataclass(frozen=True, eq=False)
class Seen:
    """Values of a column with their rows, most frequent first where they are not all.

    ``tally`` says then how many different ones the engine counts, and how many occur once.
    """

    values: tuple[str, ...] = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    tally: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Grouped:
    """Distinct tuples of released texts with their rows, as a table of the store's database.

    Its columns r0, r1, … index ``shown``, the texts of each column by code point; n are the rows.
    """

    con: DuckDBPyConnection = field(repr=False)
    place: Path
    names: tuple[str, ...]
    shown: tuple[tuple[str, ...], ...] = field(repr=False)
    table: str

    def __post_init__(self) -> None:
        # Several threads may ask at a time, so a table stays while anyone reads it, and no other
        # takes its name.
        weakref.finalize(self, _drop, self.con, self.table)

    def batches(
        self, token: CancelToken, chosen: Sequence[int] | None = None, where: str = "true",
        tables: Mapping[str, object] = {},
    ) -> Iterator[tuple[list[NDArray[np.int64]], NDArray[np.int64]]]:  # fmt: skip
        """The columns ``chosen`` (places) and the rows, tuples in order, in pieces."""
        places = range(len(self.names)) if chosen is None else chosen
        keys = [f"r{place}" for place in places]
        listed = "".join(f"{key}::BIGINT AS {key}, " for key in keys)
        order = f"GROUP BY {', '.join(keys)} ORDER BY {', '.join(keys)}" if keys else ""
        with query(self.con, token, self.place) as cursor:
            for name, table in tables.items():
                cursor.register(name, table)
            found = cursor.sql(
                f"SELECT {listed}sum(n)::BIGINT AS n FROM {self.table} WHERE {where} {order}"
            )
            for batch in found.to_arrow_reader(_BATCH):
                token.check()
                *columns, counts = [column.to_numpy() for column in batch.columns]
                yield columns, counts


def _number(place: int) -> str:
    """SQL for a whole number of an answer, which engines write in several types."""
    return f"coalesce(nullif(c{place}::VARCHAR, '')::HUGEINT, 0)"


def _drop(con: DuckDBPyConnection, table: str) -> None:
    with suppress(Exception):  # of a database that is closed there is nothing to drop
        con.cursor().execute(f"DROP TABLE IF EXISTS {table}")


class EngineTable:
    """See this module. ``kinds`` are the declared types of a private method's columns."""

    def __init__(
        self,
        con: DuckDBPyConnection,
        engine: Engine,
        spec: SourceSpec,
        path: Path,
        workspace: Workspace,
        kinds: Mapping[str, str] | None,
    ) -> None:
        self.engine, self.filled, self.rows = engine, False, 0
        self._con, self._spec, self.path, self._workspace = con, spec, path, workspace
        self._kinds = kinds
        self._places = {name: place for place, name in enumerate(engine.columns)}
        self._known: dict[str, Dictionary] = {}
        self._grouped: tuple[object, Grouped] | None = None
        self._wide: Grouped | None = None
        self._asked, self._numbers = 0, itertools.count()
        self._lock = threading.RLock()

    @contextmanager
    def _turn(self, token: CancelToken) -> Iterator[None]:
        """One question after the other; who waits for its turn may be cancelled."""
        while not self._lock.acquire(timeout=_LOOK_UP):
            token.check()
        try:
            yield
        finally:
            self._lock.release()

    def dictionary(self, name: str, token: CancelToken, report: Report) -> Dictionary:
        """The values of a column, asked for once. Raises what asking the engine raises."""
        with self._turn(token):
            if name not in self._known:
                self._known[name] = self._values(name, token, report)
            return self._known[name]

    def unreadable(
        self, names: Sequence[str], token: CancelToken, report: Report
    ) -> dict[str, int]:
        """How many values of each column are not of its declared type, where there are any.

        The engine counts what may not be; only such values come here to be looked at.
        """
        kinds = self._kinds or {}
        doubts = {self._places[name]: SURE.get(kinds.get(name, ""), "") for name in names}
        if not doubts:
            return {}
        report(StepStarted(COUNT, 1, 1))
        sql, found = doubts_of(self.engine, doubts, filled=self.filled), {}
        with self._turn(token):
            with self._fetched(sql, token, report) as (cursor, source):
                listed = ", ".join(map(_number, range(len(doubts))))
                [counts] = cursor.execute(f"SELECT {listed} FROM {source}").fetchall()
            for name, doubtful in zip(names, counts, strict=True):
                rows = self._lost(name, doubts, token, report) if int(doubtful) else 0
                if rows:
                    found[name] = rows
        return found

    def _lost(
        self, name: str, doubts: Mapping[int, str], token: CancelToken, report: Report
    ) -> int:
        """The rows of a column whose value is unreadable, among those that may be."""
        place = self._places[name]
        sql = values_of(self.engine, place, filled=self.filled, doubt=doubts[place])
        with self._fetched(sql, token, report) as (cursor, source):
            value = self._typed(name, "t")
            [(rows,)] = cursor.execute(
                f"SELECT coalesce(sum(n), 0)::BIGINT FROM (SELECT {self._text(cursor, source, 0)} "
                f"AS t, c2::BIGINT AS n FROM {source}) WHERE {value} = {literal(UNREADABLE)}"
            ).fetchall()
        return int(rows)

    def settle(self, names: Sequence[str], *, keep: bool, token: CancelToken,
               report: Report) -> FilePrint:  # fmt: skip
        """Find out how many rows there are, and what tells them from others, by some columns.

        Unless rows without any value are kept, the engine is asked to leave them out if its first
        column does not show already that there are none.
        """
        places = [self._places[name] for name in names]
        self.rows, *sums, empty = self._totals(places, token, report)
        if empty and not keep:
            self.filled = True
            self.rows, *sums, _ = self._totals(places, token, report)
        plain = json.dumps([self.engine.name, list(names), self.rows, *sums], ensure_ascii=True)
        return FilePrint(hashlib.sha256(plain.encode("ascii")).hexdigest())

    def _totals(self, places: Sequence[int], token: CancelToken, report: Report) -> list[int]:
        report(StepStarted(COUNT, 1, 1))
        sql = totals_of(self.engine, places, filled=self.filled)
        with self._fetched(sql, token, report) as (cursor, source):
            listed = ", ".join(map(_number, range(4)))
            [found] = cursor.execute(f"SELECT {listed} FROM {source}").fetchall()
        return [int(number) for number in found]

    def grouped(
        self,
        names: Sequence[str],
        mapping: Mapping[str, Mapping[str, str]],
        token: CancelToken,
        report: Report,
    ) -> Grouped:
        """The distinct tuples of some columns, with the released texts of those in ``mapping``.

        Columns that are recoded are so in the engine. KeyError for a value that is not recoded.
        """
        asked = (tuple(names), {name: dict(mapping[name]) for name in names if name in mapping})
        with self._turn(token):
            if self._grouped is None or self._grouped[0] != asked:
                self._grouped = None
                wide = None if asked[1] else self._wider(asked[0], token, report)
                if wide is not None:
                    found = self._narrowed(wide, asked[0], token)
                else:
                    found = self._group(asked[0], mapping, token, report)
                self._grouped = asked, found
            return self._grouped[1]

    def _wider(self, names: tuple[str, ...], token: CancelToken, report: Report) -> Grouped | None:
        """A table of more columns that answers for these, where many tables are asked for.

        It holds the columns that were asked for before: risks are figured over dozens of small sets
        of them, each of which would cost the engine a look at all rows. Not for private methods,
        which ask for few.
        """
        self._asked += 1
        if self._kinds is not None or self._asked <= _FEW_TABLES or not names:
            return None
        if self._wide is None or not {*names} <= {*self._wide.names}:
            known = tuple(name for name in self._places if name in self._known or name in names)
            self._wide = self._group(known, {}, token, report)
        return self._wide

    def _narrowed(self, wide: Grouped, names: tuple[str, ...], token: CancelToken) -> Grouped:
        """Some columns of a wider table."""
        places = [wide.names.index(name) for name in names]
        keys = ", ".join(f"r{place}" for place in places)
        listed = ", ".join(f"r{place} AS r{j}" for j, place in enumerate(places))
        shown = tuple(wide.shown[place] for place in places)
        found = self._new(names, shown)
        with query(self._con, token, self.path) as cursor:
            cursor.execute(
                f"CREATE TABLE {found.table} AS SELECT {listed}, sum(n)::BIGINT AS n "
                f"FROM {wide.table} GROUP BY {keys}"
            )
        return found

    def _new(self, names: tuple[str, ...], shown: tuple[tuple[str, ...], ...]) -> Grouped:
        """A table that is to be made."""
        table = f"grouped_{next(self._numbers)}"
        return Grouped(self._con, self.path, names, shown, table)

    def _group(
        self,
        names: tuple[str, ...],
        mapping: Mapping[str, Mapping[str, str]],
        token: CancelToken,
        report: Report,
    ) -> Grouped:
        shown, ranks, listed = [], [], {}
        for name in names:
            found, recode = self.dictionary(name, token, report), mapping.get(name)
            released = found.domain if recode is None else [recode[v] for v in found.domain]
            ordered = tuple(sorted(set(released)))
            index = {text: rank for rank, text in enumerate(ordered)}
            shown.append(ordered)
            ranks.append([index[text] for text in released])
            if recode is not None and found.texts <= _MOST_LISTED:
                listed[self._places[name]] = self._texts(name, ranks[-1], token)
        grouped = self._new(names, tuple(shown))
        report(StepStarted(COUNT, 1, 1))
        if not names:
            with query(self._con, token, self.path) as cursor:
                cursor.execute(f"CREATE TABLE {grouped.table} AS SELECT {self.rows} AS n")
            return grouped
        places = [self._places[name] for name in names]
        sql = tuples_of(self.engine, places, listed, filled=self.filled)
        with self._fetched(sql, token, report) as (cursor, source):
            self._take_over(cursor, source, grouped.table, places, listed, ranks)
            [(rows,)] = cursor.execute(
                f"SELECT coalesce(sum(n), 0) FROM {grouped.table}"
            ).fetchall()
        if int(rows) != self.rows:
            raise self._changed()
        return grouped

    def _take_over(
        self,
        cursor: DuckDBPyConnection,
        source: str,
        target: str,
        places: Sequence[int],
        listed: Mapping[int, object],
        ranks: Sequence[Sequence[int]],
    ) -> None:
        """Make the table ``target`` of the tuples that the engine gave."""
        import pyarrow as pa

        found, joins = [], []
        for j, (place, places_of) in enumerate(zip(places, ranks, strict=True)):
            if place in listed:
                found.append(f"f.c{j}::INTEGER AS r{j}")
                continue
            codes = pa.array(range(len(places_of)), pa.int32())
            ranked = pa.table({"code": codes, "r": pa.array(places_of, pa.int32())})
            cursor.register(f"t{j}", ranked)
            joins.append(f"JOIN d{place} ON d{place}.k = coalesce(f.c{j}, '')")
            joins.append(f"JOIN t{j} ON t{j}.code = d{place}.code")
            found.append(f"t{j}.r AS r{j}")
        keys = ", ".join(f"r{j}" for j in range(len(places)))
        cursor.execute(
            f"CREATE TABLE {target} AS SELECT {', '.join(found)}, "
            f"sum(f.c{len(places)}::BIGINT)::BIGINT AS n FROM {source} f {' '.join(joins)} "
            f"GROUP BY {keys}"
        )

    def _texts(self, name: str, ranks: Sequence[int], token: CancelToken) -> list[tuple[str, int]]:
        """The texts of the engine for the values of a column, with the rank of each value."""
        with query(self._con, token, self.path) as cursor:
            found = cursor.execute(f"SELECT k, code FROM d{self._places[name]}").fetchall()
        return [(key, ranks[code]) for key, code in found]

    def look(self, name: str, token: CancelToken, report: Report) -> Seen:
        """What a window says of a column: all its values, or the most frequent where they are many.

        So no column of which every row has a value of its own comes here to be looked at.
        """
        with self._turn(token):
            if name not in self._known:
                place = self._places[name]
                most = MOST_SEEN + 1
                sql = values_of(self.engine, place, filled=self.filled, most=most)
                report(StepStarted(COUNT, 1, 1))
                with self._fetched(sql, token, report) as (cursor, source):
                    [(keys,)] = cursor.execute(f"SELECT count(*) FROM {source}").fetchall()
                    if keys <= MOST_SEEN:
                        self._known[name] = self._taken(name, cursor, source)
                    else:
                        frequent = self._texts_of(cursor, source)
                if name not in self._known:
                    return self._seen(place, frequent, token, report)
            known = self._known[name]
        return Seen(known.domain, known.counts)

    def _seen(self, place: int, frequent: pa.Table, token: CancelToken, report: Report) -> Seen:
        """Of a column of many values, how many there are, beside the most frequent."""
        sql = tally_of(self.engine, place, filled=self.filled)
        with self._fetched(sql, token, report) as (cursor, source):
            [tally] = cursor.execute(f"SELECT {_number(0)}, {_number(1)} FROM {source}").fetchall()
        counts = frequent.column(1).to_numpy().astype(np.int64)
        return Seen(texts(frequent.column(0)), counts, (int(tally[0]), int(tally[1])))

    def _texts_of(self, cursor: DuckDBPyConnection, source: str) -> pa.Table:
        """Texts and their rows, of an answer on the values of a column."""
        text = self._text(cursor, source, 0)
        return cursor.sql(
            f"SELECT {text} AS v, sum(c2::BIGINT)::BIGINT AS n FROM {source} "
            "GROUP BY v ORDER BY n DESC, v"
        ).to_arrow_table()

    def _text(self, cursor: DuckDBPyConnection, source: str, number: int) -> str:
        """SQL for the canonical text of a column of an answer."""
        described = cursor.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        types = {str(row[0]): str(row[1]) for row in described}
        odd = f"s{number}, " if f"s{number}" in types else ""
        return f"coalesce({odd}{self.engine.text_sql(f'c{number}', types[f'c{number}'])})"

    def head(self, most: int, token: CancelToken, report: Report) -> pa.Table:
        """The first rows that the engine gives, as texts, all columns; in no order of their own."""
        places = range(len(self.engine.columns))
        sql = first_of(self.engine, places, most, filled=self.filled)
        with self._turn(token), self._fetched(sql, token, report) as (cursor, source):
            listed = (f"{self._text(cursor, source, j)} AS c{j}" for j in places)
            return cursor.sql(f"SELECT {', '.join(listed)} FROM {source}").to_arrow_table()

    def _values(self, name: str, token: CancelToken, report: Report) -> Dictionary:
        report(StepStarted(COUNT, 1, 1))
        sql = values_of(self.engine, self._places[name], filled=self.filled)
        with self._fetched(sql, token, report) as (cursor, source):
            return self._taken(name, cursor, source)

    def _taken(self, name: str, cursor: DuckDBPyConnection, source: str) -> Dictionary:
        """The values of a column, of the engine's answer.

        Makes the table ``d`` with its place: for each text of the engine its code and its rows.
        """
        place = self._places[name]
        text = self._text(cursor, source, 0)
        value = self._typed(name, "t")
        cursor.execute(
            f"CREATE OR REPLACE TABLE d{place} AS SELECT k, any_value(v) AS v, "
            "dense_rank() OVER (ORDER BY any_value(v)) - 1 AS code, sum(n)::BIGINT AS n FROM "
            f"(SELECT {value} AS v, k, n FROM (SELECT {text} AS t, coalesce(c1, '') AS k, "
            f"c2::BIGINT AS n FROM {source})) GROUP BY k"
        )
        [(keys,)] = cursor.execute(f"SELECT count(*) FROM d{place}").fetchall()
        if self._kinds is None and keys > MOST_VALUES:
            raise self._too_many(name)
        listed = cursor.sql(
            f"SELECT any_value(v) AS v, sum(n)::BIGINT AS n FROM d{place} "
            "GROUP BY code ORDER BY code"
        ).to_arrow_table()
        cursor.execute(f"ALTER TABLE d{place} DROP COLUMN v")
        domain = texts(listed.column(0))
        if self._kinds is None and any("\0" in value for value in domain):
            raise self._nul(name)
        counts = listed.column(1).to_numpy().astype(np.int64)
        if self.rows and int(counts.sum()) != self.rows:
            raise self._changed()
        return Dictionary(domain, counts, int(keys))

    def _typed(self, name: str, text: str) -> str:
        """SQL for a value as the store holds it, from its text."""
        if self._kinds is None:
            return text
        spec = self._spec
        how = spec.missing, spec.decimal or ".", spec.date_order or ""
        return value_sql(text, self._kinds[name], *how)

    @contextmanager
    def _fetched(
        self, sql: str, token: CancelToken, report: Report
    ) -> Iterator[tuple[DuckDBPyConnection, str]]:
        """What the engine answers, as a table of the store's database while it is looked at."""
        with scratch(self._workspace) as target:
            self.engine.fetch(sql, target, token, report)
            with query(self._con, token, self.path) as cursor:
                yield cursor, parquet_source(target)

    def _changed(self) -> StorageError:
        return StorageError(
            "engine.changed",
            msg(
                "{name}: the table changed in {engine} while it was counted.",
                name=self.path.name,
                engine=self.engine.name,
            ),
            hint="Run the plan again when nobody writes to the table, or on a copy of it.",
        )

    def _nul(self, name: str) -> InputError:
        return InputError(
            "read.nul",
            msg(
                "{name}: a text of the column `{column}` holds a NUL character, at which other "
                "programs end a text.",
                name=self.path.name,
                column=name,
            ),
            details={"column": name},
        )

    def _too_many(self, name: str) -> InputError:
        return InputError(
            "engine.values",
            msg(
                "{name}: the column `{column}` has more than {most:,} different values, which are "
                "too many for work inside {engine}.",
                name=self.path.name,
                column=name,
                most=MOST_VALUES,
                engine=self.engine.name,
            ),
            hint="Make it an identifier, which is not released, or make it coarser in a view.",
            details={"column": name},
        )
