"""Count from a published table, and from nothing else, what a checklist asks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NOTHING_MISSING, UserMissing
from dpdesk.core.release import ColumnFacts, SpreadFacts, TableFacts
from dpdesk.core.schema import Role, ValueCount
from dpdesk.io.profile import suggest_role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpdesk.engine.disclosure import Spread
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.published_content import PublishedClasses, PublishedValues
    from dpdesk.io.workspace import Workspace

STEP = "Count what the table shows"


@dataclass(frozen=True)
class ValueReading:
    """How the table's values are to be taken.

    ``missing`` are the codes of a missing value, ``decimal`` is the mark of numbers, and ``k`` the
    claimed smallest class. ``user`` has the values that the source declares missing, by column.
    """

    missing: tuple[str, ...]
    decimal: str
    k: int
    user: Mapping[str, UserMissing] = field(default_factory=lambda: MappingProxyType({}))


def table_facts(
    published: PublishedCsv,
    roles: Mapping[str, Role],
    reading: ValueReading,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
) -> TableFacts:
    """Group the table by its quasi-identifiers and look into the classes, column by column.

    ``roles`` gives the columns their roles (insensitive when absent). Raises UnreadableTableError,
    OSError, StorageError and Cancelled.
    """
    from dpdesk.io.published_content import grouped

    report(StepStarted(STEP, 1, 1))
    given = {name: roles.get(name, Role.INSENSITIVE) for name in published.columns}
    if not published.rows:
        return TableFacts(0, reading.k, 0, 0, 0, 0, 0, ())
    quasi = [name for name, role in given.items() if role is Role.QUASI_IDENTIFIER]
    with grouped(published, quasi, workspace, token, report, STEP) as classes:
        found = {
            name: _column(name, given[name], classes.values(name, token), reading, None, token)
            for name in quasi
        }
        found |= dict(_unchanged(classes, given, reading, token))
        sizes, missing = classes.sizes, classes.rows_with(reading.missing, reading.user, token)
    return TableFacts(
        rows=published.rows,
        k=reading.k,
        classes=len(sizes),
        smallest=int(sizes.min()),
        uniques=int((sizes == 1).sum()),
        below=int(sizes[sizes < reading.k].sum()),
        missing=missing,
        columns=tuple(found[name] for name in published.columns),
    )


def _unchanged(
    classes: PublishedClasses,
    given: Mapping[str, Role],
    reading: ValueReading,
    token: CancelToken,
) -> Iterator[tuple[str, ColumnFacts]]:
    from dpdesk.engine.disclosure import Pairs, spread

    for name in classes.others:
        each = classes.pairs(name, token)
        rows = each.distinct.rows
        pairs = Pairs(each.classes, each.values, each.counts, classes.sizes, rows)
        facts = _spread_facts(spread(pairs, reading.k, token), each.distinct.texts)
        yield name, _column(name, given[name], each.distinct, reading, facts, token)


def _spread_facts(found: Spread, texts: Any) -> SpreadFacts:
    common = _most(texts, found.held) if found.homogeneous_classes else ValueCount("", 0)
    return SpreadFacts(
        fewest=found.fewest,
        homogeneous_classes=found.homogeneous_classes,
        homogeneous_rows=found.homogeneous_rows,
        dominated_classes=found.dominated_classes,
        dominated_rows=found.dominated_rows,
        distance=found.distance,
        exposed=found.exposed,
        alone=found.alone,
        common=common.value,
        common_classes=common.rows,
    )


def _most(texts: Any, numbers: NDArray[np.int64]) -> ValueCount:
    """The text with the largest number, the first by code point among equals."""
    import pyarrow as pa
    import pyarrow.compute as pc

    most = int(numbers.max())
    among = texts.filter(pa.array(numbers == most))
    return ValueCount(str(pc.min(among).as_py()), most)


def _column(
    name: str,
    role: Role,
    values: PublishedValues,
    reading: ValueReading,
    facts: SpreadFacts | None,
    token: CancelToken,
) -> ColumnFacts:
    import pyarrow as pa
    import pyarrow.compute as pc

    from dpdesk.io.missing import user_missing_flags
    from dpdesk.io.published_content import column_content

    texts, rows = values.texts, values.rows
    user = reading.user.get(name, NOTHING_MISSING)
    listed = pc.is_in(texts, value_set=pa.array(list(reading.missing), pa.string()))
    named = user_missing_flags(texts, user)
    absent = pc.or_(listed, named).to_numpy(zero_copy_only=False)
    content = column_content(texts, rows, reading.missing, reading.decimal, token, user)
    missing, total = int(rows[absent].sum()), int(rows.sum())
    unique, distinct = int((rows[~absent] == 1).sum()), int((~absent).sum())
    return ColumnFacts(
        name=name,
        role=role,
        type=content.type,
        content=content.content,
        distinct=distinct,
        unique=unique,
        missing=missing,
        top=_most(texts, rows),
        suggestion=suggest_role(name, content.type, total, total - missing, distinct, unique),
        extreme=content.extreme,
        spread=facts,
        user_missing=int(rows[named.to_numpy(zero_copy_only=False)].sum()),
    )
