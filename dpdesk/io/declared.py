"""Whether the values of a source are of the types that its plan declares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import nearest
from dpdesk.core.plain import quoted
from dpdesk.core.plan import SourceSpec
from dpdesk.core.schema import spelling
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
        msg(
            "{source}: `types` declares the column `{name}`, which the source does not have.",
            source=source,
            name=name,
        ),
        hint=msg("Did you mean `{near}`?", near=near) if near else "",
        details={"key": "types", "nearest": near},
    )


def note_types(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    spec: SourceSpec,
    decimal: str,
    path: Path,
    token: CancelToken,
) -> tuple[str, ...]:
    """A sentence for each column of the table ``data`` with values not of their declared type.

    They stay as they are: where nothing is random, looking at them costs nobody anything, and a
    plan for a release with noise, where they are unreadable, can be opened to be worked on.
    Raises InputError ``plan.unknown-column``; Cancelled.
    """
    names = [column.name for column in columns]
    fault = unknown_type(spec, names, path.name)
    if fault is not None:
        raise fault
    types, notes = dict(spec.spelled_as(names).types), list[str]()
    for column in columns:
        kind = types.get(column.name)
        if kind is None:
            continue
        value = value_sql("v", kind, spec.missing, decimal, spec.date_order or "")
        with query(con, token, path) as cursor:
            found = cursor.execute(
                f"SELECT count(*), min(r), arg_min(v, r) FROM "
                f"(SELECT rowid AS r, {column.sql}::VARCHAR AS v FROM {DATA}) "
                f"WHERE {value} = {literal(UNREADABLE)}"
            ).fetchone()
        if found is not None and found[0]:
            rows = counted("{n:,} row", "{n:,} rows", n=found[0])
            notes.append(
                msg(
                    "Column `{name}`: {rows} with a value that is not a {kind}, as `types` "
                    "declares, the first {found} in row {found2:,}; they stay as they are.",
                    name=column.name,
                    rows=rows,
                    kind=kind,
                    found=quoted(found[2]),
                    found2=found[1] + 1,
                )
            )
    return tuple(notes)
