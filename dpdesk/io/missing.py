"""Which values of a column stand for a missing one: declared by the plan, or by the source."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.labels import UserMissing
from dpdesk.io.coding import Column
from dpdesk.io.database import literal

_LETTERED = literal(r"\.[A-Za-z_]")


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
    user = column.user_missing
    parts = []
    tokens = [*declared, *user.values]
    if tokens:
        parts.append(f"v IN ({', '.join(literal(token) for token in tokens)})")
    if user.low is not None and user.high is not None:
        low, high = literal(str(user.low)), literal(str(user.high))
        parts.append(
            f"coalesce(try_cast(v AS DOUBLE) BETWEEN {low}::DOUBLE AND {high}::DOUBLE, false)"
        )
    if user.letters:
        parts.append(f"regexp_full_match(v, {_LETTERED})")
    return " OR ".join(parts)
