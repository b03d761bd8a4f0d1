"""The ``query`` of a private method: a condition that keeps or leaves out each row by itself.

With an order, a limit, a window, a subquery or an aggregate, one person would change whether others
are counted. A condition that cannot be computed for a row leaves that row out, and refuses nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.jobs import CancelToken
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import queries_rows
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import identifier, query
from dpdesk.io.query_tree import QueryTree, folded, place_of, read_query, refused, walk

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_KEPT = "kept_rows"
_GROWING = frozenset(("repeat", "lpad", "rpad"))
"""Functions with which one value could fill the memory."""
_JOINING = frozenset(("||", "concat", "concat_ws", "row"))
_MOST_TIMES = 1000
"""So many times its own size a value may have in the course of a condition."""
_LONGEST = 1 << 16
"""Bytes of the values of a row that a condition looks at: of a longer row it cannot be computed.

Patterns that a value holds, long numbers and Unicode forms take time by the square of the length,
so that one value of some MiB would stop the release."""
_ESCAPING = frozenset(f"{no}{like}_escape" for no in ("", "not_") for like in ("like", "ilike"))
"""LIKE and its kin with ESCAPE; for some of their mistakes a row cannot be left out by TRY."""
_HINT = "Write a condition on the row's own columns, such as SELECT * FROM data WHERE sex = 'm'."
_ESCAPE = (
    "Write the pattern and one character of ASCII behind ESCAPE in quotes, and do not let the "
    "pattern end with that character."
)
_TABLE = "Name the `table` as well; the query then runs over its rows."


def read_filter(spec: SourceSpec, where: str) -> QueryTree | None:
    """The query of a source, which must be a filter on rows; None where there is none.

    Needs no data. Raises InputError ``source.query``.
    """
    if spec.query is None:
        return None
    if not queries_rows(spec):
        raise refused(where, "the database would run it, which no private method allows", _TABLE)
    tree = read_query(spec.query, where)
    if not tree.is_filter or not tree.selects_all:
        raise refused(
            where,
            "for a private method a query may only keep rows by their own values, without LIMIT, "
            "ORDER BY, DISTINCT, windows, subqueries, aggregates or a choice of columns",
            _HINT,
        )
    where_clause = tree.statement["node"]["where_clause"]
    if where_clause and _times(where_clause) > _MOST_TIMES:
        raise refused(where, "with its functions one value could fill the memory", _HINT)
    for node in walk(where_clause):
        if node.get("class") == "FUNCTION" and _stops(node):
            raise refused(where, "its ESCAPE could stop at the value of one row", _ESCAPE)
    return tree


def _times(node: Mapping[str, Any]) -> float:
    """How many times as long as the values that go into it the text may be that a part makes."""
    name = str(node.get("function_name", "")).lower()
    inner = [_times(part) for part in _parts(node)] or [1.0]
    if name in _GROWING:
        return math.inf
    if name == "replace":
        put, out = (_size(node, place) for place in (2, 1))
        return max(inner) * max(1.0, put / max(out, 1) if out < math.inf else put)
    if name == "regexp_replace":
        return max(inner) * (1 + _size(node, 2))
    if name in _JOINING:  # the signs of a row that is told as a text are protected by others
        return sum(inner) * (2 if name == "row" else 1)
    types = (str(part.get("type_name", "")).upper() for part in walk(node.get("type_expr")))
    return max(inner) * (8 if any(name.startswith("BIT") for name in types) else 1)


def _parts(node: object) -> Iterator[Mapping[str, Any]]:
    """The expressions right below a part."""
    below = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    for item in below:
        if isinstance(item, Mapping) and "class" in item:
            yield item
        else:
            yield from _parts(item)


def _size(call: Mapping[str, Any], place: int) -> float:
    """The bytes of a text that is given to a function; unbounded where a value makes it."""
    given = call["arguments"][place : place + 1]
    literal = given[0]["expression"].get("literal") if given else None
    return math.inf if literal is None else len(str(literal.get("text", "")).encode())


def _stops(call: Mapping[str, Any]) -> bool:
    """Whether a LIKE … ESCAPE is not known to be in order before any value is seen."""
    if str(call["function_name"]).lower() not in _ESCAPING:
        return False
    literals = [part["expression"].get("literal", {}) for part in call["arguments"][1:]]
    if any(literal.get("kind") != "STRING" for literal in literals):
        return True
    pattern, escape = (str(literal["text"]) for literal in literals)
    if len(escape) != 1 or not escape.isascii():
        return True
    return pattern.replace(2 * escape, "").endswith(escape)


def filtered(
    con: DuckDBPyConnection,
    loaded: Loaded,
    spec: SourceSpec,
    path: Path,
    spill: Path | None,
    token: CancelToken,
) -> Loaded:
    """Leave out of the table ``raw`` the rows that the query of ``spec`` does not keep.

    Raises InputError ``source.query`` for a column that is not there or is not declared, and for a
    condition that no row could have; nothing for what a row holds.
    """
    from dpdesk.io.row_query import free_name, locked, told

    tree = read_filter(spec, path.name)
    if tree is None:
        return loaded
    tree = tree.spelled_as(loaded.names)
    tree.check_names(loaded.names, path.name)
    known = {folded(name) for name in loaded.names}
    wanted = sorted(place_of(name, loaded.names, path.name) for name in tree.named & known)
    marker = free_name(known | tree.named)
    longest = None if tree.statement["node"]["where_clause"] is None else _LONGEST
    locks = locked(con, loaded, wanted, marker, path, spill, token, longest)
    with locks as inner, told(path):
        kept = inner.sql(tree.trying(marker)).to_arrow_table()
    with query(con, token, path) as cursor:
        cursor.register(_KEPT, kept)
        cursor.execute(
            f"DELETE FROM {RAW} WHERE rowid NOT IN (SELECT {identifier(marker)} FROM {_KEPT})"
        )
        cursor.unregister(_KEPT)
        # Deleted rows leave gaps, and places of rows count from 0 without any.
        cursor.execute(f"CREATE TABLE {_KEPT} AS SELECT * FROM {RAW}")
        cursor.execute(f"DROP TABLE {RAW}")
        cursor.execute(f"ALTER TABLE {_KEPT} RENAME TO {RAW}")
        found = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    return replace(loaded, rows=int(found[0]) if found else 0)
