"""Which rows a condition keeps, one row after the other, with the three truth values of SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Condition:
    """A comparison of a column with values, or several conditions joined."""

    kind: str
    column: str = ""
    values: tuple[str, ...] = ()
    parts: tuple[Condition, ...] = ()


def sql_of(condition: Condition) -> str:
    """The condition in SQL."""
    texts = ["'" + value.replace("'", "''") + "'" for value in condition.values]
    name = f'"{condition.column}"'
    match condition.kind:
        case "and" | "or":
            joined = f" {condition.kind.upper()} ".join(map(sql_of, condition.parts))
            return f"({joined})"
        case "not":
            return f"NOT ({sql_of(condition.parts[0])})"
        case "null":
            return f"{name} IS NULL"
        case "in":
            return f"{name} IN ({', '.join(texts)})"
        case "number<":
            return f"TRY_CAST({name} AS DOUBLE) < 5"
        case "<":
            return f"{name} < concat({texts[0]}, '')"  # a text, even if it looks like a number
        case _:
            return f"{name} {condition.kind} {texts[0]}"


def kept(
    condition: Condition,
    names: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    missing: Sequence[str],
) -> list[tuple[str, ...]]:
    """The rows for which the condition is true; a missing value is unknown."""
    return [
        row
        for row in rows
        if _truth(condition, dict(zip(names, row, strict=True)), missing) is True
    ]


def _truth(condition: Condition, row: dict[str, str], missing: Sequence[str]) -> bool | None:
    if condition.kind in ("and", "or", "not"):
        return _joined(condition, row, missing)
    value = row[condition.column]
    if condition.kind == "null":
        return value in missing
    if value in missing:
        return None
    match condition.kind:
        case "in":
            return value in condition.values
        case "number<":
            return float(value) < 5 if _NUMBER.fullmatch(value.strip()) else None
        case "=":
            return value == condition.values[0]
        case "<>":
            return value != condition.values[0]
        case _:
            return value.encode() < condition.values[0].encode()


def _joined(condition: Condition, row: dict[str, str], missing: Sequence[str]) -> bool | None:
    found = [_truth(part, row, missing) for part in condition.parts]
    if condition.kind == "not":
        return None if found[0] is None else not found[0]
    decisive = condition.kind == "or"
    if decisive in found:
        return decisive
    return None if None in found else not decisive
