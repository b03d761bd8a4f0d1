"""Which groups of rows a filter keeps, found from the groups alone.

A filter decides for each row by its own values, so it decides alike for all rows of a group that
are alike in the columns that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken
from dpdesk.core.source_spec import SourceSpec, queries_rows
from dpdesk.io.database import identifier, query
from dpdesk.io.query_tree import DATA, QueryTree, folded, place_of, read_query
from dpdesk.io.row_query import closed_off, free_name, told

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GROUPS = "given_groups"


def filter_of(spec: SourceSpec, columns: Sequence[str], place: Path) -> QueryTree | None:
    """The query of a source as a filter on rows with these columns; None for any other query, and
    for one that names other columns, gives them other names, or is run by a database.
    """
    if spec.query is None or not queries_rows(spec):
        return None
    try:
        tree = read_query(spec.query, place.name).spelled_as(columns)
        if not tree.is_filter or tree.takes_rows_whole(columns):
            return None
        tree.check_names(columns, place.name)
        chosen = tree.columns(columns, place.name)
    except InputError:
        return None
    return tree if all(columns[at] == name for at, name in chosen) else None


def named_columns(tree: QueryTree, columns: Sequence[str], place: Path) -> list[str]:
    """The columns of the source that a filter looks at."""
    known = {folded(name) for name in columns}
    return [columns[place_of(name, columns, place.name)] for name in sorted(tree.named & known)]


def kept_groups(
    table: FrequencyTable, tree: QueryTree, place: Path, token: CancelToken
) -> NDArray[np.bool_]:
    """Which groups a filter keeps; ``table`` is by all columns that it looks at.

    Raises InputError ``source.query`` for a condition that cannot be computed, Cancelled.
    """
    import pyarrow as pa

    wanted = named_columns(tree, table.attributes, place)
    marker = free_name({folded(name) for name in table.attributes} | tree.named)
    columns: dict[str, Any] = {}
    for name in wanted:
        at = table.attributes.index(name)
        codes, gone = table.codes[:, at], sorted(table.missing_of(at))
        texts = pa.array(list(table.domains[at]), pa.string())
        columns[name] = texts.take(pa.array(codes, mask=np.isin(codes, gone)))
    columns[marker] = pa.array(np.arange(len(table.counts)), pa.int64())
    outer = closed_off(None)
    try:
        with query(outer, token, place) as inner, told(place):
            inner.register(_GROUPS, pa.table(columns))
            inner.execute(f"CREATE TABLE {DATA} AS SELECT * FROM {identifier(_GROUPS)}")
            inner.unregister(_GROUPS)
            found = inner.sql(tree.selecting(marker)).to_arrow_table().column(0).to_numpy()
    finally:
        outer.close()
    kept = np.zeros(len(table.counts), dtype=bool)
    kept[found] = True
    return kept
