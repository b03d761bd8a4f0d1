"""Which rows of the source a release with noise counts, as the verifier finds it.

Texts are placed by :mod:`.declared`; no code of the design decides what belongs where. Noise hides
the counts themselves, but not how many rows were left out, nor what is released exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.shapes import as_table
from dpdesk.verifiers.declared import Column, number_of


@dataclass(frozen=True)
class Rows:
    """Which rows count: those with a place in every one of ``columns``, so many for a person.

    ``measured`` is the column that is summed, empty for counts; it takes part in the order in which
    the rows of a person are cut.
    """

    columns: tuple[Column, ...]
    measured: str = ""
    person: str | None = None
    most: int = 1


def kept_rows(
    source: FrequencySource, rows: Rows, token: CancelToken
) -> tuple[FrequencySource, dict[str, object]]:
    """The rows that count, and how many did not; the keys are those of the evidence."""
    strange: dict[str, int] = {}
    lost: dict[str, tuple[str, ...]] = {}
    for column in rows.columns:
        table = source.frequency_table([column.name], token)
        nowhere = [place is None for place in column.places(table.domains[0])]
        if any(nowhere):
            out_of_place = np.array(nowhere, dtype=bool)[table.codes[:, 0]]
            strange[column.name] = int(table.counts[out_of_place].sum())
        if column.outside is None:
            lost[column.name] = tuple(
                text for text, out in zip(table.domains[0], nowhere, strict=True) if out
            )
    kept = source.restricted(RowRule(lost), token)
    facts: dict[str, object] = {
        "rows_with_values_outside_the_domain": strange,
        "rows_left_out": source.rows - kept.rows,
    }
    if rows.person is None:
        return kept, facts
    order = tuple(column.name for column in rows.columns)
    order += (rows.measured,) if rows.measured else ()
    known = source.restricted(RowRule(lost, rows.person), token)
    cut = source.restricted(RowRule(lost, rows.person, order, rows.most), token)
    facts["rows_without_a_person"] = kept.rows - known.rows
    facts["rows_beyond_the_bound"] = known.rows - cut.rows
    return cut, facts


def without_number(source: FrequencySource, column: str, token: CancelToken) -> int:
    """How many rows have a text in a column that is no number."""
    table = source.frequency_table([column], token)
    strange = np.array([number_of(text) is None for text in table.domains[0]], dtype=bool)
    return int(table.counts[strange[table.codes[:, 0]]].sum())


def counted(
    kept: FrequencySource, columns: Sequence[Column], token: CancelToken
) -> NDArray[np.int64]:
    """How many of the kept rows are in each cell, one axis for each column."""
    shape = tuple(len(column.categories) for column in columns)
    cells = np.zeros(shape, np.int64)
    if not columns:
        return cells + kept.rows
    table = kept.frequency_table([column.name for column in columns], token)
    axes = []
    for j, column in enumerate(columns):
        lost = -1 if column.outside is None else column.outside
        places = [lost if place is None else place for place in column.places(table.domains[j])]
        axes.append(np.array(places, np.int64)[table.codes[:, j]])
        if (axes[-1] < 0).any():
            raise ValueError("a row that does not count was kept")
    np.add.at(cells, tuple(axes), table.counts)
    return cells


def unlike(
    recorded: Mapping[str, object], name: str, found: Mapping[str, object], *, complete: bool
) -> str:
    """The first fact of the measure ``name`` that the evidence records otherwise, or empty.

    ``recorded`` is the result in the evidence. What it lacks is a difference too where it must be
    ``complete``: earlier versions recorded less. Raises KeyError, TypeError when malformed.
    """
    counting = as_table(recorded["counting"] if complete else recorded.get("counting") or {})
    facts = as_table(counting[name] if complete else counting.get(name) or {})
    asked = found if complete else [key for key in found if key in facts]
    return next((key for key in asked if facts.get(key) != found[key]), "")
