"""Which of the tables of a source is read."""

from __future__ import annotations

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import nearest
from dpdesk.io.formats.table import Notes

_LISTED = 8


def chosen(
    wanted: str | None, tables: tuple[str, ...], source: str, noun: str, notes: Notes | None = None
) -> str:
    """The name of the table to read: the one wanted, or the only one.

    With ``notes`` the first of several is read, and noted. Raises InputError ``source.table`` whose
    details have all of them.
    """
    listed = ", ".join(f"`{name}`" for name in tables[:_LISTED])
    listed += ", …" if len(tables) > _LISTED else ""
    if wanted is not None and wanted in tables:
        return wanted
    if wanted is not None:
        near = nearest(wanted, tables)
        hint = msg("Did you mean `{near}`? ", near=near) if near else ""
        raise InputError(
            "source.table",
            msg(
                "{source}: there is no {noun} `{wanted}`.", source=source, noun=noun, wanted=wanted
            ),
            hint=msg("{hint}It has {noun}.", hint=hint, noun=listed or f"no {noun}"),
            details={"table": wanted, "tables": tables},
        )
    if not tables:
        raise InputError(
            "source.table",
            msg("{source}: found no {noun}, expected one.", source=source, noun=noun),
        )
    if len(tables) > 1 and notes is None:
        raise InputError(
            "source.table",
            msg(
                "{source}: found {tables:,} {noun}s, expected the name of one.",
                source=source,
                tables=len(tables),
                noun=noun,
            ),
            hint=msg("Name one as `table` under [source]: {listed}.", listed=listed),
            details={"tables": tables},
        )
    if len(tables) > 1 and notes is not None:
        notes.add(
            "tables",
            msg(
                "The first of {tables:,} {noun}s was read, `{tables2}`; name another one "
                "as `table`: {listed}.",
                tables=len(tables),
                noun=noun,
                tables2=tables[0],
                listed=listed,
            ),
        )
    return tables[0]
