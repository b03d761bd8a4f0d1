"""A table that stays in an engine, as a data store."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable, RowLook, RowRule
from dpdesk.core.jobs import CancelToken, Note, Report
from dpdesk.core.messages import msg
from dpdesk.core.recoding import AnyRecoding, Recoding
from dpdesk.core.schema import DataProfile, ValueCount, check_forms
from dpdesk.core.source_spec import KEEP, POSTGRESQL, SourceSpec, queries_rows
from dpdesk.io.coded_rows import CodedRows, narrow
from dpdesk.io.coding import Column
from dpdesk.io.counting import counted_table, projected
from dpdesk.io.csvload import Loaded
from dpdesk.io.engines.refusals import no_column
from dpdesk.io.engines.table import EngineTable, Grouped
from dpdesk.io.formats.stat_faults import no_rows
from dpdesk.io.private.loading import wanted_columns
from dpdesk.io.reading import Reading, format_of, resolve_source
from dpdesk.io.store import DataStore, begun

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from dpdesk.io.counting import RestrictedRows
    from dpdesk.io.engines.statements import Engine
    from dpdesk.io.prints import CountedPrints
    from dpdesk.io.pseudonyms import Replacement
    from dpdesk.io.workspace import Workspace


MOST_SHOWN = 1_000
"""Rows of a table that a window shows."""


class EngineStore(DataStore):
    """A table that is counted and recoded where it is; use :meth:`DataStore.open`.

    Frequency tables, recoded rows and prints of rows are made of distinct tuples, which the engine
    counts. What needs rows one by one fetches the columns that are not left out, as codes, into
    memory, sorted by these codes: an engine has no order of rows. A window looks at the first rows
    that the engine gives.
    """

    def __init__(
        self,
        con: DuckDBPyConnection,
        path: Path,
        table: EngineTable,
        loaded: Loaded,
        spill: Path,
        report: Report,
        date_order: str,
    ) -> None:
        columns = tuple(Column(name, f"c{j}", None) for j, name in enumerate(loaded.names))
        super().__init__(con, path, columns, loaded, spill, date_order)
        self._engine, self._tell, self._fetched = table, report, False
        self._left_out: frozenset[str] | None = None
        self._fetching = threading.Lock()
        self._head: DataStore | None = None

    @property
    def engine(self) -> str:
        """See :attr:`DataStore.engine`."""
        return self._engine.engine.name

    @property
    def shown(self) -> int:
        """See :attr:`DataStore.shown`."""
        return min(self.rows, MOST_SHOWN)

    def leave_out(self, names: Collection[str]) -> None:
        """See :meth:`DataStore.leave_out`; several plans may be tried at a time, each with its own.

        So a column is left out while every plan does so. Raises InputError ``engine.columns`` for
        one that was when the rows were fetched, and is needed now.
        """
        with self._fetching:
            gone = frozenset(names)
            known = self._left_out
            if self._fetched and known is not None and not known <= gone:
                raise no_column(self.name, min(known - gone), self.engine)
            if not self._fetched:
                self._left_out = gone if known is None else known & gone

    def _holds(self, names: Collection[str]) -> bool:
        """Whether the rows were fetched with these columns."""
        return self._fetched and not (self._left_out or frozenset()) & {*names}

    # What distinct tuples give.

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """See :meth:`DataStore.frequency_table`."""
        columns, names = [self._column(name) for name in attributes], tuple(attributes)
        if self._holds(names):
            return super().frequency_table(attributes, token)
        if names in self._single:
            return self._single[names]
        if self._counted is not None and names and {*names} <= {*self._counted.attributes}:
            table = projected(self._counted, names)
            if table is not None:
                return table
        domains: list[tuple[str, ...]]
        if len(names) == 1:
            found = self._engine.dictionary(names[0], token, self._tell)
            domains, counts = [found.domain], found.counts
            codes = np.arange(len(counts), dtype=np.int32)[:, np.newaxis]
        else:
            grouped = self._engine.grouped(names, {}, token, self._tell)
            domains, (codes, counts) = [*grouped.shown], _collected(grouped, token)
        table = counted_table(columns, domains, codes, counts, self.reading.missing)
        if len(names) == 1:
            self._single[names] = table
        elif self._counted is None or len(self._counted.attributes) <= len(names):
            self._counted = table
        return table

    def restricted(self, rule: RowRule, token: CancelToken) -> RestrictedRows | KeptTuples:  # type: ignore[override]
        """See :meth:`DataStore.restricted`; bounds for persons need rows."""
        for name in rule.lost:
            self._column(name)
        if rule.person is not None or self._fetched:
            return super().restricted(rule, token)
        return KeptTuples(self, rule, token)

    def value_counts(
        self, column: str, token: CancelToken, limit: int | None = None
    ) -> tuple[ValueCount, ...]:
        """See :meth:`DataStore.value_counts`."""
        self._column(column)
        found = self._engine.dictionary(column, token, self._tell)
        order = np.argsort(-found.counts, kind="stable")[:limit].tolist()
        return tuple(ValueCount(found.domain[j], int(found.counts[j])) for j in order)

    def write_recoded(
        self,
        recoding: AnyRecoding,
        path: Path,
        token: CancelToken,
        report: Report,
        replaced: Mapping[str, Replacement] = MappingProxyType({}),
    ) -> int:
        """See :meth:`DataStore.write_recoded`.

        Rows are needed where tuples are recoded by themselves, values get pseudonyms, or whole
        households leave.
        """
        whole = isinstance(recoding, Recoding) and not recoding.left_out[1]
        if not (isinstance(recoding, Recoding) and whole) or replaced or self._fetched:
            return super().write_recoded(recoding, path, token, report, replaced)
        from dpdesk.io.recode import misfit, write_counted

        for name in (*recoding.attributes, *recoding.dropped_columns):
            self._column(name)
        if recoding.rows_out + recoding.rows_suppressed != self.rows:
            raise misfit(msg("rows released and suppressed do not add up to those of the table"))
        released = [name for name in self._columns if name not in recoding.dropped_columns]
        needed = list(dict.fromkeys([*released, *recoding.attributes]))
        try:
            grouped = self._engine.grouped(needed, recoding.mapping, token, report)
        except KeyError as lost:
            raise misfit(msg("the value `{value}` is not recoded", value=lost.args[0])) from lost
        where, tables = _not_suppressed(grouped, recoding)
        places = range(len(released))
        batches = grouped.batches(token, places, where, tables)
        shown = grouped.shown[: len(released)]
        return write_counted(batches, shown, released, path, recoding, token, report)

    def row_counts(
        self,
        names: Sequence[str],
        mapping: Mapping[str, Mapping[str, str]],
        key: NDArray[np.uint64],
        token: CancelToken,
    ) -> CountedPrints:
        """See :meth:`DataStore.row_counts`."""
        if self._holds(names):
            return super().row_counts(names, mapping, key, token)
        from dpdesk.io.prints import tuple_counts

        for name in names:
            self._column(name)
        grouped = self._engine.grouped(tuple(names), mapping, token, self._tell)
        return tuple_counts(grouped.batches(token), grouped.shown, key)

    def content(self, names: Sequence[str], token: CancelToken) -> tuple[str, ...]:
        """See :meth:`DataStore.content`."""
        from dpdesk.io.prints import counted_print

        key = tuple(names)
        if key not in self._prints:
            table = self.frequency_table(names, token)
            self._prints[key] = counted_print(table, self.path, token)
        return (self._prints[key],) if self._prints[key] else ()

    # What needs rows.

    def _table(self, token: CancelToken) -> DuckDBPyConnection:
        """The rows as a table, fetched when they are first asked for."""
        with self._fetching:
            if not self._fetched:
                self._fetch(token)
        return super()._table(token)

    def _fetch(self, token: CancelToken) -> None:
        gone = self._left_out or frozenset()
        names = tuple(name for name in self._columns if name not in gone)
        sentence = msg(
            "The method works row by row: {rows:,} rows on {columns:,} columns come from {engine} "
            "to this computer, as codes in memory.",
            rows=self.rows,
            columns=len(names),
            engine=self.engine,
        )
        self._tell(Note("engine.rows", sentence))
        grouped = self._engine.grouped(names, {}, token, self._tell)
        codes, counts = _collected(grouped, token)
        known = dict(zip(names, grouped.shown, strict=True))
        domains, rows = [], []
        for name in self._columns:
            domain = known.get(name, ("",))
            kind = narrow(len(domain))
            domains.append(domain)
            if name in known:
                rows.append(np.repeat(codes[:, names.index(name)].astype(kind), counts))
            else:
                rows.append(np.zeros(self.rows, kind))
        held = CodedRows(tuple(domains), tuple(rows), self.rows)
        self._columns = {
            name: Column(name, column.sql, domain, column.user_missing)
            for (name, column), domain in zip(self._columns.items(), domains, strict=True)
        }
        self._held, self._fetched = held, True

    # What a window looks at.

    def profile(self, token: CancelToken, report: Report) -> DataProfile:
        """See :meth:`DataStore.profile` and :func:`dpdesk.io.engines.looks.profile_of`."""
        from dpdesk.io.engines.looks import profile_of

        columns, reading = tuple(self._columns.values()), self.reading
        given = self._engine, self._con(), columns, reading, self._date_order
        return DataProfile(
            self.name, self.rows, profile_of(*given, token, report), reading.as_dict()
        )

    def histogram(
        self, column: str, ends: tuple[float, float], bins: int, token: CancelToken
    ) -> tuple[int, ...]:
        """See :meth:`DataStore.histogram`."""
        from dpdesk.io.engines.looks import histogram_of

        given = self._engine, self._con(), self._column(column), self.reading
        return histogram_of(*given, ends, bins, token)

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """See :meth:`DataStore.page`; the first :attr:`shown` rows alone."""
        return self._first(CancelToken()).page(start, count)

    def rows_of(self, look: RowLook, token: CancelToken) -> NDArray[np.int64]:
        """See :meth:`DataStore.rows_of`; of the rows that are shown."""
        return self._first(token).rows_of(look, token)

    def rows_at(self, numbers: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """See :meth:`DataStore.rows_at`; of the rows that are shown."""
        return self._first(CancelToken()).rows_at(numbers)

    def _first(self, token: CancelToken) -> DataStore:
        """The first rows, as a store of their own, fetched when they are first looked at."""
        from dpdesk.io.engines.looks import first_rows

        with self._fetching:
            if self._head is None:
                self._head = first_rows(self._engine, self.path, self.reading, MOST_SHOWN, token)
            return self._head

    def _con(self) -> DuckDBPyConnection:
        if self._open is None:
            raise RuntimeError("the store is closed")
        return self._open

    def close(self) -> None:
        """See :meth:`DataStore.close`."""
        if self._head is not None:
            self._head.close()
        self._engine.engine.close()
        super().close()


class KeptTuples:
    """A FrequencySource of the rows of an engine that hold none of the lost values of a rule."""

    def __init__(self, store: EngineStore, rule: RowRule, token: CancelToken) -> None:
        self._store, self._lost = store, rule.lost
        self.name, self.columns = store.name, store.columns
        self.rows = self.frequency_table((), token).rows

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """See :meth:`DataStore.frequency_table`; a domain holds values of lost rows as well."""
        names = tuple(dict.fromkeys([*attributes, *self._lost]))
        table = self._store.frequency_table(names, token)
        kept = np.ones(len(table.counts), np.bool_)
        for name, values in self._lost.items():
            place, lost = names.index(name), frozenset(values)
            gone = np.array([value in lost for value in table.domains[place]], np.bool_)
            kept &= ~gone[table.codes[:, place]]
        return _narrowed(table, kept, len(attributes))

    def restricted(self, rule: RowRule, token: CancelToken) -> KeptTuples:
        """Rules are not laid upon each other: ask the store. Raises ValueError."""
        raise ValueError("a rule for rows that have one already")


def _narrowed(table: FrequencyTable, kept: NDArray[np.bool_], width: int) -> FrequencyTable:
    """The tuples ``kept`` of a table on its first columns."""
    codes, counts = table.codes[kept][:, :width], table.counts[kept]
    if width == 0:
        codes, counts = np.empty((1, 0), np.int32), np.array([counts.sum()], np.int64)
    elif width < len(table.attributes) and len(codes):
        codes, places = np.unique(codes, axis=0, return_inverse=True)
        counts = np.bincount(places.reshape(-1), counts).astype(np.int64)
    return FrequencyTable(
        table.attributes[:width],
        table.domains[:width],
        np.ascontiguousarray(codes, np.int32),
        counts,
        table.missing[:width],
    )


def _collected(grouped: Grouped, token: CancelToken) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """All tuples of codes in order, and their rows."""
    parts = [(np.empty((0, len(grouped.names)), np.int32), np.empty(0, np.int64))]
    for columns, counts in grouped.batches(token):
        codes = np.empty((len(counts), len(columns)), np.int32)
        for j, column in enumerate(columns):
            codes[:, j] = column
        parts.append((codes, counts))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _not_suppressed(grouped: Grouped, recoding: Recoding) -> tuple[str, dict[str, pyarrow.Table]]:
    """The condition in SQL that a tuple is released, and the table that it names."""
    import pyarrow as pa

    if not len(recoding.suppressed):
        return "true", {}
    columns, same = {}, []
    for j, name in enumerate(recoding.attributes):
        place = grouped.names.index(name)
        index = {text: rank for rank, text in enumerate(grouped.shown[place])}
        ranks = np.array([index.get(text, -1) for text in recoding.labels[j]], np.int32)
        columns[f"s{j}"] = pa.array(ranks[recoding.suppressed[:, j]])
        same.append(f"suppressed.s{j} = r{place}")
    where = f"NOT EXISTS (SELECT 1 FROM suppressed WHERE {' AND '.join(same)})"
    return where, {"suppressed": pa.table(columns)}


def open_engine(
    spec: SourceSpec,
    base: Path,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    *,
    private: bool = False,
    person: str | None = None,
    drawn: frozenset[str] = frozenset(),
) -> EngineStore:
    """See :meth:`DataStore.open`.

    Raises InputError ``engine.unsupported`` for what needs rows to be read, too.
    """
    path = resolve_source(spec, base)
    _refuse(spec, path.name, private=private, person=person, drawn=drawn)
    with begun(workspace) as (con, spill), ExitStack() as stack:
        engine = _engine(spec, path, base, workspace, token, report, private=private)
        stack.callback(engine.close)
        check_forms(engine.columns, path.name)
        names, kinds = engine.columns, None
        if private:
            wanted = wanted_columns(spec, engine.columns, path.name)
            names, kinds = wanted.names, dict(zip(wanted.names, wanted.kinds, strict=True))
        table = EngineTable(con, engine, spec, path, workspace, kinds)
        keep = spec.empty_rows == KEEP
        found = table.settle(names, keep=keep, token=token, report=report)
        if not (private or table.rows):  # a refusal would depend on one row
            raise no_rows(path.name, len(names))
        lost = None  # how many values are unreadable is a fact that stays in the agency
        if private:
            lost = {"unreadable_values": table.unreadable(names, token, report)}
        reading = Reading(format_of(spec, path), encoding="utf-8", missing=spec.missing)
        loaded = Loaded(names, table.rows, reading, found, columns=engine.columns, unreadable=lost)
        stack.pop_all()
        return EngineStore(con, path, table, loaded, spill, report, spec.date_order or "")


def _engine(
    spec: SourceSpec,
    path: Path,
    base: Path,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    *,
    private: bool,
) -> Engine:
    if spec.engine == POSTGRESQL:
        from dpdesk.io.engines.postgres import PostgresEngine

        return PostgresEngine(spec, path, base, token, private=private)
    from dpdesk.io.engines.spark import SparkEngine

    return SparkEngine(spec, path, token, report, workspace)


def _refuse(
    spec: SourceSpec, name: str, *, private: bool, person: str | None, drawn: Collection[str]
) -> None:
    """Raise InputError ``engine.unsupported`` for what is not done inside an engine."""
    found = ""
    if queries_rows(spec) or (private and spec.query is not None):
        found = msg("a `query` next to a `table`")
    elif spec.coarsen:
        found = msg("the key `coarsen`")
    elif person is not None:
        found = msg("a column that names persons, with a differentially private method")
    elif drawn:
        found = msg("a method that draws values of rows from a budget")
    if found:
        raise InputError(
            "engine.unsupported",
            msg("{name}: {what} cannot be combined with `engine`.", name=name, what=found),
            hint="Remove `engine` under [source] to read the table to this computer.",
            details={"key": "engine"},
        )
