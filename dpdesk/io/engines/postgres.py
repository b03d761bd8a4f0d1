"""PostgreSQL as an engine: statements go through the reader of its tables.

So the rules for credentials, the transaction that can only read, and the ways of telling what is
wrong are those of :mod:`dpdesk.io.formats.databases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpdesk.core.frequency import UNREADABLE
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.source_spec import SourceSpec
from dpdesk.io.database import identifier
from dpdesk.io.engines.refusals import need_ibis
from dpdesk.io.engines.statements import COUNT, FILLED, RAW_SOURCE, SOURCE
from dpdesk.io.formats.databases.server import name_parts, need_utf8, server_name
from dpdesk.io.formats.loading import request_for
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.formats.process import read_here, read_in_process
from dpdesk.io.formats.request import ReadProgress, ServerFacts

_LONGEST = 4 << 20
"""As :mod:`dpdesk.io.formats.private.databases` has it."""


class PostgresEngine:
    """A table or query of a PostgreSQL server; see :class:`Engine`.

    Raises InputError ``engine.missing`` where Ibis is not installed, and what reading the head of
    the table raises.
    """

    name = "PostgreSQL"

    def __init__(
        self, spec: SourceSpec, path: Path, base: Path, token: CancelToken, *, private: bool
    ) -> None:
        need_ibis(self.name)
        self._spec, self._path, self._private = spec, path, private
        self._request = request_for(spec, path, base, Path())
        head = replace(self._request, target="", limit=1, private=private)
        found = read_in_process(head, path.name, token, lambda made: None)
        self.columns = tuple(one.name for one in found.variables)
        # Patterns and marks have signs that other encodings lack.
        facts = found.server or ServerFacts("", ())
        need_utf8(server_name(self._request.path), facts.encoding)
        self._numbers = frozenset(facts.numbers)

    def base(self, places: Sequence[int], *, filled: bool, prints: bool) -> Mapping[str, str]:
        """See :meth:`Engine.base`."""
        tables = {RAW_SOURCE: self._origin()}
        keys = {place: self._key(place) for place in places}
        places_of_all = range(len(self.columns))
        some = " OR ".join(f"{self._key(place)} ~ '{FILLED}'" for place in places_of_all)
        where = f" WHERE {some}" if filled else ""
        if not prints:
            listed = ", ".join(
                f"{self._value(place)} AS v{place}, {key} AS k{place}"
                for place, key in keys.items()
            )
            return tables | {SOURCE: f"SELECT {listed} FROM {RAW_SOURCE}{where}"}
        # Each text stands behind its length, so that ("a", "bc") is not ("ab", "c").
        row = " || ".join(f"length({key}) || ':' || {key}" for key in keys.values()) or "''"
        halves = ", ".join(
            f"('x' || substr(m, {start}, 15))::bit(60)::bigint AS h{half}"
            for half, start in enumerate((1, 16))
        )
        first = next(iter(keys.values()), "'x'")
        empty = f"CASE WHEN {first} ~ '{FILLED}' THEN 0 ELSE 1 END"
        rows = f"SELECT md5({row}) AS m, {empty} AS e FROM {RAW_SOURCE}{where}"
        return tables | {SOURCE: f"SELECT {halves}, e FROM ({rows}) AS hashed"}

    def _origin(self) -> str:
        if self._spec.query is not None:
            return self._spec.query.strip().rstrip(";")
        parts = name_parts(self._spec.table or "")
        return f"SELECT * FROM {'.'.join(map(identifier, parts))}"

    def _value(self, place: int) -> str:
        """A number as it is, anything else as its text, which is how tables are read.

        The server cannot tell values of every type apart: not JSON, XML or points.
        """
        column = identifier(self.columns[place])
        return column if place in self._numbers else f"{column}::text"

    def _key(self, place: int) -> str:
        """The text of a column; null is the empty text, as it is when rows are read."""
        text = f"{identifier(self.columns[place])}::text"
        if self._private:
            most = _LONGEST // max(1, len(self.columns))
            lost = f"chr({ord(UNREADABLE)})"
            text = f"CASE WHEN octet_length({text}) > {most} THEN {lost} ELSE {text} END"
        return f"""(coalesce({text}, '') COLLATE "C")"""

    def compiled(self, expression: Any) -> Any:
        """See :meth:`Engine.compiled`."""
        from ibis.backends.sql.compilers import PostgresCompiler

        return PostgresCompiler().to_sqlglot(expression)

    def sql(self, tree: Any) -> str:
        """See :meth:`Engine.sql`."""
        from ibis.backends.sql.compilers import PostgresCompiler

        return str(tree.sql(dialect=PostgresCompiler.dialect))

    def fetch(self, sql: str, target: Path, token: CancelToken, report: Report) -> None:
        """See :meth:`Engine.fetch`; a cancel stops what the server does for it."""
        request = replace(
            self._request,
            target=str(target),
            table=None,
            query=sql,
            format="answer" if self._private else self._request.format,
            private=self._private,
        )

        def progress(made: ReadProgress) -> None:
            report(StepProgress(COUNT, made.done, made.total, "rows"))

        read_here(request, token, progress)

    def text_sql(self, name: str, kind: str) -> str:
        """See :meth:`Engine.text_sql`."""
        return f"coalesce({text_sql(name, kind)}, '')"

    def close(self) -> None:
        """Nothing is held between two questions."""
