"""The rows that a plan counts: those of its sample, with the places of swapped households."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import CodedColumn
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.schema import Role
from dpdesk.core.tabulation import RowEdit
from dpdesk.engine.method import CellsInput
from dpdesk.engine.methods.table.settings import Settings, Swap
from dpdesk.engine.tables.edits import Keys, Units, sampled, swapped
from dpdesk.engine.tables.model import Flags, Ints


def as_counted(
    given: CellsInput, settings: Settings, token: CancelToken
) -> tuple[CellsInput, RowEdit | None]:
    """The input with the rows that are counted, and what was done to those of the source.

    Raises InputError ``table.edit`` where rows of a household stand in several places, Cancelled.
    """
    if not settings.edits:
        return given, None
    edit = given.edit if given.edit is not None else _drawn(given, settings, token)
    return replace(given, source=given.source.edited(edit, token)), edit


def _drawn(given: CellsInput, settings: Settings, token: CancelToken) -> RowEdit:
    """The sample and the swaps that the kept keys of rows decide."""
    if given.keys is None:
        raise TypeError("without keys of rows nothing is sampled or swapped")
    source = given.source
    held = next((name for name, role in given.roles.items() if role is Role.CLUSTER), None)
    if held is None:
        units = Units.by(np.arange(source.rows))
    else:
        (column,) = source.coded_columns([held], token)
        units = Units.by(column.codes.astype(np.int64))
    keys = given.keys(2 * source.rows)
    kept, taken = np.ones(source.rows, dtype=bool), np.arange(source.rows)
    if settings.swap is not None:
        taken = _swapped(given, units, settings.swap, keys[source.rows :], token)
    if settings.sample is not None:
        kept = sampled(units, settings.sample, keys[: source.rows])
    return RowEdit(kept, taken, settings.swap.columns if settings.swap is not None else ())


def _swapped(given: CellsInput, units: Units, swap: Swap, keys: Keys, token: CancelToken) -> Ints:
    columns = given.source.coded_columns(swap.columns, token)
    marks = [one.codes for one in given.source.coded_columns(swap.match, token)]
    _, found = np.unique(np.stack([c.codes for c in columns]), axis=1, return_inverse=True)
    places = found.ravel().astype(np.int64)
    apart = np.flatnonzero(places != places[units.first[units.of]])
    if apart.size:
        raise InputError(
            "table.edit",
            msg(
                "{source}, row {row}: it is in another place than the first row of its household "
                "(`{column}`), so the household cannot be swapped as a whole.",
                source=given.source.name,
                row=int(apart[0]) + 1,
                column=swap.columns[0],
            ),
            hint="Exchange columns that are alike in a household.",
            details={"key": "swap"},
        )
    table = np.stack(marks, axis=1) if marks else np.empty((len(places), 0), dtype=np.int64)
    free = ~np.any([_missing(one) for one in columns], axis=0)
    return swapped(units, places, table.astype(np.int64), swap.share, keys, free, token)


def _missing(column: CodedColumn) -> Flags:
    found: Flags = np.isin(column.codes, sorted(column.missing))
    return found
