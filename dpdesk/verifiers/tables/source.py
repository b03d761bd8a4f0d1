"""The agency's tables against the source: counted again, with the rules of the plan applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isclose
from typing import Protocol

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Nested, ParameterValue
from dpdesk.core.plain import thaw
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_list, as_table
from dpdesk.core.tabulation import PRIMARY, CellAxis, CellSource, CellTable, Tabulated, Tabulation
from dpdesk.verifiers.reading import number
from dpdesk.verifiers.tables.published import axis_parts, equations, place_of

_RELATIVE = 1e-12


class Given(Protocol):
    """The source with the plan, as a method gets them."""

    @property
    def source(self) -> CellSource:
        """The source."""
        ...

    @property
    def parameters(self) -> Mapping[str, ParameterValue]:
        """The settings of the plan."""
        ...

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of every column."""
        ...


@dataclass(frozen=True, eq=False)
class Recounted:
    """What the source gives of the cells of a table; None where it gives nothing of a cell."""

    values: tuple[Fraction | None, ...]
    sums: tuple[Fraction | None, ...]
    frequency: tuple[int | None, ...]
    sizes: tuple[Fraction | None, ...]
    top: tuple[tuple[Fraction, ...], ...]
    status: tuple[str, ...]


def plain_of(given: Given, key: str) -> object:
    """A setting of the plan as plain values."""
    value = given.parameters.get(key)
    return thaw(value.plain, exact=True) if isinstance(value, Nested) else value


def recount(
    table: CellTable, measure: object, given: Given, total: str, token: CancelToken
) -> Recounted:
    """Count the cells of a table again."""
    ready = plain_of(given, "cells")
    if ready is not None:
        return _ready(table, as_table(ready), given, total, token)
    held = [name for name, role in given.roles.items() if role is Role.CLUSTER]
    plain = measure if isinstance(measure, Mapping) else {}
    column = plain.get("sum", plain.get("mean"))
    weight = plain.get("weight")
    asked = Tabulation(
        tuple(axis.name for axis in table.axes),
        tuple(_above(axis) for axis in table.axes),
        table.shape,
        None if column is None else str(column),
        None if weight is None else str(weight),
        held[0] if held else None,
        max(2, _most(given)),
    )
    found = given.source.tabulate(asked, token)
    unit = 10**found.scale
    sums = [Fraction(one, unit) for one in found.totals.tolist()]
    values: list[Fraction | None] = list(sums)
    if "mean" in plain:
        by = [Fraction(one, 10**found.weight_scale) for one in found.weights.tolist()]
        values = [s / w if w else Fraction(0) for s, w in zip(sums, by, strict=True)]
    return Recounted(
        tuple(values),
        tuple(sums),
        tuple(found.frequency.tolist()),
        tuple(Fraction(one, unit) for one in found.sizes.tolist()),
        tuple(tuple(Fraction(one, unit) for one in row) for row in found.top.tolist()),
        ("",) * len(values),
    )


def _most(given: Given) -> int:
    numbers = [
        as_table(rule).get("n", 0)
        for rule in as_list(plain_of(given, "rule"))
        if as_table(rule)["rule"] == "dominance"
    ]
    return max((int(str(n)) for n in numbers), default=0)


def _above(axis: CellAxis) -> dict[str, tuple[int, ...]]:
    """The nodes that each value without parts counts in."""
    parts = axis_parts(axis)
    found = {}
    for node, label in enumerate(axis.labels):
        if node in parts:
            continue
        nodes, here = [], node
        while here >= 0:
            nodes.append(here)
            here = axis.parents[here]
        found[label] = tuple(nodes)
    return found


