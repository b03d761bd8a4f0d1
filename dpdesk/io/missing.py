"""Which values of a column stand for a missing one: declared by the plan, or by the source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import UserMissing
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.source_spec import missing_line
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import literal, query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 500
_LETTER = r"\.[A-Za-z_]"
_LETTERED = literal(_LETTER)
NUMBER = r"^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
"""What a number looks like among the texts of a column."""


def missing_codes(
    domain: Sequence[str], declared: Sequence[str], user: UserMissing
) -> frozenset[int]:
    """The places in ``domain`` of the values that are missing."""
    tokens = frozenset(declared)
    if not user:
        return frozenset(code for code, value in enumerate(domain) if value in tokens)
    return frozenset(
        code for code, value in enumerate(domain) if value in tokens or user.holds(value)
    )


def note_empty(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    declared: Sequence[str],
    place: Path,
    token: CancelToken,
) -> tuple[str, ...]:
    """A sentence when fields without a value count as values of the table ``data``.

    They do when a plan lists missing texts and leaves the empty one out; that nothing is missing
    (an empty list) says so itself. Raises Cancelled.
    """
    if not declared or "" in declared:
        return ()
    # The texts of a domain are sorted, and no text comes before the empty one.
    some = [column for column in columns if column.domain is None or "" in column.domain[:1]]
    counts: list[int] = []
    for start in range(0, len(some), _AT_ONCE):
        parts = (f"count(*) FILTER (WHERE {one.sql} = '')" for one in some[start:][:_AT_ONCE])
        with query(con, token, place) as cursor:
            counts += cursor.execute(f"SELECT {', '.join(parts)} FROM {DATA}").fetchone() or ()
    found = [(one.name, count) for one, count in zip(some, counts, strict=True) if count]
    if not found:
        return ()
    name, most = max(found, key=lambda item: item[1])
    where = msg(
        "{counts:,} in {found:,} columns, most in {name}: {most:,}",
        counts=sum(counts),
        found=len(found),
        name=quoted(name),
        most=most,
    )
    if len(found) == 1:
        where = msg("{most:,} in column {name}", most=most, name=quoted(name))
    return (
        msg(
            "Empty fields and missing values of the system ({where}) count as values "
            "here, since the plan lists missing texts without the empty one. If they "
            "are missing, write `missing = [{list}]` under [source].",
            where=where,
            list=missing_line(["", *declared]),
        ),
    )


def missing_sql(column: Column, declared: Sequence[str]) -> str:
    """The condition that the value ``v`` of a column is missing; empty when none can be."""
    return condition(column.user_missing, declared, "v")


def condition(user: UserMissing, declared: Sequence[str], v: str) -> str:
    """The condition in SQL that the text ``v`` is missing; empty when none can be."""
    parts = []
    tokens = [*declared, *user.values]
    if tokens:
        parts.append(f"{v} IN ({', '.join(literal(token) for token in tokens)})")
    if user.low is not None and user.high is not None:
        low, high = literal(str(user.low)), literal(str(user.high))
        parts.append(
            f"coalesce(try_cast({v} AS DOUBLE) BETWEEN {low}::DOUBLE AND {high}::DOUBLE, false)"
        )
    if user.letters:
        parts.append(f"regexp_full_match({v}, {_LETTERED})")
    return " OR ".join(parts)


def user_missing_flags(texts: Any, user: UserMissing) -> Any:
    """Which ``texts`` (an Arrow array) their source declares missing, without a step for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.is_in(texts, value_set=pa.array(user.values, pa.string()))
    if user.letters:
        found = pc.or_(found, pc.match_substring_regex(texts, f"^{_LETTER}$"))
    if user.low is not None and user.high is not None:
        number = pc.match_substring_regex(texts, NUMBER)
        nothing = pa.scalar(None, pa.string())
        values = pc.if_else(number, texts, nothing).cast(pa.float64())
        low, high = pc.greater_equal(values, user.low), pc.less_equal(values, user.high)
        found = pc.or_(found, pc.fill_null(pc.and_(low, high), False))
    return found
