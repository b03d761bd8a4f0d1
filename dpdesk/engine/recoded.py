"""Tuples of a source as a recoding releases them: their labels, and which are suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.recoding import Recoding
from dpdesk.engine.telling import grouped

_LARGEST_KEY = 1 << 62


def rows_alone(
    source: FrequencySource, names: Sequence[str], recoding: Recoding | None, token: CancelToken
) -> int:
    """Rows that are not suppressed and of whose released values in ``names`` there are no others.

    ``names`` hold the attributes of ``recoding``. A class is suppressed as a whole, so no
    suppressed row has the values of one that is kept. Raises Cancelled.
    """
    table = source.frequency_table(names, token)
    if recoding is None:
        return int((table.counts == 1).sum())
    groups, sizes = grouped(table, recoding.mapping, token)
    first = np.flatnonzero(sizes[groups] == 1)
    at = [names.index(name) for name in recoding.attributes]
    domains = [table.domains[place] for place in at]
    codes = label_codes(recoding, domains, table.codes[first][:, at])
    return int((~suppressed_tuples(recoding, codes)).sum())


def label_codes(
    recoding: Recoding, domains: Sequence[Sequence[str]], codes: NDArray[Any]
) -> NDArray[np.int32]:
    """Raw codes as codes of the recoding's labels, of the same shape."""
    found = np.empty(codes.shape, np.int32)
    for place, name in enumerate(recoding.attributes):
        mapping: Mapping[str, str] = recoding.mapping[name]
        index = {label: code for code, label in enumerate(recoding.labels[place])}
        released = np.array([index[mapping[value]] for value in domains[place]], np.int32)
        found[:, place] = released[codes[:, place]]
    return found


def tuple_keys(recoding: Recoding, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """One number for each tuple of labels, the same for the same tuple."""
    keys, factor = np.zeros(len(codes), np.int64), 1
    for place, labels in enumerate(recoding.labels):
        if factor * len(labels) >= _LARGEST_KEY:
            known, keys = np.unique(keys, return_inverse=True)
            factor = len(known)
        keys = keys * len(labels) + codes[:, place]
        factor *= len(labels)
    return keys


def suppressed_tuples(recoding: Recoding, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each tuple of labels is suppressed."""
    gone = len(recoding.suppressed)
    keys = tuple_keys(recoding, np.concatenate([recoding.suppressed, codes]).astype(np.int32))
    if not gone:
        return np.zeros(len(codes), np.bool_)
    known = np.sort(keys[:gone])
    places = np.minimum(np.searchsorted(known, keys[gone:]), gone - 1)
    return np.asarray(known[places] == keys[gone:], np.bool_)
