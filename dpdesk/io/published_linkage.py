"""What pseudonyms of a published table give away: the histories of persons with several rows.

The rows of one pseudonym together are a *history*: how many rows it has in which classes. k counts
persons who are alike in one row; whoever knows all rows of a person looks for the history, and few
persons may share it.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv

_WORDS = 2  # of 64 bits each, by which histories are compared


@dataclass(frozen=True)
class Histories:
    """Different pseudonyms; those with several rows; the most rows of one; those whose history is
    shared by fewer than k pseudonyms (themselves included); ``alone`` those who share it with
    nobody. Rows without a pseudonym count nowhere.
    """

    pseudonyms: int
    several: int
    most: int
    few: int
    alone: int

    def as_json(self) -> dict[str, int]:
        """The figures by name."""
        return dict(vars(self))


def histories(
    published: PublishedCsv,
    quasi_identifiers: Sequence[str],
    column: str,
    k: int,
    token: CancelToken,
) -> Histories:
    """Compare the histories of all pseudonyms of a column.

    Two histories are taken for the same when sums of random words of 128 bits are, which for
    different ones happens once in 2^128 pairs. KeyError for an unknown column.
    """
    table = published.counted((*quasi_identifiers, column), token)
    token.check()
    places = [_codes(table.column(f"c{place}")) for place in range(len(quasi_identifiers))]
    persons, empty = _persons(table.column(f"c{len(quasi_identifiers)}"))
    classes, rows = _joined(places, len(persons)), table.column("rows").to_numpy()
    kept = persons != empty
    persons, classes, rows = persons[kept], classes[kept], rows[kept].astype(np.uint64)
    if not len(persons):
        return Histories(0, 0, 0, 0, 0)
    token.check()
    order = np.argsort(persons, kind="stable")
    starts = np.flatnonzero(np.diff(persons[order], prepend=-1))
    counts = np.add.reduceat(rows[order], starts)
    words = _random_words(int(classes.max()) + 1)
    sums = [np.add.reduceat((words[:, w][classes] * rows)[order], starts) for w in range(_WORDS)]
    token.check()
    alike = _alike(sums)
    return Histories(
        pseudonyms=len(starts),
        several=int((counts > 1).sum()),
        most=int(counts.max()),
        few=int((alike < k).sum()),
        alone=int((alike == 1).sum()),
    )


def _codes(column: Any) -> NDArray[np.int64]:
    """A code for each text; equal texts have equal codes."""
    coded = column.combine_chunks().dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _persons(column: Any) -> tuple[NDArray[np.int64], int]:
    """A code for each pseudonym, and the code of the empty text (-1: there is none)."""
    import pyarrow.compute as pc

    missing = np.flatnonzero(pc.equal(column, "").to_numpy(zero_copy_only=False))
    codes = _codes(column)
    return codes, int(codes[missing[0]]) if len(missing) else -1


def _joined(places: Sequence[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
    """One code for each tuple of codes."""
    joined = np.zeros(count, np.int64)
    for codes in places:
        span = int(codes.max()) + 1 if len(codes) else 1
        joined = np.unique(joined * span + codes, return_inverse=True)[1].astype(np.int64)
    return joined


def _random_words(count: int) -> NDArray[np.uint64]:
    return np.frombuffer(secrets.token_bytes(8 * _WORDS * count), np.uint64).reshape(count, _WORDS)


def _alike(sums: Sequence[NDArray[np.uint64]]) -> NDArray[np.int64]:
    """How many have the same sums as each."""
    order = np.lexsort(sums)
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = np.any([one[order][1:] != one[order][:-1] for one in sums], axis=0)
    group = np.cumsum(fresh) - 1
    sizes = np.bincount(group)
    found = np.empty(len(order), np.int64)
    found[order] = sizes[group]
    return found
