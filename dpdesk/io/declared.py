"""Whether the values of a source are of the types that its plan declares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.column_names import spelling
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.parameters import nearest
from dpdesk.core.plain import quoted
from dpdesk.core.plan import SourceSpec
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import literal, query
from dpdesk.io.private.values import UNREADABLE, value_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def unknown_type(spec: SourceSpec, names: Sequence[str], source: str) -> InputError | None:
    """The error for a column that ``types`` declares and the source does not have."""
    spelled = spelling(names)
    name = next((name for name, _ in spec.types if spelled(name) not in names), None)
    if name is None:
        return None
    near = nearest(name, names)
    return InputError(
        "plan.unknown-column",
        f"{source}: `types` declares the column `{name}`, which the source does not have.",
        hint=f"Did you mean `{near}`?" if near else "",
        details={"key": "types", "nearest": near},
    )


def check_types(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    spec: SourceSpec,
    decimal: str,
    path: Path,
    token: CancelToken,
) -> None:
    """Refuse the first value of the table ``data`` that is not of its column's declared type.

    Raises InputError ``source.type-of-value``, ``plan.unknown-column``; Cancelled.
    """
    names = [column.name for column in columns]
    fault = unknown_type(spec, names, path.name)
    if fault is not None:
        raise fault
    types = dict(spec.spelled_as(names).types)
    for column in columns:
        kind = types.get(column.name)
        if kind is None:
            continue
        value = value_sql("v", kind, spec.missing, decimal, spec.date_order or "")
        with query(con, token, path) as cursor:
            found = cursor.execute(
                f"SELECT r, v FROM (SELECT rowid AS r, {column.sql}::VARCHAR AS v FROM {DATA}) "
                f"WHERE {value} = {literal(UNREADABLE)} ORDER BY r LIMIT 1"
            ).fetchone()
        if found is not None:
            raise InputError(
                "source.type-of-value",
                f"{path.name}, row {found[0] + 1:,}, column `{column.name}`: found "
                f"{quoted(found[1])}, expected a {kind}, as `types` declares.",
                hint="Change the type under [source], or the value in the file.",
                details={"row": found[0] + 1, "column": column.name},
            )
