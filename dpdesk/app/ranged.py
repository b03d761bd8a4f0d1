"""Codes for missing values are none of the numbers that a range of a recoding covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg

if TYPE_CHECKING:
    from dpdesk.io.store import DataStore

_LISTED = 5


def missing_apart(hierarchy: Hierarchy, data: DataStore) -> tuple[Hierarchy, str]:
    """The hierarchy without codes that are declared missing and only a range covers; a note.

    Depends on what the plan and the source declare, not on the rows. The note is empty when there
    is nothing to say. Raises InputError ``source.unknown-column``.
    """
    gone = sorted(data.declared_missing(hierarchy.attribute, hierarchy.ranged))
    if not gone:
        return hierarchy, ""
    listed = ", ".join(f"`{code}`" for code in gone[:_LISTED])
    listed += ", …" if len(gone) > _LISTED else ""
    return hierarchy.without_ranged(gone), (
        msg(
            "Column `{column}`: a range of its hierarchy covers {codes}, declared missing; "
            "missing values are not part of any range.",
            column=hierarchy.attribute,
            codes=listed,
        )
    )
