"""The data store: one source, read once, coded once, asked often and from several threads."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import CodedColumn, FrequencyTable, RewrittenRows, RowLook, RowRule
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.labels import NOTHING_MISSING, Variable
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.core.plan import SourceSpec
from dpdesk.core.recoding import AnyRecoding
from dpdesk.core.schema import (
    ColumnProfile,
    DataProfile,
    Role,
    RoleSuggestion,
    ValueCount,
    check_forms,
    form,
)
from dpdesk.core.source_spec import queries_rows
from dpdesk.io.coarsening import coarsened
from dpdesk.io.coding import DATA, Column, code_columns
from dpdesk.io.csvload import Loaded, Source, load_csv
from dpdesk.io.database import connect, query
from dpdesk.io.declared import note_types
from dpdesk.io.emptyrows import with_strange_ends, without_empty_rows
from dpdesk.io.failures import private_error
from dpdesk.io.missing import note_empty, note_texts
from dpdesk.io.missing_forms import note_other_forms
from dpdesk.io.parquetload import load_parquet
from dpdesk.io.private.row_filter import filtered
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.reading import format_of, resolve_source
from dpdesk.io.row_query import queried
from dpdesk.io.source import unchanged
from dpdesk.io.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from dpdesk.core.tabulation import RowEdit, Tabulated, Tabulation
    from dpdesk.io.counting import Codes, RestrictedRows
    from dpdesk.io.prints import CountedPrints
    from dpdesk.io.pseudonyms import Replacement
    from dpdesk.io.tabulation import EditedRows


_MOST_KEPT = 1 << 25
"""Codes that are kept, with the texts they stand for: about 20 bytes each."""


class DataStore:
    """A source in memory, as coded columns in source order; use :meth:`open`.

    Values are the exact texts of the file (other formats: canonical text, null as the empty text).
    A missing code is a value like any other; :attr:`FrequencyTable.missing` says which codes are
    missing. ``book`` is what the source says of its columns (labels, user-missing values). Every
    method may be called from any thread; each call works on a cursor of its own and stops within a
    moment when its token is cancelled.

    A store that was opened for a private method holds the columns that the plan declares (asking
    for another one is an error); ``unreadable`` counts lines and values that could not be read.
    """

    def __init__(
        self,
        con: DuckDBPyConnection,
        path: Path,
        columns: tuple[Column, ...],
        loaded: Loaded,
        spill: Path | None,
        date_order: str = "",
    ) -> None:
        self._open: DuckDBPyConnection | None = con
        self._held, self._making = loaded.held, threading.Lock()
        self._columns = {column.name: _with_missing(column, loaded) for column in columns}
        self._spill, self._date_order = spill, date_order
        self._prints: dict[tuple[str, ...], str] = {}
        self._codes: dict[str, Codes] = {}
        self._single: dict[tuple[str, ...], FrequencyTable] = {}
        self._counted: FrequencyTable | None = None  # the widest small one, which gives others
        self.path = path
        self.name = path.name
        self.rows = loaded.rows
        self.columns: tuple[str, ...] = loaded.columns or tuple(self._columns)
        self.unreadable = loaded.unreadable
        self.reading = loaded.reading
        self.sha256, self.size = loaded.print.sha256, loaded.print.size
        self.book = loaded.book

    @classmethod
    def open(
        cls,
        spec: SourceSpec,
        base: Path,
        workspace: Workspace,
        token: CancelToken,
        report: Report,
        *,
        private: bool = False,
        person: str | None = None,
        drawn: frozenset[str] = frozenset(),
    ) -> DataStore:
        """Read the source that ``spec`` names, relative to ``base``.

        With ``private``, ``spec`` names everything that would be detected, and no row has a say in
        how or whether others are read: see :mod:`dpdesk.io.private`. ``person`` is the column that
        names persons, whose numbers are compared as numbers then; ``drawn`` are columns of which
        rows are released with other values.

        Raises InputError with line and column for what cannot be read honestly, StorageError for
        a file or disk that fails, Cancelled; nothing is left behind then. A table that stays in an
        engine is an :class:`dpdesk.io.engines.store.EngineStore`.
        """
        if spec.engine is not None:
            from dpdesk.io.engines.store import open_engine

            given = spec, base, workspace, token, report
            return open_engine(*given, private=private, person=person, drawn=drawn)
        path = resolve_source(spec, base)
        with unchanged(path), begun(workspace) as (con, spill):
            source = Source(con, path, base, spec, workspace)
            if private:
                from dpdesk.io.private.loading import load_private
                from dpdesk.io.private.values import join_numbers

                held = person is None and not queries_rows(spec)
                folded = frozenset(map(form, drawn))
                loaded = load_private(source, token, report, folded, held=held)
                loaded = filtered(con, loaded, spec, path, spill, token)
                if person is not None:
                    join_numbers(con, loaded, spec, person, path, token)
            else:
                loaded = _load(source, token, report)
                loaded = without_empty_rows(con, loaded, spec, path, token)
                if queries_rows(spec):
                    loaded = queried(con, loaded, spec, path, spill, token)
                loaded = with_strange_ends(con, loaded, path, token)
            if spec.coarsen:
                loaded = coarsened(con, loaded, spec, path, token, private=private)
            check_forms(loaded.columns or loaded.names, path.name)
            given_rows = loaded.names, loaded.rows, path, token, report, loaded.coded
            columns = code_columns(con, *given_rows, held=loaded.held is not None)
            told, others = tuple[str, ...](), tuple[str, ...]()
            if not private:
                told = note_types(con, columns, spec, loaded.reading.decimal, path, token)
                told += note_empty(con, columns, spec.missing, path, token)
                known = loaded.reading.decimal, loaded.reading.missing_candidates
                told += note_texts(con, columns, *known, path, token)
                marks = spec.missing, loaded.reading.decimal
                others, note = note_other_forms(con, columns, *marks, path, token)
                told += note
        codes = (*loaded.reading.missing_candidates, *others)
        notes = (*loaded.reading.notes, *told)
        reading = replace(loaded.reading, notes=notes, missing_candidates=codes)
        loaded = replace(loaded, reading=reading)
        return cls(con, path, columns, loaded, spill, spec.date_order or "")

    @property
    def engine(self) -> str:
        """What people call the engine in which the table stays; empty for one that is read."""
        return ""

    @property
    def shown(self) -> int:
        """How many rows :meth:`page` has, from the first one on."""
        return self.rows

    def leave_out(self, names: Collection[str]) -> None:
        """Columns of which no value is asked for: those of an engine stay there."""

    def profile(self, token: CancelToken, report: Report) -> DataProfile:
        """Profile every column: type, missing, distinct, unique, ends, top values, a role."""
        from dpdesk.io.profile import profile_columns

        columns = tuple(self._columns.values())
        given = self._table(token), columns, self.rows, self.reading, self.path, token, report
        profiles = profile_columns(*given, self._date_order)
        described = tuple(_described(item, self.book.get(item.name)) for item in profiles)
        return DataProfile(self.name, self.rows, described, self.reading.as_dict())

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """Up to ``count`` rows from row ``start`` (from 0) on, in source order."""
        first, last = max(0, start), min(self.rows, start + count)
        with query(self._table(CancelToken()), CancelToken(), self.path) as cursor:
            # Sorted here: with 10,000 columns, ORDER BY takes 13 s where the rest takes 0.3 s.
            found = cursor.execute(
                f"SELECT rowid, * FROM {DATA} WHERE rowid >= ? AND rowid < ?", [first, last]
            ).fetchall()
        return tuple(row[1:] for row in sorted(found, key=itemgetter(0)))

    def rows_of(self, look: RowLook, token: CancelToken) -> NDArray[np.int64]:
        """The numbers (from 0) of the rows that are looked at, in the order asked for."""
        from dpdesk.io.rewrite import rows_of

        for name in (look.column, *(one.column for one in look.filters)):
            if name:
                self._column(name)
        return rows_of(self._table(token), self._columns, look, self.reading, self.path, token)

    def rows_at(self, numbers: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """The rows with these numbers (from 0), in this order."""
        with query(self._table(CancelToken()), CancelToken(), self.path) as cursor:
            found = cursor.execute(
                f"SELECT rowid, * FROM {DATA} WHERE rowid IN (SELECT unnest(?))", [list(numbers)]
            ).fetchall()
        known = {row[0]: row[1:] for row in found}
        return tuple(known[number] for number in numbers)

    def value_counts(
        self, column: str, token: CancelToken, limit: int | None = None
    ) -> tuple[ValueCount, ...]:
        """Values of a column with their rows, most frequent first, ties by code point."""
        name = self._column(column).sql
        tail = f" LIMIT {int(limit)}" if limit is not None else ""
        with query(self._table(token), token, self.path) as cursor:
            found = cursor.sql(
                f"SELECT {name}::VARCHAR AS v, count(*) AS n FROM {DATA} GROUP BY {name} "
                f"ORDER BY n DESC, v{tail}"
            ).to_arrow_table()
        values, counts = found.column(0).to_pylist(), found.column(1).to_pylist()
        return tuple(ValueCount(v, n) for v, n in zip(values, counts, strict=True))

    def histogram(
        self, column: str, ends: tuple[float, float], bins: int, token: CancelToken
    ) -> tuple[int, ...]:
        """Rows of a numeric column per interval: ``ends`` cut into ``bins`` parts of equal width.

        Both ends are included; missing values and texts that are no numbers count nowhere.
        """
        from dpdesk.io.profile import histogram

        found, reading = self._column(column), self.reading
        return histogram(
            self._table(token),
            found,
            reading.decimal,
            reading.missing,
            ends,
            bins,
            self.path,
            token,
        )

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """Count the distinct tuples of ``attributes``, sorted by their codes.

        Raises InputError ``source.unknown-column`` for a name that the source lacks.
        """
        from dpdesk.io.counting import (
            ROWS_EACH,
            count_held,
            count_in_memory,
            count_tuples,
            packs,
            projected,
            quickly_counted,
        )

        columns = tuple(self._column(name) for name in attributes)
        if tuple(attributes) in self._single:
            return self._single[tuple(attributes)]
        known, asked = self._counted, {*attributes}
        if known is not None and attributes and asked <= {*known.attributes}:
            table = projected(known, attributes)
            if table is not None:
                return table
        missing, held = self.reading.missing, self._held
        if held is not None:
            table = count_held(held, columns, missing, token)
        elif quickly_counted(columns, self.rows):
            coded = [self._coded(column, token) for column in columns]
            table = count_in_memory(columns, coded, self.rows, missing, token)
        else:
            con = self._table(token)
            table = count_tuples(con, columns, self.rows, missing, self.path, token)
        if len(table.counts) * ROWS_EACH <= self.rows and packs(columns):
            self._counted = _wider(known, table)
        if len(attributes) == 1 and packs(columns):
            self._single[tuple(attributes)] = table
        return table

    def tabulate(self, asked: Tabulation, token: CancelToken) -> Tabulated:
        """Add up cells; see :meth:`dpdesk.core.tabulation.CellSource.tabulate`.

        Raises InputError ``source.unknown-column`` too.
        """
        from dpdesk.io.tabulation import tabulate

        among = (each[0] for each in (asked.request, asked.waive) if each is not None)
        named = (asked.value, asked.weight, asked.contributor, *among)
        for name in (*asked.columns, *(name for name in named if name is not None)):
            self._column(name)
        return tabulate(self._table(token), self._columns, asked, self.reading, self.path, token)

    def edited(self, edit: RowEdit, token: CancelToken) -> EditedRows:
        """The rows as an edit has them; see :meth:`dpdesk.core.tabulation.CellSource.edited`.

        Raises InputError ``source.unknown-column``; ValueError for an edit of other rows.
        """
        from dpdesk.io.tabulation import EditedRows

        if len(edit.kept) != self.rows:
            raise ValueError("an edit of another source")
        for name in edit.columns:
            self._column(name)
        place = self.reading, self.path, token
        return EditedRows(self._table(token), self._columns, edit, *place)

    def restricted(self, rule: RowRule, token: CancelToken) -> RestrictedRows:
        """The rows that count by a rule; see :class:`dpdesk.io.counting.RestrictedRows`.

        Raises InputError ``source.unknown-column``.
        """
        from dpdesk.io.counting import RestrictedRows

        for name in (*rule.lost, *rule.order, *([rule.person] if rule.person else [])):
            self._column(name)
        columns = self._columns  # for a private method, those that its plan declares
        return RestrictedRows(
            self._table(token), columns, self.reading.missing, self.path, rule, token
        )

    def write_recoded(
        self,
        recoding: AnyRecoding,
        path: Path,
        token: CancelToken,
        report: Report,
        replaced: Mapping[str, Replacement] = MappingProxyType({}),
    ) -> int:
        """Write the protected microdata as CSV to ``path``; the number of rows written.

        Columns in ``replaced`` have the texts given there, see :meth:`pseudonyms`. Source column
        order, dropped columns and suppressed rows absent, sorted by all released
        columns by code point; UTF-8, comma, LF, RFC 4180 quoting. Raises InputError
        ``recoding.*`` when the recoding does not fit the data, StorageError, Cancelled.
        """
        from dpdesk.io.recode import write_recoded

        self._codes.clear()  # what is written next takes more memory than anything before
        for name in (*recoding.attributes, *recoding.dropped_columns):
            self._column(name)
        con, columns = self._read(self._columns, token)
        given = con, columns, self.rows, recoding, path, token, report, replaced
        return write_recoded(*given, self._counted)

    def pseudonyms(
        self,
        name: str,
        key: bytes,
        length: int,
        token: CancelToken,
        report: Report,
        *,
        numbers: bool = False,
    ) -> Replacement:
        """Pseudonyms of the values of a column; see :func:`dpdesk.io.pseudonyms.pseudonyms_of`.

        Raises InputError ``source.unknown-column`` too.
        """
        from dpdesk.io.pseudonyms import pseudonyms_of

        con, (column,) = self._read([name], token)
        missing = self.reading.missing
        return pseudonyms_of(con, column, missing, key, length, numbers, self.path, token, report)

    def coded_columns(self, names: Sequence[str], token: CancelToken) -> tuple[CodedColumn, ...]:
        """These columns row by row, in source order; values as :meth:`frequency_table` has them.

        Raises InputError ``source.unknown-column``.
        """
        from dpdesk.io.rewrite import column_codes

        found, tokens = [], frozenset(self.reading.missing)
        con, columns = self._read(names, token)
        for column in columns:
            values, codes = column_codes(con, column, self.path, token)
            domain = tuple(values)
            missing = frozenset(code for code, value in enumerate(domain) if value in tokens)
            found.append(CodedColumn(column.name, domain, codes, missing))
        return tuple(found)

    def write_rewritten(
        self, rewritten: RewrittenRows, path: Path, token: CancelToken, report: Report
    ) -> int:
        """Write rows in their new order and with their new values as CSV; how many it were.

        Source column order, UTF-8, comma, LF, RFC 4180 quoting. Nothing but ``path`` is written:
        neither order nor new values reach a temporary file. Raises InputError ``rewriting.misfit``,
        StorageError, Cancelled.
        """
        from dpdesk.io.rewrite import write_rewritten

        for name in (*rewritten.drawn, *rewritten.mapping, *rewritten.dropped_columns):
            self._column(name)
        con, columns = self._read(self._columns, token)
        return write_rewritten(con, columns, self.rows, rewritten, path, token, report)

    def declared_missing(self, name: str, values: Collection[str]) -> frozenset[str]:
        """Those of ``values`` that the plan or the source declares missing in a column.

        Nothing of the rows is asked. Raises InputError ``source.unknown-column``.
        """
        user, tokens = self._column(name).user_missing, self.reading.missing
        return frozenset(value for value in values if value in tokens or user.holds(value))

    def row_prints(
        self,
        names: Sequence[str],
        mapping: Mapping[str, Mapping[str, str]],
        key: NDArray[np.uint64],
        token: CancelToken,
    ) -> NDArray[np.uint64]:
        """Keyed prints of all rows on these columns; see :mod:`dpdesk.io.prints`."""
        from dpdesk.io.prints import source_prints

        con, columns = self._read(names, token)
        return source_prints(con, columns, self.rows, mapping, key, self.path, token)

    def row_counts(
        self,
        names: Sequence[str],
        mapping: Mapping[str, Mapping[str, str]],
        key: NDArray[np.uint64],
        token: CancelToken,
    ) -> CountedPrints:
        """As :meth:`row_prints`, where the order of the rows does not matter."""
        from dpdesk.io.prints import source_counts

        con, columns = self._read(names, token)
        given = con, columns, self.rows, mapping, key, self.path, token
        return source_counts(*given, self._counted)

    def _read(
        self, names: Iterable[str], token: CancelToken
    ) -> tuple[DuckDBPyConnection, tuple[Column, ...]]:
        """The rows as a table, and columns of it.

        Those of an engine are others once its rows were fetched, so they are asked for afterwards.
        """
        wanted = [self._column(name).name for name in names]
        con = self._table(token)
        return con, tuple(self._column(name) for name in wanted)

    def content(self, names: Sequence[str], token: CancelToken) -> tuple[str, ...]:
        """The print by which the rows of these columns are known again in another format, if any;
        see ``contents``.
        """
        from dpdesk.io.counting import packs
        from dpdesk.io.prints import CodedColumns, coded_print, content_print, counted_print

        key = tuple(names)
        if key not in self._prints:
            columns = [self._column(name) for name in names]
            tuples = prod(len(column.domain or ()) for column in columns)
            if columns and self._held is not None and tuples > self.rows:
                # Most rows may be different ones: there is nothing to be won by counting them.
                places = [self._held.place(column.sql) for column in columns]
                domains = [self._held.domains[place] for place in places]
                rows = CodedColumns(key, domains, [self._held.codes[place] for place in places])
                self._prints[key] = coded_print(rows, self.path, token)
            elif packs(columns) or self._held is not None:
                table = self.frequency_table(names, token)
                self._prints[key] = counted_print(table, self.path, token)
            else:
                self._prints[key] = content_print(self._table(token), columns, self.path, token)
        return (self._prints[key],) if self._prints[key] else ()

    def _coded(self, column: Column, token: CancelToken) -> Codes:
        """The values of a column and the code of every row; kept while there is room for it."""
        from dpdesk.io.rewrite import column_codes

        known = self._codes.get(column.name)
        if known is None:
            known = column_codes(self._table(token), column, self.path, token)
            if len(self._codes) * self.rows < _MOST_KEPT:
                self._codes[column.name] = known
        return known

    def close(self) -> None:
        """Give memory and spill files back; again does nothing."""
        # Whoever still holds the store must not hold the database: the library complains of any
        # that is left at the end of the process.
        con, self._open = self._open, None
        if con is not None:
            con.close()
        if self._spill is not None:
            shutil.rmtree(self._spill, ignore_errors=True)

    def _table(self, token: CancelToken) -> DuckDBPyConnection:
        """The database with the table ``data``, which is made where rows were held as codes."""
        if self._open is None:
            raise RuntimeError("the store is closed")
        if self._held is not None:
            with self._making:
                if self._held is not None:
                    self._held.make_table(self._open, self.path, token)
                    self._held = None
        return self._open

    def _column(self, name: str) -> Column:
        column = self._columns.get(name)
        if column is None:
            near = nearest(name, self.columns)
            raise InputError(
                "source.unknown-column",
                msg("{name}: there is no column `{column}`.", name=self.name, column=name),
                hint=msg("Did you mean `{near}`?", near=near) if near else "",
                details={"column": name},
            )
        return column


@contextmanager
def begun(workspace: Workspace) -> Iterator[tuple[DuckDBPyConnection, Path]]:
    """A database that spills into a private folder; both are gone where what is done with it fails.

    Raises StorageError where the folder cannot be made.
    """
    spill = workspace.new_path(".spill")
    try:
        spill.mkdir(mode=0o700)
    except OSError as problem:
        raise private_error(problem, workspace.home, "write in") from problem
    con = connect(spill)
    try:
        yield con, spill
    except BaseException:
        con.close()
        shutil.rmtree(spill, ignore_errors=True)
        raise


def _with_missing(column: Column, loaded: Loaded) -> Column:
    """The column with what its source declares missing, unless the plan says that nothing is.

    For a private method an unreadable value is missing too, so that it names no person.
    """
    user = loaded.book.missing(column.name) if loaded.reading.missing else NOTHING_MISSING
    if loaded.unreadable is not None:
        user = replace(user, values=(*user.values, UNREADABLE))
    return replace(column, user_missing=user)


def _wider(known: FrequencyTable | None, table: FrequencyTable) -> FrequencyTable:
    if known is not None and len(known.attributes) > len(table.attributes):
        return known
    return table


def _described(profile: ColumnProfile, variable: Variable | None) -> ColumnProfile:
    if variable is None:
        return profile
    suggestion = profile.suggestion
    if variable.role:
        suggestion = RoleSuggestion(
            Role(variable.role), "The metadata of the file say what it is for."
        )
    return replace(profile, label=variable.label, variable=variable, suggestion=suggestion)


def _load(source: Source, token: CancelToken, report: Report) -> Loaded:
    file_format = format_of(source.spec, source.path)
    if file_format == "csv":
        return load_csv(source, token, report)
    if file_format == "parquet":
        return load_parquet(source.con, source.path, source.spec, token, report)
    if file_format == "baskets":
        from dpdesk.io.baskets import load_baskets

        return load_baskets(source, token, report, private=False)
    from dpdesk.io.formats.loading import load_foreign

    return load_foreign(source, token, report)
