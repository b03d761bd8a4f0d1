"""Count what the choice of levels tells of a suppressed row, in every small table there is.

python -m tests.tools.node_choices writes the table in ``resources/docs/public-numbers.md``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement, product

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput, Outcome
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.engine.methods.k_anonymity.settings import PARAMETERS
from tests.helpers.memory_tables import MemorySource, Row, publish
from tests.tools.public_numbers import PAGE

COLUMNS = ("age", "sex")
HIERARCHIES = {
    "age": Hierarchy.from_rows("age", [(str(n), f"{n // 2}x", "*") for n in range(4)]),
    "sex": Hierarchy.from_rows("sex", [("f", "*"), ("m", "*")]),
}
CELLS: tuple[Row, ...] = tuple(product(*(HIERARCHIES[name].leaves for name in COLUMNS)))
OBJECTIVES = ("loss", "discernibility", "precision")
ROWS, K, SHARE = 6, 2, 0.2
BEGIN, END = "<!-- counted -->\n", "<!-- end -->\n"


@dataclass(frozen=True)
class Counted:
    """Tables in which one row was suppressed, and which rows it could have been.

    ``possible`` are the rows that could have been suppressed at these levels, summed over the
    ``tables``; ``left`` those of them with which the whole public part is the same. ``known`` are
    tables with one row left, of several.
    """

    tables: int
    possible: int
    left: int
    narrowed: int
    known: int


@cache
def outcome(rows: tuple[Row, ...], objective: str) -> tuple[str, Outcome]:
    """The public part of a run over these rows, and the outcome."""
    raw = {"k": K, "max_suppression": SHARE, "objective": objective}
    source = MemorySource.of(COLUMNS, rows)
    roles = dict.fromkeys(COLUMNS, Role.QUASI_IDENTIFIER)
    values = parse_parameters(PARAMETERS, raw, "plan.toml")
    given = MethodInput(roles, HIERARCHIES, values, source=source)
    found = KAnonymity().chosen(given, CancelToken(), silent)
    table = publish(source, found.recoding).data
    public = json.dumps([found.result, found.guarantee.as_json(), table], sort_keys=True)
    return public, found


def counted(objective: str, sample: int = 1) -> Counted:
    """Count every table, or every ``sample``-th one."""
    totals: Counter[str] = Counter()
    for rows in list(combinations_with_replacement(CELLS, ROWS))[::sample]:
        public, found = outcome(rows, objective)
        if found.result["rows_suppressed"] != 1:
            continue
        kept, others = _kept(rows, found), list(_others(rows, found))
        left = sum(outcome(tuple(sorted([*kept, row])), objective)[0] == public for row in others)
        totals.update(tables=1, possible=len(others), left=left)
        totals.update(narrowed=left < len(others), known=left == 1 < len(others))
    return Counted(**{key: totals[key] for key in Counted.__dataclass_fields__})


def _label(row: Row, found: Outcome) -> Row:
    return tuple(
        found.recoding.mapping[name].get(value) or _generalised(name, value, found)
        for name, value in zip(COLUMNS, row, strict=True)
    )


def _generalised(name: str, value: str, found: Outcome) -> str:
    node = found.result["node"]
    level = node[name] if isinstance(node, dict) else 0
    return next(row[level] for row in HIERARCHIES[name].rows() if row[0] == value)


def _kept(rows: Sequence[Row], found: Outcome) -> list[Row]:
    sizes = Counter(_label(row, found) for row in rows)
    return [row for row in rows if sizes[_label(row, found)] >= K]


def _others(rows: Sequence[Row], found: Outcome) -> Iterator[Row]:
    """The rows that would have been suppressed at the same levels in the place of the one."""
    released = {_label(row, found) for row in _kept(rows, found)}
    return (row for row in CELLS if _label(row, found) not in released)


def lines() -> str:
    """The table of the page."""
    found = [
        "| objective | tables with one suppressed row | rows it could have been, mean | of these "
        "left by the whole public part, mean | tables in which fewer are left | in which only the "
        "true row is left |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for objective in OBJECTIVES:
        each = counted(objective)
        found.append(
            f"| `{objective}` | {each.tables:,} | {each.possible / each.tables:.2f} | "
            f"{each.left / each.tables:.2f} | {each.narrowed:,} | {each.known:,} |"
        )
    return "\n".join(found) + "\n"


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    PAGE.write_text(head + BEGIN + lines() + END + rest.split(END)[1], "utf-8")