def _ready(
    table: CellTable, columns: Mapping[str, object], given: Given, total: str, token: CancelToken
) -> Recounted:
    """The cells of a table from a source that has them ready; only the rows that it has."""
    others = [name for name in _dimensions(given) if name not in {a.name for a in table.axes}]
    names = (*(axis.name for axis in table.axes), *others)
    own = [
        {"": (len(axis.labels) - 1,)} | {label: (i,) for i, label in enumerate(axis.labels)}
        for axis in table.axes
    ]
    members = (*own, *({total: (0,), "": (0,)} for _ in others))
    shape = (*table.shape, *(1 for _ in others))

    def column(name: object) -> Tabulated:
        return given.source.tabulate(Tabulation(names, members, shape, str(name)), token)

    def fractions(found: Tabulated) -> list[Fraction | None]:
        pairs = zip(found.totals.tolist(), found.frequency.tolist(), strict=True)
        return [Fraction(one, 10**found.scale) if there else None for one, there in pairs]

    values = fractions(column(columns["value"]))
    counts = plain_of(given, "measure") == "count"
    held = columns.get("frequency")
    frequency = fractions(column(held)) if held is not None else values if counts else None
    amounts = [fractions(column(name)) for name in as_list(columns.get("top", []))]
    rows = zip(*amounts, strict=True) if amounts else ((),) * len(values)
    top = tuple(
        tuple(sorted((abs(one or Fraction(0)) for one in row), reverse=True)) for row in rows
    )
    none: list[Fraction | None] = [None] * len(values)
    letters = ("",) * len(values)
    if "status" in columns:
        letters = tuple(_letters(given, str(columns["status"]), names, members, shape, token))
    return Recounted(
        tuple(values),
        tuple(values),
        tuple(None if n is None else int(n) for n in frequency or none),
        tuple(None if v is None else abs(v) for v in values),
        top,
        letters,
    )


def _letters(
    given: Given,
    column: str,
    names: tuple[str, ...],
    members: tuple[Mapping[str, Sequence[int]], ...],
    shape: tuple[int, ...],
    token: CancelToken,
) -> Iterator[str]:
    domain = given.source.frequency_table([column], token).domains[0]
    letters = ("S", "U", "P", "")
    places = {text: (letters.index(text.strip().upper()),) for text in domain}
    asked = Tabulation((*names, column), (*members, places), (*shape, 4))
    found = given.source.tabulate(asked, token).frequency.reshape(-1, 4)
    yield from (letters[int(np.argmax(row))] if row.any() else "" for row in found)


def _dimensions(given: Given) -> tuple[str, ...]:
    tables = plain_of(given, "tables")
    lists: list[object] = []
    if isinstance(tables, list):
        for one in map(as_table, tables):
            lists += [*as_list(one.get("rows", [])), *as_list(one.get("columns", []))]
    else:
        for key in ("rows", "columns"):
            value = given.parameters.get(key)
            lists += list(getattr(value, "items", ()))
    return tuple(dict.fromkeys(map(str, lists)))


def other_counts(table: CellTable, inside: CellTable, found: Recounted) -> str:
    """The first cell of the agency's table that the source gives another value of; empty: none."""
    for cell, text in enumerate(inside.internal["value"]):
        wanted, frequency = found.values[cell], found.frequency[cell]
        stated = number(text)
        near = wanted is None or isclose(stated, wanted, rel_tol=_RELATIVE)
        held = inside.internal["frequency"][cell]
        if not near or (frequency is not None and held != str(frequency)):
            return msg("cell {cell}: the source gives another", cell=place_of(table, cell))
    return ""


def groups_of(table: CellTable, inside: CellTable) -> Iterator[tuple[int, list[int]]]:
    """The cells that hold all contributors of a total of several, and the empty ones there."""
    held = [int(n) if n else -1 for n in inside.internal["frequency"]]
    for total, parts in equations(table.axes):
        for part in parts:
            if len(parts) > 1 and held[part] == held[total] > 0:
                yield part, [other for other in parts if not held[other]]


