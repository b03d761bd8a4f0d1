"""Whole households: counted again, by code that made no release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, FrequencyTable
from dpdesk.core.jobs import CancelToken

WHOLE = "whole"

Ints = NDArray[np.int64]


def household_rows(
    table: FrequencyTable,
    labels: NDArray[np.integer],
    k: int,
    column: str,
    source: FrequencySource,
    token: CancelToken,
    passing: NDArray[np.bool_] | None = None,
) -> tuple[Ints, tuple[str, ...]]:
    """Rows that stay of each tuple of ``table``, and the households that leave.

    ``labels`` has a row for each tuple. A household leaves with all its rows when one of them is in
    a class of fewer than ``k`` households, or in one of which a tuple is not ``passing``; then
    classes are counted again. A row without a household is one by itself.
    """
    joint = source.frequency_table((*table.attributes, column), token)
    tuples = own_tuples(table, joint)
    classes = np.unique(np.asarray(labels), axis=0, return_inverse=True)[1].reshape(-1)
    failed = np.zeros(int(classes.max(initial=-1)) + 1, np.bool_)
    if passing is not None:
        failed[classes[~passing]] = True
    of_entry, house = classes[tuples], joint.codes[:, -1].astype(np.int64)
    missing = np.array(sorted(joint.missing[-1]) if joint.missing else [], np.int64)
    alone = np.isin(house, missing)
    there = np.ones(len(house), np.bool_)
    while True:
        token.check()
        pairs = np.unique(np.stack([of_entry, house], axis=1)[there & ~alone], axis=0)
        counts = np.bincount(pairs[:, 0], minlength=len(failed))
        counts = counts + np.bincount(of_entry[alone], joint.counts[alone], len(failed))
        failed |= counts < k
        leaving = np.unique(house[failed[of_entry] & ~alone])
        left = np.where(alone, ~failed[of_entry], ~np.isin(house, leaving))
        if bool((left == there).all()):
            break
        there = left
    rows = np.bincount(tuples[there], joint.counts[there], len(table.counts)).astype(np.int64)
    gone = np.unique(house[~there & ~alone]).tolist()
    return rows, tuple(joint.domains[-1][code] for code in gone)


def own_tuples(table: FrequencyTable, joint: FrequencyTable) -> Ints:
    """The tuple of ``table`` of each one of ``joint``, which has one column more at its end."""
    index = {tuple(codes): at for at, codes in enumerate(_texts(table, table.codes).tolist())}
    own = [index[tuple(codes)] for codes in _texts(joint, joint.codes[:, :-1]).tolist()]
    return np.array(own, np.int64)


def _texts(table: FrequencyTable, codes: NDArray[np.int32]) -> NDArray[np.object_]:
    """The values of tuples as texts, so that tables with other domains can be compared."""
    columns = [
        np.array(domain, np.object_)[codes[:, place]]
        for place, domain in enumerate(table.domains[: codes.shape[1]])
    ]
    return np.stack(columns, axis=1)
