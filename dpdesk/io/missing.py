"""Which values of a column stand for a missing one: declared by the plan, or by the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpdesk.core.labels import UserMissing
from dpdesk.io.coding import Column
from dpdesk.io.database import literal

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