def full_needs(
    tables: Sequence[tuple[CellTable, CellTable, Sequence[int], bool]], given: Given
) -> Mapping[int, tuple[Fraction, Fraction]]:
    """How far cells of whole groups must be able to go down, and empty ones next to them up.

    By the numbers of the cells, which are the third of each table, for a cell can be of a group in
    another table alone; the last says whether things are counted.
    """
    usual = given.parameters.get("range")
    wide = usual if isinstance(usual, Fraction) else Fraction(1, 10)
    rules = [as_table(rule) for rule in as_list(plain_of(given, "rule"))]
    shares = [Fraction(str(rule.get("range", wide))) for rule in rules if rule.get("full") is True]
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for table, inside, own, counts in tables if shares else ():
        values = inside.internal["value"]
        for full, empty in groups_of(table, inside):
            need = max(abs(Fraction(values[full])) * max(shares), Fraction(int(counts)))
            none = Fraction(0)
            for cell, down, up in ((full, need, none), *((one, none, need) for one in empty)):
                before = found.get(own[cell], (none, none))
                found[own[cell]] = max(before[0], down), max(before[1], up)
    return found


def other_status(
    table: CellTable,
    inside: CellTable,
    found: Recounted,
    given: Given,
    full: Mapping[int, tuple[Fraction, Fraction]],
    *,
    counts: bool,
) -> str:
    """The first cell whose status or required protection the rules do not give; empty: none.

    ``full`` says how far cells of whole groups must go down and up. Cells that a source with ready
    cells does not have are left out.
    """
    rules = [as_table(rule) for rule in as_list(plain_of(given, "rule"))]
    usual = given.parameters.get("range")
    wide = usual if isinstance(usual, Fraction) else Fraction(1, 10)
    for cell, value in enumerate(found.sums):
        if value is None:
            continue
        unsafe, need = _judged(found, cell, value, rules, wide, counts=counts)
        down, up = need, need
        if cell in full and not found.status[cell]:
            unsafe, down, up = True, max(need, full[cell][0]), max(need, full[cell][1])
        marked = inside.internal["status"][cell] == PRIMARY
        if marked is not unsafe:
            return msg("cell {cell}: the rules say otherwise", cell=place_of(table, cell))
        shown = found.values[cell]
        factor = shown / value if shown is not None and value and shown != value else Fraction(1)
        lower = min(down, value) if value >= 0 else down
        for key, wanted in (("lower_required", lower), ("upper_required", up)):
            stated = float(number(inside.internal[key][cell]))
            if not isclose(stated, float(wanted * factor), rel_tol=1e-9, abs_tol=1e-9):
                return msg(
                    "cell {cell}: the rules ask for another protection",
                    cell=place_of(table, cell),
                )
    return ""


def _judged(
    found: Recounted,
    cell: int,
    value: Fraction,
    rules: Sequence[Mapping[str, object]],
    wide: Fraction,
    *,
    counts: bool,
) -> tuple[bool, Fraction]:
    """Whether a cell is unsafe, and how far it must be protected on either side."""
    status = found.status[cell]
    least = Fraction(1 if counts else 0)
    if status == "U":
        return True, max(abs(value) * wide, least)
    if status in ("S", "P"):
        return False, Fraction(0)
    needs: list[Fraction] = []
    size, top = found.sizes[cell] or Fraction(0), [abs(one) for one in found.top[cell]]
    frequency = found.frequency[cell]
    for rule in rules:
        kind = rule["rule"]
        numbers = {key: Fraction(str(rule[key])) for key in ("n", "k", "p", "q") if key in rule}
        if kind == "threshold":
            if frequency is not None and 0 < frequency < numbers["n"]:
                share = Fraction(str(rule["range"])) if "range" in rule else wide
                needs.append(max(abs(value) * share, least))
        elif kind == "dominance":
            largest = sum(top[: int(numbers["n"])], Fraction(0))
            if largest > numbers["k"] / 100 * size:
                needs.append(100 / numbers["k"] * largest - size)
        else:
            share = numbers["p"] / (100 if kind == "p-percent" else numbers["q"])
            first, second = [*top, Fraction(0), Fraction(0)][:2]
            rest = size - first - second
            if rest < share * first:
                needs.append(share * first - rest)
    return bool(needs), max(needs, default=Fraction(0))
