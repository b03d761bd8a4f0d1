"""Whether what the evidence tells reviewers follows from its value counts, and these from the data.

Written apart from the code that made these figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose, sqrt

from dpdesk.core.messages import msg

_CLOSE = 1e-9
_THOUSAND = 1000


def figures_fault(
    evidence: Mapping[str, object],
    counts: Mapping[str, Mapping[str, int]],
    size: int,
    result: Mapping[str, object],
) -> str | None:
    """Why risk or figures of the evidence are not those of ℓ′ and the value counts, or None.

    ``counts`` holds the rows of each value of every drawn column, checked before; ``result`` is
    that of the manifest.
    """
    beliefs = _table(_table(evidence.get("risk")).get("beliefs"))
    if set(beliefs) != set(counts):
        return "`beliefs` of its risk are not of the columns that were drawn"
    for name, rows in counts.items():
        found = _table(beliefs[name])
        for key, expected in _beliefs(rows, size).items():
            if not _same(found.get(key), expected):
                return msg(
                    "`{key}` of its risk is not what ℓ′ and the values of `{name}` give",
                    key=key,
                    name=name,
                )
    told = {
        "belief": 1 / size,
        "deviation": sqrt(_THOUSAND - _THOUSAND / size),
        "largest_l": min(sum(rows.values()) // max(rows.values()) for rows in counts.values()),
        **{key: result[key] for key in ("rows_removed", "rows_suppressed") if key in result},
    }
    listed = evidence.get("figures")
    items = listed if isinstance(listed, list | tuple) else ()
    figures = {item.get("key"): item.get("value") for item in items if isinstance(item, Mapping)}
    for key, value in told.items():
        if not _same(figures.get(key), value):
            return msg("`{key}` of its figures is not what ℓ′ and the value counts give", key=key)
    return None


def source_counts_fault(
    name: str, recorded: Mapping[str, object], source: Mapping[str, int], all_rows: bool
) -> str | None:
    """Why recorded value counts cannot be those of the source, or None.

    With ``all_rows`` they must be equal; else rows were suppressed before they were counted, so
    that none may be larger.
    """
    if all_rows and dict(recorded) != dict(source):
        return msg("`value_counts` of `{name}` are not those of the source", name=name)
    for value, rows in recorded.items():
        if not isinstance(rows, int) or rows > source.get(value, 0):
            return msg(
                "`value_counts` of `{name}` has more rows of a value than the source", name=name
            )
    return None


def _beliefs(rows: Mapping[str, int], size: int) -> dict[str, float]:
    total, most = sum(rows.values()), max(rows.values())
    return {
        "values": len(rows),
        "rows": total,
        "most_rows_of_a_value": most,
        "rows_allowed": total // size,
        "belief_before_rarest": min(rows.values()) / total,
        "belief_before_most_frequent": most / total,
        "belief_after": 1 / size,
    }


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _same(found: object, expected: object) -> bool:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return isinstance(expected, int | float) and isclose(found, expected, rel_tol=_CLOSE)
