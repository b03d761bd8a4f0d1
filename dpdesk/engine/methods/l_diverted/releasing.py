"""From judged settings to the rows to release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.l_diverted.combined import choose_rows
from dpdesk.engine.methods.l_diverted.mechanism import (
    all_but_the_rest,
    at_level,
    draw_rows,
    labels_of,
)
from dpdesk.engine.methods.l_diverted.settings import Settings

if TYPE_CHECKING:
    from dpdesk.core.frequency import CodedColumn, RewrittenRows, RowSource
    from dpdesk.engine.noise.randomness import RandomSource


def draw_release(
    given: MethodInput,
    outcome: Outcome,
    rows: RowSource,
    randomness: RandomSource,
    token: CancelToken,
) -> RewrittenRows:
    """See :meth:`~dpdesk.engine.method.RowsMethod.draw`."""
    settings = Settings.from_parameters(given.parameters)
    recoding = None if outcome.recoding is None else outcome.values_recoding
    removed = outcome.result["rows_removed"]
    choose = all_but_the_rest(rows.rows, settings.l)
    if recoding is not None and settings.k is not None:
        choose = choose_rows(recoding, settings.k, int(str(removed)), rows, token)
    return draw_rows(
        columns_to_draw(given, settings, rows, token),
        settings.l,
        settings.partition,
        choose,
        given.with_role(Role.IDENTIFIER),
        recoding.mapping if recoding is not None else {},
        randomness,
        token,
    )


def columns_to_draw(
    given: MethodInput, settings: Settings, rows: RowSource, token: CancelToken
) -> tuple[CodedColumn, ...]:
    """The columns to draw, at their levels. Raises InputError ``diverted.levels``."""
    found = rows.coded_columns(settings.diverted(given.roles), token)
    levels = settings.levels
    return tuple(
        at_level(column, _labels(given, column.name, levels[column.name], token))
        if levels.get(column.name, 0)
        else column
        for column in found
    )


def _labels(given: MethodInput, name: str, level: int, token: CancelToken) -> dict[str, str]:
    table = given.source.frequency_table((name,), token)
    return labels_of(table, given.hierarchies, level, given.where)
