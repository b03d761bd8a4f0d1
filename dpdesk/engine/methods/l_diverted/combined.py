"""k-anonymous quasi-identifiers first, drawn values after: the two guarantees in one release.

The levels of the quasi-identifiers, the rows suppressed for k and the rows removed so that ℓ′
divides the rest depend on the quasi-identifiers and on coins alone, never on a sensitive value. So
swapping the sensitive values of two released people changes none of them, and what was said of the
mechanism on the released rows holds as before. And whatever is removed leaves every class with k
rows: rows at random are taken from classes that have more than k, and where there are too few of
those the smallest class is suppressed as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters, plain_number
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role
from dpdesk.engine.decoys.partition import counted, uniform
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.l_diverted.mechanism import (
    all_but_the_rest,
    at_level,
    draw_rows,
    labels_of,
)
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.recoded import label_codes, suppressed_tuples, tuple_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpdesk.core.frequency import CodedColumn, RewrittenRows, RowSource
    from dpdesk.engine.methods.l_diverted.mechanism import Choose
    from dpdesk.engine.noise.randomness import RandomSource


_SHARE_STEPS = 10_000


@dataclass(frozen=True, eq=False)
class Generalised:
    """What is done to the quasi-identifiers, from them alone.

    ``recoding`` suppresses the classes that are too small or that had to go for ℓ′; ``removed`` is
    the number of rows to be removed at random from the others.
    """

    outcome: Outcome
    recoding: Recoding = field(repr=False)
    removed: int = 0


def generalise(
    given: MethodInput, settings: Settings, token: CancelToken, report: Report
) -> Generalised:
    """Make the quasi-identifiers k-anonymous with the least loss.

    Raises InputError, RefusedError ``k-anonymity.*`` or ``diverted.no-room``, Cancelled.
    """
    method, k = KAnonymity(), settings.k
    if k is None:
        raise ValueError("no k is given")
    asked = {"k": k, "max_suppression": plain_number(settings.max_suppression)}
    parameters = parse_parameters(method.parameters, asked, given.where)
    outcome = method.chosen(replace(given, parameters=parameters), token, report)
    recoding = outcome.values_recoding
    table = given.source.frequency_table(recoding.attributes, token)
    codes = label_codes(recoding, table.domains, table.codes)
    tuples, sizes = _classes(recoding, codes, table.counts)
    more, removed = trimmed(sizes, k, settings.l)
    _check_room(given, settings, recoding.rows_suppressed + int(sizes[more].sum()), len(more))
    suppressed = np.concatenate([recoding.suppressed, tuples[more]]).astype(np.int32)
    lost = int(sizes[more].sum())
    widened = replace(
        recoding,
        suppressed=suppressed,
        rows_out=recoding.rows_out - lost,
        rows_suppressed=recoding.rows_suppressed + lost,
    )
    if widened.rows_out == 0:
        raise _no_room(given, settings, widened.rows_suppressed)
    return Generalised(outcome, widened, removed)


def trimmed(sizes: NDArray[np.int64], k: int, size: int) -> tuple[NDArray[np.int64], int]:
    """Which classes of at least ``k`` rows have to go as well, and how many rows at random.

    The smallest class goes, ties by order, until the rows left over by ``size`` can be taken from
    classes with more than ``k`` rows.
    """
    order = np.argsort(sizes, kind="stable")
    rows, room, gone = int(sizes.sum()), int((sizes - k).sum()), 0
    while rows % size > room:
        rows -= int(sizes[order[gone]])
        room -= int(sizes[order[gone]]) - k
        gone += 1
    return order[:gone], rows % size


def kept_counts(
    given: MethodInput, recoding: Recoding, name: str, token: CancelToken
) -> dict[str, int]:
    """Rows of each raw value of a column among the rows that are not suppressed."""
    table = given.source.frequency_table((*recoding.attributes, name), token)
    codes = label_codes(recoding, table.domains[:-1], table.codes[:, :-1])
    kept = ~suppressed_tuples(recoding, codes)
    counts = np.bincount(table.codes[kept, -1], table.counts[kept], len(table.domains[-1]))
    values = zip(table.domains[-1], counts.tolist(), strict=True)
    return {value: int(rows) for value, rows in values if rows}


def choose_rows(
    recoding: Recoding, k: int, removed: int, rows: RowSource, token: CancelToken
) -> Choose:
    """Choose the rows of the classes that are left, without some at random of classes above k."""
    columns = rows.coded_columns(recoding.attributes, token)
    codes = label_codes(
        recoding,
        [column.domain for column in columns],
        np.stack([column.codes for column in columns], axis=1),
    )
    token.check()
    left = np.flatnonzero(~suppressed_tuples(recoding, codes))
    token.check()
    classes = numbered(tuple_keys(recoding, codes[left]), token)

    def choose(source: RandomSource) -> NDArray[np.int64]:
        return np.delete(left, spare_rows(classes, k, removed, source))

    return choose


def numbered(keys: NDArray[np.int64], token: CancelToken) -> NDArray[np.int32]:
    """A number for each key, the same for the same key, from 0 on; without the interpreter."""
    from dpdesk.engine.decoys.kernels import number_runs

    found = np.empty(len(keys), np.int32)
    order = np.argsort(keys, kind="stable")
    token.check()
    number_runs(keys, order, found)
    return found


def spare_rows(
    classes: NDArray[Any], k: int, count: int, source: RandomSource
) -> NDArray[np.int64]:
    """Places of ``count`` rows drawn one after the other from the classes with more than k rows.

    Each time all such rows are equally likely. ValueError when there are not so many.
    """
    sizes = counted(classes, int(classes.max(initial=-1)) + 1)
    if int(np.maximum(sizes - k, 0).sum()) < count:
        raise ValueError("too few rows are to spare")
    candidates = np.flatnonzero(sizes[classes] > k)
    removed: set[int] = set()
    while len(removed) < count:
        row = int(candidates[int(uniform(len(candidates), 1, source)[0])])
        if row not in removed and sizes[classes[row]] > k:
            removed.add(row)
            sizes[classes[row]] -= 1
    return np.array(sorted(removed), np.int64)


def _check_room(given: MethodInput, settings: Settings, suppressed: int, more: int) -> None:
    if more and suppressed > int(settings.max_suppression * given.source.rows):
        raise _no_room(given, settings, suppressed)


def _no_room(given: MethodInput, settings: Settings, suppressed: int) -> RefusedError:
    rows = given.source.rows
    share = -(-suppressed * _SHARE_STEPS // rows) / _SHARE_STEPS
    return RefusedError(
        "diverted.no-room",
        msg(
            "{name}: no class has rows to spare, so that k = {k:,} and groups of ℓ′ = {l:,} "
            "need {suppressed:,} rows suppressed.",
            name=given.source.name,
            k=settings.k,
            l=settings.l,
            suppressed=suppressed,
        ),
        hint=msg("Allow max_suppression = {share}, or choose another l.", share=share)
        if suppressed < rows
        else "",
        details={"key": "max_suppression", "suppressed": suppressed},
    )


def _classes(
    recoding: Recoding, codes: NDArray[np.int32], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The tuples of the classes that are not suppressed, in order, with their rows."""
    kept = ~suppressed_tuples(recoding, codes)
    codes, counts = codes[kept], counts[kept]
    _, first, which = np.unique(tuple_keys(recoding, codes), return_index=True, return_inverse=True)
    sizes = np.bincount(which, counts, len(first)).astype(np.int64)
    return codes[first], sizes


# From judged settings to the rows to release.


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
